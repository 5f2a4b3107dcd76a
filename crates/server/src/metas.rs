//! What the prompts of dispatches were made by, as claims tell it.
//!
//! Every claim tells it, and there are few versions: what was read once is kept. A version
//! and the slug of its template never change.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use extraboard_api::dispatch::DispatchMeta;
use extraboard_core::id::VersionId;
use extraboard_desk::Desk;
use extraboard_store::error::Error;
use extraboard_store::verbs::VersionGet;

/// How many are kept.
const METAS_MAX: usize = 1_000;

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct Metas(Mutex<HashMap<VersionId, DispatchMeta>>);

impl Metas {
    /// Returns what to tell of a version; nothing if its template was deleted meanwhile.
    pub(crate) async fn of(&self, desk: &Desk, version: VersionId) -> Result<Option<DispatchMeta>, Error> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&version).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let (template, version) = match desk.read(VersionGet { version }).await {
            Ok(found) => found,
            Err(Error::NoVersion(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let meta = DispatchMeta {
            template_slug: template.slug,
            template_id: template.id.to_string(),
            version_id: version.id.to_string(),
            version_number: version.number,
            review_url: "POST /api/prompt-reviews".to_owned(),
        };
        let mut metas = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if metas.len() >= METAS_MAX {
            metas.clear();
        }
        metas.insert(version.id, meta.clone());
        Ok(Some(meta))
    }
}
