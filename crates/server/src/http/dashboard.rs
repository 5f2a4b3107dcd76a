//! `/api/dashboard/*`: the whole at a glance.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::dashboard::{
    Activity, ActivityQuery, DashboardStats, DispatchStats, GoalStats, IssueStats, PromptHealth,
};
use extraboard_api::envelope::{Many, One};
use extraboard_core::status::Status;
use extraboard_store::verbs::{self, ActivityRead, PromptStatsRead, Stats, StatsRead};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Nothing, Params};

/// How many issues are told of at most, and if nobody says.
const ACTIVITY_MAX: i64 = 100;
const ACTIVITY_DEFAULT: i64 = 20;

pub(crate) async fn stats(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
) -> Result<Json<One<DashboardStats>>, ApiError> {
    let stats = app.desk.read(StatsRead { now: app.desk.now() }).await?;
    Ok(Json(One { data: shown(&stats) }))
}

fn shown(stats: &Stats) -> DashboardStats {
    let mut issues = IssueStats::default();
    for (state, kind, count) in &stats.tasks {
        issues.total += count;
        *issues.by_status.entry(Status::of(*state).as_str().to_owned()).or_default() += count;
        *issues.by_type.entry(kind.as_str().to_owned()).or_default() += count;
    }
    let of = |statuses: &[Status]| {
        statuses.iter().filter_map(|status| issues.by_status.get(status.as_str())).sum::<i64>()
    };
    let dispatch = DispatchStats {
        queue_depth: of(&[Status::Todo, Status::Backlog]),
        active_count: of(&[Status::InProgress]),
        completed_last24h: stats.completed_last_day,
    };
    let (total, active, achieved) = stats.goals;
    DashboardStats { goals: GoalStats { total, active, achieved }, dispatch, issues }
}

pub(crate) async fn activity(
    State(app): State<Arc<App>>,
    Params(query): Params<ActivityQuery>,
) -> Result<Json<Many<Activity>>, ApiError> {
    let limit = query.limit.unwrap_or(ACTIVITY_DEFAULT);
    if !(1..=ACTIVITY_MAX).contains(&limit) {
        return Err(ApiError::invalid("limit", format!("expected 1 to {ACTIVITY_MAX}, got {limit}")));
    }
    let limit = usize::try_from(limit).unwrap_or_default();
    let (found, total) = app.desk.read(ActivityRead { limit }).await?;
    Ok(Json(Many { data: found.iter().map(shown_activity).collect(), total }))
}

fn shown_activity(activity: &verbs::Activity) -> Activity {
    let relation = |related: &verbs::Related| {
        let own = [related.relation.from, related.relation.to];
        let seen_from = activity
            .children
            .iter()
            .find(|child| own.contains(&child.number) && child.number != related.other.number);
        seen_from.map(|child| convert::relation(child.id, related))
    };
    Activity {
        issue: convert::brief(&activity.task),
        children: activity.children.iter().map(convert::brief).collect(),
        relations: activity.related.iter().filter_map(relation).collect(),
        latest_activity: convert::time(activity.latest),
    }
}

pub(crate) async fn prompts(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
) -> Result<Json<Many<PromptHealth>>, ApiError> {
    app.count_prompts().await;
    let stats = app.desk.read(PromptStatsRead).await?;
    Ok(Json(Many::whole(stats.iter().map(convert::template::health).collect())))
}
