//! The names of seed 004's configuration file, each of which means a key of ours.
//!
//! Its `scheduler.priority` block also says that the profile is `depth_first`, whose numbers it holds.

use extraboard_core::kind::Kind;
use extraboard_core::profile::{Profile, ProfileName};

use super::key::Key;

const PRIORITY: &str = "scheduler.priority.";

/// Returns each name with the key that it means.
pub(crate) fn names() -> impl Iterator<Item = (String, Key)> {
    let single = [
        ("scheduler.poll_interval_secs", Key::PollIntervalSecs),
        ("concurrency.max_loops", Key::LimitTotal),
        // One dispatch is one caller of its account's API.
        ("concurrency.max_api_calls", Key::LimitAccount),
    ];
    let numbers = Profile::keys().map(|number| (format!("{PRIORITY}{number}"), Key::ProfileNumber(number)));
    let per_type = |kind: &Kind| (format!("concurrency.per_type.{kind}"), Key::LimitKind(*kind));
    single
        .into_iter()
        .map(|(name, key)| (name.to_owned(), key))
        .chain(numbers)
        .chain(Kind::ALL.iter().map(per_type))
}

/// Returns the key that a name means.
pub(crate) fn key_of(name: &str) -> Option<Key> {
    names().find(|(known, _)| known == name).map(|(_, key)| key)
}

/// Returns the profile that the mere presence of a name asks for.
pub(crate) fn profile_of(name: &str) -> Option<ProfileName> {
    name.starts_with(PRIORITY).then_some(ProfileName::DepthFirst)
}
