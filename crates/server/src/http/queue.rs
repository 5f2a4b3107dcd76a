//! `GET /api/dispatch/queue`: what would be handed out, in that order.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::dispatch::{Breakdown, Queue, QueueEntry, QueueQuery};
use extraboard_core::clock::Timestamp;
use extraboard_core::doors::Door;
use extraboard_core::line::Score;
use extraboard_core::task::Task;
use extraboard_store::verbs;

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::Params;
use crate::validate::Problems;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(query): Params<QueueQuery>,
) -> Result<Json<Queue>, ApiError> {
    let mut problems = Problems::default();
    let page = problems.page(query.limit, query.offset);
    problems.check()?;
    let queue = verbs::Queue { door: Door::Pull, limit: page.limit, offset: page.offset };
    let page = app.desk.queue(queue).await?;
    let now = app.desk.now();
    Ok(Json(Queue {
        data: page.tasks.into_iter().map(|task| entry(task, now)).collect(),
        total: page.total,
        total_capped: page.total_capped,
    }))
}

fn entry(task: Task, now: Timestamp) -> QueueEntry {
    let score = Score::new(task.priority, task.queued_at.unwrap_or(now), now);
    QueueEntry {
        score: score.total(),
        breakdown: Breakdown {
            priority_weight: score.priority,
            age_bonus: score.age,
            ..Breakdown::default()
        },
        issue: convert::issue(task, None),
    }
}
