//! What a claimer says about itself and the work it wants: the flags of claim, next, queue and why.

use extraboard_api::claimer::ClaimerQuery;

use crate::error::FlagNames;

/// What those commands call the fields of the API.
pub(crate) const FLAGS: &FlagNames = &[
    ("projectId", "--project"),
    ("kinds", "--kind"),
    ("capabilities", "--capabilities"),
    ("owner", "--owner"),
    ("adapter", "--adapter"),
    ("provider", "--provider"),
    ("account", "--account"),
    ("agent", "--agent"),
    ("limit", "--limit"),
    ("offset", "--offset"),
    ("Idempotency-Key", "--key"),
    ("wait", "--wait"),
];

/// Which work is wanted, and what the claimer brings.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Wants {
    /// Only tasks of these kinds, for example `code,task`
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    kind: Vec<String>,

    /// What the claimer can do, for example `rust,gpu`; tasks that need more are not for it
    #[arg(long, value_name = "WORD,…", value_delimiter = ',')]
    capabilities: Vec<String>,

    /// Whom the claimer works for; tasks of other owners are not for it
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
}

impl Wants {
    /// Returns the query of whoever wants this, of the project if there is one.
    pub(crate) fn query(&self, project_id: Option<String>) -> ClaimerQuery {
        ClaimerQuery {
            project_id,
            kinds: comma_list(&self.kind),
            capabilities: comma_list(&self.capabilities),
            owner: self.owner.clone(),
            ..ClaimerQuery::default()
        }
    }
}

/// Whose models the claimer works with.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WorksOn {
    /// Whose models the claimer works with; while that provider refuses work nothing is handed out
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// Which account with that provider
    #[arg(long, value_name = "NAME", requires = "provider")]
    account: Option<String>,
}

impl WorksOn {
    /// Returns the query with provider and account added.
    pub(crate) fn add_to(&self, query: ClaimerQuery) -> ClaimerQuery {
        ClaimerQuery { provider: self.provider.clone(), account: self.account.clone(), ..query }
    }
}

fn comma_list(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(","))
}
