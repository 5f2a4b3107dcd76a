//! Patch a task: edit fields, and do what asking for a status means.

use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Timestamp;
use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::doors::Doors;
use extraboard_core::event::EventType;
use extraboard_core::id::TaskRef;
use extraboard_core::kind::Kind;
use extraboard_core::patch::{self, Ask, Role};
use extraboard_core::priority::{Level, Priority};
use extraboard_core::reason::Draw;
use extraboard_core::report::{Completion, Report};
use extraboard_core::state::Verb as TaskVerb;
use extraboard_core::status::Status;
use extraboard_core::task::Task;
use serde_json::json;

use super::change::{change, lock_dispatch};
use super::claim::{ClaimRequest, Claimed, claim_exactly, take_claim_lock};
use super::graph::{refuse_parent_cycle, set_parent, shift_descendants, take_graph_lock};
use super::heartbeat::Usage;
use super::prompt::Render;
use super::report::{self, DispatchReport};
use super::task_create::{named, set_project};
use super::{Ctx, artifact, label, task_move};
use crate::error::Error;
use crate::rows::event::NewEvent;
use crate::rows::label::LabelRef;
use crate::rows::project::ProjectRef;
use crate::rows::{self, dispatch, task};
use crate::tx::{Tx, Verb};

/// A new priority, from a surface that knows levels or one that knows points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityEdit {
    /// A level; the one already shown keeps the points.
    Level(Level),
    /// Points.
    Points(Priority),
}

/// What is to change; `None` leaves a field, `Some(None)` clears it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskEdit {
    /// What people call it.
    pub title: Option<String>,
    /// What is to be done.
    pub description: Option<Option<String>>,
    /// The sort of work.
    pub kind: Option<Kind>,
    /// How much it matters.
    pub priority: Option<PriorityEdit>,
    /// Points the operator adds.
    pub boost: Option<i64>,
    /// The ways it may leave.
    pub doors: Option<Doors>,
    /// What it takes to do it.
    pub needs: Option<Capabilities>,
    /// Whose agents may do it.
    pub owner: Option<Option<String>>,
    /// All the labels it is to have.
    pub labels: Option<Vec<LabelRef>>,
    /// The project it belongs to.
    pub project: Option<Option<ProjectRef>>,
    /// The task it is a part of.
    pub parent: Option<Option<TaskRef>>,
    /// Whether it waits for its parent.
    pub gated_by_parent: Option<bool>,
    /// The artifact it waits for.
    pub artifact: Option<Option<String>>,
    /// How often it may be tried again.
    pub max_retries: Option<i64>,
    /// The earliest moment it may be handed out.
    pub not_before: Option<Option<Timestamp>>,
    /// Where the signal behind it came from.
    pub signal_source: Option<Option<String>>,
    /// The signal itself, as JSON.
    pub signal_payload: Option<Option<String>>,
    /// The guess behind it, as JSON.
    pub hypothesis: Option<Option<String>>,
    /// What an agent says about it.
    pub agent_summary: Option<Option<String>>,
    /// The commits that came of it, as JSON.
    pub commits: Option<Option<String>>,
    /// The pull requests that came of it, as JSON.
    pub pull_requests: Option<Option<String>>,
}

impl TaskEdit {
    fn apply(&self, task: &mut Task) {
        set(&mut task.title, self.title.as_ref());
        set(&mut task.description, self.description.as_ref());
        set(&mut task.kind, self.kind.as_ref());
        set(&mut task.boost, self.boost.as_ref());
        set(&mut task.doors, self.doors.as_ref());
        set(&mut task.needs, self.needs.as_ref());
        set(&mut task.owner, self.owner.as_ref());
        set(&mut task.gated_by_parent, self.gated_by_parent.as_ref());
        set(&mut task.artifact, self.artifact.as_ref());
        set(&mut task.max_retries, self.max_retries.as_ref());
        set(&mut task.not_before, self.not_before.as_ref());
        set(&mut task.signal_source, self.signal_source.as_ref());
        set(&mut task.signal_payload, self.signal_payload.as_ref());
        set(&mut task.hypothesis, self.hypothesis.as_ref());
        set(&mut task.agent_summary, self.agent_summary.as_ref());
        set(&mut task.commits, self.commits.as_ref());
        set(&mut task.pull_requests, self.pull_requests.as_ref());
        match self.priority {
            Some(PriorityEdit::Level(level)) => task.priority = task.priority.with_level(level),
            Some(PriorityEdit::Points(priority)) => task.priority = priority,
            None => {}
        }
    }

