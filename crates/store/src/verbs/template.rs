//! Templates: create, edit, delete, read; and their versions: add, promote, read.
//!
//! Whoever changes a template or one of its versions holds the template's row, so that
//! versions are numbered without gaps and one of them is active, whoever else is at it.

use extraboard_core::comment::AuthorType;
use extraboard_core::event::EventType;
use extraboard_core::id::{TemplateId, VersionId};
use extraboard_core::review::{Reviews, Worked};
use extraboard_core::template::{Conditions, SPECIFICITY_DEFAULT, Template, Version, VersionStatus};
use serde_json::json;

use super::Ctx;
use super::catalogue::changed;
use super::task_create::named_project;
use crate::error::Error;
use crate::rows::event::{self, NewEvent};
use crate::rows::project::ProjectRef;
use crate::rows::template::{self, TemplateRef, VersionRef, template_columns, version_columns};
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::params;

/// What is to change; `None` leaves a field, `Some(None)` clears it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TemplateEdit {
    /// What people call it.
    pub name: Option<String>,
    /// What it is about.
    pub description: Option<Option<String>>,
    /// What it asks of a task; the project it asks for is named in `condition_project`.
    pub conditions: Option<Conditions>,
    /// The project its conditions ask for.
    pub condition_project: Option<ProjectRef>,
    /// How particular it is.
    pub specificity: Option<i64>,
    /// The only project it is for.
    pub project: Option<Option<ProjectRef>>,
}

impl TemplateEdit {
    async fn apply<T: Tx>(&self, tx: &mut T, template: &mut Template) -> Result<(), Error> {
        let edit = self.clone();
        template.name = edit.name.unwrap_or_else(|| template.name.clone());
        template.description = edit.description.unwrap_or_else(|| template.description.clone());
        template.specificity = edit.specificity.unwrap_or(template.specificity);
        if let Some(conditions) = edit.conditions {
            template.conditions = conditions;
            template.conditions.project = match edit.condition_project {
                Some(project) => Some(asked_project(tx, &project).await?),
                None => None,
            };
        }
        if let Some(project) = edit.project {
            template.project = match project {
                Some(project) => Some(named_project(tx, &project).await?.id),
                None => None,
            };
        }
        Ok(())
    }
}

async fn asked_project<T: Tx>(
    tx: &mut T,
    project: &ProjectRef,
) -> Result<extraboard_core::id::ProjectId, Error> {
    match named_project(tx, project).await {
        Ok(project) => Ok(project.id),
        Err(Error::Invalid { message, .. }) => Err(Error::invalid("conditions.projectId", message)),
        Err(error) => Err(error),
    }
}

/// Creates a template; it is used once it has a version.
#[derive(Clone, Debug)]
pub struct TemplateCreate {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Its permanent id.
    pub id: TemplateId,
    /// What it goes by; no other has that slug.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What else there is to say, as for an edit.
    pub edit: TemplateEdit,
}

impl Verb for TemplateCreate {
    type Output = Template;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Template, Error> {
        let now = self.ctx.now;
        let mut created = Template {
            id: self.id,
            slug: self.slug.clone(),
            name: self.name.clone(),
            description: None,
            conditions: Conditions::default(),
            specificity: SPECIFICITY_DEFAULT,
            project: None,
            active_version: None,
            created_at: now,
            updated_at: now,
        };
        self.edit.apply(tx, &mut created).await?;
        if !template::insert(tx, &created).await? {
            return Err(Error::Conflict(format!("there is a template {} already", self.slug)));
        }
        tell(tx, &self.ctx, EventType::TemplateCreated, &created).await?;
        Ok(created)
    }
}

async fn tell<T: Tx>(tx: &mut T, ctx: &Ctx, event_type: EventType, template: &Template) -> Result<(), Error> {
    let data = json!({ "template": template.id.to_string(), "slug": template.slug });
    event::insert_all(tx, vec![NewEvent::of_desk(event_type, ctx).data(data)]).await
}

/// Edits a template.
#[derive(Clone, Debug)]
pub struct TemplatePatch {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which template.
    pub template: TemplateRef,
    /// What is to change.
    pub edit: TemplateEdit,
    /// The epoch that begins.
    pub epoch: VersionId,
}

impl Verb for TemplatePatch {
    type Output = Template;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Template, Error> {
        let mut after = template::lock(tx, &self.template).await?;
        self.edit.apply(tx, &mut after).await?;
        after.updated_at = self.ctx.now;
        template::update(tx, &after).await?;
        tell(tx, &self.ctx, EventType::TemplateEdited, &after).await?;
        changed(tx, &self.ctx, self.epoch).await?;
        Ok(after)
    }
}

