//! `GET /api/issues/:id/artifacts`: what an issue provided.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use extraboard_api::artifact::Artifact;
use extraboard_api::envelope::Many;
use extraboard_store::verbs::{self, ArtifactList};

use super::artifact_create::size;
use crate::app::App;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{Nothing, Params, TaskPath};

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    Params(Nothing {}): Params<Nothing>,
    TaskPath(task): TaskPath,
) -> Result<Json<Many<Artifact>>, ApiError> {
    let artifacts = app.desk.read(ArtifactList { task }).await?;
    Ok(Json(Many::whole(artifacts.into_iter().map(shown).collect())))
}

fn shown(artifact: verbs::Artifact) -> Artifact {
    Artifact {
        id: artifact.id.to_string(),
        size: size(&artifact),
        path: artifact.path,
        created_at: convert::time(artifact.created_at),
        content: artifact.content,
    }
}
