//! Move a task by a verb of the state machine: admit, park, cancel, retry, reopen.

use extraboard_core::dispatch::Phase;
use extraboard_core::event::EventType;
use extraboard_core::id::TaskRef;
use extraboard_core::patch::{self, Role};
use extraboard_core::reason::{Draw, Reason};
use extraboard_core::report::Report;
use extraboard_core::state::Verb as TaskVerb;
use extraboard_core::task::Task;

use super::Ctx;
use super::change::{change, lock_dispatch, moved};
use super::settle::{self, Settling};
use super::task_get::TaskView;
use super::terminate::end;
use crate::error::Error;
use crate::rows::event::NewEvent;
use crate::rows::task;
use crate::tx::{Tx, Verb};

/// Applies a verb that needs nothing but the task.
#[derive(Clone, Debug)]
pub struct TaskMove {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// To which task.
    pub task: TaskRef,
    /// What.
    pub verb: TaskVerb,
}

impl Verb for TaskMove {
    type Output = TaskView;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<TaskView, Error> {
        let before = task::lock(tx, self.task).await?;
        let caller = &self.ctx.caller;
        let held = lock_dispatch(tx, &before).await?;
        let holds = held.is_some_and(|dispatch| dispatch.phase == Phase::Open && caller.holds(&dispatch));
        let role = match (caller.is_person(), holds) {
            (true, _) => Role::Person,
            (false, true) => Role::Holder,
            (false, false) => Role::Agent,
        };
        if before.state.after(self.verb).is_err() || !patch::may(role, self.verb) {
            return Err(Error::NoMove { verb: self.verb, from: before.state, role });
        }
        let task = if holds && self.verb == TaskVerb::Cancel {
            cancel_own(tx, &self.ctx, before).await?
        } else {
            apply(tx, &self.ctx, before, self.verb).await?
        };
        let dispatch = lock_dispatch(tx, &task).await?;
        Ok(TaskView { task, dispatch })
    }
}

/// Cancels a locked task for its holder, who knows: its dispatch is over at once.
pub(crate) async fn cancel_own<T: Tx>(tx: &mut T, ctx: &Ctx, task: Task) -> Result<Task, Error> {
    let task = apply(tx, ctx, task, TaskVerb::Cancel).await?;
    let Some(dispatch) = lock_dispatch(tx, &task).await? else { return Ok(task) };
    let report = Some(&Report::Release);
    let settling = Settling { ctx, task, dispatch, report, draw: Draw::NONE };
    settle::close(tx, settling).await.map(|(task, _)| task)
}

/// Applies a verb to a locked task; whoever works on it is told to end.
pub(crate) async fn apply<T: Tx>(tx: &mut T, ctx: &Ctx, before: Task, verb: TaskVerb) -> Result<Task, Error> {
    let event_type = event_type(verb)?;
    let mut after = before.clone();
    after.apply(verb, ctx.now)?;
    if matches!(verb, TaskVerb::Cancel | TaskVerb::Close)
        && let Some(dispatch) = lock_dispatch(tx, &before).await?
    {
        end(tx, ctx, dispatch, Reason::UserCanceled).await?;
    }
    let event = NewEvent::new(event_type, ctx, before.number).data(moved(&before, &after));
    change(tx, ctx, &before, after, vec![event]).await
}

/// Returns what a move is told as; other verbs come with a dispatch, never alone.
fn event_type(verb: TaskVerb) -> Result<EventType, Error> {
    Ok(match verb {
        TaskVerb::Admit => EventType::TaskAdmitted,
        TaskVerb::Park => EventType::TaskParked,
        TaskVerb::Cancel => EventType::TaskCanceled,
        TaskVerb::Close => EventType::TaskClosed,
        TaskVerb::Retry => EventType::TaskRetried,
        TaskVerb::Answer => EventType::TaskAnswered,
        TaskVerb::Reopen => EventType::TaskReopened,
        TaskVerb::Approve => EventType::TaskApproved,
        TaskVerb::SendBack => EventType::TaskSentBack,
        TaskVerb::Claim
        | TaskVerb::Assign
        | TaskVerb::Start
        | TaskVerb::Complete
        | TaskVerb::Submit
        | TaskVerb::Requeue
        | TaskVerb::Block
        | TaskVerb::Fail
        | TaskVerb::TimeOut => return Err(Error::Broken(format!("{verb} does not move a task by itself"))),
    })
}
