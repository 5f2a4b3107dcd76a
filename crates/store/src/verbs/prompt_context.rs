//! Read what prompts are made of: tasks, and what stands around them.
//!
//! A claim reads this for all its tasks at once, under the claim lock: each sort of thing
//! in one statement on PostgreSQL, and only where a task can have any. Everything is
//! bounded, so that a task of a large family costs no more than another.

use std::collections::{HashMap, HashSet};

use extraboard_core::clock::Timestamp;
use extraboard_core::doors::Door;
use extraboard_core::id::{DispatchId, Fence, ProjectNumber, TaskNumber};
use extraboard_core::project::{Goal, GoalStatus, Project};
use extraboard_core::prompt::{
    BLOCKERS_MAX, COMMENTS_MAX, Context, IMPROVEMENT_LABEL, Improved, RELATIVES_MAX, Relative, Remark,
    SESSIONS_MAX, Session, excerpt,
};
use extraboard_core::task::Task;

use crate::error::Error;
use crate::rows::goal::{self, goal_columns};
use crate::rows::project;
use crate::tx::{Dialect, Sql, Tx, first};
use crate::value::{Row, params};

/// A task that wants a prompt.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) task: Task,
    pub(crate) door: Door,
    pub(crate) dispatch: Option<DispatchId>,
}

impl Wanted {
    /// Tells whether there were attempts before the one it is handed out for.
    const fn was_attempted(&self) -> bool {
        self.task.fence.0 > if self.dispatch.is_some() { 1 } else { 0 }
    }
}

/// Reads the contexts of tasks, in their order.
pub(crate) async fn read<T: Tx>(tx: &mut T, wanted: Vec<Wanted>) -> Result<Vec<Context>, Error> {
    let around = Around::read(tx, &wanted).await?;
    Ok(wanted.into_iter().map(|wanted| around.context(wanted)).collect())
}

/// What stands around some tasks.
struct Around {
    projects: HashMap<ProjectNumber, (Project, Option<Goal>)>,
    kin: Kin,
    sessions: HashMap<TaskNumber, Vec<Session>>,
    comments: HashMap<TaskNumber, Vec<Remark>>,
    improves: HashMap<TaskNumber, Improved>,
}

impl Around {
    async fn read<T: Tx>(tx: &mut T, wanted: &[Wanted]) -> Result<Self, Error> {
        let own: Vec<_> = wanted.iter().map(|wanted| wanted.task.number.0).collect();
        let parents = distinct(wanted.iter().filter_map(|wanted| wanted.task.parent.map(|parent| parent.0)));
        let projects = distinct(wanted.iter().filter_map(|wanted| wanted.task.project.map(|of| of.0)));
        let kin = Kin::read(tx, &own, &parents).await?;
        let siblings = parents.iter().filter_map(|parent| kin.parts.get(&TaskNumber(*parent))).flatten();
        let siblings = siblings.filter(|sibling| sibling.fence.0 > 0);
        let attempted = wanted.iter().filter(|wanted| wanted.was_attempted()).map(|one| one.task.number.0);
        let attempted = distinct(attempted.chain(siblings.map(|sibling| sibling.number.0)));
        Ok(Self {
            projects: projects_of(tx, projects).await?,
            kin,
            sessions: sessions(tx, attempted).await?,
            comments: comments(tx, own).await?,
            improves: improves(tx, wanted).await?,
        })
    }

