//! The tables `template` and `template_version`.

use extraboard_core::clock::{Span, Timestamp};
use extraboard_core::doors::Door;
use extraboard_core::id::{TemplateId, VersionId};
use extraboard_core::kind::Kind;
use extraboard_core::review::{Reviews, Score, Worked};
use extraboard_core::template::{Conditions, Template, Version};
use serde_json::{Value as Json, json};

use crate::error::Error;
use crate::tx::{Tx, expect_rows, first};
use crate::value::{Row, params};

/// How a caller names a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateRef {
    /// By permanent id.
    Id(TemplateId),
    /// By slug.
    Slug(String),
}

impl TemplateRef {
    /// Reads a uuid as an id, and anything else as a slug.
    pub fn new(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Slug(text.to_owned()), Self::Id)
    }
}

impl std::fmt::Display for TemplateRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Slug(slug) => slug.fmt(f),
        }
    }
}

/// How a caller names a version of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionRef {
    /// By permanent id.
    Id(VersionId),
    /// By number.
    Number(i64),
}

impl std::fmt::Display for VersionRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// The columns of a template, in the order [`from_row`] reads them.
macro_rules! template_columns {
    () => {
        "m.id, m.slug, m.name, m.description, m.conditions, m.specificity, \
         (SELECT p.id FROM project p WHERE p.number = m.project), \
         (SELECT a.id FROM template_version a WHERE a.template = m.id AND a.status = 'active'), \
         m.created_at, m.updated_at"
    };
}

pub(crate) use template_columns;

/// Reads the columns of [`template_columns`].
pub(crate) fn from_row(row: &mut Row) -> Result<Template, Error> {
    Ok(Template {
        id: row.parse()?,
        slug: row.text()?,
        name: row.text()?,
        description: row.opt_text()?,
        conditions: conditions(&row.text()?)?,
        specificity: row.int()?,
        project: row.opt_parse()?,
        active_version: row.opt_parse()?,
        created_at: Timestamp::from_micros(row.int()?),
        updated_at: Timestamp::from_micros(row.int()?),
    })
}

/// The columns of a version, in the order [`version_from_row`] reads them.
macro_rules! version_columns {
    () => {
        "v.id, v.template, v.number, v.content, v.changelog, v.author_type, v.author, v.status, \
         v.used, v.completed, v.failed, v.reworked, v.duration_micros, \
         v.review_count, v.score_micros, v.clarity_sum, v.completeness_sum, v.relevance_sum, \
         v.improvement, v.created_at"
    };
}

pub(crate) use version_columns;

/// Reads the columns of [`version_columns`].
pub(crate) fn version_from_row(row: &mut Row) -> Result<Version, Error> {
    Ok(Version {
        id: row.parse()?,
        template: row.parse()?,
        number: row.int()?,
        content: row.text()?,
        changelog: row.opt_text()?,
        author_type: row.parse()?,
        author: row.text()?,
        status: row.parse()?,
        worked: Worked {
            used: row.int()?,
            completed: row.int()?,
            failed: row.int()?,
            reworked: row.int()?,
            duration: Span::from_micros(row.int()?),
        },
        reviews: Reviews {
            count: row.int()?,
            score: row.opt_int()?.map(Score),
            clarity: row.int()?,
            completeness: row.int()?,
            relevance: row.int()?,
        },
        improvement: row.opt_parse()?,
        created_at: Timestamp::from_micros(row.int()?),
    })
}

/// Writes conditions as they are stored: only what is asked for.
pub(crate) fn conditions_text(conditions: &Conditions) -> String {
    let mut object = serde_json::Map::new();
    let mut put = |name: &str, value: Option<Json>| {
        if let Some(value) = value {
            object.insert(name.to_owned(), value);
        }
    };
    put("type", conditions.kind.map(|kind| kind.as_str().into()));
    put("signalSource", conditions.signal_source.clone().map(Json::from));
    put("labels", Some(json!(conditions.labels)).filter(|_| !conditions.labels.is_empty()));
    put("projectId", conditions.project.map(|project| project.to_string().into()));
    put("hasFailedSessions", conditions.has_failed_sessions.map(Json::from));
    put("hypothesisConfidence", conditions.hypothesis_confidence.map(Json::from));
    put("door", conditions.door.map(|door| door.as_str().into()));
    Json::Object(object).to_string()
}

fn conditions(text: &str) -> Result<Conditions, Error> {
    let unreadable = || Error::unreadable(format!("conditions {text}"));
    let json: Json = serde_json::from_str(text).map_err(|_| unreadable())?;
    let word = |name: &str| json.get(name).and_then(Json::as_str);
    let labels = json.get("labels").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(Conditions {
        kind: word("type").map(str::parse::<Kind>).transpose().map_err(|_| unreadable())?,
        signal_source: word("signalSource").map(str::to_owned),
        labels: labels.iter().filter_map(|label| label.as_str().map(str::to_owned)).collect(),
        project: word("projectId").map(str::parse).transpose().map_err(|_| unreadable())?,
        has_failed_sessions: json.get("hasFailedSessions").and_then(Json::as_bool),
        hypothesis_confidence: json.get("hypothesisConfidence").and_then(Json::as_f64),
        door: word("door").map(str::parse::<Door>).transpose().map_err(|_| unreadable())?,
    })
}

const BY_ID: &str =
    concat!("SELECT ", template_columns!(), " FROM template m WHERE m.id = $1 AND m.deleted_at IS NULL");
const BY_SLUG: &str =
    concat!("SELECT ", template_columns!(), " FROM template m WHERE m.slug = $1 AND m.deleted_at IS NULL");
