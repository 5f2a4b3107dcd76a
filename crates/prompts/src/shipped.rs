//! The templates Extraboard ships: for every kind of task one for agents that report
//! themselves, and one for those a runner starts and reports for.

use extraboard_core::doors::Door;
use extraboard_core::kind::Kind;
use extraboard_core::template::Conditions;

/// How particular a template for a kind is.
const KIND: i64 = 10;
/// How particular its twin for spawned agents is.
const KIND_RUN: i64 = 20;
/// How particular the template for improving prompts is.
const IMPROVEMENT: i64 = 50;
/// How particular its twin for spawned agents is.
const IMPROVEMENT_RUN: i64 = 60;
/// The label of tasks to make a prompt better.
const IMPROVEMENT_LABEL: &str = "prompt-improvement";

/// A template Extraboard ships.
#[derive(Clone, Debug, PartialEq)]
pub struct Shipped {
    /// What it goes by.
    pub slug: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// What it is about.
    pub description: &'static str,
    /// What it asks of a task.
    pub conditions: Conditions,
    /// How particular it is.
    pub specificity: i64,
    /// What it says.
    pub content: &'static str,
}

/// Declares the two templates of a kind from their slug.
macro_rules! twins {
    ($kind:ident, $slug:literal, $name:literal, $description:literal) => {
        [
            Shipped {
                slug: $slug,
                name: $name,
                description: $description,
                conditions: Conditions { kind: Some(Kind::$kind), ..Conditions::default() },
                specificity: KIND,
                content: include_str!(concat!("../templates/", $slug, ".hbs")),
            },
            Shipped {
                slug: concat!($slug, "-run"),
                name: concat!($name, " (spawned)"),
                description: concat!($description, " For agents a runner starts."),
                conditions: Conditions {
                    kind: Some(Kind::$kind),
                    door: Some(Door::Run),
                    ..Conditions::default()
                },
                specificity: KIND_RUN,
                content: include_str!(concat!("../templates/", $slug, "-run.hbs")),
            },
        ]
    };
}

/// Returns the templates Extraboard ships.
pub fn shipped() -> Vec<Shipped> {
    [
        twins!(Signal, "signal-triage", "Triage a signal", "Decides what a signal means and what follows."),
        twins!(Hypothesis, "hypothesis-planning", "Plan a test", "Plans how to test a hypothesis."),
        twins!(Plan, "plan-decomposition", "Cut a plan into tasks", "Makes tasks of a plan."),
        twins!(Spec, "spec-writing", "Write a specification", "Says what is to be built, in phases."),
        twins!(Phase, "phase-planning", "Plan a phase", "Cuts a phase into pieces of code."),
        twins!(Code, "code-writing", "Write code", "Writes, tests and commits code."),
        twins!(Task, "task-execution", "Do a task", "Does what a task asks for."),
        twins!(Monitor, "monitor-check", "Check an effect", "Looks whether what was done had its effect."),
        improvement(),
    ]
    .concat()
}

fn improvement() -> [Shipped; 2] {
    let labels = vec![IMPROVEMENT_LABEL.to_owned()];
    [
        Shipped {
            slug: "prompt-improvement",
            name: "Improve a prompt",
            description: "Writes a better version of a template from what agents said about it.",
            conditions: Conditions { labels: labels.clone(), ..Conditions::default() },
            specificity: IMPROVEMENT,
            content: include_str!("../templates/prompt-improvement.hbs"),
        },
        Shipped {
            slug: "prompt-improvement-run",
            name: "Improve a prompt (spawned)",
            description: "Writes a better version of a template. For agents a runner starts.",
            conditions: Conditions { labels, door: Some(Door::Run), ..Conditions::default() },
            specificity: IMPROVEMENT_RUN,
            content: include_str!("../templates/prompt-improvement-run.hbs"),
        },
    ]
}
