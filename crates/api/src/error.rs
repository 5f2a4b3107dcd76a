//! How every route says no.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The body of every answer that is not a success.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// A sentence for people.
    pub error: String,
    /// A word for programs.
    pub code: String,
    /// Present where it adds something: the fields at fault, the legal verbs, the cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// `stop` where the caller works on a dispatch it no longer holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
}

impl ErrorBody {
    /// Returns the fields at fault, where `details` names any.
    pub fn fields(&self) -> Vec<FieldError> {
        let details = self.details.clone().unwrap_or_default();
        serde_json::from_value(details).unwrap_or_default()
    }

    /// Returns the verbs that would have been legal, where `details` names any.
    pub fn legal(&self) -> Vec<&str> {
        let legal = self.details.as_ref().and_then(|details| details.get("legal")?.as_array());
        legal.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Returns the numbers of the issues that would have formed a cycle, where `details` names any.
    pub fn cycle(&self) -> Vec<i64> {
        let cycle = self.details.as_ref().and_then(|details| details.get("cycle")?.as_array());
        cycle.into_iter().flatten().filter_map(Value::as_i64).collect()
    }
}

/// One field at fault and what was expected of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldError {
    pub field: String,
    pub message: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(details: Value) -> ErrorBody {
        ErrorBody { details: Some(details), ..ErrorBody::default() }
    }

    #[test]
    fn details_are_read_where_they_fit() {
        let fields = body(json!([{"field": "title", "message": "too long"}])).fields();
        assert_eq!(fields, [FieldError { field: "title".to_owned(), message: "too long".to_owned() }]);
        assert_eq!(body(json!({"legal": ["cancel", "park"]})).legal(), ["cancel", "park"]);
        assert_eq!(body(json!({"cycle": [3, 1, 2, 3]})).cycle(), [3, 1, 2, 3]);
    }

    #[test]
    fn details_of_another_shape_are_nothing() {
        assert_eq!(body(json!("huh")).fields(), []);
        assert!(body(json!([1, 2])).legal().is_empty());
        assert!(body(json!({"cycle": "#1 → #1"})).cycle().is_empty());
        assert!(ErrorBody::default().fields().is_empty());
    }

    #[test]
    fn absent_details_are_not_sent() {
        let body = ErrorBody { error: "no".to_owned(), code: "not_found".to_owned(), ..ErrorBody::default() };
        assert_eq!(serde_json::to_string(&body).unwrap(), r#"{"error":"no","code":"not_found"}"#);
    }
}
