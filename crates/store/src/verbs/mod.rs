//! The verbs: one file each, one transaction each.

mod account;
mod advance;
mod artifact;
mod catalogue;
mod change;
mod claim;
mod comment;
mod counts;
mod dashboard;
mod dispatch_get;
mod doctor;
mod due;
mod events;
mod goal;
mod graph;
mod head_advance;
mod heartbeat;
mod idempotency;
mod inbox;
mod label;
mod lease_sweep;
mod ping;
mod position;
mod project;
mod prompt;
mod prompt_context;
mod prompt_count;
mod queue;
mod relation_create;
mod relation_delete;
mod relation_list;
mod report;
mod review;
mod rules;
mod secrets;
mod seed;
mod sequence;
mod settle;
mod signal;
mod task_create;
mod task_delete;
mod task_get;
mod task_list;
mod task_move;
mod task_order;
mod task_patch;
mod template;
mod terminate;
mod token;
mod why;

use extraboard_core::caller::Caller;
use extraboard_core::clock::Timestamp;

pub use account::{GateClear, GateList};
pub use advance::Advance;
pub use artifact::{
    Artifact, ArtifactList, ArtifactProvide, ArtifactProvided, ArtifactWait, ArtifactWaits, ArtifactsFound,
};
pub use catalogue::{Catalogue, Shipped, TemplatesInit};
pub use claim::{CLAIM_STATEMENTS, ClaimBatch, ClaimRequest, Claimed};
pub use comment::{Comment, CommentCreate, CommentList, TaskAnswer};
pub use counts::{Counts, CountsRead};
pub use dashboard::{Activity, ActivityRead, PromptStats, PromptStatsRead, Stats, StatsRead};
pub use dispatch_get::DispatchGet;
pub use doctor::{Checked, Difference, Doctor, DoctorRepair};
pub use due::{Due, DueNext};
pub use events::{Event, EventPage, EventsAfter, EventsPrune};
pub use goal::{GoalCreate, GoalDelete, GoalEdit, GoalGet, GoalList, GoalPatch};
pub use head_advance::HeadAdvance;
pub use heartbeat::{DispatchHeartbeat, Usage};
pub use idempotency::{IdempotencyKey, IdempotencyPrune};
pub use inbox::{InboxDismiss, InboxItem, InboxList, InboxPage, InboxTask};
pub use label::{LabelCreate, LabelDelete, LabelList, LabelPatch};
pub use lease_sweep::LeaseSweep;
pub use ping::Ping;
pub use project::{
    ProjectCreate, ProjectDelete, ProjectEdit, ProjectFind, ProjectGet, ProjectIds, ProjectList,
    ProjectPatch, ProjectView,
};
pub use prompt::{Preview, Prompter, Render, TaskPreview, Templates};
pub use prompt_count::PromptsCount;
pub use queue::{Queue, QueueEntry, QueuePage, QueueScope};
pub use relation_create::{RelationCreate, RelationCreated};
pub use relation_delete::RelationDelete;
pub use relation_list::{Related, RelationList, Relations, Relatives, TaskRelatives};
pub use report::{DispatchReport, Reported, Verdict};
pub use review::{ReviewCreate, ReviewList, ReviewTaken};
pub use rules::{Rerank, Reranked, RulesChange, RulesEdit, RulesInit, RulesRead};
pub use secrets::{AdminTokenKeep, ServerKey};
#[doc(hidden)]
pub use seed::{Ceiling, Seed, SeedSort};
pub use sequence::{PosLast, Sequence, Sequenced};
pub use signal::{SignalCreate, SignalList, SignalTaken};
pub use task_create::{Imported, TaskCreate, TaskDraft, TaskImport};
pub use task_delete::TaskDelete;
pub use task_get::{TaskGet, TaskView};
pub use task_list::{TaskFilter, TaskList, TaskPage};
pub use task_move::TaskMove;
pub use task_order::{Side, TaskBump, TaskReorder, TaskReordered};
pub use task_patch::{PriorityEdit, TaskEdit, TaskPatch, TaskPatched};
pub use template::{
    TemplateCreate, TemplateDelete, TemplateEdit, TemplateGet, TemplateList, TemplatePatch, TemplateView,
    VersionCreate, VersionGet, VersionList, VersionPromote,
};
pub use terminate::{DispatchTerminate, Terminated};
pub use token::{TokenCreate, TokenKnown, TokenList, TokenRevoke};
pub use why::{Decision, Why, WhyAnswer};

pub use crate::rows::label::LabelRef;
pub use crate::rows::project::ProjectRef;
pub use crate::rows::template::{TemplateRef, VersionRef};
pub use crate::rules::Rules;

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
