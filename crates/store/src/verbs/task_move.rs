//! Move a task by a verb of the state machine: admit, park, cancel, retry, reopen.

use extraboard_core::event::EventType;
use extraboard_core::id::TaskRef;
use extraboard_core::patch::{self, Role};
use extraboard_core::reason::Reason;
use extraboard_core::state::Verb as TaskVerb;
use extraboard_core::task::Task;

use super::Ctx;
use super::change::{change, lock_dispatch, moved};
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
    type Output = Task;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Task, Error> {
        let before = task::lock(tx, self.task).await?;
        // Whether the state allows it is the more helpful thing to say first.
        before.state.after(self.verb)?;
        let role = if self.ctx.caller.is_person() { Role::Person } else { Role::Agent };
        if !patch::may(role, self.verb) {
            return Err(Error::PersonOnly { verb: self.verb.as_str(), from: before.state });
        }
        apply(tx, &self.ctx, before, self.verb).await
    }
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
        TaskVerb::Retry | TaskVerb::Answer => EventType::TaskRetried,
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
