//! `GET /api/issues`: a page of issues, oldest first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::issue::{IssueList, IssueQuery};
use extraboard_core::id::TaskNumber;
use extraboard_core::status::Status;
use extraboard_core::task::EXTERNAL_KEY_CHARS_MAX;
use extraboard_store::verbs::{LabelRef, TaskFilter, TaskList};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::Params;
use crate::validate::Problems;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(query): Params<IssueQuery>,
) -> Result<Json<IssueList>, ApiError> {
    let page = app.desk.read(list(&query)?).await?;
    Ok(Json(IssueList {
        data: page.tasks.into_iter().map(|view| convert::issue(view.task, view.dispatch.as_ref())).collect(),
        total: page.total,
        total_capped: page.total_capped,
        next_cursor: page.next.map(|number| number.to_string()),
    }))
}

fn list(query: &IssueQuery) -> Result<TaskList, ApiError> {
    let mut problems = Problems::default();
    let statuses: Vec<Status> = query.status.iter().flat_map(|list| problems.words("status", list)).collect();
    let kinds = query.kind.iter().flat_map(|list| problems.words("type", list)).collect();
    let level = query.priority.and_then(|number| problems.level(number));
    let project = query.project_id.as_deref().map(|text| problems.project_ref("projectId", text));
    let parent = query.parent_id.as_deref().and_then(|text| problems.issue_ref("parentId", text));
    for (field, text) in [("labelId", &query.label_id), ("externalKey", &query.external_key)] {
        if let Some(text) = text {
            problems.name(field, text, EXTERNAL_KEY_CHARS_MAX);
        }
    }
    let page = problems.page(query.limit, query.offset);
    let after = query.cursor.as_deref().map_or(Some(0), |cursor| cursor.parse().ok().filter(|n| *n >= 0));
    if after.is_none() {
        problems.add("cursor", "expected the nextCursor of an earlier page");
    }
    problems.check()?;
    Ok(TaskList {
        filter: TaskFilter {
            states: statuses.into_iter().flat_map(Status::states).collect(),
            kinds,
            priority: level.map(extraboard_core::priority::Level::range),
            project,
            parent,
            label: query.label_id.as_deref().map(LabelRef::new),
            external_key: query.external_key.clone(),
        },
        after: TaskNumber(after.unwrap_or(0)),
        offset: page.offset,
        limit: page.limit,
    })
}
