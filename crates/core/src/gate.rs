//! Gates: what may close a lane to a claimer, though its tasks are ready.
//!
//! A claim asks whether any gate is closed, `why` asks which ones: both ask
//! [`closed_gates`], so they cannot disagree. Gates look at lanes and never at rows.

use std::collections::{BTreeMap, HashMap};

use crate::capabilities::Capabilities;
use crate::clock::{Span, Timestamp};
use crate::doors::{Door, Doors};
use crate::id::ProjectNumber;
use crate::kind::Kind;
use crate::line::Lane;
use crate::project::ProjectStatus;
use crate::words::words;

/// The longest wait a provider's refusals add up to by themselves.
const BACKOFF_DOUBLINGS_MAX: i64 = 6;

/// The account with a provider that work is done on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account {
    /// Whose models are used.
    pub provider: String,
    /// Which account there; empty for the only one.
    pub account: String,
}

impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.provider)?;
        if self.account.is_empty() { Ok(()) } else { write!(f, "/{}", self.account) }
    }
}

/// Whoever wants work, as gates see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimer {
    /// Its name, as [`crate::caller::Caller`] writes itself.
    pub name: String,
    /// The door it uses.
    pub door: Door,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Who it works for.
    pub owner: Option<String>,
    /// What it is run by.
    pub adapter: Option<String>,
    /// The account it works on; unnamed is ungated.
    pub account: Option<Account>,
    /// The only project it wants work of.
    pub project: Option<ProjectNumber>,
    /// The only kinds of work it wants; any if there are none.
    pub kinds: Vec<Kind>,
}

impl Claimer {
    /// Returns a claimer that asks for nothing in particular.
    pub fn anyone(name: impl Into<String>, door: Door) -> Self {
        Self {
            name: name.into(),
            door,
            capabilities: Capabilities::default(),
            owner: None,
            adapter: None,
            account: None,
            project: None,
            kinds: Vec::new(),
        }
    }
}

/// Whom a lane is open to.
#[derive(Clone, Copy, Debug)]
pub enum Audience<'a> {
    /// A particular claimer.
    Claimer(&'a Claimer),
    /// Whoever could take it: only conditions count.
    Anyone,
}

impl Audience<'_> {
    /// Returns every gate before a lane that is closed.
    pub fn closed_gates(&self, lane: &Lane, conditions: &Conditions) -> Vec<Gate> {
        match self {
            Self::Claimer(claimer) => closed_gates(lane, claimer, conditions),
            Self::Anyone => closed_gates(lane, &ideal(lane), conditions),
        }
    }
}

/// Returns a claimer made for a lane, without a name and so without a limit.
fn ideal(lane: &Lane) -> Claimer {
    let door = Door::ALL.iter().copied().find(|door| lane.doors.contains(*door)).unwrap_or(Door::Pull);
    Claimer {
        capabilities: lane.needs.clone(),
        owner: lane.owner.clone(),
        ..Claimer::anyone(String::new(), door)
    }
}

/// How much may be handed out at once. Nothing is limited until somebody says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Altogether.
    pub total: Option<i64>,
    /// Of one kind.
    pub kinds: BTreeMap<Kind, i64>,
    /// Of each project that has no limit of its own.
    pub project: Option<i64>,
    /// To each agent that has no limit of its own.
    pub agent: Option<i64>,
    /// To particular agents, by name.
    pub agents: BTreeMap<String, i64>,
    /// On each provider account: one dispatch is one caller of its API.
    pub account: Option<i64>,
}

impl Limits {
    /// Tells whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the limit of a claimer. Callers are written `agent:NAME`; limits go by name.
    fn of_agent(&self, caller: &str) -> Option<i64> {
        let name = caller.strip_prefix("agent:")?;
        self.agents.get(name).copied().or(self.agent)
    }
}

/// How much is handed out: dispatches that are open or ending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    total: i64,
    kinds: HashMap<Kind, i64>,
    projects: HashMap<ProjectNumber, i64>,
    agents: HashMap<String, i64>,
    accounts: HashMap<Account, i64>,
}

/// Dispatches of one sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used<'a> {
    /// The kind of their tasks.
    pub kind: Kind,
    /// The project of their tasks.
    pub project: Option<ProjectNumber>,
    /// Who holds them.
    pub holder: &'a str,
    /// The account they are worked on.
    pub account: Option<&'a Account>,
    /// How many there are.
    pub count: i64,
}

