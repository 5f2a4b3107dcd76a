//! What can go wrong in the store.

use extraboard_core::graph::cycle_text;
use extraboard_core::id::{DispatchId, GoalId, InboxId, RelationId, TaskNumber, TaskRef};
use extraboard_core::patch::{Role, legal_asks, legal_moves};
use extraboard_core::state::{IllegalTransition, State, Verb};
use extraboard_core::status::Status;

use crate::rows::label::LabelRef;
use crate::rows::project::ProjectRef;
use crate::rows::template::{TemplateRef, VersionRef};

/// Any failure of a verb; nothing it did was kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The task does not exist, or was deleted.
    #[error("there is no issue {0}")]
    NoTask(TaskRef),
    /// The dispatch does not exist.
    #[error("there is no dispatch {0}")]
    NoDispatch(DispatchId),
    /// The relation does not exist.
    #[error("there is no relation {0}")]
    NoRelation(RelationId),
    /// The item of the inbox does not exist, or was dealt with.
    #[error("there is nothing {0} in the inbox")]
    NoInboxItem(InboxId),
    /// The token does not exist, or was taken back.
    #[error("there is no token {0}")]
    NoToken(String),
    /// The project does not exist, or was deleted.
    #[error("there is no project {0}")]
    NoProject(ProjectRef),
    /// The label does not exist, or was deleted.
    #[error("there is no label {0}")]
    NoLabel(LabelRef),
    /// The template does not exist, or was deleted.
    #[error("there is no template {0}")]
    NoTemplate(TemplateRef),
    /// The version does not exist, or its template was deleted.
    #[error("there is no version {0}")]
    NoVersion(VersionRef),
    /// The goal does not exist, or was deleted.
    #[error("there is no goal {0}")]
    NoGoal(GoalId),
    /// A value that does not fit what there is.
    #[error("{field}: {message}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What was expected.
        message: String,
    },
    /// Tasks would wait for themselves.
    #[error("this would make issues wait for themselves: {}", cycle_text(.0))]
    Cycle(Vec<TaskNumber>),
    /// Something else has that already, or has changed meanwhile.
    #[error("{0}")]
    Conflict(String),
    /// Something that is still needed.
    #[error("{0}")]
    StillNeeded(String),
    /// The task does not stand in line.
    #[error("issue {0} does not stand in line")]
    NotWaiting(TaskRef),
    /// The state machine does not allow the verb.
    #[error(transparent)]
    Illegal(#[from] IllegalTransition),
    /// The caller may not ask for that status now.
    #[error("{}", refusal(*.from, *.asked, *.role))]
    Refused {
        /// The state the task is in.
        from: State,
        /// The status that was asked for.
        asked: Status,
        /// In which capacity.
        role: Role,
    },
    /// The caller may not use that verb now.
    #[error("{}", no_move(*.verb, *.from, *.role))]
    NoMove {
        /// What was asked for.
        verb: Verb,
        /// The state the task is in.
        from: State,
        /// In which capacity.
        role: Role,
    },
    /// What is being worked on is deleted by persons and by its holder.
    #[error("an issue that is {0} is deleted by a person or by its holder: send the admin token")]
    InUseByOther(State),
    /// A field that is the holder's to write.
    #[error("{field} is for the issue's holder and for persons")]
    HoldersField {
        /// The field.
        field: &'static str,
    },
    /// The task cannot be handed out now, though it is queued.
    #[error("issue {task} cannot be started now: {why}")]
    NotReady {
        /// The task.
        task: TaskRef,
        /// What holds it back.
        why: String,
    },
    /// Somebody else holds the dispatch.
    #[error("dispatch {dispatch} is held by {holder}: only its holder reports on it")]
    NotHolder {
        /// The dispatch.
        dispatch: DispatchId,
        /// Who holds it.
        holder: String,
    },
    /// The idempotency key was used with other parameters.
    #[error("this Idempotency-Key was used with other parameters")]
    KeyMismatch,
    /// The dispatch of that idempotency key is over.
    #[error("the dispatch of this Idempotency-Key is closed")]
    KeyClosed,
    /// As many tasks as one claim puts aside stood ahead; there may be others behind them.
    #[error("prompts could not be made: look again")]
    PutAside,
    /// The database does not answer.
    #[error("the database does not answer")]
    Unavailable(#[source] BoxError),
    /// Another process has the database open.
    #[error("{path} is in use by another desk ({note})")]
    InUse {
        /// The database file.
        path: String,
        /// What that desk says about itself.
        note: String,
    },
    /// The database was written by a newer version.
    #[error("the database has schema version {found}, this program knows {known}: use a newer xb")]
    Newer {
        /// The version found.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// The database URL cannot be used.
    #[error("database {url:?}: {message}")]
    BadUrl {
        /// The URL as given, without a password.
        url: String,
        /// What was expected.
        message: String,
    },
    /// The database holds something this program cannot read, or a statement of
    /// this program is wrong.
    #[error("{0}")]
    Broken(String),
}

/// Whatever a database driver says.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Error {
    /// Returns the message with what lies behind it, for logs.
    pub fn with_cause(&self) -> String {
        match self {
            Self::Unavailable(cause) => format!("{self}: {cause}"),
            _ => self.to_string(),
        }
    }

    /// Makes an error of a value that does not fit what there is.
    pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { field, message: message.into() }
    }

    /// Makes an error of a stored value that cannot be read.
    pub(crate) fn unreadable(what: impl std::fmt::Display) -> Self {
        Self::Broken(format!("the database holds {what}, which cannot be read"))
    }
}

fn no_move(verb: Verb, from: State, role: Role) -> String {
    let refused = match from.after(verb) {
        Ok(_) => format!("{verb} of an issue that is {from} is for a person: send the admin token"),
        Err(_) => format!("{verb} is not possible for an issue that is {from}"),
    };
    let legal = legal_moves(from, role);
    if legal.is_empty() { refused } else { format!("{refused}; legal verbs are {}", legal.join(", ")) }
}

fn refusal(from: State, asked: Status, role: Role) -> String {
    let legal: Vec<_> =
        legal_asks(from, role).iter().map(|(ask, status)| format!("{} ({status})", ask.as_str())).collect();
    let who = match role {
        Role::Holder => "its holder",
        Role::Person => "a person",
        Role::Agent => "an agent that does not hold it",
    };
    if legal.is_empty() {
        return format!("an issue that is {from} cannot be set to {asked} by {who}");
    }
    format!("an issue that is {from} cannot be set to {asked} by {who}: legal verbs are {}", legal.join(", "))
}
