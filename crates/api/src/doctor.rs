//! What the desk finds when it recomputes what it keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The query of `GET /api/doctor` and the body of `POST /api/doctor/repair`: which issues to look at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DoctorRange {
    /// The number after which to begin: the `next` of an earlier report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// What the doctor's routes answer under `data`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// How many issues were looked at.
    pub checked: i64,
    /// Where to go on; null at the end.
    pub next: Option<i64>,
    #[serde(default)]
    pub differences: Vec<Difference>,
}

/// One thing about one issue that is not as it should be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    pub number: i64,
    /// What differs.
    pub what: String,
    #[serde(default)]
    pub found: Value,
    #[serde(default)]
    pub expected: Value,
    /// Whether it was put right.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repaired: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_reads_and_writes_as_documented() {
        let wire = json!({
            "checked": 500, "next": 500,
            "differences": [
                {"number": 3, "what": "openBlockers", "found": 2, "expected": 1},
                {"number": 4, "what": "line", "found": null, "expected": "in line", "repaired": true}
            ]
        });
        let report: DoctorReport = serde_json::from_value(wire.clone()).unwrap();
        assert!(!report.differences[0].repaired);
        assert_eq!(serde_json::to_value(&report).unwrap(), wire);
    }

    #[test]
    fn a_range_may_be_empty_and_refuses_unknown_fields() {
        assert_eq!(serde_json::from_str::<DoctorRange>("{}").unwrap(), DoctorRange::default());
        serde_json::from_str::<DoctorRange>(r#"{"before": 1}"#).unwrap_err();
    }
}