impl Usage {
    /// Counts dispatches.
    pub fn add(&mut self, used: &Used<'_>) {
        self.total += used.count;
        *self.kinds.entry(used.kind).or_default() += used.count;
        if let Some(project) = used.project {
            *self.projects.entry(project).or_default() += used.count;
        }
        *self.agents.entry(used.holder.to_owned()).or_default() += used.count;
        if let Some(account) = used.account {
            *self.accounts.entry(account.clone()).or_default() += used.count;
        }
    }

    /// Counts the dispatch a claimer gets from a lane.
    pub fn take(&mut self, lane: &Lane, claimer: &Claimer) {
        let account = claimer.account.as_ref();
        let (kind, project, holder) = (lane.kind, lane.project, claimer.name.as_str());
        self.add(&Used { kind, project, holder, account, count: 1 });
    }
}

/// What a project says about its tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectGate {
    /// What people call it.
    pub name: String,
    /// Where it stands.
    pub status: ProjectStatus,
    /// Its own limit.
    pub run_limit: Option<i64>,
}

/// How often a provider refused in a row, and until when it is left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountGate {
    /// Refusals since the last success.
    pub hits: i64,
    /// Until when nothing is started; never earlier than it was.
    pub until: Timestamp,
}

impl AccountGate {
    /// Returns the gate after another refusal.
    #[must_use]
    pub fn hit(self, now: Timestamp, retry_after: Option<Span>) -> Self {
        let hits = self.hits.saturating_add(1);
        let backoff = Span::from_secs(1 << hits.clamp(1, BACKOFF_DOUBLINGS_MAX));
        let wait = backoff.max(retry_after.unwrap_or(Span::ZERO));
        Self { hits, until: self.until.max(now.plus(wait)) }
    }
}

/// Everything gates depend on beyond lane and claimer.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// The present.
    pub now: Timestamp,
    /// The limits in force.
    pub limits: Limits,
    /// How much is handed out; complete where there are limits.
    pub usage: Usage,
    /// Projects that are paused, canceled or limited; all where every one is limited.
    pub projects: HashMap<ProjectNumber, ProjectGate>,
    /// Accounts that refused.
    pub accounts: HashMap<Account, AccountGate>,
}

words! {
    /// What a limit is a limit of.
    pub enum LimitScope, "scope of a limit" {
        /// Everything.
        Total = "total",
        /// A kind.
        Kind = "kind",
        /// A project.
        Project = "project",
        /// An agent.
        Agent = "agent",
        /// A provider account.
        Account = "account",
    }
}

/// A closed gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The claimer asked for another project.
    OtherProject,
    /// The claimer asked for other kinds.
    OtherKind(Kind),
    /// It does not leave by the claimer's door.
    Door(Doors),
    /// The claimer cannot do all it takes.
    Needs(Vec<String>),
    /// It is for the agents of somebody else.
    Owner(String),
    /// Its project is not worked on.
    Project(String, ProjectStatus),
    /// As much as allowed is handed out.
    Limit {
        /// Of what.
        scope: LimitScope,
        /// Of which, in words.
        of: String,
        /// How many are allowed.
        limit: i64,
        /// How many there are.
        used: i64,
    },
    /// The provider refuses for a while.
    RateLimited(Account, Timestamp),
}

words! {
    /// Why there is nothing to hand out.
    pub enum Nothing, "reason" {
        /// Nothing waits.
        Empty = "empty",
        /// What waits is held by a blocker, a parent or an artifact.
        Held = "held",
        /// What waits has to wait for a moment.
        NotBefore = "not_before",
        /// The project of what waits is not worked on.
        Paused = "paused",
        /// As much as allowed is handed out.
        Limit = "limit",
        /// The claimer's provider refuses for a while.
        RateLimited = "rate_limited",
        /// What stands in line is not for this claimer.
        NoMatch = "no_match",
    }
}

impl Gate {
    /// Returns the word a claimer is told if this is all that stands in its way.
    pub const fn nothing(&self) -> Nothing {
        match self {
            Self::OtherProject | Self::OtherKind(_) | Self::Door(_) | Self::Needs(_) | Self::Owner(_) => {
                Nothing::NoMatch
            }
            Self::Project(..) => Nothing::Paused,
            Self::Limit { .. } => Nothing::Limit,
            Self::RateLimited(..) => Nothing::RateLimited,
        }
    }
}

