//! The verbs: one file each, one transaction each.

mod advance;
mod change;
mod claim;
mod counts;
mod due;
mod events;
mod heartbeat;
mod idempotency;
mod lease_sweep;
mod line_audit;
mod ping;
mod queue;
mod report;
mod secrets;
mod seed;
mod sequence;
mod settle;
mod task_create;
mod task_delete;
mod task_get;
mod task_list;
mod task_move;
mod task_patch;
mod terminate;

use extraboard_core::caller::Caller;
use extraboard_core::clock::Timestamp;

pub use advance::Advance;
pub use claim::{CLAIM_STATEMENTS, ClaimBatch, ClaimRequest, Claimed, Nothing, Render};
pub use counts::{Counts, CountsRead};
pub use due::{Due, DueNext};
pub use events::{Event, EventsAfter};
pub use heartbeat::{DispatchHeartbeat, Usage};
pub use idempotency::{IdempotencyKey, IdempotencyPrune};
pub use lease_sweep::LeaseSweep;
pub use line_audit::LineAudit;
pub use ping::Ping;
pub use queue::{Queue, QueuePage};
pub use report::{DispatchReport, Reported, Verdict};
pub use secrets::{AdminTokenKeep, AdminTokenKnown, ServerKey};
#[doc(hidden)]
pub use seed::{Ceiling, Seed};
pub use sequence::{PosLast, Sequence, Sequenced};
pub use task_create::{TaskCreate, TaskDraft};
pub use task_delete::TaskDelete;
pub use task_get::{TaskGet, TaskView};
pub use task_list::{TaskFilter, TaskList, TaskPage};
pub use task_move::TaskMove;
pub use task_patch::{PriorityEdit, TaskEdit, TaskPatch, TaskPatched};
pub use terminate::{DispatchTerminate, Terminated};

/// Who does something, and when.
#[derive(Clone, Debug)]
pub struct Ctx {
    /// The present.
    pub now: Timestamp,
    /// Whoever acts.
    pub caller: Caller,
}

/// How many rows a bulk verb handles in one turn.
const TURN_MAX: i64 = 500;

/// Tells whether a bulk verb used up its turn, so that there may be more to do.
pub fn is_full_turn(done: usize) -> bool {
    i64::try_from(done) == Ok(TURN_MAX)
}