    /// Returns the names of the fields that are to change.
    fn fields(&self) -> Vec<&'static str> {
        let named = [
            ("title", self.title.is_some()),
            ("description", self.description.is_some()),
            ("type", self.kind.is_some()),
            ("priority", self.priority.is_some()),
            ("boost", self.boost.is_some()),
            ("doors", self.doors.is_some()),
            ("needs", self.needs.is_some()),
            ("owner", self.owner.is_some()),
            ("labelIds", self.labels.is_some()),
            ("projectId", self.project.is_some()),
            ("parentId", self.parent.is_some()),
            ("gatedByParent", self.gated_by_parent.is_some()),
            ("inputArtifact", self.artifact.is_some()),
            ("maxRetries", self.max_retries.is_some()),
            ("notBefore", self.not_before.is_some()),
            ("signalSource", self.signal_source.is_some()),
            ("signalPayload", self.signal_payload.is_some()),
            ("hypothesis", self.hypothesis.is_some()),
            ("agentSummary", self.agent_summary.is_some()),
            ("commits", self.commits.is_some()),
            ("pullRequests", self.pull_requests.is_some()),
        ];
        named.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name).collect()
    }

    /// Tells whether the edit changes what waits for what.
    const fn is_of_graph(&self) -> bool {
        self.parent.is_some()
            || self.gated_by_parent.is_some()
            || self.artifact.is_some()
            || self.project.is_some()
    }
}

fn set<V: Clone>(field: &mut V, value: Option<&V>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}

/// Edits a task and, if a status is asked for, does what that means.
#[derive(Clone)]
pub struct TaskPatch {
    /// The task.
    pub task: TaskRef,
    /// Who asks, and the dispatch to open if that is what it means.
    pub claim: ClaimRequest,
    /// The present.
    pub now: Timestamp,
    /// What is to change.
    pub edit: TaskEdit,
    /// The status asked for.
    pub status: Option<Status>,
    /// For the jitter of a back-off.
    pub draw: Draw,
    /// Makes the prompt of a dispatch.
    pub render: Render,
}

impl std::fmt::Debug for TaskPatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskPatch")
            .field("task", &self.task)
            .field("edit", &self.edit)
            .finish_non_exhaustive()
    }
}

/// The task afterwards.
#[derive(Clone, Debug)]
pub struct TaskPatched {
    /// The task.
    pub task: Task,
    /// Its unclosed dispatch.
    pub dispatch: Option<Dispatch>,
    /// The dispatch this patch opened.
    pub opened: Option<Dispatch>,
}

impl Verb for TaskPatch {
    type Output = TaskPatched;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<TaskPatched, Error> {
        let ctx = Ctx { now: self.now, caller: self.claim.caller.clone() };
        let new_parent = self.lock_first(tx).await?;
        let before = task::lock(tx, self.task).await?;
        let held = lock_dispatch(tx, &before).await?;
        let ask = self.ask(&ctx, &before, held.as_ref())?;
        self.check_fields(&ctx, held.as_ref())?;
        let edited = Box::pin(self.write_edit(tx, &ctx, before, new_parent)).await?;
        let held = renew(tx, &ctx, held).await?;
        let opened = Box::pin(self.do_ask(tx, &ctx, ask, edited, held)).await?;
        let task = task::lock(tx, self.task).await?;
        let dispatch = lock_dispatch(tx, &task).await?;
        Ok(TaskPatched { task, dispatch, opened: opened.map(|claimed| claimed.dispatch) })
    }
}

impl TaskPatch {
    /// Decides what the status asked for means to this caller.
    fn ask(&self, ctx: &Ctx, task: &Task, held: Option<&Dispatch>) -> Result<Ask, Error> {
        let Some(asked) = self.status else { return Ok(Ask::Nothing) };
        let holds = held.is_some_and(|dispatch| dispatch.phase == Phase::Open && ctx.caller.holds(dispatch));
        let person = ctx.caller.is_person();
        let roles = [(holds, Role::Holder), (person, Role::Person), (!holds && !person, Role::Agent)];
        let mut refused = Role::Agent;
        for role in roles.into_iter().filter(|(is, _)| *is).map(|(_, role)| role) {
            if let Some(ask) = patch::ask(task.state, asked, role) {
                return Ok(ask);
            }
            refused = role;
        }
        Err(Error::Refused { from: task.state, asked, role: refused })
    }

    /// Refuses an account of the work from somebody who does not do it.
    fn check_fields(&self, ctx: &Ctx, held: Option<&Dispatch>) -> Result<(), Error> {
        let may = ctx.caller.is_person() || held.is_some_and(|dispatch| ctx.caller.holds(dispatch));
        let edit = &self.edit;
        let fields = [
            ("agentSummary", edit.agent_summary.is_some()),
            ("commits", edit.commits.is_some()),
            ("pullRequests", edit.pull_requests.is_some()),
        ];
        match fields.into_iter().find(|(_, said)| *said) {
            Some((field, _)) if !may => Err(Error::HoldersField { field }),
            _ => Ok(()),
        }
    }

