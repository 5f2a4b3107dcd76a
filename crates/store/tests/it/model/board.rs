//! The model: tasks and dispatches in two lists, the line computed anew each time.

use extraboard_core::clock::{Span, Timestamp};
use extraboard_core::dispatch::{ENDING_LEASE, PULL_LEASE};
use extraboard_core::id::{Fence, TaskNumber};
use extraboard_core::reason::{Counters, Draw, Reason, Settlement, route};
use extraboard_core::report::{Outcome, Report, Retryable};
use extraboard_core::state::{State, Verb};
use extraboard_core::task::MAX_RETRIES_DEFAULT;
use extraboard_store::verbs::{Claimed, TaskFilter, TaskList, Verdict};

use crate::harness::TestStore;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) number: TaskNumber,
    pub(crate) state: State,
    pub(crate) points: i64,
    pub(crate) queued_at: Option<Timestamp>,
    pub(crate) not_before: Option<Timestamp>,
    pub(crate) fence: i64,
    pub(crate) attempt: i64,
    pub(crate) counters: Counters,
    /// The dispatch that is not closed, by its place in the list.
    pub(crate) held: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    Ending(Reason),
    Closed(Option<Reason>),
}

#[derive(Debug)]
pub(crate) struct HandOut {
    pub(crate) claimed: Claimed,
    item: usize,
    stage: Stage,
    outcome: Option<Outcome>,
    lease_until: Timestamp,
}

#[derive(Debug, Default)]
pub(crate) struct Board {
    pub(crate) items: Vec<Item>,
    deleted: Vec<bool>,
    pub(crate) hand_outs: Vec<HandOut>,
}

impl Board {
    pub(crate) fn create(&mut self, item: Item) {
        self.items.push(item);
        self.deleted.push(false);
    }

    pub(crate) fn is_deleted(&self, item: usize) -> bool {
        self.deleted[item]
    }

    /// Returns the tasks in line, first to be handed out first.
    pub(crate) fn line(&self) -> Vec<usize> {
        let ready = |index: &usize| {
            let item = &self.items[*index];
            item.state == State::Queued && item.held.is_none() && item.not_before.is_none()
        };
        let mut line: Vec<_> =
            (0..self.items.len()).filter(|index| !self.deleted[*index]).filter(ready).collect();
        line.sort_by_key(|index| {
            let item = &self.items[*index];
            let queued_at = item.queued_at.unwrap();
            (queued_at.minus(Span::from_days(item.points)), queued_at, item.number)
        });
        line
    }

    pub(crate) fn advance(&mut self, now: Timestamp) {
        for (item, deleted) in self.items.iter_mut().zip(&self.deleted) {
            if item.state == State::Queued && item.held.is_none() && !deleted {
                item.not_before = item.not_before.filter(|at| *at > now);
            }
        }
    }

    pub(crate) fn opened(&mut self, item: usize, claimed: Claimed, now: Timestamp) {
        let held = &mut self.items[item];
        held.state = State::Running;
        held.fence += 1;
        held.attempt += 1;
        held.held = Some(self.hand_outs.len());
        assert_eq!((claimed.dispatch.fence, claimed.dispatch.attempt), (Fence(held.fence), held.attempt));
        let lease_until = now.plus(PULL_LEASE);
        self.hand_outs.push(HandOut { claimed, item, stage: Stage::Open, outcome: None, lease_until });
    }

    /// Moves a task by a verb; tells whether the table allows it.
    pub(crate) fn apply(&mut self, item: usize, verb: Verb, now: Timestamp) -> bool {
        if self.deleted[item] || self.items[item].state.after(verb).is_err() {
            return false;
        }
        if matches!(verb, Verb::Cancel | Verb::Close) {
            self.end(item, Reason::UserCanceled, now);
        }
        self.items[item].apply(verb, now);
        true
    }

    pub(crate) fn delete(&mut self, item: usize, now: Timestamp) -> bool {
        if self.deleted[item] {
            return false;
        }
        self.end(item, Reason::TaskDeleted, now);
        if !self.items[item].state.is_terminal() {
            self.items[item].apply(Verb::Cancel, now);
        }
        self.deleted[item] = true;
        true
    }

    fn end(&mut self, item: usize, reason: Reason, now: Timestamp) {
        if let Some(held) = self.items[item].held {
            self.hand_outs[held].end(reason, now);
        }
    }

    pub(crate) fn terminate(&mut self, hand_out: usize, reason: Reason, now: Timestamp) {
        if self.hand_outs[hand_out].is_open() {
            self.hand_outs[hand_out].end(reason, now);
        }
    }

    pub(crate) fn heartbeat(&mut self, hand_out: usize, now: Timestamp) -> Verdict {
        let heard = &mut self.hand_outs[hand_out];
        if heard.is_open() {
            heard.lease_until = now.plus(PULL_LEASE);
        }
        if heard.is_closed() { Verdict::Stale } else { Verdict::Accepted }
    }

    pub(crate) fn sweep(&mut self, now: Timestamp) -> usize {
        let lapsed: Vec<_> = (0..self.hand_outs.len())
            .filter(|index| !self.hand_outs[*index].is_closed())
            .filter(|index| self.hand_outs[*index].lease_until <= now)
            .collect();
        for hand_out in &lapsed {
            self.close(*hand_out, None, now);
        }
        lapsed.len()
    }

