//! Changing an issue's place in line: by points, or relative to another issue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::issue::Issue;
use crate::issue_ref::IssueRef;

/// The body of `POST /api/issues/:id/bump`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct IssueBump {
    /// How many points to add to the boost; fewer than none takes some away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<i64>,
}

/// The body of `POST /api/issues/:id/move`: `{"before": ref}` or `{"after": ref}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", try_from = "Neighbours")]
pub enum IssueMove {
    Before(IssueRef),
    After(IssueRef),
}

/// What `POST /api/issues/:id/move` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueMoved {
    pub data: Issue,
    /// Its place in line, 1 the first; null if it left the line meanwhile.
    pub position: Option<i64>,
    /// Whether it is further back than `position` says.
    #[serde(default)]
    pub position_capped: bool,
}

/// A move as it is read, before it is known to name one neighbour.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Neighbours {
    before: Option<IssueRef>,
    after: Option<IssueRef>,
}

impl TryFrom<Neighbours> for IssueMove {
    type Error = &'static str;

    fn try_from(neighbours: Neighbours) -> Result<Self, Self::Error> {
        match (neighbours.before, neighbours.after) {
            (Some(other), None) => Ok(Self::Before(other)),
            (None, Some(other)) => Ok(Self::After(other)),
            (None, None) | (Some(_), Some(_)) => Err("expected either `before` or `after`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::issue::tests::issue_json;

    fn check(wire: Value, expected: &IssueMove) {
        assert_eq!(&serde_json::from_value::<IssueMove>(wire).unwrap(), expected);
    }

    #[test]
    fn a_move_names_its_one_neighbour() {
        let before = IssueMove::Before(IssueRef::from(3));
        check(json!({"before": 3}), &before);
        check(json!({"before": "3", "after": null}), &before);
        check(json!({"after": "0199"}), &IssueMove::After(IssueRef::from("0199")));
        assert_eq!(serde_json::to_value(&before).unwrap(), json!({"before": "3"}));
    }

    #[test]
    fn a_move_refuses_none_and_both() {
        for wire in [r"{}", r#"{"before": null}"#, r#"{"before": 1, "after": 2}"#] {
            let error = serde_json::from_str::<IssueMove>(wire).unwrap_err().to_string();
            assert!(error.contains("expected either `before` or `after`"), "{error}");
        }
        let error = serde_json::from_str::<IssueMove>(r#"{"behind": 1}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `behind`"), "{error}");
    }

    #[test]
    fn a_moved_issue_says_where_it_stands() {
        let wire = json!({"data": issue_json(), "position": 2, "positionCapped": false});
        let moved: IssueMoved = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(moved.position, Some(2));
        assert_eq!(serde_json::to_value(&moved).unwrap(), wire);
    }

    #[test]
    fn a_bump_may_be_empty_and_nothing_else() {
        assert_eq!(serde_json::from_str::<IssueBump>("{}").unwrap(), IssueBump::default());
        assert_eq!(serde_json::from_str::<IssueBump>(r#"{"by": -5}"#).unwrap(), IssueBump { by: Some(-5) });
        serde_json::from_str::<IssueBump>(r#"{"points": 5}"#).unwrap_err();
    }
}