    fn context(&self, wanted: Wanted) -> Context {
        let Wanted { task, door, dispatch } = wanted;
        let number = task.number;
        let (project, goal) = task.project.and_then(|project| self.projects.get(&project)).cloned().unzip();
        let siblings =
            task.parent.and_then(|parent| self.kin.parts.get(&parent)).cloned().unwrap_or_default();
        let siblings = siblings.into_iter().filter(|sibling| sibling.number != number);
        let siblings = latest(siblings.collect(), RELATIVES_MAX);
        let family = || siblings.iter().map(|sibling| sibling.number).chain([number]);
        let mut sessions: Vec<_> =
            family().filter_map(|member| self.sessions.get(&member)).flatten().cloned().collect();
        let has_failed_sessions = sessions.iter().any(Session::has_failed);
        // Those of the task itself come last, where they are read last and kept.
        sessions.sort_by_key(|session| (session.task == number, session.ended_at, session.fence));
        let list = |of: &ByTask| of.get(&number).cloned().unwrap_or_default();
        Context {
            door,
            dispatch,
            ask_for_review: project.as_ref().is_none_or(asks_for_reviews),
            project,
            goal: goal.flatten(),
            parent: task.parent.and_then(|parent| self.kin.parents.get(&parent)).cloned(),
            siblings,
            children: latest(list(&self.kin.parts), RELATIVES_MAX),
            blocking: list(&self.kin.blocking),
            blocked_by: list(&self.kin.blocked_by),
            sessions: latest(sessions, SESSIONS_MAX),
            comments: self.comments.get(&number).cloned().unwrap_or_default(),
            has_failed_sessions,
            improves: self.improves.get(&number).cloned(),
            task,
        }
    }
}

/// Tells whether a project's file lets agents be asked for reviews.
fn asks_for_reviews(project: &Project) -> bool {
    let settings = project.settings.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let said = settings.and_then(|settings: serde_json::Value| settings.get("reviews")?.as_bool());
    said.unwrap_or(true)
}

/// Keeps the end of a list.
fn latest<V>(mut list: Vec<V>, most: usize) -> Vec<V> {
    list.drain(..list.len().saturating_sub(most));
    list
}

fn distinct(numbers: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut numbers: Vec<_> = numbers.collect::<HashSet<_>>().into_iter().collect();
    numbers.sort_unstable();
    numbers
}

/// Asks the same about each of these tasks: in one statement where statements are round
/// trips, one by one where they are not and nothing can be limited for each.
async fn each<T: Tx>(tx: &mut T, sql: Sql, tasks: Vec<i64>, limit: usize) -> Result<Vec<Row>, Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    if tx.dialect() == Dialect::Postgres {
        return tx.query(sql, params![tasks, limit]).await;
    }
    let mut rows = Vec::new();
    for task in tasks {
        rows.extend(tx.query(sql, params![task, limit]).await?);
    }
    Ok(rows)
}

/// From how many tasks on it pays to ask first which of them have any: most have nothing.
const MANY: usize = 4;

/// Returns those of many tasks that have any of what is asked for; SQLite's way to ask about
/// all of them at once.
async fn having<T: Tx>(tx: &mut T, probe: &'static str, tasks: Vec<i64>) -> Result<Vec<i64>, Error> {
    if tasks.len() < MANY {
        return Ok(tasks);
    }
    let rows = tx.query(probe.into(), params![tasks]).await?;
    rows.into_iter().map(|mut row| row.int()).collect()
}

/// Collects rows by their first column, each list from its end.
fn by_task<V>(
    rows: Vec<Row>,
    read: impl Fn(&mut Row) -> Result<V, Error>,
) -> Result<HashMap<TaskNumber, Vec<V>>, Error> {
    let mut found: HashMap<TaskNumber, Vec<V>> = HashMap::new();
    for mut row in rows {
        let task = TaskNumber(row.int()?);
        found.entry(task).or_default().push(read(&mut row)?);
    }
    for list in found.values_mut() {
        list.reverse();
    }
    Ok(found)
}

macro_rules! relative_columns {
    ($description:literal) => {
        concat!("t.id, t.number, t.title, ", $description, ", t.kind, t.state, t.agent_summary, t.fence")
    };
    // Of many, what is to be done would be more than anybody reads.
    () => {
        relative_columns!("CAST(NULL AS TEXT)")
    };
}

fn relative(row: &mut Row) -> Result<Relative, Error> {
    Ok(Relative {
        id: row.parse()?,
        number: TaskNumber(row.int()?),
        title: row.text()?,
        description: row.opt_text()?.map(excerpt),
        kind: row.parse()?,
        state: row.parse()?,
        agent_summary: row.opt_text()?.map(excerpt),
        fence: Fence(row.int()?),
    })
}

