//! The tasks a template is tried out with: one with everything, one with next to nothing.

use std::sync::LazyLock;

use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Timestamp;
use extraboard_core::comment::{AuthorType, CommentKind};
use extraboard_core::doors::{Door, Doors};
use extraboard_core::id::{Fence, ProjectNumber, TaskNumber};
use extraboard_core::kind::Kind;
use extraboard_core::label::TaskLabel;
use extraboard_core::priority::Priority;
use extraboard_core::project::{Goal, GoalStatus, Health, Project, ProjectStatus};
use extraboard_core::prompt::{Context, Improved, Relative, Remark, Session};
use extraboard_core::reason::{Counters, Reason};
use extraboard_core::report::Outcome;
use extraboard_core::state::State;
use extraboard_core::task::Task;

use crate::input::{Source, Surroundings};

const MOMENT: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);
/// An id that is nobody's.
const ID: &str = "01990000-0000-7000-8000-000000000001";

/// Returns a task with everything a task can have.
pub(crate) fn full() -> &'static Context {
    static FULL: LazyLock<Context> = LazyLock::new(|| Context {
        task: full_task(),
        door: Door::Pull,
        dispatch: Some(id()),
        project: Some(project()),
        goal: Some(goal()),
        parent: Some(relative(1, State::Running)),
        siblings: vec![relative(2, State::Done), relative(3, State::Queued)],
        children: vec![relative(5, State::Done), relative(6, State::Failed)],
        blocking: vec![relative(7, State::Queued)],
        blocked_by: vec![relative(8, State::Done)],
        sessions: vec![session(4), session(2)],
        comments: vec![remark(AuthorType::Human), remark(AuthorType::Agent)],
        has_failed_sessions: true,
        ask_for_review: true,
        improves: Some(Improved {
            slug: "task-execution".to_owned(),
            number: 2,
            content: "Do {{issue.title}}.\n".to_owned(),
        }),
    });
    &FULL
}

/// Returns a task with nothing but a title.
pub(crate) fn empty() -> &'static Context {
    static EMPTY: LazyLock<Context> = LazyLock::new(|| Context {
        task: bare_task(),
        door: Door::Run,
        dispatch: None,
        project: None,
        goal: None,
        parent: None,
        siblings: Vec::new(),
        children: Vec::new(),
        blocking: Vec::new(),
        blocked_by: Vec::new(),
        sessions: Vec::new(),
        comments: Vec::new(),
        has_failed_sessions: false,
        ask_for_review: false,
        improves: None,
    });
    &EMPTY
}

/// Returns what a trial is made by.
pub(crate) fn source() -> Source<'static> {
    Source { template: id(), slug: "sample", version: id(), number: 1 }
}

/// Returns where a trial takes place.
pub(crate) fn surroundings() -> &'static Surroundings {
    static HERE: LazyLock<Surroundings> =
        LazyLock::new(|| Surroundings { server_url: "http://127.0.0.1:8600".to_owned() });
    &HERE
}

fn id<T: std::str::FromStr<Err: std::fmt::Debug>>() -> T {
    ID.parse().expect("the sample's id is a uuid")
}

fn text<T: From<String>>(text: &str) -> T {
    text.to_owned().into()
}

fn bare_task() -> Task {
    Task {
        id: id(),
        number: TaskNumber(4),
        title: "Sample".to_owned(),
        description: None,
        kind: Kind::Task,
        state: State::Queued,
        priority: Priority::DEFAULT,
        boost: 0,
        doors: Doors::ANY,
        needs: Capabilities::default(),
        owner: None,
        labels: Vec::new(),
        external_key: None,
        project: None,
        project_id: None,
        parent: None,
        parent_id: None,
        depth: 0,
        gated_by_parent: false,
        parent_open: false,
        open_blockers: 0,
        artifact: None,
        artifact_present: false,
        prompt_broken: false,
        max_retries: 3,
        signal_source: None,
        signal_payload: None,
        hypothesis: None,
        agent_summary: None,
        result: None,
        commits: None,
        pull_requests: None,
        question: None,
        answer: None,
        last_error: None,
        not_before: None,
        queued_at: None,
        fence: Fence(0),
        attempt: 0,
        dispatch: None,
        counters: Counters::default(),
        created_at: MOMENT,
        updated_at: MOMENT,
        started_at: None,
        completed_at: None,
        deleted_at: None,
    }
}

fn full_task() -> Task {
    let label = TaskLabel { id: id(), name: "bug".to_owned(), color: "#ff0000".to_owned() };
    Task {
        title: "Checkout fails for some carts".to_owned(),
        description: text("Carts with a voucher cannot be paid.\nSee the log."),
        state: State::Running,
        needs: Capabilities::parse("rust,sql").expect("words are words"),
        owner: text("payments"),
        labels: vec![label],
        external_key: text("sentry-4711"),
        project: Some(ProjectNumber(1)),
        project_id: Some(id()),
        parent: Some(TaskNumber(1)),
        parent_id: Some(id()),
        depth: 1,
        artifact: text("out/plan.md"),
        signal_source: text("sentry"),
        signal_payload: text(
            r#"{"message": "TypeError", "title": "TypeError", "count": 12, "tags": ["web"]}"#,
        ),
        hypothesis: text(
            r#"{"statement": "Vouchers are not rounded", "confidence": 0.7, "evidence": ["a log"],
                "validationCriteria": "no more errors", "prediction": "none within a day"}"#,
        ),
        agent_summary: text("Found the place, not the cause."),
        result: text(r#"{"found": true}"#),
        commits: text(r#"[{"sha": "abc123", "message": "Try"}]"#),
        pull_requests: text(r#"[{"number": 7, "title": "Try"}]"#),
        question: text("May vouchers be rounded up?"),
        answer: text("No, down."),
        last_error: text("tests failed"),
        fence: Fence(2),
        attempt: 2,
        dispatch: Some(id()),
        started_at: Some(MOMENT),
        ..bare_task()
    }
}

fn relative(number: i64, state: State) -> Relative {
    Relative {
        id: id(),
        number: TaskNumber(number),
        title: format!("Relative {number}"),
        description: text("What it is about."),
        kind: Kind::Plan,
        state,
        agent_summary: text("What came of it."),
        fence: Fence(1),
    }
}

fn project() -> Project {
    Project {
        id: id(),
        number: ProjectNumber(1),
        name: "Payments".to_owned(),
        description: text("All about paying."),
        status: ProjectStatus::Active,
        health: Health::AtRisk,
        goal: Some(id()),
        workspace: None,
        run_limit: None,
        settings: None,
        created_at: MOMENT,
        updated_at: MOMENT,
    }
}

fn goal() -> Goal {
    Goal {
        id: id(),
        title: "Fewer failed payments".to_owned(),
        description: text("Because they cost."),
        metric: text("failed payments"),
        target_value: text("0.5"),
        current_value: text("2"),
        unit: text("%"),
        status: GoalStatus::Active,
        project: Some(ProjectNumber(1)),
        created_at: MOMENT,
        updated_at: MOMENT,
    }
}

fn session(task: i64) -> Session {
    Session {
        task: TaskNumber(task),
        fence: 1,
        outcome: Some(Outcome::Failed),
        reason: Some(Reason::ExecutionFailed),
        summary: text("Tried this."),
        error: text("It did not help."),
        ended_at: MOMENT,
    }
}

fn remark(author_type: AuthorType) -> Remark {
    Remark {
        kind: CommentKind::Comment,
        body: "Mind the rounding.".to_owned(),
        author: "ada".to_owned(),
        author_type,
        created_at: MOMENT,
    }
}
