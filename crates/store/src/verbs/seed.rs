//! Fill the line quickly: for benchmarks, which need a million waiting tasks.

use extraboard_core::clock::Timestamp;

use crate::error::Error;
use crate::tx::{Sql, Tx, Verb};
use crate::value::params;

/// What sort of tasks the line is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedSort {
    /// Of mixed priorities, ranked by the shipped `pipeline` profile.
    Pipeline,
    /// Of mixed kinds and depths, waiting for up to 100 minutes, ranked by the shipped
    /// `depth_first` profile.
    DepthFirst,
    /// Ahead of all others and of so many owners: nobody's who claims without one.
    Foreign(i64),
    /// As prompts are made of them: five below each parent that is done, in a project with an
    /// active goal, with texts, labels and a comment, and every tenth failed once. Ranked by
    /// the shipped `pipeline` profile.
    Families,
}

/// Adds queued tasks with numbers from `first` to `last`. No events.
#[derive(Clone, Copy, Debug)]
pub struct Seed {
    /// The first number.
    pub first: i64,
    /// The last number.
    pub last: i64,
    /// The present.
    pub now: Timestamp,
    /// What sort of tasks.
    pub sort: SeedSort,
}

/// The dialects have different series …
macro_rules! series {
    (postgres) => {
        "WITH series AS (SELECT g FROM generate_series($1::bigint, $2::bigint) AS g)"
    };
    (sqlite) => {
        "WITH RECURSIVE series (g) AS (SELECT $1 UNION ALL SELECT g + 1 FROM series WHERE g < $2)"
    };
}
/// … and different ways to format a number.
macro_rules! id {
    (postgres, $number:literal) => {
        concat!("'00000000-0000-7000-8000-' || lpad(to_hex(", $number, "), 12, '0')")
    };
    (sqlite, $number:literal) => {
        concat!("printf('00000000-0000-7000-8000-%012x', ", $number, ")")
    };
}

macro_rules! tasks {
    ($dialect:ident, $text:literal) => {
        concat!(
            "INSERT INTO task (number, id, title, description, kind, state, priority, doors, max_retries, \
               queued_at, created_at, updated_at, depth, owner) ",
            series!($dialect),
            " SELECT g, ",
            id!($dialect, "g"),
            ", 'task ' || g, ",
            $text,
            ", CASE WHEN $4 <> 1 THEN 'task' WHEN g % 4 = 0 THEN 'plan' WHEN g % 4 = 1 THEN 'spec' \
                WHEN g % 4 = 2 THEN 'phase' ELSE 'code' END, \
               'queued', CASE WHEN $4 = 2 THEN 100 ELSE 1 + g * 7919 % 100 END, 7, 3, \
               CASE WHEN $4 = 1 THEN $3 - g * 7919 % 6000 * 1000000 WHEN $4 = 2 THEN $3 - 86400000000 \
                 ELSE $3 END, \
               $3, $3, CASE WHEN $4 = 1 THEN g % 4 ELSE 0 END, \
               CASE WHEN $4 = 2 THEN 'owner ' || (g % $5) END \
             FROM series"
        )
    };
}
const TASKS: Sql =
    Sql { postgres: tasks!(postgres, "repeat('x', 200)"), sqlite: tasks!(sqlite, "printf('%.200c', 'x')") };

/// The first parent stands behind all other numbers.
const PARENTS_AFTER: i64 = 1_000_000_000;
const FAMILY: i64 = 5;
const DESCRIPTION_CHARS: usize = 2_000;
const REMARK_CHARS: usize = 500;

const PROJECT: &str = "INSERT INTO project (number, id, name, description, status, health, goal_active, \
       created_at, updated_at) \
     VALUES (1, '00000000-0000-7000-8000-000000000001', 'bench', $1, 'active', 'on_track', 1, $2, $2) \
     ON CONFLICT (number) DO NOTHING";
const GOAL: &str = "INSERT INTO goal (id, title, description, metric, target_value, current_value, unit, \
       status, project, created_at, updated_at) \
     VALUES ('00000000-0000-7000-8000-000000000001', 'Answer sooner', $1, 'p99 of an answer', '50', '80', \
       'ms', 'active', 1, $2, $2) \
     ON CONFLICT (id) DO NOTHING";
const LABELS: &str = "INSERT INTO label (id, name, color, created_at) \
     VALUES ('00000000-0000-7000-8000-000000000000', 'backend', '#336699', $1), \
       ('00000000-0000-7000-8000-000000000001', 'frontend', '#993366', $1), \
       ('00000000-0000-7000-8000-000000000002', 'defect', '#cc3333', $1), \
       ('00000000-0000-7000-8000-000000000003', 'wish', '#33cc33', $1) \
     ON CONFLICT (id) DO NOTHING";