    /// Takes what has to be locked before the task itself: the claim lock if a dispatch
    /// is to be opened, the graph lock, and the new parent, which comes before its child.
    async fn lock_first<T: Tx>(&self, tx: &mut T) -> Result<Option<Task>, Error> {
        if self.status == Some(Status::InProgress) {
            take_claim_lock(tx).await?;
        }
        if self.edit.is_of_graph() {
            take_graph_lock(tx).await?;
        }
        match self.edit.parent {
            Some(Some(parent)) => {
                let number = named(tx, "parentId", parent).await?;
                task::lock_even_deleted(tx, number).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    async fn write_edit<T: Tx>(
        &self,
        tx: &mut T,
        ctx: &Ctx,
        before: Task,
        new_parent: Option<Task>,
    ) -> Result<Task, Error> {
        let fields = self.edit.fields();
        if fields.is_empty() {
            return Ok(before);
        }
        let mut after = before.clone();
        self.edit.apply(&mut after);
        if let Some(project) = &self.edit.project {
            set_project(tx, &mut after, project.as_ref()).await?;
        }
        if let Some(labels) = &self.edit.labels {
            after.labels = label::named(tx, labels).await?;
            rows::label::set(tx, after.number, &after.labels).await?;
        }
        self.edit_parent(tx, &before, &mut after, new_parent).await?;
        let waits_for_another = after.artifact != before.artifact || after.project != before.project;
        if after.artifact.is_some() && waits_for_another {
            after.artifact_present = artifact::is_provided(tx, &after).await?;
        }
        let event =
            NewEvent::new(EventType::TaskEdited, ctx, before.number).data(json!({ "fields": fields }));
        let after = change(tx, ctx, &before, after, vec![event]).await?;
        shift_descendants(tx, ctx, &after, after.depth - before.depth).await?;
        Ok(after)
    }

    /// Puts the task below its new parent, and lets no cycle in.
    async fn edit_parent<T: Tx>(
        &self,
        tx: &mut T,
        before: &Task,
        after: &mut Task,
        new_parent: Option<Task>,
    ) -> Result<(), Error> {
        if self.edit.parent.is_some() {
            set_parent(tx, after, new_parent.as_ref()).await?;
        }
        let parent = match (new_parent, after.parent) {
            (Some(parent), _) => Some(parent),
            (None, Some(parent)) if after.gated_by_parent && !before.gated_by_parent => {
                Some(task::get_even_deleted(tx, parent).await?)
            }
            _ => None,
        };
        match parent {
            Some(parent) => refuse_parent_cycle(tx, after, &parent).await,
            None => Ok(()),
        }
    }

    async fn do_ask<T: Tx>(
        &self,
        tx: &mut T,
        ctx: &Ctx,
        ask: Ask,
        task: Task,
        held: Option<Dispatch>,
    ) -> Result<Option<Claimed>, Error> {
        let report = match ask {
            Ask::Nothing => return Ok(None),
            Ask::Claim => {
                let claimed = claim_exactly(tx, ctx, task, self.claim.clone(), self.render.clone()).await?;
                return Ok(Some(claimed));
            }
            Ask::Apply(TaskVerb::Cancel)
                if held.as_ref().is_some_and(|dispatch| ctx.caller.holds(dispatch)) =>
            {
                task_move::cancel_own(tx, ctx, task).await?;
                return Ok(None);
            }
            Ask::Apply(verb) => {
                task_move::apply(tx, ctx, task, verb).await?;
                return Ok(None);
            }
            Ask::Complete => {
                let summary = self.edit.agent_summary.clone().flatten();
                Report::Complete(Completion { summary, ..Completion::default() })
            }
            Ask::Release => Report::Release,
            Ask::Ask => Report::Ask { question: None },
        };
        let Some(held) = held else { return Err(Error::Broken("a holder without a dispatch".to_owned())) };
        let usage = Usage::default();
        let said = DispatchReport { ctx: ctx.clone(), dispatch: held.id, report, usage, draw: self.draw };
        report::apply(tx, &said, task, held).await?;
        Ok(None)
    }
}

/// Renews the lease of a dispatch whose holder was heard of.
async fn renew<T: Tx>(tx: &mut T, ctx: &Ctx, held: Option<Dispatch>) -> Result<Option<Dispatch>, Error> {
    let Some(before) = held else { return Ok(None) };
    if before.phase != Phase::Open || !ctx.caller.holds(&before) {
        return Ok(Some(before));
    }
    let lease_until = ctx.now.plus(before.lease);
    let after = Dispatch { lease_until, heartbeat_at: ctx.now, ..before.clone() };
    dispatch::update(tx, &before, &after).await?;
    Ok(Some(after))
}
