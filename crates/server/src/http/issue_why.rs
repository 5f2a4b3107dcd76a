//! `GET /api/issues/:id/why`: why an issue runs, waits or never will.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::claimer::ClaimerQuery;
use extraboard_api::envelope::One;
use extraboard_api::why::{Decision, Why, WhyClaimer, WhyGate, WhyQuery};
use extraboard_core::caller::Caller;
use extraboard_core::why::{Obstacle, POSITION_MAX, Verdict};
use extraboard_store::verbs::{self, WhyAnswer};

use crate::app::App;
use crate::claimer::{self, Placed, Unplaced};
use crate::convert;
use crate::error::ApiError;
use crate::extract::{By, Params, TaskPath};
use crate::guard::check_agent_name;
use crate::validate::Problems;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    By(caller): By,
    TaskPath(task): TaskPath,
    Params(query): Params<WhyQuery>,
) -> Result<Json<One<Why>>, ApiError> {
    let mut problems = Problems::default();
    let unplaced = unplaced(&mut problems, &caller, &query);
    problems.check()?;
    let placed = match unplaced {
        Some(unplaced) => Some(unplaced.place(&app).await?),
        None => None,
    };
    let claimer = placed.as_ref().map(|placed| placed.claimer.clone());
    let answer = app.desk.why(verbs::Why { task, claimer, now: app.desk.now() }).await?;
    Ok(Json(One { data: why(answer, placed.map(shown)) }))
}

/// Reads for whom it is asked: an agent by name, whoever asks, or anyone.
fn unplaced(problems: &mut Problems, caller: &Caller, query: &WhyQuery) -> Option<Unplaced> {
    let said = query.claimer();
    let name = match &query.agent {
        Some(agent) => {
            if let Err(message) = check_agent_name(agent) {
                problems.add("agent", message);
            }
            Caller::Agent(agent.clone()).to_string()
        }
        None if said == ClaimerQuery::default() => return None,
        None => caller.to_string(),
    };
    Some(claimer::read(problems, name, said.into()))
}

fn shown(placed: Placed) -> WhyClaimer {
    let Placed { claimer, project } = placed;
    let (provider, account) = match claimer.account {
        Some(account) => (Some(account.provider), Some(account.account)),
        None => (None, None),
    };
    WhyClaimer {
        name: claimer.name,
        door: claimer.door.as_str().to_owned(),
        capabilities: claimer.capabilities.words().map(str::to_owned).collect(),
        owner: claimer.owner,
        provider,
        account: account.filter(|account| !account.is_empty()),
        project_id: project.map(|id| id.to_string()),
        kinds: claimer.kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
    }
}

fn why(answer: WhyAnswer, claimer: Option<WhyClaimer>) -> Why {
    let further_back =
        answer.obstacles.iter().any(|obstacle| matches!(obstacle, Obstacle::Behind(POSITION_MAX..)));
    let gates: Vec<_> = answer.obstacles.iter().map(|obstacle| gate(obstacle, answer.verdict)).collect();
    Why {
        issue: convert::brief(&answer.view.task),
        claimer,
        verdict: answer.verdict.as_str().to_owned(),
        score: answer.score.map(|score| score.total()),
        breakdown: answer.score.as_ref().map(convert::breakdown),
        position: answer.position,
        position_capped: further_back,
        change: change(&gates),
        gates,
        decisions: answer.decisions.into_iter().map(decision).collect(),
        pos: answer.pos.0,
    }
}

fn gate(obstacle: &Obstacle, verdict: Verdict) -> WhyGate {
    WhyGate {
        gate: obstacle.word().to_owned(),
        detail: obstacle.detail(),
        until: obstacle.until().map(convert::time),
        // Nothing has to change for what is under way.
        change: (verdict != Verdict::Running).then(|| obstacle.change()),
    }
}

/// Joins what would open each gate; what opens several is said once.
fn change(gates: &[WhyGate]) -> Option<String> {
    let mut changes: Vec<&str> = Vec::new();
    for change in gates.iter().filter_map(|gate| gate.change.as_deref()) {
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
    if changes.is_empty() { None } else { Some(changes.join("; ")) }
}

fn decision(decision: verbs::Decision) -> Decision {
    Decision {
        pos: decision.pos.map(|pos| pos.0),
        kind: decision.event_type.as_str().to_owned(),
        actor: Some(decision.actor),
        at: convert::time(decision.at),
        data: convert::json(Some(&decision.data)).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(query: &WhyQuery) -> Option<String> {
        let mut problems = Problems::default();
        let placed = unplaced(&mut problems, &Caller::Person("ann".to_owned()), query);
        problems.check().unwrap();
        placed.map(|placed| format!("{placed:?}").split('"').nth(1).unwrap().to_owned())
    }

    #[test]
    fn it_is_asked_for_a_named_agent_for_the_caller_or_for_anyone() {
        assert_eq!(name(&WhyQuery::default()), None);
        let agent = Some("worker".to_owned());
        assert_eq!(name(&WhyQuery { agent, ..WhyQuery::default() }).as_deref(), Some("agent:worker"));
        let owner = Some("ann".to_owned());
        assert_eq!(name(&WhyQuery { owner, ..WhyQuery::default() }).as_deref(), Some("person:ann"));
    }

    #[test]
    fn a_name_no_agent_can_have_is_refused() {
        let mut problems = Problems::default();
        let query = WhyQuery { agent: Some("two words".to_owned()), ..WhyQuery::default() };
        unplaced(&mut problems, &Caller::Anonymous, &query);
        problems.check().unwrap_err();
    }

    #[test]
    fn what_opens_several_gates_is_said_once() {
        let gate = |change: Option<&str>| WhyGate {
            gate: "limit".to_owned(),
            detail: String::new(),
            until: None,
            change: change.map(str::to_owned),
        };
        assert_eq!(change(&[]), None);
        assert_eq!(change(&[gate(None)]), None);
        let gates = [gate(Some("wait")), gate(Some("admit it")), gate(Some("wait"))];
        assert_eq!(change(&gates).as_deref(), Some("wait; admit it"));
    }
}
