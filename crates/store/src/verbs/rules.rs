//! Change what the desk ranks and hands out by, and move waiting tasks accordingly.
//!
//! A change of the profile or of a project's goal is one small transaction; the tasks
//! that stand by the old rules are moved afterwards, in turns. Where a re-rank has got
//! to is kept, so that it goes on after a crash.

use extraboard_core::event::EventType;
use extraboard_core::gate::Limits;
use extraboard_core::id::ProjectNumber;
use extraboard_core::profile::Profile;
use extraboard_core::task::Place;
use serde_json::json;

use super::{Ctx, TURN_MAX};
use crate::error::Error;
use crate::placement;
use crate::rows::event::{self, NewEvent};
use crate::rows::task;
use crate::rules::{self, Rules, take_rank_lock, write_limits, write_profile};
use crate::tx::{Tx, Verb, expect_rows, first};
use crate::value::params;

/// Everything, in the table of re-ranks.
const ALL: i64 = 0;

/// Reads the rules, and whether tasks still stand by older ones.
#[derive(Clone, Copy, Debug)]
pub struct RulesRead;

impl Verb for RulesRead {
    type Output = (Rules, bool);

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(Rules, bool), Error> {
        let rules = rules::read(tx).await?;
        Ok((rules, is_reranking(tx).await?))
    }
}

pub(crate) async fn is_reranking<T: Tx>(tx: &mut T) -> Result<bool, Error> {
    Ok(first(tx, "SELECT id FROM rerank LIMIT 1".into(), params![]).await?.is_some())
}

/// What the rules should be; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesEdit {
    /// How tasks are ranked.
    pub profile: Option<Profile>,
    /// How much may be handed out.
    pub limits: Option<Limits>,
    /// How often whoever polls should look.
    pub poll_interval_secs: Option<i64>,
}

impl RulesEdit {
    /// Tells whether the rules say all this already.
    pub fn is_in_force(&self, rules: &Rules) -> bool {
        self.profile.as_ref().is_none_or(|profile| *profile == rules.profile)
            && self.limits.as_ref().is_none_or(|limits| *limits == rules.limits)
            && self.poll_interval_secs.is_none_or(|secs| secs == rules.poll_interval_secs)
    }
}

/// Gives a database its first rules; one that has some keeps them.
#[derive(Clone, Debug)]
pub struct RulesInit {
    /// The rules.
    pub edit: RulesEdit,
}

impl Verb for RulesInit {
    type Output = Rules;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Rules, Error> {
        take_rank_lock(tx).await?;
        let before = rules::read(tx).await?;
        if before.version > 0 { Ok(before) } else { change(tx, before, &self.edit).await }
    }
}

/// Changes the rules.
#[derive(Clone, Debug)]
pub struct RulesChange {
    /// Who does it, and when.
    pub ctx: Ctx,
    /// What is to change.
    pub edit: RulesEdit,
    /// The version the caller has seen, if it must be the last.
    pub if_version: Option<i64>,
}

impl Verb for RulesChange {
    type Output = Rules;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Rules, Error> {
        take_rank_lock(tx).await?;
        let before = rules::read(tx).await?;
        if self.if_version.is_some_and(|version| version != before.version) {
            return Err(Error::Conflict(format!("the rules have version {} meanwhile", before.version)));
        }
        if self.edit.is_in_force(&before) {
            return Ok(before);
        }
        let after = change(tx, before, &self.edit).await?;
        let data = json!({ "version": after.version, "profile": after.profile.name.as_str() });
        let event = NewEvent::of_desk(EventType::RulesChanged, &self.ctx).data(data);
        event::insert_all(tx, vec![event]).await?;
        Ok(after)
    }
}

const UPDATE: &str =
    "UPDATE rules SET version = $1, profile = $2, limits = $3, poll_interval_secs = $4 WHERE version = $5";

/// Writes changed rules. The rank lock is taken.
async fn change<T: Tx>(tx: &mut T, before: Rules, edit: &RulesEdit) -> Result<Rules, Error> {
    let edit = edit.clone();
    let after = Rules {
        version: before.version + 1,
        profile: edit.profile.unwrap_or_else(|| before.profile.clone()),
        limits: edit.limits.unwrap_or_else(|| before.limits.clone()),
        poll_interval_secs: edit.poll_interval_secs.unwrap_or(before.poll_interval_secs),
    };
    let params = params![
        after.version,
        write_profile(&after.profile),
        write_limits(&after.limits),
        after.poll_interval_secs,
        before.version,
    ];
    expect_rows("changing the rules", 1, tx.execute(UPDATE.into(), params).await?)?;
    if after.profile != before.profile {
        start_rerank(tx, ALL).await?;
    }
    Ok(after)
}

