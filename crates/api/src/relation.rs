//! Relations between issues: what blocks what, what belongs together, what is the same.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::issue::IssueBrief;
use crate::issue_ref::IssueRef;

/// One relation, as seen from one of its two issues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Relation {
    pub id: String,
    /// `blocks`, `blocked_by`, `related` or `duplicate`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The issue that looks.
    pub issue_id: String,
    /// The issue at the other end.
    pub related_issue_id: String,
    pub related: IssueBrief,
    pub created_at: String,
}

/// The body of `POST /api/issues/:id/relations`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RelationCreate {
    #[serde(rename = "type")]
    pub kind: String,
    pub related_issue_id: IssueRef,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::issue::tests::brief_json;

    #[test]
    fn a_relation_reads_and_writes_as_documented() {
        let wire = json!({
            "id": "0199r", "type": "blocked_by", "issueId": "0199a", "relatedIssueId": "0199b",
            "related": brief_json(), "createdAt": "2026-01-01T00:00:00Z"
        });
        let relation: Relation = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(relation.related.number, 7);
        assert_eq!(serde_json::to_value(&relation).unwrap(), wire);
    }

    #[test]
    fn a_related_issue_may_be_named_by_number() {
        let create: RelationCreate =
            serde_json::from_str(r#"{"type": "blocks", "relatedIssueId": 7}"#).unwrap();
        assert_eq!(create.related_issue_id, IssueRef::from(7));
        assert_eq!(serde_json::to_value(&create).unwrap(), json!({"type": "blocks", "relatedIssueId": "7"}));
    }

    #[test]
    fn a_new_relation_refuses_unknown_and_missing_fields() {
        serde_json::from_str::<RelationCreate>(r#"{"type": "blocks", "relatedIssueId": 7, "x": 1}"#)
            .unwrap_err();
        serde_json::from_str::<RelationCreate>(r#"{"type": "blocks"}"#).unwrap_err();
    }
}