/// Tasks that stand around others, by those.
type ByTask = HashMap<TaskNumber, Vec<Relative>>;

/// Tasks that stand around others.
#[derive(Default)]
struct Kin {
    /// Parts, by the number of what they are parts of.
    parts: ByTask,
    blocking: ByTask,
    blocked_by: ByTask,
    /// Parents, by their own number.
    parents: HashMap<TaskNumber, Relative>,
}

impl Kin {
    async fn read<T: Tx>(tx: &mut T, own: &[i64], parents: &[i64]) -> Result<Self, Error> {
        let families = distinct(own.iter().chain(parents).copied());
        match tx.dialect() {
            Dialect::Postgres => Self::read_at_once(tx, families, own.to_vec(), parents.to_vec()).await,
            Dialect::Sqlite => Self::read_one_by_one(tx, families, own.to_vec(), parents.to_vec()).await,
        }
    }

    async fn read_one_by_one<T: Tx>(
        tx: &mut T,
        families: Vec<i64>,
        own: Vec<i64>,
        parents: Vec<i64>,
    ) -> Result<Self, Error> {
        let families = having(tx, HAS_PARTS, families).await?;
        let blocking = having(tx, IS_BLOCKING, own.clone()).await?;
        let blocked_by = having(tx, IS_BLOCKED, own).await?;
        Ok(Self {
            parts: by_task(each(tx, PARTS.into(), families, PARTS_MAX).await?, relative)?,
            blocking: by_task(each(tx, BLOCKING.into(), blocking, BLOCKERS_MAX).await?, relative)?,
            blocked_by: by_task(each(tx, BLOCKED_BY.into(), blocked_by, BLOCKERS_MAX).await?, relative)?,
            parents: by_number(tx.query(PARENTS.into(), params![parents]).await?)?,
        })
    }

    /// Reads all of them in one round trip. They come in no order.
    async fn read_at_once<T: Tx>(
        tx: &mut T,
        families: Vec<i64>,
        own: Vec<i64>,
        parents: Vec<i64>,
    ) -> Result<Self, Error> {
        let limits = [PARTS_MAX, BLOCKERS_MAX].map(|most| i64::try_from(most).unwrap_or(i64::MAX));
        let params = params![families, own, parents, limits[0], limits[1]];
        let mut found = Vec::new();
        for mut row in tx.query(KIN.into(), params).await? {
            let (sort, task, at) = (row.int()?, TaskNumber(row.int()?), row.int()?);
            found.push((sort, task, at, relative(&mut row)?));
        }
        found.sort_by_key(|(_, _, at, relative)| (*at, relative.number));
        let mut kin = Self::default();
        for (sort, task, _, relative) in found {
            let list = match sort {
                0 => &mut kin.parts,
                1 => &mut kin.blocking,
                2 => &mut kin.blocked_by,
                _ => {
                    kin.parents.insert(task, relative);
                    continue;
                }
            };
            list.entry(task).or_default().push(relative);
        }
        Ok(kin)
    }
}

/// How many parts of a task are read: one more than are told of, because none is its own sibling.
const PARTS_MAX: usize = RELATIVES_MAX + 1;

macro_rules! probe {
    ($having:literal) => {
        concat!("SELECT u.value FROM json_each($1) AS u WHERE EXISTS (SELECT 1 FROM ", $having, ")")
    };
}

const HAS_PARTS: &str = probe!("task t WHERE t.parent = u.value");
const IS_BLOCKING: &str = probe!("relation r WHERE r.task = u.value");
const IS_BLOCKED: &str = probe!("relation r WHERE r.other = u.value");

/// The latest parts of a task: the index on parents gives the order.
const PARTS: &str = concat!(
    "SELECT t.parent, ",
    relative_columns!(),
    " FROM task t WHERE t.parent = $1 AND t.deleted_at IS NULL ORDER BY t.number DESC LIMIT $2"
);
const PARENTS: &str = concat!(
    "SELECT ",
    relative_columns!("t.description"),
    " FROM task t WHERE t.number IN (SELECT value FROM json_each($1)) AND t.deleted_at IS NULL"
);

