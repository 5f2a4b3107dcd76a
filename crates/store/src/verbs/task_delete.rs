//! Delete a task, softly: its row, dispatches and events stay.

use extraboard_core::event::EventType;
use extraboard_core::id::TaskRef;
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

/// Deletes a task; whoever works on it is told to end.
#[derive(Clone, Debug)]
pub struct TaskDelete {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// Which task.
    pub task: TaskRef,
}

impl Verb for TaskDelete {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let before = task::lock(tx, self.task).await?;
        if let Some(dispatch) = lock_dispatch(tx, &before).await?
            && !self.ctx.caller.is_person()
            && !self.ctx.caller.holds(&dispatch)
        {
            return Err(Error::InUseByOther(before.state));
        }
        apply(tx, &self.ctx, before).await
    }
}

/// Deletes a locked task; whoever works on it is told to end.
pub(crate) async fn apply<T: Tx>(tx: &mut T, ctx: &Ctx, before: Task) -> Result<(), Error> {
    if let Some(dispatch) = lock_dispatch(tx, &before).await? {
        end(tx, ctx, dispatch, Reason::TaskDeleted).await?;
    }
    let mut after = before.clone();
    // What is finished keeps saying so; anything else is not wanted any more.
    if !before.state.is_terminal() {
        after.apply(TaskVerb::Cancel, ctx.now)?;
    }
    after.deleted_at = Some(ctx.now);
    let event = NewEvent::new(EventType::TaskDeleted, ctx, before.number).data(moved(&before, &after));
    change(tx, ctx, &before, after, vec![event]).await.map(|_| ())
}
