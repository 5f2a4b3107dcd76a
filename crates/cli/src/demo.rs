//! Sample tasks for `xb up --demo`.

use extraboard_core::caller::Caller;
use extraboard_core::kind::Kind;
use extraboard_core::priority::{Level, Priority};
use extraboard_core::state::State;
use extraboard_desk::Desk;
use extraboard_store::verbs::{CountsRead, TaskCreate, TaskDraft};

use crate::announce::notice;
use crate::config::LogFormat;
use crate::error::{CliError, Kind as Failure};

/// Adds the samples, unless there are tasks already.
pub(crate) async fn add(desk: &Desk, format: LogFormat) -> Result<(), CliError> {
    let failed = |error| CliError::new(Failure::Failed, format!("cannot add the sample tasks: {error}"));
    if !desk.read(CountsRead).await.map_err(failed)?.states.is_empty() {
        notice(format, "there are tasks already: no samples were added");
        return Ok(());
    }
    for draft in drafts() {
        let ctx = desk.ctx(Caller::Desk);
        desk.write(TaskCreate { ctx, id: desk.new_task_id(), draft, key: None }).await.map_err(failed)?;
    }
    notice(format, "sample tasks were added: see them with `xb queue`");
    Ok(())
}

fn drafts() -> Vec<TaskDraft> {
    let sample = |title: &str, description: &str, kind, priority| TaskDraft {
        description: Some(description.to_owned()),
        kind,
        priority,
        ..TaskDraft::new(title)
    };
    vec![
        sample(
            "Sign-up fails for addresses with a plus sign",
            "Users report a 500 when they register with name+tag@example.com. Find out why, add a test, fix it.",
            Kind::Signal,
            Level::Urgent.priority(),
        ),
        sample(
            "Write a test for the date parser",
            "Cover leap years, time zones and text that is no date at all.",
            Kind::Task,
            Level::High.priority(),
        ),
        sample(
            "Plan the move to the new payment API",
            "List the calls we make today, what replaces each, and an order in which to move.",
            Kind::Plan,
            Level::Medium.priority(),
        ),
        sample(
            "Remove the unused feature flags",
            "Flags that have been on for everybody for a month can go.",
            Kind::Task,
            Level::Low.priority(),
        ),
        TaskDraft {
            state: State::Backlog,
            ..sample(
                "Measure how long a cold start takes",
                "Waits in the backlog: admit it with `xb admit`.",
                Kind::Monitor,
                Priority::DEFAULT,
            )
        },
    ]
}