macro_rules! related {
    ($of:literal, $to:literal) => {
        concat!(
            "SELECT r.",
            $of,
            ", ",
            relative_columns!(),
            " FROM relation r JOIN task t ON t.number = r.",
            $to,
            " WHERE r.",
            $of,
            " = $1 AND r.type = 'blocks' AND t.deleted_at IS NULL \
             ORDER BY r.created_at DESC, t.number DESC LIMIT $2"
        )
    };
}

const BLOCKING: &str = related!("task", "other");
const BLOCKED_BY: &str = related!("other", "task");

/// What a branch of [`KIN`] reads of relations.
macro_rules! related_branch {
    ($sort:literal, $of:literal, $to:literal) => {
        concat!(
            " UNION ALL SELECT ",
            $sort,
            ", u.number, t.related_at, ",
            relative_columns!(),
            " FROM unnest($2::bigint[]) AS u (number) \
             CROSS JOIN LATERAL ( \
               SELECT task.*, relation.created_at AS related_at \
               FROM relation JOIN task ON task.number = relation.",
            $to,
            " WHERE relation.",
            $of,
            " = u.number AND relation.type = 'blocks' AND task.deleted_at IS NULL \
               ORDER BY relation.created_at DESC, task.number DESC \
               LIMIT $5) AS t"
        )
    };
}

/// The same four for many tasks at once, for PostgreSQL, where statements are round trips
/// under the claim lock.
const KIN: &str = concat!(
    "SELECT 0::bigint, u.number, 0::bigint, ",
    relative_columns!(),
    " FROM unnest($1::bigint[]) AS u (number) \
     CROSS JOIN LATERAL ( \
       SELECT * FROM task \
       WHERE task.parent = u.number AND task.deleted_at IS NULL \
       ORDER BY task.number DESC \
       LIMIT $4) AS t",
    related_branch!("1::bigint", "task", "other"),
    related_branch!("2::bigint", "other", "task"),
    " UNION ALL SELECT 3::bigint, t.number, 0::bigint, ",
    relative_columns!("t.description"),
    " FROM task t WHERE t.number = ANY($3) AND t.deleted_at IS NULL"
);

fn by_number(rows: Vec<Row>) -> Result<HashMap<TaskNumber, Relative>, Error> {
    rows.into_iter().map(|mut row| relative(&mut row).map(|found| (found.number, found))).collect()
}

macro_rules! session_columns {
    () => {
        "d.task, d.fence, d.outcome, d.reason, d.summary, d.error, d.closed_at"
    };
}

/// The latest attempts at each task: the index on fences gives the order.
const SESSIONS: Sql = Sql {
    postgres: concat!(
        "SELECT ",
        session_columns!(),
        " FROM unnest($1::bigint[]) AS u (number) \
         CROSS JOIN LATERAL ( \
           SELECT * FROM dispatch \
           WHERE dispatch.task = u.number AND dispatch.closed_at IS NOT NULL \
           ORDER BY dispatch.fence DESC \
           LIMIT $2) AS d \
         ORDER BY d.task, d.fence DESC"
    ),
    sqlite: concat!(
        "SELECT ",
        session_columns!(),
        " FROM dispatch d WHERE d.task = $1 AND d.closed_at IS NOT NULL ORDER BY d.fence DESC LIMIT $2"
    ),
};

async fn sessions<T: Tx>(tx: &mut T, tasks: Vec<i64>) -> Result<HashMap<TaskNumber, Vec<Session>>, Error> {
    let rows = each(tx, SESSIONS, tasks, SESSIONS_MAX).await?;
    let mut found = HashMap::<TaskNumber, Vec<Session>>::new();
    for mut row in rows {
        let session = Session {
            task: TaskNumber(row.int()?),
            fence: row.int()?,
            outcome: row.opt_parse()?,
            reason: row.opt_parse()?,
            summary: row.opt_text()?.map(excerpt),
            error: row.opt_text()?.map(excerpt),
            ended_at: Timestamp::from_micros(row.int()?),
        };
        found.entry(session.task).or_default().push(session);
    }
    Ok(found)
}

