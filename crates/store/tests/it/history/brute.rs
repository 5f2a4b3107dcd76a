//! Brute force: scores and gates written a second time, from the numbers alone.

use std::collections::HashMap;

use extraboard_core::clock::Timestamp;
use extraboard_core::doors::Door;
use extraboard_core::gate::{Account, Claimer, Limits};
use extraboard_core::id::{ProjectNumber, TaskNumber};
use extraboard_core::kind::Kind;
use extraboard_core::profile::Profile;
use extraboard_core::project::ProjectStatus;
use extraboard_core::task::Task;

const MINUTE: i128 = 60_000_000;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;
/// A point, in units in which every term is a whole number.
pub(crate) const POINT: i128 = DAY * HOUR;

/// The numbers of a profile by key.
pub(crate) struct Numbers(HashMap<&'static str, i64>);

impl Numbers {
    pub(crate) fn of(profile: &Profile) -> Self {
        Self(profile.numbers().collect())
    }

    fn get(&self, key: &str) -> i128 {
        self.0.get(key).copied().unwrap_or(0).into()
    }

    /// The exact score of a task, in parts of a point.
    pub(crate) fn score(&self, task: &Task, depth: i64, has_goal: bool, now: Timestamp) -> i128 {
        let failures = i128::from(task.counters.crash + task.counters.retry);
        let penalty = (failures * self.get("retry_penalty_per_iteration")).min(self.get("retry_penalty_max"));
        let points = i128::from(task.priority.points()) * self.get("priority_weight")
            + i128::from(task.boost)
            + self.get(task.kind.as_str())
            + if has_goal { self.get("goal_bonus") } else { 0 }
            + i128::from(depth) * self.get("depth_boost_per_level")
            - penalty;
        points * POINT + self.waiting(task.queued_at.unwrap(), now)
    }

    fn waiting(&self, queued_at: Timestamp, now: Timestamp) -> i128 {
        let waited = i128::from(now.as_micros()) - i128::from(queued_at.as_micros());
        let (rate, span) = match self.0.get("age_boost_per_minute") {
            Some(rate) => (i128::from(*rate), MINUTE),
            None => (self.get("age_boost_per_day"), DAY),
        };
        let Some(most) = self.0.get("age_boost_max").filter(|most| rate > 0 || **most == 0) else {
            return waited * rate * (POINT / span);
        };
        let most = i128::from(*most);
        let until = if most == 0 { 0 } else { most * span / rate };
        if waited < until {
            return waited.max(0) * rate * (POINT / span);
        }
        most * POINT + (waited - until).max(0) * self.get("patience_per_hour") * (POINT / HOUR)
    }
}

/// What is handed out and not closed.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) kind: Kind,
    pub(crate) project: Option<ProjectNumber>,
    pub(crate) holder: String,
    pub(crate) account: Option<Account>,
}

/// A project as gates see it.
#[derive(Clone, Debug)]
pub(crate) struct ProjectState {
    pub(crate) status: ProjectStatus,
    pub(crate) run_limit: Option<i64>,
}

/// Everything gates depend on.
pub(crate) struct Gates<'a> {
    pub(crate) now: Timestamp,
    pub(crate) limits: &'a Limits,
    pub(crate) projects: &'a HashMap<ProjectNumber, ProjectState>,
    pub(crate) accounts: &'a HashMap<Account, (i64, Timestamp)>,
}

impl Gates<'_> {
    /// Tells whether a claimer may be handed a ready task now.
    pub(crate) fn let_through(&self, task: &Task, claimer: &Claimer, held: &[Held]) -> bool {
        Self::fits(task, claimer) && self.is_worked_on(task, claimer) && self.has_room(task, claimer, held)
    }

    fn fits(task: &Task, claimer: &Claimer) -> bool {
        let has_all = task.needs.words().all(|need| claimer.capabilities.words().any(|can| can == need));
        let door = Door::ALL.iter().any(|door| *door == claimer.door && task.doors.contains(*door));
        door && has_all
            && (task.owner.is_none() || task.owner == claimer.owner)
            && (claimer.project.is_none() || claimer.project == task.project)
            && (claimer.kinds.is_empty() || claimer.kinds.contains(&task.kind))
    }

    fn is_worked_on(&self, task: &Task, claimer: &Claimer) -> bool {
        let paused = task.project.is_some_and(|project| {
            matches!(self.projects[&project].status, ProjectStatus::Paused | ProjectStatus::Canceled)
        });
        let refused = claimer.account.as_ref().and_then(|account| self.accounts.get(account));
        !paused && refused.is_none_or(|(_, until)| *until <= self.now)
    }

    fn has_room(&self, task: &Task, claimer: &Claimer, held: &[Held]) -> bool {
        let room = |limit: Option<i64>, is_counted: &dyn Fn(&Held) -> bool| {
            let count = held.iter().filter(|held| is_counted(held)).count();
            limit.is_none_or(|limit| i64::try_from(count).unwrap() < limit)
        };
        let limits = self.limits;
        let name = claimer.name.strip_prefix("agent:").unwrap();
        let own = task.project.and_then(|project| self.projects[&project].run_limit);
        let of_project = if task.project.is_some() { own.or(limits.project) } else { None };
        let of_account = claimer.account.as_ref().and(limits.account);
        room(limits.total, &|_| true)
            && room(limits.kinds.get(&task.kind).copied(), &|held| held.kind == task.kind)
            && room(of_project, &|held| held.project == task.project)
            && room(limits.agents.get(name).copied().or(limits.agent), &|held| held.holder == claimer.name)
            && room(of_account, &|held| held.account == claimer.account)
    }
}

/// Sorts tasks by score, then by who waits longer, then by number.
pub(crate) fn sorted(mut scored: Vec<(i128, Task)>) -> Vec<Task> {
    scored.sort_by_key(|(score, task)| (-score, task.queued_at, task.number));
    scored.into_iter().map(|(_, task)| task).collect()
}

/// Numbers of tasks, for comparisons that can be read.
pub(crate) fn numbers(tasks: &[Task]) -> Vec<TaskNumber> {
    tasks.iter().map(|task| task.number).collect()
}
