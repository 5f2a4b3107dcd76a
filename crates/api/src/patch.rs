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

/// Reads an object. Serde would also read a list as its fields in their order.
pub(crate) fn object<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: serde::de::DeserializeOwned,
    D: Deserializer<'de>,
{
    let value = serde_json::Value::deserialize(deserializer)?;
    if !value.is_object() {
        return Err(serde::de::Error::custom("expected an object"));
    }
    serde_json::from_value(value).map(Some).map_err(serde::de::Error::custom)
}

/// Reads a field that cannot be cleared: null is refused, not passed over.
pub(crate) fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}
