//! Templates: which prompt is made for which task.
//!
//! A template says by its conditions what it is for. Of those that match a task the most
//! particular one is chosen, in an order that leaves no two equal, so that the same task
//! always gets the same template. What a template says is no matter of this module.

use std::cmp::Reverse;

use crate::clock::Timestamp;
use crate::comment::AuthorType;
use crate::doors::Door;
use crate::id::{ProjectId, TaskId, TemplateId, VersionId};
use crate::kind::Kind;
use crate::review::{Reviews, Worked};
use crate::words::words;

/// The longest slug or name of a template, in characters.
pub const SLUG_CHARS_MAX: usize = 200;
/// The longest text of a version, in bytes.
pub const CONTENT_BYTES_MAX: usize = 64 * 1024;
/// How particular a template is unless it says otherwise.
pub const SPECIFICITY_DEFAULT: i64 = 10;
/// How particular a template may say it is.
pub const SPECIFICITY_MAX: i64 = 100;
/// How many labels a template may ask for.
pub const CONDITION_LABELS_MAX: usize = 50;

/// What a template asks of a task: all of it, and nothing where there is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The task is of this kind.
    pub kind: Option<Kind>,
    /// Its signal came from there.
    pub signal_source: Option<String>,
    /// It has all of these labels.
    pub labels: Vec<String>,
    /// It belongs to that project.
    pub project: Option<ProjectId>,
    /// Whether an earlier attempt at it or at one of its siblings failed.
    pub has_failed_sessions: Option<bool>,
    /// Its hypothesis is held with at least this confidence.
    pub hypothesis_confidence: Option<f64>,
    /// It leaves by that door.
    pub door: Option<Door>,
}

/// What conditions look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The kind of the task.
    pub kind: Kind,
    /// Where its signal came from.
    pub signal_source: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Its project.
    pub project: Option<ProjectId>,
    /// Whether an earlier attempt at it or at one of its siblings failed.
    pub has_failed_sessions: bool,
    /// How sure its hypothesis is.
    pub hypothesis_confidence: Option<f64>,
    /// The door it leaves by.
    pub door: Door,
}

impl Conditions {
    /// Tells whether a task is what the conditions ask for.
    pub fn match_facts(&self, facts: &Facts) -> bool {
        let kind = self.kind.is_none_or(|kind| kind == facts.kind);
        let source = self.signal_source.is_none() || self.signal_source == facts.signal_source;
        let labels = self.labels.iter().all(|label| facts.labels.contains(label));
        let project = self.project.is_none() || self.project == facts.project;
        let failed = self.has_failed_sessions.is_none_or(|failed| failed == facts.has_failed_sessions);
        let sure = self
            .hypothesis_confidence
            .is_none_or(|least| facts.hypothesis_confidence.is_some_and(|confidence| confidence >= least));
        let door = self.door.is_none_or(|door| door == facts.door);
        kind && source && labels && project && failed && sure && door
    }
}

words! {
    /// Where a version stands.
    pub enum VersionStatus, "version status" {
        /// Written, and not used.
        Draft = "draft",
        /// The one its template's prompts are made by.
        Active = "active",
        /// Used once.
        Retired = "retired",
    }
}

/// What prompts are made by, and for which tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Its permanent id.
    pub id: TemplateId,
    /// What it goes by in addresses and files; no two have the same.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// What it asks of a task.
    pub conditions: Conditions,
    /// How particular it is: of two that match, the more particular one is used.
    pub specificity: i64,
    /// The only project it is for.
    pub project: Option<ProjectId>,
    /// The version prompts are made by.
    pub active_version: Option<VersionId>,
    /// When it came in.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// One text of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// Its permanent id.
    pub id: VersionId,
    /// The template it is of.
    pub template: TemplateId,
    /// Which one it is, counted from one.
    pub number: i64,
    /// What it says.
    pub content: String,
    /// What is new about it.
    pub changelog: Option<String>,
    /// Who wrote it: a person or an agent.
    pub author_type: AuthorType,
    /// Who that was.
    pub author: String,
    /// Where it stands.
    pub status: VersionStatus,
    /// What became of the prompts made by it.
    pub worked: Worked,
    /// What those who got them said.
    pub reviews: Reviews,
    /// The task to make a better one.
    pub improvement: Option<TaskId>,
    /// When it came in.
    pub created_at: Timestamp,
}

impl Template {
    /// Tells whether the template is for a task.
    pub fn is_for(&self, facts: &Facts) -> bool {
        let elsewhere = self.project.is_some() && self.project != facts.project;
        self.active_version.is_some() && !elsewhere && self.conditions.match_facts(facts)
    }
}

/// Chooses the template for a task: one of its project, then the most particular one, then
/// the first by slug.
pub fn choose<'a>(templates: impl IntoIterator<Item = &'a Template>, facts: &Facts) -> Option<&'a Template> {
    templates
        .into_iter()
        .filter(|template| template.is_for(facts))
        .min_by_key(|template| (template.project.is_none(), Reverse(template.specificity), &template.slug))
}