/// Deletes a template: no prompt is made by it any more.
#[derive(Clone, Debug)]
pub struct TemplateDelete {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which template.
    pub template: TemplateRef,
    /// The epoch that begins.
    pub epoch: VersionId,
}

impl Verb for TemplateDelete {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let deleted = template::lock(tx, &self.template).await?;
        let sql = "UPDATE template SET deleted_at = $2 WHERE id = $1";
        let params = params![deleted.id.to_string(), self.ctx.now.as_micros()];
        expect_rows("deleting a template", 1, tx.execute(sql.into(), params).await?)?;
        tell(tx, &self.ctx, EventType::TemplateDeleted, &deleted).await?;
        changed(tx, &self.ctx, self.epoch).await
    }
}

/// A template, with the version prompts are made by.
#[derive(Clone, Debug)]
pub struct TemplateView {
    /// The template.
    pub template: Template,
    /// Its active version.
    pub active: Option<Version>,
}

/// Reads a template.
#[derive(Clone, Debug)]
pub struct TemplateGet {
    /// Which template.
    pub template: TemplateRef,
}

impl Verb for TemplateGet {
    type Output = TemplateView;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<TemplateView, Error> {
        let template = template::get(tx, &self.template).await?;
        view(tx, template).await
    }
}

async fn view<T: Tx>(tx: &mut T, template: Template) -> Result<TemplateView, Error> {
    let active = match template.active_version {
        Some(active) => template::find_version(tx, active).await?,
        None => None,
    };
    Ok(TemplateView { template, active })
}

/// Lists templates by slug.
#[derive(Clone, Copy, Debug)]
pub struct TemplateList {
    /// How many to pass over.
    pub offset: i64,
    /// How many to return.
    pub limit: i64,
}

const PAGE: &str = concat!(
    "SELECT ",
    template_columns!(),
    " FROM template m WHERE m.deleted_at IS NULL ORDER BY m.slug LIMIT $1 OFFSET $2"
);

impl Verb for TemplateList {
    type Output = (Vec<Template>, i64);

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(Vec<Template>, i64), Error> {
        let rows = tx.query(PAGE.into(), params![self.limit, self.offset]).await?;
        let page = rows.into_iter().map(|mut row| template::from_row(&mut row)).collect::<Result<_, _>>()?;
        let sql = "SELECT COUNT(*) FROM template WHERE deleted_at IS NULL";
        let row = first(tx, sql.into(), params![]).await?;
        let total = row.ok_or_else(|| Error::unreadable("no count"))?.int()?;
        Ok((page, total))
    }
}

/// Adds a version to a template. The first one is active at once, others are drafts.
#[derive(Clone, Debug)]
pub struct VersionCreate {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Its permanent id, and the epoch that begins if it is the first.
    pub id: VersionId,
    /// Which template.
    pub template: TemplateRef,
    /// What it says.
    pub content: String,
    /// What is new about it.
    pub changelog: Option<String>,
    /// Who wrote it; as the caller is if it is not said.
    pub author_type: Option<AuthorType>,
    /// Who that is; the caller if it is not said.
    pub author: Option<String>,
}

impl Verb for VersionCreate {
    type Output = Version;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Version, Error> {
        let template = template::lock(tx, &self.template).await?;
        let ctx = &self.ctx;
        let own = if ctx.caller.is_person() { AuthorType::Human } else { AuthorType::Agent };
        let draft = Draft {
            id: self.id,
            content: self.content.clone(),
            changelog: self.changelog.clone(),
            author_type: self.author_type.unwrap_or(own),
            author: self.author.clone().unwrap_or_else(|| ctx.caller.to_string()),
        };
        let version = add(tx, ctx, &template, draft).await?;
        if version.status == VersionStatus::Active {
            changed(tx, ctx, self.id).await?;
        }
        Ok(version)
    }
}

/// A version that is to be added.
pub(super) struct Draft {
    pub(super) id: VersionId,
    pub(super) content: String,
    pub(super) changelog: Option<String>,
    pub(super) author_type: AuthorType,
    pub(super) author: String,
}

const LAST_NUMBER: &str = "SELECT COALESCE(MAX(number), 0) FROM template_version WHERE template = $1";

/// Adds a version to a template whose row is locked, and tells of it.
pub(super) async fn add<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    template: &Template,
    draft: Draft,
) -> Result<Version, Error> {
    let version = add_silently(tx, ctx, template, draft).await?;
    tell_version(tx, ctx, EventType::VersionCreated, template, &version).await?;
    Ok(version)
}

