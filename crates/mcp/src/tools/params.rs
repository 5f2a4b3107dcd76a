//! What the tools take. The comments on fields are what the model reads.

use extraboard_api::claimer::ClaimerQuery;
use extraboard_api::dispatch::Tokens;
use extraboard_api::issue_ref::IssueRef;
use extraboard_api::work::{Commit, PullRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::session::Which;

/// Declares the parameters of a report: the dispatch it is about, what it cost, and what is its own.
///
/// The shared fields are repeated by the macro because serde cannot flatten a type into one that refuses
/// unknown fields.
macro_rules! report {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub(super) struct $name {
            $($(#[$field_meta])* pub(super) $field: $type,)*
            /// The id of the dispatch; only needed if this session holds several.
            dispatch: Option<String>,
            /// The number of its issue, instead of the dispatch's id.
            number: Option<i64>,
            /// What was spent since the last report, in US dollars.
            pub(super) cost_usd: Option<f64>,
            /// The tokens spent since the last report.
            pub(super) tokens: Option<Tokens>,
        }

        impl $name {
            pub(super) fn which(&self) -> Which {
                Which { dispatch: self.dispatch.clone(), number: self.number }
            }
        }
    };
}

report! {
    /// The parameters of `heartbeat`.
    Heartbeat {
        /// How far you are, as a sentence or a small JSON object; at most 16 KiB.
        progress: Option<Value>,
    }
}

report! {
    /// The parameters of `progress`.
    ProgressReport {
        /// How far you are, as a sentence or a small JSON object such as {"step": "tests", "percent": 60}; at
        /// most 16 KiB.
        progress: Value,
    }
}

report! {
    /// The parameters of `complete`.
    Complete {
        /// What you did, for the people who read it: a few sentences.
        agent_summary: Option<String>,
        /// What came of it, as any JSON up to 64 KiB, for programs.
        result: Option<Value>,
        /// The commits you made.
        commits: Option<Vec<Commit>>,
        /// The pull requests you opened.
        pull_requests: Option<Vec<PullRequest>>,
        /// How far you got, as a sentence or a small JSON object.
        progress: Option<Value>,
    }
}

report! {
    /// The parameters of `fail`.
    Fail {
        /// What went wrong, with what one needs to understand it.
        error: Option<String>,
        /// What kind of failure it is: `execution_failed` (the default; you tried, and it did not work),
        /// `attempt_timeout`, `crash`, `agent_unavailable`, `setup` (the environment is broken), `rate_limited`
        /// (the provider refuses).
        #[schemars(extend("enum" = [
            "execution_failed", "attempt_timeout", "crash", "agent_unavailable", "setup", "rate_limited", null
        ]))]
        class: Option<String>,
        /// Whether another attempt makes sense; true unless you say otherwise.
        retryable: Option<bool>,
        /// After how many seconds, at most a day.
        retry_after: Option<i64>,
        /// Which provider refused, for `rate_limited`.
        provider: Option<String>,
        /// How far you got, as a sentence or a small JSON object.
        progress: Option<Value>,
    }
}

report! {
    /// The parameters of `release`.
    Release {
        /// How far you got, as a sentence or a small JSON object.
        progress: Option<Value>,
    }
}

report! {
    /// The parameters of `ask`.
    Ask {
        /// What you need to know, at most 20,000 characters. Say what you found and what you suggest.
        question: Option<String>,
        /// How far you got, as a sentence or a small JSON object.
        progress: Option<Value>,
    }
}

/// The parameters of `review`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Review {
    /// Whether you could understand the prompt, from 1 (hardly) to 5 (at once).
    #[schemars(range(min = 1, max = 5))]
    pub(super) clarity: i64,
    /// Whether all you needed to know stood in it, from 1 (hardly anything) to 5 (everything).
    #[schemars(range(min = 1, max = 5))]
    pub(super) completeness: i64,
    /// Whether what stood in it was of use for this task, from 1 (hardly anything) to 5 (everything).
    #[schemars(range(min = 1, max = 5))]
    pub(super) relevance: i64,
    /// What was missing, wrong or in the way, and what you would write instead; at most 20,000 characters.
    pub(super) feedback: Option<String>,
    /// The id of the dispatch; only needed if this session holds several.
    dispatch: Option<String>,
    /// The number of its issue, instead of the dispatch's id.
    number: Option<i64>,
}

impl Review {
    pub(super) fn which(&self) -> Which {
        Which { dispatch: self.dispatch.clone(), number: self.number }
    }
}

