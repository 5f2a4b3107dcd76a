//! `POST /api/issues/:id/artifacts`: provide what other issues may wait for.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use extraboard_api::artifact::{ArtifactCreate, ArtifactStored};
use extraboard_api::envelope::One;
use extraboard_store::verbs::{Artifact, ArtifactProvide, ArtifactProvided};

use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Body, By, Nothing, Params, TaskPath};
use crate::validate::Problems;

/// The most text an artifact may have.
const CONTENT_BYTES_MAX: usize = 512 * 1024;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    By(caller): By,
    TaskPath(task): TaskPath,
    Body(body): Body<ArtifactCreate>,
) -> Result<(StatusCode, Json<One<ArtifactStored>>), ApiError> {
    let mut problems = Problems::default();
    let path = problems.artifact("path", &body.path);
    if let Some(content) = &body.content {
        check_content(&mut problems, content);
    }
    problems.check()?;
    let (ctx, id) = (app.desk.ctx(caller), app.desk.new_artifact_id());
    let provide = ArtifactProvide { ctx, id, task, path, content: body.content };
    let provided = app.desk.write(provide).await?;
    let status = if provided.existed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(One { data: stored(provided) })))
}

fn check_content(problems: &mut Problems, content: &str) {
    if content.len() > CONTENT_BYTES_MAX {
        let bytes = content.len();
        problems.add("content", format!("expected at most {CONTENT_BYTES_MAX} bytes of text, got {bytes}"));
    }
    if content.contains('\0') {
        problems.add("content", "expected text without NUL characters");
    }
}

fn stored(provided: ArtifactProvided) -> ArtifactStored {
    let ArtifactProvided { artifact, task, freed, .. } = provided;
    ArtifactStored {
        id: artifact.id.to_string(),
        size: size(&artifact),
        path: artifact.path,
        project_id: task.project_id.map(|id| id.to_string()),
        issue_id: task.id.to_string(),
        created_at: convert::time(artifact.created_at),
        freed: freed.into_iter().map(|number| number.0).collect(),
    }
}

/// Returns the bytes of an artifact's text; one that lies elsewhere has none.
pub(super) fn size(artifact: &Artifact) -> i64 {
    let bytes = artifact.content.as_ref().map_or(0, String::len);
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_half_a_mebibyte_of_text_at_most() {
        let check = |content: &str| {
            let mut problems = Problems::default();
            check_content(&mut problems, content);
            problems.check().is_ok()
        };
        assert!(check(""));
        assert!(check(&"x".repeat(CONTENT_BYTES_MAX)));
        assert!(!check(&"x".repeat(CONTENT_BYTES_MAX + 1)));
        assert!(!check(&"é".repeat(CONTENT_BYTES_MAX / 2 + 1)));
        assert!(!check("a\0b"));
    }
}
