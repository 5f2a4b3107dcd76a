//! How a request names another issue: by uuid or by number.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The uuid or the number of an issue.
///
/// A number may come as a JSON string or a JSON number; it is sent as a string. Whether there is such an issue
/// is for the desk to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct IssueRef(pub String);

impl IssueRef {
    /// Returns the reference as a path segment or a query would hold it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<i64> for IssueRef {
    fn from(number: i64) -> Self {
        Self(number.to_string())
    }
}

impl From<&str> for IssueRef {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for IssueRef {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for IssueRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for IssueRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IssueRefVisitor)
    }
}

impl JsonSchema for IssueRef {
    fn schema_name() -> Cow<'static, str> {
        "IssueRef".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "the uuid or the number of an issue",
            "type": ["string", "integer"],
        })
    }
}

struct IssueRefVisitor;

impl Visitor<'_> for IssueRefVisitor {
    type Value = IssueRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the uuid or the number of an issue")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<IssueRef, E> {
        Ok(IssueRef::from(text))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<IssueRef, E> {
        Ok(IssueRef(number.to_string()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<IssueRef, E> {
        Ok(IssueRef::from(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_string_or_a_whole_number() {
        let check = |json: &str| serde_json::from_str::<IssueRef>(json).unwrap().0;
        assert_eq!(check("42"), "42");
        assert_eq!(check("-1"), "-1");
        assert_eq!(check(r#""42""#), "42");
        assert_eq!(check(r#""0199aaaa-0000""#), "0199aaaa-0000");
    }

    #[test]
    fn a_reference_is_nothing_else() {
        for json in ["1.5", "null", "true", "[1]", r#"{"id": 1}"#] {
            let error = serde_json::from_str::<IssueRef>(json).unwrap_err().to_string();
            assert!(error.contains("expected the uuid or the number of an issue"), "{json}: {error}");
        }
    }

    #[test]
    fn a_reference_is_sent_as_a_string() {
        assert_eq!(serde_json::to_string(&IssueRef::from(42)).unwrap(), r#""42""#);
    }
}