/// Tells whether a template can go by that slug: lower-case letters and digits, in parts joined by `-`.
pub fn is_slug(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.len() <= SLUG_CHARS_MAX && text.split('-').all(is_part)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn project(nr: u128) -> ProjectId {
        ProjectId::from_uuid(Uuid::from_u128(nr))
    }

    fn facts() -> Facts {
        Facts {
            kind: Kind::Signal,
            signal_source: Some("sentry".to_owned()),
            labels: vec!["bug".to_owned(), "web".to_owned()],
            project: Some(project(1)),
            has_failed_sessions: false,
            hypothesis_confidence: Some(0.8),
            door: Door::Pull,
        }
    }

    #[track_caller]
    fn check(conditions: &Conditions, expected: bool) {
        assert_eq!(conditions.match_facts(&facts()), expected, "{conditions:?}");
    }

    #[test]
    fn t1_no_conditions_match_all() {
        check(&Conditions::default(), true);
    }

    #[test]
    fn t2_conditions_must_all_hold() {
        let both = Conditions {
            kind: Some(Kind::Signal),
            signal_source: Some("sentry".to_owned()),
            ..Conditions::default()
        };
        check(&both, true);
        check(&Conditions { kind: Some(Kind::Task), ..both.clone() }, false);
        check(&Conditions { signal_source: Some("github".to_owned()), ..both }, false);
    }

    #[test]
    fn t3_every_label_is_needed() {
        let labels = |names: &[&str]| Conditions {
            labels: names.iter().map(|name| (*name).to_owned()).collect(),
            ..Conditions::default()
        };
        check(&labels(&["bug"]), true);
        check(&labels(&["web", "bug"]), true);
        check(&labels(&["bug", "api"]), false);
        check(&labels(&["Bug"]), false);
    }

    #[test]
    fn t4_t5_no_source_and_no_project_never_match() {
        let bare = Facts { signal_source: None, project: None, ..facts() };
        let source = Conditions { signal_source: Some("sentry".to_owned()), ..Conditions::default() };
        let own = Conditions { project: Some(project(1)), ..Conditions::default() };
        assert!(source.match_facts(&facts()) && !source.match_facts(&bare));
        assert!(own.match_facts(&facts()) && !own.match_facts(&bare));
        check(&Conditions { project: Some(project(2)), ..Conditions::default() }, false);
    }

    #[test]
    fn t6_failed_sessions_match_exactly() {
        check(&Conditions { has_failed_sessions: Some(false), ..Conditions::default() }, true);
        check(&Conditions { has_failed_sessions: Some(true), ..Conditions::default() }, false);
    }

    #[test]
    fn t7_confidence_is_at_least_what_is_asked_for() {
        let least =
            |confidence| Conditions { hypothesis_confidence: Some(confidence), ..Conditions::default() };
        check(&least(0.8), true);
        check(&least(0.5), true);
        check(&least(0.81), false);
        let unsure = Facts { hypothesis_confidence: None, ..facts() };
        assert!(!least(0.0).match_facts(&unsure));
    }

    #[test]
    fn a_door_matches_exactly() {
        check(&Conditions { door: Some(Door::Pull), ..Conditions::default() }, true);
        check(&Conditions { door: Some(Door::Run), ..Conditions::default() }, false);
    }

    fn template(slug: &str, specificity: i64, of: Option<u128>) -> Template {
        Template {
            id: TemplateId::from_uuid(Uuid::from_u128(1)),
            slug: slug.to_owned(),
            name: slug.to_owned(),
            description: None,
            conditions: Conditions::default(),
            specificity,
            project: of.map(project),
            active_version: Some(VersionId::from_uuid(Uuid::from_u128(1))),
            created_at: Timestamp::from_micros(0),
            updated_at: Timestamp::from_micros(0),
        }
    }

    fn chosen(templates: &[Template]) -> Option<&str> {
        choose(templates, &facts()).map(|template| template.slug.as_str())
    }

    #[test]
    fn t8_the_most_particular_template_is_chosen_and_the_slug_decides_ties() {
        assert_eq!(chosen(&[template("a", 10, None), template("b", 20, None)]), Some("b"));
        assert_eq!(chosen(&[template("b", 10, None), template("a", 10, None)]), Some("a"));
    }

    #[test]
    fn t9_without_a_match_there_is_none() {
        let other = Template {
            conditions: Conditions { kind: Some(Kind::Code), ..Conditions::default() },
            ..template("a", 10, None)
        };
        assert_eq!(chosen(&[other]), None);
        assert_eq!(chosen(&[]), None);
    }

    #[test]
    fn t10_a_template_of_the_project_beats_a_more_particular_one() {
        assert_eq!(chosen(&[template("a", 100, None), template("b", 0, Some(1))]), Some("b"));
    }

    #[test]
    fn a_template_of_another_project_never_matches() {
        assert_eq!(chosen(&[template("b", 100, Some(2))]), None);
        assert_eq!(chosen(&[template("a", 10, None), template("b", 100, Some(2))]), Some("a"));
    }

    #[test]
    fn t11_a_template_without_an_active_version_is_never_used() {
        let draft = Template { active_version: None, ..template("b", 20, None) };
        assert_eq!(chosen(&[draft.clone(), template("a", 10, None)]), Some("a"));
        assert_eq!(chosen(&[draft]), None);
    }

    #[test]
    fn slugs_are_lower_case_parts() {
        for good in ["a", "signal-triage", "v2-1x"] {
            assert!(is_slug(good), "{good}");
        }
        for bad in ["", "A", "a_b", "-a", "a-", "a--b", "a b", &"x".repeat(201)] {
            assert!(!is_slug(bad), "{bad}");
        }
    }
}
