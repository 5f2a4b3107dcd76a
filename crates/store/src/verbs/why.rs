//! Why does a task run, wait or never start? By the functions a claim uses.

use extraboard_core::clock::Timestamp;
use extraboard_core::event::EventType;
use extraboard_core::gate::{Audience, Claimer, Nothing};
use extraboard_core::id::{Pos, TaskNumber, TaskRef};
use extraboard_core::line::Lane;
use extraboard_core::profile::Score;
use extraboard_core::state::State;
use extraboard_core::task::{Place, Task};
use extraboard_core::why::{Obstacle, POSITION_MAX, Verdict, verdict};

use super::claim::section::{self, Section};
use super::position::{ahead, rank_of};
use super::task_get::TaskView;
use crate::error::Error;
use crate::rows::{dispatch, task};
use crate::rules;
use crate::tx::{Tx, Verb, first};
use crate::value::params;

/// How many decisions are told.
const DECISIONS: i64 = 5;

/// Asks why a task is not started, or whether it is next.
#[derive(Clone, Debug)]
pub struct Why {
    /// Which task.
    pub task: TaskRef,
    /// For whom; for anyone if nobody is named.
    pub claimer: Option<Claimer>,
    /// The present.
    pub now: Timestamp,
}

/// The answer, all of one snapshot.
#[derive(Clone, Debug)]
pub struct WhyAnswer {
    /// The task.
    pub view: TaskView,
    /// In one word.
    pub verdict: Verdict,
    /// Everything in its way.
    pub obstacles: Vec<Obstacle>,
    /// The parts of its score, if it waits.
    pub score: Option<Score>,
    /// Its place, 1 for the first; counted to 1,000.
    pub position: Option<i64>,
    /// What happened to it last, newest first.
    pub decisions: Vec<Decision>,
    /// The highest position of the snapshot.
    pub pos: Pos,
}

/// Something that happened to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its position, if it has one yet.
    pub pos: Option<Pos>,
    /// What happened.
    pub event_type: EventType,
    /// Who did it.
    pub actor: String,
    /// When.
    pub at: Timestamp,
    /// What else there is to tell, as JSON.
    pub data: String,
}

impl Verb for Why {
    type Output = WhyAnswer;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<WhyAnswer, Error> {
        let section = section::read(tx, self.now).await?;
        let task = task::get(tx, self.task).await?;
        let dispatch = match task.dispatch {
            Some(id) => Some(dispatch::get(tx, id).await?),
            None => None,
        };
        let view = TaskView { task, dispatch };
        let mut obstacles = own_obstacles(&view, self.now);
        obstacles.extend(held_by(tx, &view.task).await?);
        let position = self.stand(tx, &section, &view.task, &mut obstacles).await?;
        let rankings = rules::rankings(tx, [view.task.project]).await?;
        let goal = rankings.goal(view.task.project);
        let score = view.task.queued_at.map(|_| rankings.profile.score(&view.task, goal, self.now));
        let decisions = decisions(tx, view.task.number).await?;
        let pos = last_pos(tx).await?;
        Ok(WhyAnswer { verdict: verdict(&obstacles), view, obstacles, score, position, decisions, pos })
    }
}

impl Why {
    /// Adds the gates before a task and whatever is ahead of it; returns its place.
    async fn stand<T: Tx>(
        &self,
        tx: &mut T,
        section: &Section,
        task: &Task,
        obstacles: &mut Vec<Obstacle>,
    ) -> Result<Option<i64>, Error> {
        let audience = self.claimer.as_ref().map_or(Audience::Anyone, Audience::Claimer);
        let gates = audience.closed_gates(&task.lane(), &section.conditions);
        if task.state == State::Queued {
            obstacles.extend(gates.iter().cloned().map(Obstacle::Gate));
        }
        let is_for_others = gates.iter().any(|gate| gate.nothing() == Nothing::NoMatch);
        let rank = match task.place() {
            Place::Line if !is_for_others => rank_of(tx, task.number).await?,
            _ => None,
        };
        let Some(rank) = rank else { return Ok(None) };
        // Whatever would be open, too, once its own gates are.
        let competes = |lane: &Lane| {
            audience.closed_gates(lane, &section.conditions).iter().all(|gate| gates.contains(gate))
        };
        let ahead = ahead(tx, section, &rank, competes).await?;
        if ahead > 0 {
            obstacles.push(Obstacle::Behind(ahead));
        }
        Ok(Some((ahead + 1).min(POSITION_MAX)))
    }
}

/// Returns what the task itself says: its state, its last dispatch, its moment.
fn own_obstacles(view: &TaskView, now: Timestamp) -> Vec<Obstacle> {
    let task = &view.task;
    if task.state != State::Queued {
        return vec![Obstacle::State(task.state)];
    }
    let ending = view.dispatch.as_ref().map(|dispatch| Obstacle::Ending(dispatch.lease_until));
    // A moment that passed while the task was held is forgotten when it is freed.
    let why = if task.prompt_broken { Obstacle::PromptBroken } else { Obstacle::NotBefore };
    let later = task.not_before.filter(|at| *at > now).map(why);
    ending.into_iter().chain(later).collect()
}

const BLOCKERS: &str = "SELECT t.number, t.state \
     FROM relation r JOIN task t ON t.number = r.task \
     WHERE r.other = $1 AND r.type = 'blocks' AND t.deleted_at IS NULL \
       AND t.state NOT IN ('done','canceled') \
     ORDER BY t.number";

/// Returns what holds a task back, one by one.
async fn held_by<T: Tx>(tx: &mut T, task: &Task) -> Result<Vec<Obstacle>, Error> {
    let mut obstacles = Vec::new();
    let waits = !task.state.is_active() && !task.state.is_terminal();
    if waits && task.open_blockers > 0 {
        for mut row in tx.query(BLOCKERS.into(), params![task.number.0]).await? {
            obstacles.push(Obstacle::Blocker(TaskNumber(row.int()?), row.parse()?));
        }
    }
    if waits
        && task.waits_for_parent()
        && let Some(parent) = task.parent
    {
        let parent = task::get_even_deleted(tx, parent).await?;
        let deleted = parent.deleted_at.is_some();
        obstacles.push(Obstacle::Parent { number: parent.number, state: parent.state, deleted });
    }
    if waits && task.waits_for_artifact() {
        obstacles.extend(task.artifact.clone().map(Obstacle::Artifact));
    }
    Ok(obstacles)
}

const LAST: &str = "SELECT pos, type, actor, at, data \
     FROM event \
     WHERE task = $1 \
     ORDER BY id DESC \
     LIMIT $2";

async fn decisions<T: Tx>(tx: &mut T, task: TaskNumber) -> Result<Vec<Decision>, Error> {
    let rows = tx.query(LAST.into(), params![task.0, DECISIONS]).await?;
    rows.into_iter()
        .map(|mut row| {
            Ok(Decision {
                pos: row.opt_int()?.map(Pos),
                event_type: row.parse()?,
                actor: row.text()?,
                at: Timestamp::from_micros(row.int()?),
                data: row.text()?,
            })
        })
        .collect()
}

async fn last_pos<T: Tx>(tx: &mut T) -> Result<Pos, Error> {
    let row = first(tx, "SELECT last_pos FROM sequencer".into(), params![]).await?;
    row.ok_or_else(|| Error::unreadable("no sequencer"))?.int().map(Pos)
}
