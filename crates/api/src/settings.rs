//! A project's settings: how its issues are worked on.
//!
//! The keys are those of the project file that lies in a repository, in snake case: the file is read into these
//! types and sent as they are. One set of rules serves the file and the routes, so it is here, unlike other
//! rules: [`ProjectSettings::problems`] tells what they refuse.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::FieldError;

/// Where a task is worked on.
pub const WORKSPACE_MODES: [&str; 3] = ["none", "dir", "worktree"];
/// What is made of finished work.
pub const FINISH_ACTIONS: [&str; 3] = ["none", "branch", "pr"];
/// When work counts as done.
pub const DONE_WHEN: [&str; 4] = ["reported", "verified", "approved", "merged"];
/// Where an issue that a signal makes may start.
pub const SIGNAL_STATUSES: [&str; 3] = ["triage", "backlog", "todo"];

/// The longest text of a setting, in characters.
const TEXT_CHARS_MAX: usize = 2_000;
/// How many routes, and how many entries of a list, there may be.
const ENTRIES_MAX: usize = 100;
/// The highest limit of running tasks.
const RUNNING_MAX: i64 = 100_000;

/// What is set about a project; nothing where nothing is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectSettings {
    /// `owner/name` of its repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// The branch work starts from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishSettings>,
    /// Who works on which issues; the first that matches decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub route: Vec<RouteSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals: Option<SignalSettings>,
    /// Whether agents are asked what they think of their prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviews: Option<bool>,
}

/// Where its issues are worked on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceSettings {
    /// `none`, `dir` or `worktree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The command that makes a new workspace ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Files to bring along that the repository does not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copy: Vec<String>,
    /// The command whose success says that the work is good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
}

/// What becomes of finished work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FinishSettings {
    /// `none`, `branch` or `pr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// `reported`, `verified`, `approved` or `merged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_when: Option<String>,
}

/// Who works on the issues that match: exactly one of `run`, `pull` and `push`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouteSettings {
    /// Which issues it is for; all if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<RouteConditions>,
    /// The adapter that runs the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The adapters to try where the first cannot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
    /// Whether agents come for the work themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull: Option<bool>,
    /// Whether the work is brought to agents that registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push: Option<bool>,
}

/// Which issues a route is for: all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouteConditions {
    /// Names; the issue has all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Types; the issue is of one of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
}

/// How much may go on and be spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// How many of its issues may be handed out at once; the project's `runLimit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetSettings>,
}

/// How much may be spent, in US dollars.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_usd: Option<f64>,
}

/// What becomes of signals.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SignalSettings {
    /// `triage`, `backlog` or `todo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

impl ProjectSettings {
    /// Returns what the rules refuse, named by key: `workspace.mode`, `route[1].run`.
    pub fn problems(&self) -> Vec<FieldError> {
        let mut found = Problems::default();
        found.text("repo", self.repo.as_deref());
        found.text("base", self.base.as_deref());
        if let Some(workspace) = &self.workspace {
            found.workspace(workspace);
        }
        if let Some(finish) = &self.finish {
            found.word("finish.action", finish.action.as_deref(), &FINISH_ACTIONS);
            found.word("finish.done_when", finish.done_when.as_deref(), &DONE_WHEN);
        }
        found.entries("route", self.route.len());
        for (index, route) in self.route.iter().enumerate() {
            found.route(&format!("route[{index}]"), route);
        }
        if let Some(limits) = &self.limits {
            found.limits(limits);
        }
        if let Some(signals) = &self.signals {
            found.word("signals.status", signals.status.as_deref(), &SIGNAL_STATUSES);
        }
        found.0
    }
}

/// Reads the settings of an answer; those of a newer server that cannot be read count as none.
pub(crate) fn readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ProjectSettings, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// What was found wrong so far.
#[derive(Default)]
struct Problems(Vec<FieldError>);

impl Problems {
    fn push(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(FieldError { field: field.to_owned(), message: message.into() });
    }