    pub(crate) fn report(&mut self, hand_out: usize, report: &Report, now: Timestamp) -> Verdict {
        let said = &self.hand_outs[hand_out];
        let Stage::Closed(reason) = said.stage else {
            self.close(hand_out, Some(report), now);
            return Verdict::Accepted;
        };
        if said.outcome == Some(report.outcome()) {
            return Verdict::Repeated;
        }
        let item = &self.items[said.item];
        let newest = item.fence == said.claimed.dispatch.fence.0
            && item.attempt == said.claimed.dispatch.attempt
            && item.held.is_none();
        let lapsed = reason == Some(Reason::LeaseExpired) && said.outcome.is_none();
        let waits = item.state == State::Queued && !self.deleted[said.item];
        if !(newest && lapsed && waits) || *report == Report::Release {
            return Verdict::Stale;
        }
        let item = said.item;
        self.hand_outs[hand_out].outcome = Some(report.outcome());
        self.items[item].settle(report.reason(), Some(report), now);
        Verdict::Accepted
    }

    fn close(&mut self, hand_out: usize, report: Option<&Report>, now: Timestamp) {
        let closed = &mut self.hand_outs[hand_out];
        let said = report.map_or(Some(Reason::LeaseExpired), Report::reason);
        let reason = closed.first_reason().or(said);
        closed.stage = Stage::Closed(reason);
        closed.outcome = report.map(Report::outcome);
        let item = &mut self.items[closed.item];
        item.held = None;
        if item.state == State::Running {
            item.settle(reason, report, now);
        }
        item.not_before = item.not_before.filter(|at| *at > now);
    }

    /// Fails unless the store holds exactly what the model does.
    pub(crate) async fn compare(&self, ctx: &TestStore) {
        let everything =
            TaskList { filter: TaskFilter::default(), after: TaskNumber(0), offset: 0, limit: 1_000 };
        let page = ctx.store.read(everything).await.unwrap();
        let kept = |index: &usize| !self.deleted[*index];
        let expected: Vec<_> =
            (0..self.items.len()).filter(kept).map(|index| self.items[index].clone()).collect();
        let found: Vec<_> = page
            .tasks
            .iter()
            .map(|view| Item {
                number: view.task.number,
                state: view.task.state,
                points: view.task.priority.points(),
                queued_at: view.task.queued_at,
                not_before: view.task.not_before,
                fence: view.task.fence.0,
                attempt: view.task.attempt,
                counters: view.task.counters,
                held: view.dispatch.as_ref().map(|dispatch| self.place_of(dispatch)),
            })
            .collect();
        assert_eq!(found, expected);
        let queue = ctx.store.read(ctx.queueing(0, 1_000)).await.unwrap();
        let numbers: Vec<_> = queue.entries.iter().map(|entry| entry.task.number).collect();
        let line: Vec<_> = self.line().iter().map(|index| self.items[*index].number).collect();
        assert_eq!(numbers, line);
        ctx.audit().await;
    }

    /// Returns which hand-out a stored dispatch is, and checks its phase and lease.
    fn place_of(&self, dispatch: &extraboard_core::dispatch::Dispatch) -> usize {
        let same = |hand_out: &HandOut| hand_out.claimed.dispatch.id == dispatch.id;
        let place = self.hand_outs.iter().position(same).unwrap();
        let hand_out = &self.hand_outs[place];
        assert_eq!(
            (dispatch.phase.reason(), dispatch.lease_until),
            (hand_out.first_reason(), hand_out.lease_until)
        );
        place
    }
}

impl HandOut {
    fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    fn is_closed(&self) -> bool {
        matches!(self.stage, Stage::Closed(_))
    }

    /// Returns why it was told to end, if it was.
    fn first_reason(&self) -> Option<Reason> {
        match self.stage {
            Stage::Ending(reason) => Some(reason),
            Stage::Open | Stage::Closed(_) => None,
        }
    }

    fn end(&mut self, reason: Reason, now: Timestamp) {
        if self.is_open() {
            self.stage = Stage::Ending(reason);
            self.lease_until = self.lease_until.min(now.plus(ENDING_LEASE));
        }
    }
}

impl Item {
    fn apply(&mut self, verb: Verb, now: Timestamp) {
        self.state = self.state.after(verb).unwrap();
        match verb {
            Verb::Admit => (self.queued_at, self.attempt) = (Some(now), 0),
            Verb::Park => self.queued_at = None,
            Verb::Reopen => {
                self.queued_at = Some(now);
                (self.counters, self.not_before, self.attempt) = (Counters::default(), None, 0);
            }
            Verb::Retry => {
                self.queued_at = self.queued_at.or(Some(now));
                (self.counters, self.not_before, self.attempt) = (Counters::default(), None, 0);
            }
            Verb::Complete | Verb::Close => self.counters = Counters::default(),
            _ => {}
        }
        self.not_before = self.not_before.filter(|at| *at > now);
    }

    fn settle(&mut self, reason: Option<Reason>, report: Option<&Report>, now: Timestamp) {
        let Some(reason) = reason else { return self.apply(Verb::Complete, now) };
        let retryable = match report {
            Some(Report::Fail { retryable, .. }) => *retryable,
            _ => Retryable::Yes,
        };
        let route = route(&Settlement {
            reason,
            retryable,
            retry_after: None,
            counters: self.counters,
            max_retries: MAX_RETRIES_DEFAULT,
            on_account: false,
            now,
            draw: Draw::NONE,
        });
        if let Some(verb) = route.verb {
            self.apply(verb, now);
        }
        self.counters = route.counters;
        self.not_before = route.not_before.max(self.not_before);
    }
}