/// Returns every gate between a lane and a claimer that is closed.
pub fn closed_gates(lane: &Lane, claimer: &Claimer, conditions: &Conditions) -> Vec<Gate> {
    let mut closed = mismatches(lane, claimer);
    if let Some(project) = lane.project
        && let Some(gate) = conditions.projects.get(&project)
        && gate.status.is_closed()
    {
        closed.push(Gate::Project(gate.name.clone(), gate.status));
    }
    closed.extend(reached_limits(lane, claimer, conditions));
    if let Some(account) = &claimer.account
        && let Some(gate) = conditions.accounts.get(account)
        && gate.until > conditions.now
    {
        closed.push(Gate::RateLimited(account.clone(), gate.until));
    }
    closed
}

/// Returns why the lane is not for this claimer, whatever the conditions.
fn mismatches(lane: &Lane, claimer: &Claimer) -> Vec<Gate> {
    let mut closed = Vec::new();
    if claimer.project.is_some() && claimer.project != lane.project {
        closed.push(Gate::OtherProject);
    }
    if !claimer.kinds.is_empty() && !claimer.kinds.contains(&lane.kind) {
        closed.push(Gate::OtherKind(lane.kind));
    }
    if !lane.doors.contains(claimer.door) {
        closed.push(Gate::Door(lane.doors));
    }
    let missing = claimer.capabilities.missing(&lane.needs);
    if !missing.is_empty() {
        closed.push(Gate::Needs(missing));
    }
    if let Some(owner) = &lane.owner
        && claimer.owner.as_ref() != Some(owner)
    {
        closed.push(Gate::Owner(owner.clone()));
    }
    closed
}

