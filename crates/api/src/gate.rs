//! The gates of provider accounts: closed for a while when a provider refuses work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the path names the account of a provider that has only one.
const ACCOUNT_ONLY: &str = "-";

/// One provider account that refused, as `GET /api/gates` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountGate {
    pub provider: String,
    /// Empty for the only one.
    #[serde(default)]
    pub account: String,
    /// Refusals since the last success.
    pub hits: i64,
    /// Until when nothing is started on it.
    pub until: Option<String>,
}

/// Which gate `DELETE /api/gates/:provider/:account` opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatePath<'a> {
    pub provider: &'a str,
    /// Empty for the only one.
    pub account: &'a str,
}

impl<'a> GatePath<'a> {
    /// Returns the segments of the path below `/api`.
    pub(crate) const fn segments(self) -> [&'a str; 3] {
        let account = if self.account.is_empty() { ACCOUNT_ONLY } else { self.account };
        ["gates", self.provider, account]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_gate_reads_and_writes_as_documented() {
        let wire =
            json!({"provider": "anthropic", "account": "", "hits": 2, "until": "2026-01-01T00:00:00Z"});
        let gate: AccountGate = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(&gate).unwrap(), wire);
    }

    #[test]
    fn the_only_account_has_a_place_in_the_path() {
        let check = |account| GatePath { provider: "anthropic", account }.segments();
        assert_eq!(check(""), ["gates", "anthropic", "-"]);
        assert_eq!(check("team"), ["gates", "anthropic", "team"]);
    }
}