/// Each change adds a re-rank of its own: to begin one anew that is under way would
/// mean to wait for it, while it waits for the rank lock.
async fn start_rerank<T: Tx>(tx: &mut T, project: i64) -> Result<(), Error> {
    let sql = "INSERT INTO rerank (project, after) VALUES ($1, 0)";
    tx.execute(sql.into(), params![project]).await.map(|_| ())
}

const HAS_GOAL: &str = "SELECT p.goal_active, CASE WHEN EXISTS ( \
         SELECT 1 FROM goal g \
         WHERE g.deleted_at IS NULL AND g.status = 'active' AND (g.project = p.number OR g.id = p.goal)) \
       THEN 1 ELSE 0 END \
     FROM project p \
     WHERE p.number = $1";

/// Looks again whether a project has an active goal; if that changed its waiting
/// tasks are ranked anew.
pub(crate) async fn goal_changed<T: Tx>(tx: &mut T, ctx: &Ctx, project: ProjectNumber) -> Result<(), Error> {
    // Whatever enters the line now waits, and then reads the new goal.
    take_rank_lock(tx).await?;
    let row = first(tx, HAS_GOAL.into(), params![project.0]).await?;
    let Some(mut row) = row else { return Ok(()) };
    let (before, after) = (row.flag()?, row.flag()?);
    if before == after {
        return Ok(());
    }
    let sql = "UPDATE project SET goal_active = $2, updated_at = $3 WHERE number = $1";
    let params = params![project.0, after, ctx.now.as_micros()];
    expect_rows("noting a goal", 1, tx.execute(sql.into(), params).await?)?;
    start_rerank(tx, project.0).await
}

/// Moves up to a turn of waiting tasks to where the rules put them.
#[derive(Clone, Debug)]
pub struct Rerank {
    /// The desk, and when.
    pub ctx: Ctx,
}

const NEXT: &str = "SELECT id, project, after FROM rerank ORDER BY id LIMIT 1 FOR UPDATE";
const OF_ALL: &str = "SELECT task FROM line WHERE task > $1 ORDER BY task LIMIT $2";
const OF_PROJECT: &str = "SELECT l.task \
     FROM task t JOIN line l ON l.task = t.number \
     WHERE t.project = $3 AND t.number > $1 \
     ORDER BY t.number \
     LIMIT $2";

impl Verb for Rerank {
    type Output = Reranked;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Reranked, Error> {
        let Some(mut row) = first(tx, NEXT.into(), params![]).await? else { return Ok(Reranked::Done) };
        let (id, project, after) = (row.int()?, row.int()?, row.int()?);
        let rows = if project == ALL {
            tx.query(OF_ALL.into(), params![after, TURN_MAX]).await?
        } else {
            tx.query(OF_PROJECT.into(), params![after, TURN_MAX, project]).await?
        };
        let numbers = rows.into_iter().map(|mut row| row.int()).collect::<Result<Vec<_>, _>>()?;
        if let Some(last) = numbers.last().copied() {
            let sql = "UPDATE rerank SET after = $2 WHERE id = $1";
            tx.execute(sql.into(), params![id, last]).await?;
        } else {
            tx.execute("DELETE FROM rerank WHERE id = $1".into(), params![id]).await?;
            self.tell(tx, project).await?;
        }
        // Tasks are locked before their places are written, as everywhere else.
        let tasks = task::lock_many(tx, numbers).await?;
        let tasks: Vec<_> = tasks.iter().filter(|task| task.place() == Place::Line).collect();
        placement::rank_anew(tx, &tasks).await?;
        Ok(Reranked::More)
    }
}

/// How far a re-rank has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reranked {
    /// All waiting tasks stand by the rules.
    Done,
    /// There may be more to move.
    More,
}

impl Rerank {
    async fn tell<T: Tx>(&self, tx: &mut T, project: i64) -> Result<(), Error> {
        let project = Some(project).filter(|project| *project != ALL);
        let data = json!({ "project": project });
        let event = NewEvent::of_desk(EventType::RulesApplied, &self.ctx).data(data);
        event::insert_all(tx, vec![event]).await
    }
}
