//! What has to hold for every text without our entry.

use extraboard_connect::{Agent, Change, Entry, Error, Foreign, connect, disconnect};
use proptest::prop_assert_eq;
use proptest::test_runner::TestCaseError;

/// Checks that connecting is idempotent and can be taken back, also after the entry was brought up to date.
///
/// Returns the text with the entry; `None` where the text cannot have one, for a reason other than its syntax.
pub(crate) fn check(
    agent: Agent,
    before: &str,
    [first, second]: [&Entry; 2],
) -> Result<Option<String>, TestCaseError> {
    let connected = match connect(agent, Some(before), first, Foreign::Refuse) {
        Ok(Change::Write(text)) => text,
        Err(Error::Duplicate { .. } | Error::Shape { .. } | Error::Foreign { .. }) => return Ok(None),
        other => return Err(TestCaseError::fail(format!("{before:?} became {other:?}"))),
    };
    let nothing = connect(agent, Some(&connected), first, Foreign::Refuse);
    prop_assert_eq!(nothing, Ok(Change::Nothing), "connecting {:?} again", &connected);
    let undone = disconnect(agent, &connected, Foreign::Refuse);
    prop_assert_eq!(undone, Ok(Change::Write(before.to_owned())), "undoing {:?}", &connected);
    match connect(agent, Some(&connected), second, Foreign::Refuse) {
        Ok(Change::Write(updated)) => {
            let undone = disconnect(agent, &updated, Foreign::Refuse);
            prop_assert_eq!(undone, Ok(Change::Write(before.to_owned())), "undoing {:?}", &updated);
        }
        other => prop_assert_eq!((other, first), (Ok(Change::Nothing), second)),
    }
    Ok(Some(connected))
}
