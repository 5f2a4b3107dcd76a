//! A draft: an item of a file in the words an issue has.

use super::terms::{Grounds, Terms};

/// An issue that is not filed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The external key: unique among the drafts, and the same whenever the same item is read; 1 to 300
    /// characters.
    pub key: String,
    /// One line of 1 to 500 characters.
    pub title: String,
    /// At most 100,000 characters, and something to see in them.
    pub description: Option<String>,
    /// One of the desk's types, where the file says so.
    pub kind: Option<String>,
    /// Where it stands.
    pub status: Status,
    /// 1 to 100, where the file says so.
    pub priority: Option<i64>,
    /// At most 50, each one line of 1 to 100 characters, none twice.
    pub labels: Vec<String>,
    /// The key of a draft that stands before this one.
    pub parent: Option<String>,
    /// The keys of at most 100 drafts that stand before this one.
    pub blocked_by: Vec<String>,
    /// The keys of other drafts, before or after this one.
    pub related: Vec<String>,
    /// What the file ties this to and does not hold. Whoever files the drafts may know those keys, so this
    /// is no problem yet.
    pub elsewhere: Vec<Elsewhere>,
    /// What people said about it, oldest first, replies below what they reply to.
    pub comments: Vec<Remark>,
    /// Whose agents alone may take it; at most 100 characters.
    pub owner: Option<String>,
    /// What a claimer must be able to do: at most 20 words in lower case, sorted.
    pub needs: Vec<String>,
    /// When and how it is handed out.
    pub terms: Terms,
    /// What it was made of.
    pub grounds: Grounds,
    /// Where it stands in the file.
    pub place: Place,
}

impl Draft {
    /// Makes a draft with nothing but a key and a title.
    pub(super) fn new(key: String, title: &str, line: usize) -> Self {
        Self {
            key,
            title: title.to_owned(),
            description: None,
            kind: None,
            status: Status::Triage,
            priority: None,
            labels: Vec::new(),
            parent: None,
            blocked_by: Vec::new(),
            related: Vec::new(),
            elsewhere: Vec::new(),
            comments: Vec::new(),
            owner: None,
            needs: Vec::new(),
            terms: Terms::default(),
            grounds: Grounds::default(),
            place: Place { line },
        }
    }
}

/// Where a draft is to be filed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Somebody must look at it.
    Triage,
    /// Some day.
    Backlog,
    /// To be handed out.
    Todo,
    /// Finished.
    Done,
    /// Not to be done.
    Canceled,
}

impl Status {
    /// Returns the word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Triage => "triage",
            Self::Backlog => "backlog",
            Self::Todo => "todo",
            Self::Done => "done",
            Self::Canceled => "canceled",
        }
    }

    /// Tells whether nothing is left to do.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Canceled)
    }
}

/// What somebody said about an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Who, where the file says so; one line of at most 100 characters.
    pub author: Option<String>,
    /// What; 1 to 20,000 characters.
    pub body: String,
    /// What was said to that, oldest first.
    pub replies: Vec<Remark>,
}

impl Remark {
    /// Makes a remark that nobody replied to.
    pub(super) const fn new(author: Option<String>, body: String) -> Self {
        Self { author, body, replies: Vec::new() }
    }
}

/// A tie to something the file does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// How the draft is tied to it.
    pub tie: Tie,
    /// The key it would have.
    pub key: String,
}

/// How a draft is tied to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tie {
    /// It lies below the other.
    Parent,
    /// It waits for the other.
    BlockedBy,
    /// They have to do with each other.
    Related,
}

/// Where a draft stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line it begins on, from 1.
    pub line: usize,
}
