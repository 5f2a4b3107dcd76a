//! Patch a task: edit fields, and do what asking for a status means.

use extraboard_core::clock::Timestamp;
use extraboard_core::dispatch::{Dispatch, Phase};
use extraboard_core::doors::Doors;
use extraboard_core::event::EventType;
use extraboard_core::id::TaskRef;
use extraboard_core::kind::Kind;
use extraboard_core::patch::{self, Ask, Role};
use extraboard_core::priority::{Level, Priority};
use extraboard_core::reason::Draw;
use extraboard_core::report::Report;
use extraboard_core::state::Verb as TaskVerb;
use extraboard_core::status::Status;
use extraboard_core::task::Task;
use serde_json::json;

use super::change::{change, lock_dispatch};
use super::claim::{ClaimRequest, Claimed, Render, claim_exactly};
use super::heartbeat::Usage;
use super::report::{self, DispatchReport};
use super::{Ctx, task_move};
use crate::error::Error;
use crate::rows::event::NewEvent;
use crate::rows::{dispatch, task};
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
    /// The ways it may leave.
    pub doors: Option<Doors>,
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
}

impl TaskEdit {
    fn apply(&self, task: &mut Task) {
        set(&mut task.title, self.title.as_ref());
        set(&mut task.description, self.description.as_ref());
        set(&mut task.kind, self.kind.as_ref());
        set(&mut task.doors, self.doors.as_ref());
        set(&mut task.max_retries, self.max_retries.as_ref());
        set(&mut task.not_before, self.not_before.as_ref());
        set(&mut task.signal_source, self.signal_source.as_ref());
        set(&mut task.signal_payload, self.signal_payload.as_ref());
        set(&mut task.hypothesis, self.hypothesis.as_ref());
        set(&mut task.agent_summary, self.agent_summary.as_ref());
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
            ("doors", self.doors.is_some()),
            ("maxRetries", self.max_retries.is_some()),
            ("notBefore", self.not_before.is_some()),
            ("signalSource", self.signal_source.is_some()),
            ("signalPayload", self.signal_payload.is_some()),
            ("hypothesis", self.hypothesis.is_some()),
            ("agentSummary", self.agent_summary.is_some()),
        ];
        named.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name).collect()
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
        let before = task::lock(tx, self.task).await?;
        let held = lock_dispatch(tx, &before).await?;
        let ask = self.ask(&ctx, &before, held.as_ref())?;
        self.check_fields(&ctx, held.as_ref())?;
        let edited = self.write_edit(tx, &ctx, before).await?;
        let held = renew(tx, &ctx, held).await?;
        let opened = self.do_ask(tx, &ctx, ask, edited, held).await?;
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

    /// Refuses a summary from somebody who has nothing to sum up.
    fn check_fields(&self, ctx: &Ctx, held: Option<&Dispatch>) -> Result<(), Error> {
        let may = ctx.caller.is_person() || held.is_some_and(|dispatch| ctx.caller.holds(dispatch));
        if self.edit.agent_summary.is_some() && !may {
            return Err(Error::HoldersField { field: "agentSummary" });
        }
        Ok(())
    }

    async fn write_edit<T: Tx>(&self, tx: &mut T, ctx: &Ctx, before: Task) -> Result<Task, Error> {
        let fields = self.edit.fields();
        if fields.is_empty() {
            return Ok(before);
        }
        let mut after = before.clone();
        self.edit.apply(&mut after);
        let event =
            NewEvent::new(EventType::TaskEdited, ctx, before.number).data(json!({ "fields": fields }));
        change(tx, ctx, &before, after, vec![event]).await
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
            Ask::Complete => Report::Complete { result: None, summary: None },
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
