//! `GET /api/dispatch/queue`: what would be handed out to whoever asks, in that order.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::dispatch::{Queue, QueueEntry, QueueGate, QueueQuery};
use extraboard_core::gate::Gate;
use extraboard_core::why::Obstacle;
use extraboard_store::verbs::{self, QueueScope};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{By, Params};
use crate::validate::Problems;
use crate::{claimer, convert};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    By(caller): By,
    Params(query): Params<QueueQuery>,
) -> Result<Json<Queue>, ApiError> {
    let mut problems = Problems::default();
    let page = problems.page(query.limit, query.offset);
    let unplaced = claimer::read(&mut problems, caller.to_string(), query.claimer().into());
    problems.check()?;
    let claimer = unplaced.place(&app).await?.claimer;
    let scope = if query.all.unwrap_or(false) { QueueScope::All } else { QueueScope::Open };
    let (limit, offset, now) = (page.limit, page.offset, app.desk.now());
    let page = app.desk.queue(verbs::Queue { claimer, scope, limit, offset, now }).await?;
    Ok(Json(Queue {
        data: page.entries.into_iter().map(entry).collect(),
        total: page.total,
        total_capped: page.total_capped,
    }))
}

fn entry(entry: verbs::QueueEntry) -> QueueEntry {
    QueueEntry {
        score: entry.score.total(),
        breakdown: convert::breakdown(&entry.score),
        issue: convert::issue(entry.task, None),
        gates: entry.gates.into_iter().map(gate).collect(),
    }
}

/// Says of a gate what `why` says of it.
fn gate(gate: Gate) -> QueueGate {
    let obstacle = Obstacle::Gate(gate);
    QueueGate {
        gate: obstacle.word().to_owned(),
        detail: obstacle.detail(),
        until: obstacle.until().map(convert::time),
    }
}