fn reached_limits(lane: &Lane, claimer: &Claimer, conditions: &Conditions) -> Vec<Gate> {
    let Conditions { limits, usage, projects, .. } = conditions;
    let count = |counted: Option<&i64>| counted.copied().unwrap_or(0);
    let project = lane.project.and_then(|project| projects.get(&project));
    let project_limit = project.and_then(|gate| gate.run_limit.or(limits.project));
    let project_used = lane.project.map_or(0, |project| count(usage.projects.get(&project)));
    let project_name = project.map(|gate| gate.name.clone()).unwrap_or_default();
    let account = claimer.account.as_ref();
    let checks = [
        (LimitScope::Total, String::new(), limits.total, usage.total),
        (
            LimitScope::Kind,
            lane.kind.to_string(),
            limits.kinds.get(&lane.kind).copied(),
            count(usage.kinds.get(&lane.kind)),
        ),
        (LimitScope::Project, project_name, project_limit, project_used),
        (
            LimitScope::Agent,
            claimer.name.clone(),
            limits.of_agent(&claimer.name),
            count(usage.agents.get(&claimer.name)),
        ),
        (
            LimitScope::Account,
            account.map(ToString::to_string).unwrap_or_default(),
            limits.account.filter(|_| account.is_some()),
            account.map_or(0, |account| count(usage.accounts.get(account))),
        ),
    ];
    let reached = checks.into_iter().filter_map(|(scope, of, limit, used)| {
        let limit = limit.filter(|limit| used >= *limit)?;
        Some(Gate::Limit { scope, of, limit, used })
    });
    reached.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000_000);

    fn lane() -> Lane {
        Lane {
            project: Some(ProjectNumber(1)),
            kind: Kind::Code,
            needs: Capabilities::default(),
            owner: None,
            doors: Doors::ANY,
        }
    }

    fn claimer() -> Claimer {
        Claimer::anyone("agent:a", Door::Pull)
    }

    fn conditions() -> Conditions {
        Conditions { now: NOW, ..Conditions::default() }
    }

    fn project(status: ProjectStatus, run_limit: Option<i64>) -> ProjectGate {
        ProjectGate { name: "payments".to_owned(), status, run_limit }
    }

    fn limited(limits: Limits, taken: i64) -> Vec<Gate> {
        let mut conditions = Conditions { limits, ..conditions() };
        conditions.projects.insert(ProjectNumber(1), project(ProjectStatus::Active, None));
        for _ in 0..taken {
            conditions.usage.take(&lane(), &claimer());
        }
        closed_gates(&lane(), &claimer(), &conditions)
    }

    #[test]
    fn nothing_is_closed_until_somebody_says_so() {
        assert_eq!(limited(Limits::default(), 1000), []);
    }

    #[test]
    fn l7_a_limit_counts_what_is_handed_out() {
        for limits in [
            Limits { total: Some(2), ..Limits::default() },
            Limits { kinds: BTreeMap::from([(Kind::Code, 2)]), ..Limits::default() },
            Limits { project: Some(2), ..Limits::default() },
            Limits { agent: Some(2), ..Limits::default() },
            Limits { agents: BTreeMap::from([("a".to_owned(), 2)]), agent: Some(9), ..Limits::default() },
        ] {
            assert_eq!(limited(limits.clone(), 1), [], "{limits:?}");
            let gates = limited(limits.clone(), 2);
            assert!(matches!(gates[..], [Gate::Limit { limit: 2, used: 2, .. }]), "{limits:?}");
        }
    }

    #[test]
    fn limits_of_others_do_not_count() {
        let others = Limits {
            kinds: BTreeMap::from([(Kind::Plan, 0)]),
            agents: BTreeMap::from([("b".to_owned(), 0)]),
            account: Some(0),
            ..Limits::default()
        };
        assert_eq!(limited(others, 5), []);
    }

    #[test]
    fn a_projects_own_limit_goes_before_the_general_one() {
        let mut conditions =
            Conditions { limits: Limits { project: Some(0), ..Limits::default() }, ..conditions() };
        conditions.projects.insert(ProjectNumber(1), project(ProjectStatus::Active, Some(1)));
        assert_eq!(closed_gates(&lane(), &claimer(), &conditions), []);
    }

    #[test]
    fn a8_paused_and_canceled_projects_are_closed() {
        for status in ProjectStatus::ALL {
            let mut conditions = conditions();
            conditions.projects.insert(ProjectNumber(1), project(*status, None));
            let closed = !closed_gates(&lane(), &claimer(), &conditions).is_empty();
            let expected = matches!(status, ProjectStatus::Paused | ProjectStatus::Canceled);
            assert_eq!(closed, expected, "{status}");
        }
    }

    #[test]
    fn a_lane_is_for_claimers_that_match_it() {
        let mut lane = lane();
        lane.needs = Capabilities::parse("rust,sql").unwrap();
        lane.owner = Some("ann".to_owned());
        lane.doors = Doors::new([Door::Push]).unwrap();
        let gates = closed_gates(&lane, &claimer(), &conditions());
        let needs = Gate::Needs(vec!["rust".to_owned(), "sql".to_owned()]);
        assert_eq!(gates, [Gate::Door(lane.doors), needs, Gate::Owner("ann".to_owned())]);
        let able = Claimer {
            door: Door::Push,
            capabilities: Capabilities::parse("SQL,Rust,go").unwrap(),
            owner: Some("ann".to_owned()),
            ..claimer()
        };
        assert_eq!(closed_gates(&lane, &able, &conditions()), []);
    }

    #[test]
    fn filters_close_what_was_not_asked_for() {
        let picky = Claimer { project: Some(ProjectNumber(2)), kinds: vec![Kind::Plan], ..claimer() };
        let gates = closed_gates(&lane(), &picky, &conditions());
        assert_eq!(gates, [Gate::OtherProject, Gate::OtherKind(Kind::Code)]);
        assert!(gates.iter().all(|gate| gate.nothing() == Nothing::NoMatch));
    }

    #[test]
    fn l8_a_rate_gate_never_shrinks_and_doubles_to_64_seconds() {
        let mut gate = AccountGate::default();
        let mut waits = Vec::new();
        for _ in 0..8 {
            gate = AccountGate { until: NOW, ..gate }.hit(NOW, None);
            waits.push(gate.until.since(NOW).as_secs());
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 64, 64]);
        let long = AccountGate::default().hit(NOW, Some(Span::from_secs(90)));
        assert_eq!(long.until.since(NOW).as_secs(), 90);
        assert_eq!(long.hit(NOW, Some(Span::from_secs(1))).until, long.until);
    }

    #[test]
    fn l8_only_claimers_on_the_account_wait() {
        let account = Account { provider: "anthropic".to_owned(), account: "team".to_owned() };
        let mut conditions = conditions();
        let until = NOW.plus(Span::from_secs(1));
        conditions.accounts.insert(account.clone(), AccountGate { hits: 1, until });
        let on = Claimer { account: Some(account.clone()), ..claimer() };
        assert_eq!(closed_gates(&lane(), &on, &conditions), [Gate::RateLimited(account, until)]);
        assert_eq!(closed_gates(&lane(), &claimer(), &conditions), []);
        conditions.now = until;
        assert_eq!(closed_gates(&lane(), &on, &conditions), []);
    }
}