macro_rules! parents {
    ($dialect:ident) => {
        concat!(
            "INSERT INTO task (number, id, title, description, kind, state, priority, doors, max_retries, \
               queued_at, created_at, updated_at, started_at, completed_at, project, agent_summary) ",
            series!($dialect),
            " SELECT g, ",
            id!($dialect, "g"),
            ", 'plan ' || g, $4, 'plan', 'done', 50, 7, 3, $3, $3, $3, $3, $3, 1, $5 \
             FROM series \
             WHERE true \
             ON CONFLICT (number) DO NOTHING"
        )
    };
}
/// Two turns may each bring a part of one family.
const PARENTS: Sql = Sql { postgres: parents!(postgres), sqlite: parents!(sqlite) };

macro_rules! members {
    ($dialect:ident) => {
        concat!(
            "INSERT INTO task (number, id, title, description, kind, state, priority, doors, max_retries, \
               queued_at, created_at, updated_at, depth, project, parent, fence, attempt, retry_count, \
               started_at, last_error) ",
            series!($dialect),
            " SELECT g, ",
            id!($dialect, "g"),
            ", 'Have task ' || g || ' done as its plan says', $4, 'task', 'queued', 1 + g * 7919 % 100, 7, 3, \
               $3, $3, $3, 1, 1, $6 + (g - 1) / $7, \
               CASE WHEN g % 10 = 4 THEN 1 ELSE 0 END, CASE WHEN g % 10 = 4 THEN 1 ELSE 0 END, \
               CASE WHEN g % 10 = 4 THEN 1 ELSE 0 END, CASE WHEN g % 10 = 4 THEN $3 END, \
               CASE WHEN g % 10 = 4 THEN $5 END \
             FROM series"
        )
    };
}
const MEMBERS: Sql = Sql { postgres: members!(postgres), sqlite: members!(sqlite) };
const LABELED: &str = "INSERT INTO task_label (task, label) \
     SELECT number, '00000000-0000-7000-8000-00000000000' || (number % 2) \
     FROM task WHERE number BETWEEN $1 AND $2 \
     UNION ALL \
     SELECT number, '00000000-0000-7000-8000-00000000000' || (2 + number % 2) \
     FROM task WHERE number BETWEEN $1 AND $2";
const REMARKS: &str = "INSERT INTO comment (task, kind, body, author, author_type, created_at) \
     SELECT number, 'comment', $4, 'ada', 'human', $3 \
     FROM task WHERE number BETWEEN $1 AND $2 \
     ORDER BY number";
/// Attempts that failed have prompts as well, and those have their size.
const FAILED: &str = "INSERT INTO dispatch (id, task, attempt, fence, holder, door, phase, reason, outcome, \
       lease_micros, lease_until, started_at, heartbeat_at, closed_at, error, prompt, kind, project) \
     SELECT replace(id, '-8000-', '-9000-'), number, 1, 1, 'agent:bench', 'pull', 'closed', \
       'execution_failed', 'failed', 60000000, $3, $3, $3, $3, $4, $5, kind, project \
     FROM task WHERE number BETWEEN $1 AND $2 AND fence = 1";

const LANES: &str = "INSERT INTO lane (project, kind, needs, owner, doors) \
     SELECT DISTINCT COALESCE(project, 0), kind, '', COALESCE(owner, ''), 7 \
     FROM task WHERE number BETWEEN $1 AND $2 \
     ON CONFLICT (project, kind, needs, owner, doors) DO NOTHING";
/// The numbers of the shipped profiles, once more.
const LINE: &str = "INSERT INTO line (task, lane, level, arrival, queued_at) \
     SELECT t.number, n.id, \
       CASE WHEN $3 <> 1 THEN 0 WHEN t.kind = 'plan' THEN 40 WHEN t.kind = 'spec' THEN 60 \
         WHEN t.kind = 'phase' THEN 80 ELSE 100 END + CASE WHEN $3 = 1 THEN t.depth * 10 ELSE 0 END, \
       CASE WHEN $3 = 1 THEN t.queued_at ELSE t.queued_at - \
         (t.priority + CASE WHEN t.project IS NULL THEN 20 ELSE 40 END) * 86400000000 END, t.queued_at \
     FROM task t \
     JOIN lane n ON n.project = COALESCE(t.project, 0) AND n.kind = t.kind AND n.needs = '' \
       AND n.owner = COALESCE(t.owner, '') AND n.doors = t.doors \
     WHERE t.number BETWEEN $1 AND $2";