    fn text(&mut self, field: &str, text: Option<&str>) {
        let Some(text) = text else { return };
        if text.trim().is_empty() {
            self.push(field, "must not be empty");
        } else if text.contains('\0') || text.chars().count() > TEXT_CHARS_MAX {
            self.push(field, format!("must be at most {TEXT_CHARS_MAX} characters, none of them NUL"));
        }
    }

    fn word(&mut self, field: &str, word: Option<&str>, words: &[&str]) {
        if let Some(word) = word
            && !words.contains(&word)
        {
            self.push(field, format!("`{word}` is none of {}", words.join(", ")));
        }
    }

    fn entries(&mut self, field: &str, count: usize) {
        if count > ENTRIES_MAX {
            self.push(field, format!("has {count} entries, at most {ENTRIES_MAX} are allowed"));
        }
    }

    fn texts(&mut self, field: &str, texts: &[String]) {
        self.entries(field, texts.len());
        for (index, text) in texts.iter().enumerate() {
            self.text(&format!("{field}[{index}]"), Some(text));
        }
    }

    fn workspace(&mut self, workspace: &WorkspaceSettings) {
        self.word("workspace.mode", workspace.mode.as_deref(), &WORKSPACE_MODES);
        self.text("workspace.setup", workspace.setup.as_deref());
        self.text("workspace.verify", workspace.verify.as_deref());
        self.texts("workspace.copy", &workspace.copy);
        for (index, path) in workspace.copy.iter().enumerate() {
            if !stays_inside(path) {
                self.push(
                    &format!("workspace.copy[{index}]"),
                    format!("`{path}` must be a relative path without `..`"),
                );
            }
        }
    }

    fn route(&mut self, field: &str, route: &RouteSettings) {
        if let Some(when) = &route.when {
            self.texts(&format!("{field}.when.labels"), &when.labels);
            self.texts(&format!("{field}.when.kinds"), &when.kinds);
        }
        self.text(&format!("{field}.run"), route.run.as_deref());
        self.text(&format!("{field}.model"), route.model.as_deref());
        self.texts(&format!("{field}.fallback"), &route.fallback);
        for (name, flag) in [("pull", route.pull), ("push", route.push)] {
            if flag == Some(false) {
                self.push(&format!("{field}.{name}"), "must be true or left out");
            }
        }
        let doors = [route.run.is_some(), route.pull.is_some(), route.push.is_some()];
        if doors.into_iter().filter(|door| *door).count() != 1 {
            self.push(field, "must have exactly one of `run`, `pull` and `push`");
        }
        if route.run.is_none() && (route.model.is_some() || !route.fallback.is_empty()) {
            self.push(field, "has `model` or `fallback`, which need `run`");
        }
    }

    fn limits(&mut self, limits: &LimitSettings) {
        if limits.running.is_some_and(|running| !(0..=RUNNING_MAX).contains(&running)) {
            self.push("limits.running", format!("must be from 0 to {RUNNING_MAX}"));
        }
        let budget = limits.budget.clone().unwrap_or_default();
        for (name, usd) in [("task_usd", budget.task_usd), ("day_usd", budget.day_usd)] {
            if usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
                self.push(&format!("limits.budget.{name}"), "must be a number of 0 or more");
            }
        }
    }
}

