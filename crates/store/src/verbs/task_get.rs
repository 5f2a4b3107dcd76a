//! Read one task, with its unclosed dispatch.

use extraboard_core::dispatch::Dispatch;
use extraboard_core::id::TaskRef;
use extraboard_core::task::Task;

use crate::error::Error;
use crate::rows::{dispatch, task};
use crate::tx::{Tx, Verb};

/// Reads a task that is not deleted.
#[derive(Clone, Copy, Debug)]
pub struct TaskGet {
    /// Which one.
    pub task: TaskRef,
}

/// A task and the dispatch that is not closed.
#[derive(Clone, Debug)]
pub struct TaskView {
    /// The task.
    pub task: Task,
    /// Who has it, if anybody has.
    pub dispatch: Option<Dispatch>,
}

impl Verb for TaskGet {
    type Output = TaskView;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<TaskView, Error> {
        let task = task::get(tx, self.task).await?;
        let dispatch = match task.dispatch {
            Some(id) => Some(dispatch::get(tx, id).await?),
            None => None,
        };
        Ok(TaskView { task, dispatch })
    }
}
