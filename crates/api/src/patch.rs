//! How patches read their fields: absent, null and a value are three different things.

use serde::{Deserialize, Deserializer};

/// Reads null as `Some(None)`; an absent field never gets here and stays `None`.
#[expect(clippy::option_option, reason = "absent and null are told apart, see `IssuePatch`")]
pub(crate) fn nullable<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// Reads a field that cannot be cleared: null is refused, not passed over.
pub(crate) fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}