/// Does the same without telling anybody.
pub(super) async fn add_silently<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    template: &Template,
    draft: Draft,
) -> Result<Version, Error> {
    let row = first(tx, LAST_NUMBER.into(), params![template.id.to_string()]).await?;
    let last = row.ok_or_else(|| Error::unreadable("no number"))?.int()?;
    let version = Version {
        id: draft.id,
        template: template.id,
        number: last + 1,
        content: draft.content,
        changelog: draft.changelog,
        author_type: draft.author_type,
        author: draft.author,
        status: if last == 0 { VersionStatus::Active } else { VersionStatus::Draft },
        worked: Worked::default(),
        reviews: Reviews::default(),
        improvement: None,
        created_at: ctx.now,
    };
    template::insert_version(tx, &version).await?;
    Ok(version)
}

async fn tell_version<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    event_type: EventType,
    template: &Template,
    version: &Version,
) -> Result<(), Error> {
    let data = json!({
        "template": template.id.to_string(),
        "slug": template.slug,
        "version": version.id.to_string(),
        "number": version.number,
        "status": version.status.as_str(),
    });
    event::insert_all(tx, vec![NewEvent::of_desk(event_type, ctx).data(data)]).await
}

/// Makes a version the active one; the one that was is retired.
#[derive(Clone, Debug)]
pub struct VersionPromote {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which template.
    pub template: TemplateRef,
    /// Which version.
    pub version: VersionRef,
    /// The epoch that begins.
    pub epoch: VersionId,
}

impl Verb for VersionPromote {
    type Output = Version;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Version, Error> {
        let template = template::lock(tx, &self.template).await?;
        let version = template::get_version(tx, &template, self.version).await?;
        if version.status == VersionStatus::Active {
            let message = format!("version {} of {} is active already", version.number, template.slug);
            return Err(Error::invalid("versionId", message));
        }
        let version = activate(tx, &self.ctx, &template, version).await?;
        changed(tx, &self.ctx, self.epoch).await?;
        Ok(version)
    }
}

const LOCK_BOTH: &str = "SELECT id \
     FROM template_version \
     WHERE template = $1 AND (status = 'active' OR id = $2) \
     ORDER BY id \
     FOR UPDATE";
const RETIRE: &str =
    "UPDATE template_version SET status = 'retired' WHERE template = $1 AND status = 'active'";
const ACTIVATE: &str = "UPDATE template_version SET status = 'active' WHERE id = $1 AND status <> 'active'";

/// Makes a version of a template whose row is locked the active one.
pub(super) async fn activate<T: Tx>(
    tx: &mut T,
    ctx: &Ctx,
    template: &Template,
    version: Version,
) -> Result<Version, Error> {
    // In the order of ids, as whoever counts what became of prompts.
    tx.query(LOCK_BOTH.into(), params![template.id.to_string(), version.id.to_string()]).await?;
    tx.execute(RETIRE.into(), params![template.id.to_string()]).await?;
    let activated = tx.execute(ACTIVATE.into(), params![version.id.to_string()]).await?;
    expect_rows("promoting", 1, activated)?;
    let version = Version { status: VersionStatus::Active, ..version };
    tell_version(tx, ctx, EventType::VersionPromoted, template, &version).await?;
    Ok(version)
}

/// Lists the versions of a template, the newest first.
#[derive(Clone, Debug)]
pub struct VersionList {
    /// Which template.
    pub template: TemplateRef,
    /// How many to pass over.
    pub offset: i64,
    /// How many to return.
    pub limit: i64,
}

const VERSIONS: &str = concat!(
    "SELECT ",
    version_columns!(),
    " FROM template_version v WHERE v.template = $1 ORDER BY v.number DESC LIMIT $2 OFFSET $3"
);

impl Verb for VersionList {
    type Output = (Vec<Version>, i64);

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(Vec<Version>, i64), Error> {
        let id = template::get(tx, &self.template).await?.id.to_string();
        let page = versions(tx, &id, self.limit, self.offset).await?;
        // They are numbered without gaps.
        let row = first(tx, LAST_NUMBER.into(), params![id]).await?;
        let total = row.ok_or_else(|| Error::unreadable("no count"))?.int()?;
        Ok((page, total))
    }
}

/// Reads versions of a template, the newest first.
pub(super) async fn versions<T: Tx>(
    tx: &mut T,
    template: &str,
    limit: i64,
    offset: i64,
) -> Result<Vec<Version>, Error> {
    let rows = tx.query(VERSIONS.into(), params![template, limit, offset]).await?;
    rows.into_iter().map(|mut row| template::version_from_row(&mut row)).collect()
}

/// Reads a version, and the template it is of.
#[derive(Clone, Copy, Debug)]
pub struct VersionGet {
    /// Which version.
    pub version: VersionId,
}

impl Verb for VersionGet {
    type Output = (Template, Version);

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(Template, Version), Error> {
        let found = template::find_version(tx, self.version).await?;
        let version = found.ok_or(Error::NoVersion(VersionRef::Id(self.version)))?;
        Ok((template::get(tx, &TemplateRef::Id(version.template)).await?, version))
    }
}
