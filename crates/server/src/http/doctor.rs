//! `GET /api/doctor` and `POST /api/doctor/repair`: does what is stored agree with itself.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::doctor::{Difference, DoctorRange, DoctorReport};
use extraboard_api::envelope::One;
use extraboard_core::id::TaskNumber;
use extraboard_store::verbs::{self, Checked, Doctor, DoctorRepair};
use serde_json::Value;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Admin, Body, Nothing, Params};
use crate::validate::Problems;

/// How many issues are looked at unless the caller says.
const LIMIT_DEFAULT: i64 = 500;
/// The most that are looked at in one transaction.
const LIMIT_MAX: i64 = 1_000;

pub(crate) async fn check(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(range): Params<DoctorRange>,
) -> Result<Json<One<DoctorReport>>, ApiError> {
    let (after, limit) = read(&range)?;
    let checked = app.desk.read(Doctor { after, limit }).await?;
    Ok(Json(One { data: report(checked, Finding::Told) }))
}

pub(crate) async fn repair(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    Params(Nothing {}): Params<Nothing>,
    Body(range): Body<DoctorRange>,
) -> Result<Json<One<DoctorReport>>, ApiError> {
    let (after, limit) = read(&range)?;
    let repaired = app.desk.write(DoctorRepair { ctx: app.desk.ctx(caller), after, limit }).await?;
    Ok(Json(One { data: report(repaired, Finding::Repaired) }))
}

fn read(range: &DoctorRange) -> Result<(TaskNumber, i64), ApiError> {
    let (after, limit) = (range.after.unwrap_or(0), range.limit.unwrap_or(LIMIT_DEFAULT));
    let mut problems = Problems::default();
    problems.range("after", after, 0..=i64::MAX);
    problems.range("limit", limit, 1..=LIMIT_MAX);
    problems.check()?;
    Ok((TaskNumber(after), limit))
}

/// What became of what was found.
#[derive(Clone, Copy, PartialEq)]
enum Finding {
    Told,
    Repaired,
}

fn report(checked: Checked, finding: Finding) -> DoctorReport {
    let difference = |difference: verbs::Difference| Difference {
        number: difference.task.0,
        what: difference.what.to_owned(),
        found: value(difference.found),
        expected: value(difference.expected),
        repaired: finding == Finding::Repaired,
    };
    DoctorReport {
        checked: i64::try_from(checked.count).unwrap_or(i64::MAX),
        next: checked.next.map(|number| number.0),
        differences: checked.differences.into_iter().map(difference).collect(),
    }
}

/// Shows numbers as numbers and nothing as null; the doctor compares text.
fn value(text: String) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_shows_numbers_as_numbers() {
        for (text, expected) in [
            ("2", json!(2)),
            ("true", json!(true)),
            ("", json!(null)),
            ("nowhere", json!("nowhere")),
            ("01990000-0000-7000-8000-000000000001", json!("01990000-0000-7000-8000-000000000001")),
        ] {
            assert_eq!(value(text.to_owned()), expected);
        }
    }

    #[test]
    fn only_a_repair_claims_to_have_repaired() {
        let difference = |what| verbs::Difference {
            task: TaskNumber(3),
            what,
            found: "1".to_owned(),
            expected: "0".to_owned(),
        };
        let differences = vec![difference("openBlockers"), difference("dispatch")];
        let checked = Checked { count: 3, next: None, differences };
        let repaired = |finding| {
            let report = report(checked.clone(), finding);
            report.differences.into_iter().map(|difference| difference.repaired).collect::<Vec<_>>()
        };
        assert_eq!(repaired(Finding::Told), [false, false]);
        assert_eq!(repaired(Finding::Repaired), [true, true]);
    }

    #[test]
    fn a_range_has_limits() {
        let check = |after, limit| read(&DoctorRange { after, limit });
        assert_eq!(check(None, None).unwrap(), (TaskNumber(0), 500));
        assert_eq!(check(Some(7), Some(1)).unwrap(), (TaskNumber(7), 1));
        for (after, limit) in [(Some(-1), None), (None, Some(0)), (None, Some(1_001))] {
            check(after, limit).unwrap_err();
        }
    }
}