/// Declares parameters that say who asks, and for what work.
macro_rules! claimer {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub(super) struct $name {
            $($(#[$field_meta])* pub(super) $field: $type,)*
            /// Only tasks of this project, by name or uuid.
            project: Option<String>,
            /// Only tasks of these types: signal, hypothesis, plan, spec, phase, code, task, monitor.
            kinds: Option<Vec<String>>,
            /// What you can do, such as rust or gpu: tasks that need more are not for you.
            capabilities: Option<Vec<String>>,
            /// Whom you work for: tasks with an owner are only for agents of that owner.
            owner: Option<String>,
            /// Whose models you run on, such as anthropic.
            provider: Option<String>,
            /// Which account with that provider; needs `provider`.
            account: Option<String>,
        }

        impl $name {
            /// Returns what the call says about the claimer.
            pub(super) fn claimer(&self) -> ClaimerQuery {
                let list = |words: &Option<Vec<String>>| words.as_ref().map(|words| words.join(","));
                ClaimerQuery {
                    project_id: self.project.clone(),
                    kinds: list(&self.kinds),
                    capabilities: list(&self.capabilities),
                    owner: self.owner.clone(),
                    adapter: None,
                    door: None,
                    provider: self.provider.clone(),
                    account: self.account.clone(),
                }
            }
        }
    };
}

claimer! {
    /// The parameters of `claim`.
    Claim {
        /// How many seconds to wait for work if there is none, 0 to 60; 0 unless you say otherwise.
        #[schemars(range(min = 0, max = 60))]
        wait_seconds: Option<u64>,
    }
}

claimer! {
    /// The parameters of `queue`.
    Queue {
        /// How many to list, 1 to 200; 20 unless you say otherwise.
        #[schemars(range(min = 1, max = 200))]
        limit: Option<i64>,
        /// How many to pass over first.
        #[schemars(range(min = 0, max = 10000))]
        offset: Option<i64>,
        /// Whether to list what is not for you, too, with what keeps it from you.
        all: Option<bool>,
    }
}

claimer! {
    /// The parameters of `why`.
    Why {
        /// The number or uuid of the task.
        issue: IssueRef,
        /// The name of an agent to ask for. With neither this nor the filters the answer is for anyone.
        agent: Option<String>,
    }
}

/// The parameters of `create`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Create {
    /// What is to be done, in one line of at most 500 characters.
    pub(super) title: String,
    /// What kind of work it is; `task` or `code` if in doubt.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["signal", "hypothesis", "plan", "spec", "phase", "code", "task", "monitor"]))]
    pub(super) kind: String,
    /// All that whoever does it has to know: it becomes the prompt. At most 100,000 characters.
    pub(super) description: Option<String>,
    /// Where it begins: triage (the default; a person looks at it first), backlog, or todo (in line at once).
    #[schemars(extend("enum" = ["triage", "backlog", "todo", null]))]
    pub(super) status: Option<String>,
    /// 0 none, 1 urgent, 2 high, 3 medium, 4 low.
    #[schemars(range(min = 0, max = 4))]
    pub(super) priority: Option<i64>,
    /// The same in points, 1 to 100, instead of `priority`.
    #[schemars(range(min = 1, max = 100))]
    pub(super) priority_value: Option<i64>,
    /// Its project, by name or uuid.
    pub(super) project: Option<String>,
    /// The task it is a part of, by number or uuid.
    pub(super) parent: Option<IssueRef>,
    /// Whether it waits until its parent is done.
    pub(super) gated_by_parent: Option<bool>,
    /// The tasks that have to be done first, by number or uuid.
    pub(super) blocked_by: Option<Vec<IssueRef>>,
    /// What an agent must be able to do, such as rust or gpu.
    pub(super) needs: Option<Vec<String>>,
    /// Whose agents alone may take it.
    pub(super) owner: Option<String>,
    /// Not before this time, in RFC 3339.
    pub(super) not_before: Option<String>,
    /// How often it may be tried again, 0 to 100; 3 unless you say otherwise.
    pub(super) max_retries: Option<i64>,
    /// Points added to its score.
    pub(super) boost: Option<i64>,
    /// By which doors it may be handed out: pull, run.
    pub(super) doors: Option<Vec<String>>,
    /// The path of an artifact it waits for.
    pub(super) input_artifact: Option<String>,
    /// Where it comes from, for signals.
    pub(super) signal_source: Option<String>,
    /// What the signal said, as any JSON.
    pub(super) signal_payload: Option<Value>,
    /// The hypothesis, as a JSON object.
    pub(super) hypothesis: Option<Value>,
    /// The labels it gets, by name or uuid: at most 50, which the desk has already.
    pub(super) labels: Option<Vec<String>>,
    /// A name of your own for it, such as `issue-42-step-1`, of at most 300 characters: if a task has that name
    /// already, you get that one, unchanged, instead of a second one.
    pub(super) external_key: Option<String>,
}

/// The parameters of `relate`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Relate {
    /// The task to relate, by number or uuid.
    pub(super) issue: IssueRef,
    /// What it is to the other one.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["blocks", "blocked_by", "related", "duplicate"]))]
    pub(super) kind: String,
    /// The other task, by number or uuid.
    pub(super) to: IssueRef,
}

/// The parameters of `signal`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Signal {
    /// Who or what noticed it, such as ci or nightly-tests; at most 200 characters.
    pub(super) source: String,
    /// What sort of thing happened, such as build.failed; at most 200 characters.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// How bad it is; the task's priority comes of it.
    #[schemars(extend("enum" = ["low", "medium", "high", "critical"]))]
    pub(super) severity: String,
    /// All that is known, as a JSON object of at most 256 KiB. Its `message` (or `title`) becomes the task's title:
    /// say there in one line what happened.
    pub(super) payload: Map<String, Value>,
    /// Its project, by name or uuid.
    pub(super) project: Option<String>,
}

/// The parameters of `comment`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Comment {
    /// The task, by number or uuid; the one you hold if you leave it out.
    pub(super) issue: Option<IssueRef>,
    /// What to say, 1 to 20,000 characters; leave it out to read what was said.
    pub(super) body: Option<String>,
    /// The id of the comment to reply to.
    pub(super) reply_to: Option<String>,
}

/// The parameters of `inbox`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Inbox {
    /// Only these kinds: `question`, `blocked`, `dead_letter`, `broken_prompt`.
    pub(super) kinds: Option<Vec<String>>,
    /// How many to list, 1 to 200.
    #[schemars(range(min = 1, max = 200))]
    pub(super) limit: Option<i64>,
    /// How many to pass over first.
    #[schemars(range(min = 0, max = 10000))]
    pub(super) offset: Option<i64>,
}