/// Tells whether a path names something below the directory it starts from, on any system.
fn stays_inside(path: &str) -> bool {
    let mut parts = path.split(['/', '\\']);
    let drive = path.as_bytes().get(1) == Some(&b':');
    !drive && !path.starts_with(['/', '\\', '~']) && parts.all(|part| part != "..")
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns settings with every key set.
    pub(crate) fn settings_json() -> Value {
        json!({
            "repo": "acme/payments", "base": "main",
            "workspace": {
                "mode": "worktree", "setup": "make deps", "copy": [".env.local"], "verify": "make test"
            },
            "finish": {"action": "branch", "done_when": "reported"},
            "route": [
                {
                    "when": {"labels": ["trivial"], "kinds": ["task"]}, "run": "claude", "model": "haiku",
                    "fallback": ["codex"]
                },
                {"pull": true},
                {"push": true}
            ],
            "limits": {"running": 4, "budget": {"task_usd": 5.0, "day_usd": 60.5}},
            "signals": {"status": "triage"},
            "reviews": true
        })
    }

    fn check(wire: Value, field: &str, message: &str) {
        let settings: ProjectSettings = serde_json::from_value(wire).unwrap();
        let problems = settings.problems();
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!((problem.field.as_str(), problem.message.as_str()), (field, message));
    }

    #[test]
    fn settings_read_and_write_as_documented() {
        let settings: ProjectSettings = serde_json::from_value(settings_json()).unwrap();
        assert_eq!(serde_json::to_value(&settings).unwrap(), settings_json());
        assert_eq!(settings.problems(), []);
    }

    #[test]
    fn nothing_set_is_an_empty_object() {
        assert_eq!(serde_json::to_value(ProjectSettings::default()).unwrap(), json!({}));
        assert_eq!(serde_json::from_str::<ProjectSettings>("{}").unwrap(), ProjectSettings::default());
        assert_eq!(ProjectSettings::default().problems(), []);
    }

    #[test]
    fn every_part_refuses_unknown_keys() {
        for wire in [
            r#"{"branch": "main"}"#,
            r#"{"workspace": {"kind": "dir"}}"#,
            r#"{"finish": {"doneWhen": "merged"}}"#,
            r#"{"route": [{"use": "claude"}]}"#,
            r#"{"route": [{"pull": true, "when": {"label": "a"}}]}"#,
            r#"{"limits": {"total": 1}}"#,
            r#"{"limits": {"budget": {"usd": 1}}}"#,
            r#"{"signals": {"state": "todo"}}"#,
        ] {
            let error = serde_json::from_str::<ProjectSettings>(wire).unwrap_err().to_string();
            assert!(error.starts_with("unknown field"), "{wire}: {error}");
        }
    }

    #[test]
    fn words_are_those_of_the_lists() {
        check(
            json!({"workspace": {"mode": "tree"}}),
            "workspace.mode",
            "`tree` is none of none, dir, worktree",
        );
        check(json!({"finish": {"action": "PR"}}), "finish.action", "`PR` is none of none, branch, pr");
        check(
            json!({"finish": {"done_when": "never"}}),
            "finish.done_when",
            "`never` is none of reported, verified, approved, merged",
        );
        check(
            json!({"signals": {"status": "done"}}),
            "signals.status",
            "`done` is none of triage, backlog, todo",
        );
    }

    #[test]
    fn a_route_has_exactly_one_door() {
        let one = "must have exactly one of `run`, `pull` and `push`";
        check(json!({"route": [{}]}), "route[0]", one);
        check(json!({"route": [{"pull": true}, {"run": "claude", "push": true}]}), "route[1]", one);
        check(json!({"route": [{"pull": false}]}), "route[0].pull", "must be true or left out");
        check(
            json!({"route": [{"pull": true, "model": "haiku"}]}),
            "route[0]",
            "has `model` or `fallback`, which need `run`",
        );
        check(json!({"route": [{"run": " "}]}), "route[0].run", "must not be empty");
    }

    #[test]
    fn copied_files_stay_inside() {
        for path in ["/etc/passwd", "../secret", "a/../../b", "C:\\x", "\\x", "~/x", "a\\..\\b"] {
            check(
                json!({"workspace": {"copy": [".env", path]}}),
                "workspace.copy[1]",
                &format!("`{path}` must be a relative path without `..`"),
            );
        }
        let fine = json!({"workspace": {"copy": [".env", "a/b", "a..b", "..a"]}});
        assert_eq!(serde_json::from_value::<ProjectSettings>(fine).unwrap().problems(), []);
    }

    #[test]
    fn numbers_are_not_negative() {
        check(json!({"limits": {"running": -1}}), "limits.running", "must be from 0 to 100000");
        check(
            json!({"limits": {"budget": {"day_usd": -0.5}}}),
            "limits.budget.day_usd",
            "must be a number of 0 or more",
        );
    }

    #[test]
    fn lists_and_texts_have_an_end() {
        let many = vec![json!({"pull": true}); 101];
        check(json!({"route": many}), "route", "has 101 entries, at most 100 are allowed");
        check(
            json!({"repo": "x".repeat(2_001)}),
            "repo",
            "must be at most 2000 characters, none of them NUL",
        );
    }
}
