//! `PATCH /api/issues/:id`: edit an issue, or do what a status means.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::issue::{IssuePatch, IssuePatched};
use extraboard_core::caller::Caller;
use extraboard_core::doors::Door;
use extraboard_core::gate::Claimer;
use extraboard_desk::Claim;
use extraboard_store::verbs::{PriorityEdit, TaskEdit, TaskPatch};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, TaskPath};
use crate::validate::{PAYLOAD_BYTES_MAX, Problems, REPORT_CHARS_MAX, RESULT_BYTES_MAX, SOURCE_CHARS_MAX};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TaskPath(task): TaskPath,
    Body(body): Body<IssuePatch>,
) -> Result<Json<IssuePatched>, ApiError> {
    let mut problems = Problems::default();
    let edit = edit(&mut problems, &body);
    let status = body.status.as_deref().and_then(|word| problems.status(word));
    problems.check()?;
    // Where tokens count, one of a dispatch does not reach for other issues and projects.
    if let Caller::Holder { dispatch, .. } = &caller
        && !app.is_loopback()
        && (body.parent_id.is_some() || body.project_id.is_some())
    {
        return Err(ApiError::OutOfScope(*dispatch));
    }
    let claimer = Claimer::anyone(caller.to_string(), Door::Pull);
    let claim = app.desk.claim_request(Claim { caller, claimer, key: None });
    let now = app.desk.now();
    let (draw, render) = (app.desk.draw(), app.desk.render());
    let patch = TaskPatch { task, claim, now, edit, status, draw, render };
    // This verb can do what most others do, and is as large as they are together.
    let patched = Box::pin(app.desk.write(patch)).await?;
    app.wrote(&patched.task);
    let dispatch = patched.opened.map(|opened| convert::ticket(&app.settings.key, &opened));
    Ok(Json(IssuePatched { data: convert::issue(patched.task, patched.dispatch.as_ref()), dispatch }))
}

fn edit(problems: &mut Problems, body: &IssuePatch) -> TaskEdit {
    if let Some(title) = &body.title {
        problems.title(title);
    }
    for (field, text, chars_max) in [
        ("signalSource", &body.signal_source, SOURCE_CHARS_MAX),
        ("agentSummary", &body.agent_summary, REPORT_CHARS_MAX),
        ("description", &body.description, extraboard_core::task::DESCRIPTION_CHARS_MAX),
    ] {
        if let Some(Some(text)) = text {
            problems.text(field, text, chars_max);
        }
    }
    if let Some(number) = body.max_retries {
        problems.max_retries(number);
    }
    let payload = body.signal_payload.as_ref();
    let hypothesis = body.hypothesis.as_ref();
    TaskEdit {
        title: body.title.clone(),
        description: body.description.clone(),
        kind: body.kind.as_deref().and_then(|word| problems.kind(word)),
        priority: priority(problems, body),
        doors: body.doors.as_ref().and_then(|doors| problems.doors(doors)),
        max_retries: body.max_retries,
        not_before: body
            .not_before
            .as_ref()
            .map(|moment| moment.as_ref().and_then(|text| problems.moment("notBefore", text))),
        signal_source: body.signal_source.clone(),
        signal_payload: payload.map(|value| {
            value.as_ref().map(|value| problems.json("signalPayload", value, PAYLOAD_BYTES_MAX))
        }),
        hypothesis: hypothesis
            .map(|value| value.as_ref().map(|value| problems.object("hypothesis", value, RESULT_BYTES_MAX))),
        agent_summary: body.agent_summary.clone(),
        commits: body.commits.as_ref().map(|list| list.as_ref().map(|list| problems.commits(list))),
        pull_requests: body
            .pull_requests
            .as_ref()
            .map(|list| list.as_ref().map(|list| problems.pull_requests(list))),
        ..standing(problems, body)
    }
}

/// Reads where the issue should stand among others, and whom it should be for.
fn standing(problems: &mut Problems, body: &IssuePatch) -> TaskEdit {
    if let Some(points) = body.boost {
        problems.boost(points);
    }
    if let Some(Some(owner)) = &body.owner {
        problems.owner(owner);
    }
    let project = body.project_id.as_ref();
    let parent = body.parent_id.as_ref();
    let artifact = body.input_artifact.as_ref();
    TaskEdit {
        boost: body.boost,
        needs: body.needs.as_ref().and_then(|needs| problems.capabilities("needs", needs)),
        owner: body.owner.clone(),
        labels: body.label_ids.as_deref().map(|labels| problems.labels(labels)),
        project: project.map(|text| text.as_ref().map(|text| problems.project_ref("projectId", text))),
        parent: parent
            .map(|parent| parent.as_ref().and_then(|parent| problems.issue_ref("parentId", parent.as_str()))),
        gated_by_parent: body.gated_by_parent,
        artifact: artifact.map(|path| path.as_ref().map(|path| problems.artifact("inputArtifact", path))),
        ..TaskEdit::default()
    }
}

fn priority(problems: &mut Problems, body: &IssuePatch) -> Option<PriorityEdit> {
    problems.one_priority(body.priority, body.priority_value);
    let points = body.priority_value.and_then(|points| problems.points(points)).map(PriorityEdit::Points);
    let level = body.priority.and_then(|number| problems.level(number)).map(PriorityEdit::Level);
    points.or(level)
}
