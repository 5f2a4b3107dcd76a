//! The templates in use, as claims read them.
//!
//! Every change of a template begins a new epoch, which has an id of its own: whoever
//! keeps what it read, and by which epoch, knows without reading again whether it still
//! holds. An epoch that was undone never comes back.

use std::sync::{Arc, Mutex, PoisonError};

use extraboard_core::clock::Timestamp;
use extraboard_core::comment::AuthorType;
use extraboard_core::event::EventType;
use extraboard_core::id::{TaskNumber, TemplateId, VersionId};
use extraboard_core::reason::PROMPT_BACKOFF;
use extraboard_core::template::{Conditions, Template, Version};
use serde_json::json;

use super::Ctx;
use super::change::change;
use super::template::{Draft, activate, add, add_silently, versions};
use crate::error::Error;
use crate::rows::event::NewEvent;
use crate::rows::task;
use crate::rows::template::{self, TemplateRef, template_columns, version_columns};
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::params;

/// Every template that has an active version, with that version.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// When they were these.
    pub epoch: String,
    /// The templates.
    pub templates: Vec<(Template, Version)>,
}

/// Keeps a catalogue as long as it holds.
#[derive(Debug, Default)]
pub(crate) struct CatalogueCache(Mutex<Option<Arc<Catalogue>>>);

impl CatalogueCache {
    fn of(&self, epoch: &str) -> Option<Arc<Catalogue>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone().filter(|kept| kept.epoch == epoch)
    }

    fn keep(&self, catalogue: &Arc<Catalogue>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(catalogue));
    }
}

const EPOCH: &str = "SELECT epoch FROM catalogue";
const ACTIVE: &str = concat!(
    "SELECT ",
    template_columns!(),
    ", ",
    version_columns!(),
    " FROM template m JOIN template_version v ON v.template = m.id AND v.status = 'active' \
     WHERE m.deleted_at IS NULL \
     ORDER BY m.slug"
);

/// Reads which templates there are.
pub(crate) async fn epoch<T: Tx>(tx: &mut T) -> Result<String, Error> {
    let row = first(tx, EPOCH.into(), params![]).await?;
    row.ok_or_else(|| Error::unreadable("no catalogue"))?.text()
}

/// Returns the templates in use, from the cache if they are those of this epoch.
pub(crate) async fn read<T: Tx>(
    tx: &mut T,
    cache: &CatalogueCache,
    epoch: &str,
) -> Result<Arc<Catalogue>, Error> {
    if let Some(kept) = cache.of(epoch) {
        return Ok(kept);
    }
    let rows = tx.query(ACTIVE.into(), params![]).await?;
    let templates = rows
        .into_iter()
        .map(|mut row| Ok((template::from_row(&mut row)?, template::version_from_row(&mut row)?)))
        .collect::<Result<_, Error>>()?;
    let catalogue = Arc::new(Catalogue { epoch: epoch.to_owned(), templates });
    cache.keep(&catalogue);
    Ok(catalogue)
}

/// Begins a new epoch, and lets tasks whose prompts could not be made try again.
pub(crate) async fn changed<T: Tx>(tx: &mut T, ctx: &Ctx, epoch: VersionId) -> Result<(), Error> {
    let sql = "UPDATE catalogue SET epoch = $1 WHERE one = 1";
    // Ids of versions are made afresh each time, and an edit of a version makes none: the
    // moment tells them apart.
    let epoch = format!("{epoch} {}", ctx.now.as_micros());
    expect_rows("a new epoch", 1, tx.execute(sql.into(), params![epoch]).await?)?;
    Box::pin(try_again(tx, ctx)).await
}

const BROKEN: &str = "SELECT number \
     FROM task \
     WHERE prompt_broken = 1 AND deleted_at IS NULL \
     ORDER BY number \
     LIMIT $1";

/// Puts tasks whose prompts could not be made back in line. What is beyond one turn
/// waits for its own time.
async fn try_again<T: Tx>(tx: &mut T, ctx: &Ctx) -> Result<(), Error> {
    for mut row in tx.query(BROKEN.into(), params![super::TURN_MAX]).await? {
        let before = task::lock_even_deleted(tx, TaskNumber(row.int()?)).await?;
        if !before.prompt_broken || before.deleted_at.is_some() {
            continue;
        }
        let mut after = before.clone();
        after.prompt_broken = false;
        // A moment somebody set is theirs to take back.
        after.not_before = after.not_before.filter(|at| at.since(ctx.now) > PROMPT_BACKOFF);
        let event = NewEvent::new(EventType::TaskDue, ctx, before.number)
            .data(json!({ "reason": "a template changed" }));
        change(tx, ctx, &before, after, vec![event]).await?;
    }
    Ok(())
}

