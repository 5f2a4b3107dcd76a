//! Who wants work: what a request says about its claimer, read and checked.
//!
//! The name is never taken from the parameters of a claim: limits count by it, so it is the
//! caller's own.

use std::fmt::Write as _;

use extraboard_api::claimer::{ClaimerQuery, NextBody};
use extraboard_core::doors::Door;
use extraboard_core::gate::{Account, Claimer};
use extraboard_core::id::ProjectId;
use extraboard_core::kind::Kind;
use extraboard_store::error::Error;
use extraboard_store::verbs::{ProjectFind, ProjectRef};

use crate::app::App;
use crate::error::ApiError;
use crate::validate::{PROVIDER_CHARS_MAX, Problems};

/// A claimer whose project is yet to be looked up.
#[derive(Debug)]
pub(crate) struct Unplaced {
    claimer: Claimer,
    project: Option<ProjectRef>,
}

/// A claimer, and the project it asks for as surfaces name it.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) claimer: Claimer,
    pub(crate) project: Option<ProjectId>,
}

/// Reads what a claimer says; its lists are sorted, so that their order does not matter.
pub(crate) fn read(problems: &mut Problems, name: String, said: NextBody) -> Unplaced {
    let words = said.kinds.unwrap_or_default();
    let mut kinds: Vec<Kind> = words.iter().filter_map(|word| problems.word("kinds", word)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let words = said.capabilities.unwrap_or_default();
    let capabilities = problems.capabilities("capabilities", &words).unwrap_or_default();
    if let Some(owner) = &said.owner {
        problems.owner(owner);
    }
    if let Some(adapter) = &said.adapter {
        problems.name("adapter", adapter, PROVIDER_CHARS_MAX);
    }
    let account = account(problems, said.provider, said.account);
    let project = said.project_id.map(|text| problems.project_ref("projectId", &text));
    let (owner, adapter) = (said.owner, said.adapter);
    let anyone = Claimer::anyone(name, door(problems, said.door.as_deref()));
    Unplaced { claimer: Claimer { capabilities, owner, adapter, account, kinds, ..anyone }, project }
}

/// Reads the door work is taken by. Nobody takes what is pushed.
fn door(problems: &mut Problems, word: Option<&str>) -> Door {
    match word.map(|word| problems.word("door", word)) {
        Some(Some(Door::Push)) => {
            problems.add("door", "expected pull or run, got push");
            Door::Pull
        }
        Some(Some(door)) => door,
        Some(None) | None => Door::Pull,
    }
}

fn account(problems: &mut Problems, provider: Option<String>, account: Option<String>) -> Option<Account> {
    if let Some(provider) = &provider {
        problems.path_name("provider", provider, PROVIDER_CHARS_MAX);
    }
    if let Some(account) = &account {
        problems.path_name("account", account, PROVIDER_CHARS_MAX);
        // In a path this stands for the account of a provider that has only one.
        if account == "-" {
            problems.add("account", "expected the account's name, or nothing if it is the only one");
        }
        if provider.is_none() {
            problems.add("account", "expected the provider along with it");
        }
    }
    provider.map(|provider| Account { provider, account: account.unwrap_or_default() })
}

/// Joins what the query says with what the body says; neither goes before the other.
pub(crate) fn joined(problems: &mut Problems, query: ClaimerQuery, body: NextBody) -> NextBody {
    let query = NextBody::from(query);
    NextBody {
        project_id: one(problems, "projectId", query.project_id, body.project_id),
        kinds: one(problems, "kinds", query.kinds, body.kinds),
        capabilities: one(problems, "capabilities", query.capabilities, body.capabilities),
        owner: one(problems, "owner", query.owner, body.owner),
        adapter: one(problems, "adapter", query.adapter, body.adapter),
        door: one(problems, "door", query.door, body.door),
        provider: one(problems, "provider", query.provider, body.provider),
        account: one(problems, "account", query.account, body.account),
    }
}

fn one<T>(problems: &mut Problems, field: &str, query: Option<T>, body: Option<T>) -> Option<T> {
    if query.is_some() && body.is_some() {
        problems.add(field, "expected it in the query or in the body, got both");
    }
    query.or(body)
}

impl Unplaced {
    /// Looks up the project the claimer asks for.
    pub(crate) async fn place(self, app: &App) -> Result<Placed, ApiError> {
        let Self { claimer, project } = self;
        let Some(project) = project else { return Ok(Placed { claimer, project: None }) };
        let found = app.desk.read(ProjectFind { project: project.clone() }).await?;
        let missing = || ApiError::invalid("projectId", Error::NoProject(project).to_string());
        let found = found.ok_or_else(missing)?;
        let claimer = Claimer { project: Some(found.number), ..claimer };
        Ok(Placed { claimer, project: Some(found.id) })
    }
}

/// Writes all a claim asks for in one way, for the fingerprint of its key.
pub(crate) fn parameters(claimer: &Claimer) -> String {
    let mut text = format!("door={}", claimer.door);
    let mut add = |key: &str, value: &str| {
        // Quoted, so that no value can look like another parameter.
        let _ = write!(text, "&{key}={value:?}");
    };
    if let Some(project) = claimer.project {
        add("project", &project.to_string());
    }
    if !claimer.kinds.is_empty() {
        let words: Vec<_> = claimer.kinds.iter().map(|kind| kind.as_str()).collect();
        add("kinds", &words.join(","));
    }
    if !claimer.capabilities.is_empty() {
        add("capabilities", &claimer.capabilities.to_string());
    }
    for (key, value) in [("owner", &claimer.owner), ("adapter", &claimer.adapter)] {
        if let Some(value) = value {
            add(key, value);
        }
    }
    if let Some(account) = &claimer.account {
        add("provider", &account.provider);
        add("account", &account.account);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pairs: &[(&str, &str)]) -> ClaimerQuery {
        let mut query = ClaimerQuery::default();
        for (key, value) in pairs {
            let value = Some((*value).to_owned());
            match *key {
                "projectId" => query.project_id = value,
                "kinds" => query.kinds = value,
                "capabilities" => query.capabilities = value,
                "owner" => query.owner = value,
                "adapter" => query.adapter = value,
                "door" => query.door = value,
                "provider" => query.provider = value,
                "account" => query.account = value,
                other => panic!("no parameter {other}"),
            }
        }
        query
    }

    fn check(pairs: &[(&str, &str)], body: NextBody) -> Result<Unplaced, String> {
        let mut problems = Problems::default();
        let said = joined(&mut problems, query(pairs), body);
        let read = read(&mut problems, "agent:a".to_owned(), said);
        match problems.check() {
            Ok(()) => Ok(read),
            Err(ApiError::Invalid(fields)) => {
                let told = fields.into_iter().map(|field| format!("{}: {}", field.field, field.message));
                Err(told.collect::<Vec<_>>().join("; "))
            }
            Err(other) => panic!("{other:?}"),
        }
    }

    fn fingerprint(pairs: &[(&str, &str)]) -> String {
        parameters(&check(pairs, NextBody::default()).unwrap().claimer)
    }

    #[test]
    fn nothing_said_is_anyone() {
        let read = check(&[], NextBody::default()).unwrap();
        assert_eq!(read.claimer, Claimer::anyone("agent:a", Door::Pull));
        assert_eq!(read.project, None);
    }

    #[test]
    fn a_claimer_is_read_from_query_and_body_together() {
        let body = NextBody {
            capabilities: Some(vec!["SQL".to_owned(), "rust".to_owned()]),
            owner: Some("ann".to_owned()),
            ..NextBody::default()
        };
        let pairs = [("kinds", "task, code,task"), ("provider", "acme"), ("projectId", "apollo")];
        let read = check(&pairs, body).unwrap();
        assert_eq!(read.claimer.kinds, [Kind::Code, Kind::Task]);
        assert_eq!(read.claimer.capabilities.to_string(), "rust,sql");
        assert_eq!(read.claimer.owner.as_deref(), Some("ann"));
        assert_eq!(read.claimer.account.unwrap().to_string(), "acme");
        assert_eq!(read.project, Some(ProjectRef::Name("apollo".to_owned())));
    }

    #[test]
    fn what_is_said_twice_is_refused() {
        let body = NextBody { owner: Some("ann".to_owned()), ..NextBody::default() };
        let told = check(&[("owner", "ann")], body).unwrap_err();
        assert_eq!(told, "owner: expected it in the query or in the body, got both");
    }

    #[test]
    fn bad_parameters_are_named() {
        for (pairs, expected) in [
            (&[("account", "team")][..], "account: expected the provider along with it"),
            (&[("kinds", "code,")], "kinds: expected a type"),
            (&[("kinds", "coed")], "kinds: expected a type"),
            (&[("capabilities", "a b")], "capabilities: expected words"),
            (&[("capabilities", "")], "capabilities: expected words"),
            (&[("owner", "")], "owner: expected 1 to 100 characters"),
            (&[("provider", "..")], "provider: expected a name"),
            (&[("provider", "acme"), ("account", "-")], "account: expected the account's name"),
            (&[("projectId", "a\0b")], "projectId: expected characters that can be printed"),
        ] {
            let told = check(pairs, NextBody::default()).unwrap_err();
            assert!(told.starts_with(expected), "{pairs:?}: {told}");
        }
    }

    #[test]
    fn a_fingerprint_covers_all_that_is_asked_for_and_not_how() {
        assert_eq!(fingerprint(&[]), "door=pull");
        let one = fingerprint(&[("kinds", "task,code"), ("capabilities", "Rust,sql")]);
        assert_eq!(one, fingerprint(&[("kinds", "code, task"), ("capabilities", "sql,rust,SQL")]));
        assert_eq!(one, r#"door=pull&kinds="code,task"&capabilities="rust,sql""#);
        let all = [
            fingerprint(&[]),
            fingerprint(&[("owner", "a")]),
            fingerprint(&[("adapter", "a")]),
            fingerprint(&[("provider", "a")]),
            fingerprint(&[("provider", "a"), ("account", "b")]),
            fingerprint(&[("owner", r#"a"&adapter="b"#)]),
            fingerprint(&[("owner", "a"), ("adapter", "b")]),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(!all[index + 1..].contains(one), "{one}");
        }
    }
}