const HEADS: &str = "INSERT INTO line_head (level, arrival) \
     SELECT level, MIN(arrival) FROM line WHERE task BETWEEN $1 AND $2 GROUP BY level \
     ON CONFLICT (level) DO UPDATE \
       SET arrival = CASE WHEN line_head.arrival < EXCLUDED.arrival THEN line_head.arrival \
         ELSE EXCLUDED.arrival END";

impl Verb for Seed {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let (sort, lanes) = match self.sort {
            SeedSort::Pipeline => (0, 1),
            SeedSort::DepthFirst => (1, 1),
            SeedSort::Foreign(lanes) => (2, lanes),
            SeedSort::Families => (3, 1),
        };
        let range = params![self.first, self.last];
        if self.sort == SeedSort::Families {
            self.families(tx).await?;
        } else {
            let params = params![self.first, self.last, self.now.as_micros(), sort, lanes];
            tx.execute(TASKS, params).await?;
        }
        tx.execute(LANES.into(), range.clone()).await?;
        let mut params = range.clone();
        params.extend(params![sort]);
        tx.execute(LINE.into(), params).await?;
        tx.execute(HEADS.into(), range).await?;
        Ok(())
    }
}

impl Seed {
    /// Adds tasks with all that their prompts tell of.
    async fn families<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let (first, last, now) = (self.first, self.last, self.now.as_micros());
        let (description, remark) = (prose(DESCRIPTION_CHARS, 1), prose(REMARK_CHARS, 2));
        tx.execute(PROJECT.into(), params![remark.as_str(), now]).await?;
        tx.execute(GOAL.into(), params![remark.as_str(), now]).await?;
        tx.execute(LABELS.into(), params![now]).await?;
        let parent = |number: i64| PARENTS_AFTER + (number - 1) / FAMILY;
        let parents = params![parent(first), parent(last), now, prose(DESCRIPTION_CHARS, 3), remark.as_str()];
        tx.execute(PARENTS, parents).await?;
        let members = params![first, last, now, description.as_str(), remark.as_str(), PARENTS_AFTER, FAMILY];
        tx.execute(MEMBERS, members).await?;
        tx.execute(LABELED.into(), params![first, last]).await?;
        tx.execute(REMARKS.into(), params![first, last, now, remark.as_str()]).await?;
        let failed = params![first, last, now, remark, prose(4 * DESCRIPTION_CHARS, 4)];
        tx.execute(FAILED.into(), failed).await?;
        Ok(())
    }
}

/// What texts are made of, some of it as code is quoted.
const WORDS: [&str; 32] = [
    "the",
    "reader",
    "answers",
    "twice",
    "when",
    "a",
    "request",
    "of",
    "another",
    "caller",
    "is",
    "late",
    "`parse()`",
    "returns",
    "nothing",
    "for",
    "empty",
    "lines",
    "and",
    "counts",
    "them",
    "as",
    "found",
    "see",
    "`src/line.rs`",
    "before",
    "changing",
    "what",
    "tests",
    "expect",
    "from",
    "it",
];
const LINE_WORDS: usize = 14;

/// Writes so many characters that look like what people write: in lines, and so that a database
/// cannot store them in much less room.
fn prose(chars: usize, seed: u64) -> String {
    let mut text = String::with_capacity(chars + 2 * LINE_WORDS);
    let mut state = seed;
    for count in 1.. {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        // The upper bits are the ones without a pattern.
        text.push_str(WORDS[usize::try_from(state >> 59).unwrap_or(0) % WORDS.len()]);
        text.push_str(match count % (3 * LINE_WORDS) {
            0 => "\n\n",
            left if left % LINE_WORDS == 0 => "\n- ",
            _ => " ",
        });
        if text.len() >= chars {
            break;
        }
    }
    text.truncate(chars);
    text
}

/// The least a claim could do: one transaction that updates one row and inserts two.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling {
    /// The task to update.
    pub number: i64,
    /// The present.
    pub now: Timestamp,
}

impl Verb for Ceiling {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let update = "UPDATE task SET updated_at = $2 WHERE number = $1";
        tx.execute(update.into(), params![self.number, self.now.as_micros()]).await?;
        for _ in 0..2 {
            let insert =
                "INSERT INTO event (type, actor, at, data) VALUES ('task.edited', 'bench', $1, '{}')";
            tx.execute(insert.into(), params![self.now.as_micros()]).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_its_length_and_lines() {
        let text = prose(500, 1);
        assert_eq!(text.len(), 500);
        assert!(text.lines().count() > 4 && text.contains('`'), "{text}");
        assert_ne!(text, prose(500, 2));
    }
}
