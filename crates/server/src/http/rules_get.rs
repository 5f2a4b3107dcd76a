//! `GET /api/rules`: how issues are ranked, and how much is handed out.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::envelope::One;
use extraboard_api::rules::{Limits, Profile, Rules};
use extraboard_core::gate;
use extraboard_store::verbs::{self, RulesRead};

use super::rules_put::UNLIMITED;
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Nothing, Params};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
) -> Result<Json<One<Rules>>, ApiError> {
    let (rules, reranking) = app.desk.read(RulesRead).await?;
    Ok(Json(One { data: Rules { reranking, ..shown(rules) } }))
}

/// Shows rules that all waiting issues stand by.
pub(super) fn shown(rules: verbs::Rules) -> Rules {
    let numbers = rules.profile.numbers().map(|(key, number)| (key.to_owned(), number)).collect();
    Rules {
        version: rules.version,
        profile: Profile { name: rules.profile.name.as_str().to_owned(), numbers },
        limits: limits(rules.limits),
        poll_interval_secs: rules.poll_interval_secs,
        reranking: false,
    }
}

fn limits(limits: gate::Limits) -> Limits {
    let limit = |limit: i64| Some(limit).filter(|limit| *limit != UNLIMITED);
    Limits {
        total: limits.total,
        kinds: limits.kinds.into_iter().map(|(kind, n)| (kind.as_str().to_owned(), limit(n))).collect(),
        project: limits.project,
        agent: limits.agent,
        agents: limits.agents.into_iter().map(|(agent, n)| (agent, limit(n))).collect(),
        account: limits.account,
    }
}