/// A template that comes with the program.
#[derive(Clone, Debug)]
pub struct Shipped {
    /// The id it gets if it is not there.
    pub id: TemplateId,
    /// The id its text gets if it is not there.
    pub version: VersionId,
    /// What it goes by.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// What it asks of a task.
    pub conditions: Conditions,
    /// How particular it is.
    pub specificity: i64,
    /// What it says.
    pub content: String,
}

/// Adds the templates that come with the program.
///
/// One that was deleted stays so, and one that somebody else wrote a version of stays as
/// they left it. Where the program's own last text is in use, its new one takes over; a text
/// that was there before does not come back.
#[derive(Clone, Debug)]
pub struct TemplatesInit {
    /// The desk, and when.
    pub ctx: Ctx,
    /// What comes with the program.
    pub shipped: Vec<Shipped>,
}

/// Whoever writes what the program ships.
const AUTHOR: &str = "extraboard";

impl Verb for TemplatesInit {
    type Output = usize;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<usize, Error> {
        let mut written = 0;
        for shipped in &self.shipped {
            written += usize::from(self.keep_up(tx, shipped).await?);
        }
        Ok(written)
    }
}

const KNOWN: &str = "SELECT 1 FROM template_version WHERE template = $1 AND content = $2 LIMIT 1";
const EVER: &str = "SELECT 1 FROM template WHERE slug = $1 LIMIT 1";

impl TemplatesInit {
    /// Adds one template or its new text; tells whether there was anything to add.
    async fn keep_up<T: Tx>(&self, tx: &mut T, shipped: &Shipped) -> Result<bool, Error> {
        let slug = TemplateRef::Slug(shipped.slug.clone());
        if first(tx, EVER.into(), params![shipped.slug.as_str()]).await?.is_none() {
            return self.add(tx, shipped).await;
        }
        if template::find(tx, &slug).await?.is_none() {
            return Ok(false);
        }
        let template = template::lock(tx, &slug).await?;
        let newest = versions(tx, &template.id.to_string(), 1, 0).await?.into_iter().next();
        let Some(newest) = newest else { return Ok(false) };
        let own = newest.author == AUTHOR && template.active_version == Some(newest.id);
        // A text that is there is in use, or was: this server may be older than another one.
        let known = params![template.id.to_string(), shipped.content.as_str()];
        if !own || first(tx, KNOWN.into(), known).await?.is_some() {
            return Ok(false);
        }
        let changelog = Some("comes with a newer version of the program".to_owned());
        let draft = Draft { changelog, ..draft(shipped) };
        let version = add(tx, &self.ctx, &template, draft).await?;
        activate(tx, &self.ctx, &template, version).await?;
        changed(tx, &self.ctx, shipped.version).await?;
        Ok(true)
    }

    async fn add<T: Tx>(&self, tx: &mut T, shipped: &Shipped) -> Result<bool, Error> {
        let created = made(shipped, self.ctx.now);
        // Another server may add it at the same moment.
        if !template::insert(tx, &created).await? {
            return Ok(false);
        }
        // What comes with an empty desk is no news.
        add_silently(tx, &self.ctx, &created, draft(shipped)).await?;
        changed(tx, &self.ctx, shipped.version).await?;
        Ok(true)
    }
}

fn made(shipped: &Shipped, now: Timestamp) -> Template {
    Template {
        id: shipped.id,
        slug: shipped.slug.clone(),
        name: shipped.name.clone(),
        description: Some(shipped.description.clone()),
        conditions: shipped.conditions.clone(),
        specificity: shipped.specificity,
        project: None,
        active_version: None,
        created_at: now,
        updated_at: now,
    }
}

fn draft(shipped: &Shipped) -> Draft {
    Draft {
        id: shipped.version,
        content: shipped.content.clone(),
        changelog: None,
        author_type: AuthorType::Human,
        author: AUTHOR.to_owned(),
    }
}