macro_rules! comment_columns {
    () => {
        "c.task, c.kind, c.body, c.author, c.author_type, c.created_at"
    };
}

const COMMENTS: Sql = Sql {
    postgres: concat!(
        "SELECT ",
        comment_columns!(),
        " FROM unnest($1::bigint[]) AS u (number) \
         CROSS JOIN LATERAL ( \
           SELECT * FROM comment WHERE comment.task = u.number ORDER BY comment.id DESC LIMIT $2) AS c \
         ORDER BY c.task, c.id DESC"
    ),
    sqlite: concat!(
        "SELECT ",
        comment_columns!(),
        " FROM comment c WHERE c.task = $1 ORDER BY c.id DESC LIMIT $2"
    ),
};

async fn comments<T: Tx>(tx: &mut T, tasks: Vec<i64>) -> Result<HashMap<TaskNumber, Vec<Remark>>, Error> {
    by_task(each(tx, COMMENTS, tasks, COMMENTS_MAX).await?, |row| {
        Ok(Remark {
            kind: row.parse()?,
            body: excerpt(row.text()?),
            author: row.text()?,
            author_type: row.parse()?,
            created_at: Timestamp::from_micros(row.int()?),
        })
    })
}

const IMPROVES: &str = "SELECT m.slug, v.number, v.content \
     FROM template_version v JOIN template m ON m.id = v.template \
     WHERE v.improvement = $1 AND m.deleted_at IS NULL \
     LIMIT 1";

/// Reads which versions tasks are to make better; few tasks are for that, and they say so.
async fn improves<T: Tx>(tx: &mut T, wanted: &[Wanted]) -> Result<HashMap<TaskNumber, Improved>, Error> {
    let mut found = HashMap::new();
    for Wanted { task, .. } in wanted {
        if task.labels.iter().any(|label| label.name == IMPROVEMENT_LABEL)
            && let Some(mut row) = first(tx, IMPROVES.into(), params![task.id.to_string()]).await?
        {
            let improved = Improved { slug: row.text()?, number: row.int()?, content: row.text()? };
            found.insert(task.number, improved);
        }
    }
    Ok(found)
}

const GOALS: Sql = Sql {
    postgres: concat!(
        "SELECT ",
        goal_columns!(),
        ", p.number FROM project p JOIN goal g ON g.project = p.number OR g.id = p.goal \
         WHERE p.number = ANY($1) AND g.deleted_at IS NULL ORDER BY g.created_at, g.id"
    ),
    sqlite: concat!(
        "SELECT ",
        goal_columns!(),
        ", p.number FROM project p JOIN goal g ON g.project = p.number OR g.id = p.goal \
         WHERE p.number IN (SELECT value FROM json_each($1)) AND g.deleted_at IS NULL \
         ORDER BY g.created_at, g.id"
    ),
};

/// Reads projects with their goals: the first active one, else the first.
async fn projects_of<T: Tx>(
    tx: &mut T,
    numbers: Vec<i64>,
) -> Result<HashMap<ProjectNumber, (Project, Option<Goal>)>, Error> {
    if numbers.is_empty() {
        return Ok(HashMap::new());
    }
    let projects = project::get_many(tx, numbers.clone()).await?;
    let mut found: HashMap<_, (Project, Option<Goal>)> =
        projects.into_iter().map(|project| (project.number, (project, None))).collect();
    for mut row in tx.query(GOALS, params![numbers]).await? {
        let goal = goal::from_row(&mut row)?;
        let Some((_, kept)) = found.get_mut(&ProjectNumber(row.int()?)) else { continue };
        let is_active = |goal: &Goal| goal.status == GoalStatus::Active;
        if kept.as_ref().is_none_or(|kept| !is_active(kept) && is_active(&goal)) {
            *kept = Some(goal);
        }
    }
    Ok(found)
}