const LOCK: &str = "SELECT id FROM template WHERE id = $1 AND deleted_at IS NULL FOR UPDATE";

/// Reads a template that is not deleted, if there is one.
pub(crate) async fn find<T: Tx>(tx: &mut T, template: &TemplateRef) -> Result<Option<Template>, Error> {
    let row = match template {
        TemplateRef::Id(id) => first(tx, BY_ID.into(), params![id.to_string()]).await?,
        TemplateRef::Slug(slug) => first(tx, BY_SLUG.into(), params![slug.as_str()]).await?,
    };
    row.map(|mut row| from_row(&mut row)).transpose()
}

/// Reads a template that is not deleted.
pub(crate) async fn get<T: Tx>(tx: &mut T, template: &TemplateRef) -> Result<Template, Error> {
    find(tx, template).await?.ok_or_else(|| Error::NoTemplate(template.clone()))
}

/// Locks a template that is not deleted, then reads it: as whoever held it left it.
pub(crate) async fn lock<T: Tx>(tx: &mut T, template: &TemplateRef) -> Result<Template, Error> {
    let id = get(tx, template).await?.id;
    let locked = first(tx, LOCK.into(), params![id.to_string()]).await?;
    locked.ok_or_else(|| Error::NoTemplate(template.clone()))?;
    get(tx, &TemplateRef::Id(id)).await
}

/// Of two that want one slug at once the second waits for the first, and changes nothing.
const INSERT: &str = "INSERT INTO template (id, slug, name, description, conditions, specificity, project, \
       created_at, updated_at) \
     VALUES ($1, $2, $3, $4, $5, $6, (SELECT p.number FROM project p WHERE p.id = $7), $8, $8) \
     ON CONFLICT (slug) WHERE deleted_at IS NULL DO NOTHING";

/// Inserts a template; tells whether its slug was free.
pub(crate) async fn insert<T: Tx>(tx: &mut T, template: &Template) -> Result<bool, Error> {
    let params = params![
        template.id.to_string(),
        template.slug.as_str(),
        template.name.as_str(),
        &template.description,
        conditions_text(&template.conditions),
        template.specificity,
        template.project.map(|project| project.to_string()),
        template.created_at.as_micros(),
    ];
    Ok(tx.execute(INSERT.into(), params).await? == 1)
}

const UPDATE: &str = "UPDATE template \
     SET name = $2, description = $3, conditions = $4, specificity = $5, \
       project = (SELECT p.number FROM project p WHERE p.id = $6), updated_at = $7 \
     WHERE id = $1 AND deleted_at IS NULL";

/// Writes a changed template.
pub(crate) async fn update<T: Tx>(tx: &mut T, template: &Template) -> Result<(), Error> {
    let params = params![
        template.id.to_string(),
        template.name.as_str(),
        &template.description,
        conditions_text(&template.conditions),
        template.specificity,
        template.project.map(|project| project.to_string()),
        template.updated_at.as_micros(),
    ];
    expect_rows("a template's update", 1, tx.execute(UPDATE.into(), params).await?)
}

const VERSION_BY_ID: &str = concat!(
    "SELECT ",
    version_columns!(),
    " FROM template_version v JOIN template m ON m.id = v.template WHERE v.id = $1 AND m.deleted_at IS NULL"
);
const VERSION_OF: &str = concat!(
    "SELECT ",
    version_columns!(),
    " FROM template_version v WHERE v.template = $1 AND v.number = $2"
);

/// Reads a version of a template that is not deleted, if there is one.
pub(crate) async fn find_version<T: Tx>(tx: &mut T, id: VersionId) -> Result<Option<Version>, Error> {
    let row = first(tx, VERSION_BY_ID.into(), params![id.to_string()]).await?;
    row.map(|mut row| version_from_row(&mut row)).transpose()
}

/// Reads a version of this template.
pub(crate) async fn get_version<T: Tx>(
    tx: &mut T,
    template: &Template,
    version: VersionRef,
) -> Result<Version, Error> {
    let found = match version {
        VersionRef::Id(id) => find_version(tx, id).await?.filter(|found| found.template == template.id),
        VersionRef::Number(number) => {
            let row = first(tx, VERSION_OF.into(), params![template.id.to_string(), number]).await?;
            row.map(|mut row| version_from_row(&mut row)).transpose()?
        }
    };
    found.ok_or(Error::NoVersion(version))
}

const INSERT_VERSION: &str = "INSERT INTO template_version (id, template, number, content, changelog, \
       author_type, author, status, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// Inserts a new version.
pub(crate) async fn insert_version<T: Tx>(tx: &mut T, version: &Version) -> Result<(), Error> {
    let params = params![
        version.id.to_string(),
        version.template.to_string(),
        version.number,
        version.content.as_str(),
        &version.changelog,
        version.author_type.as_str(),
        version.author.as_str(),
        version.status.as_str(),
        version.created_at.as_micros(),
    ];
    expect_rows("adding a version", 1, tx.execute(INSERT_VERSION.into(), params).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_stored_as_they_are() {
        let all = Conditions {
            kind: Some(Kind::Signal),
            signal_source: Some("sentry".to_owned()),
            labels: vec!["a".to_owned(), "b".to_owned()],
            project: Some("01890000-0000-7000-8000-000000000000".parse().unwrap()),
            has_failed_sessions: Some(false),
            hypothesis_confidence: Some(0.8),
            door: Some(Door::Run),
        };
        for written in [all, Conditions::default()] {
            assert_eq!(conditions(&conditions_text(&written)).unwrap(), written);
        }
        assert_eq!(conditions_text(&Conditions::default()), "{}");
    }
}
