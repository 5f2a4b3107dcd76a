//! Imports: the files of other trackers, and our own, read into drafts of issues.
//!
//! [`read`] never invents: what a format says and a draft cannot hold is either put into words in the
//! description or named among the problems, with its line. Every draft has a key that the same item of the
//! same file gets again, so that whoever files them can tell what is there already.
//!
//! The invariant: keys are unique, and the parent and the blockers of a draft stand before it.

mod beads;
mod draft;
mod gather;
mod github;
mod jsonl;
mod key;
mod links;
mod markdown;
mod order;
mod priority;
mod records;
mod tally;
mod terms;
#[cfg(test)]
mod tests;
mod tidy;
mod value;

use std::fmt;
use std::str::FromStr;

pub use draft::{Draft, Elsewhere, Place, Remark, Status, Tie};
pub(crate) use markdown::{end_of_code, is_label};
pub(crate) use priority::word as priority_word;
pub use terms::{Grounds, Terms};

use gather::Gather;

/// The largest file that is read, in bytes.
pub const INPUT_BYTES_MAX: usize = 20_000_000;
/// The most drafts of one file.
pub const DRAFTS_MAX: usize = 50_000;

/// What a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// What `gh issue list --json …` prints, or GitHub's REST API.
    Github,
    /// The `issues.jsonl` of beads.
    Beads,
    /// Our own export: one JSON object a line.
    Jsonl,
    /// Task lists.
    Markdown,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Github, Self::Beads, Self::Jsonl, Self::Markdown];

    /// Returns the word that names the format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Beads => "beads",
            Self::Jsonl => "jsonl",
            Self::Markdown => "markdown",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|format| format.as_str() == word);
        found.ok_or_else(|| UnknownFormat(word.to_owned()))
    }
}

/// A word that names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a format: expected github, beads, jsonl or markdown")]
pub struct UnknownFormat(pub String);

/// What the file itself does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What keys are told apart by: `owner/name` for GitHub where the file has no addresses, the file's name
    /// without its ending for Markdown, any word for the others.
    pub namespace: Option<String>,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// The drafts, each after its parent and its blockers, otherwise in the order of the file.
    pub drafts: Vec<Draft>,
    /// What was left out or changed, in the order of the file.
    pub problems: Vec<Problem>,
}

/// Something in the file that did not come over as it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line it is about, from 1.
    pub line: usize,
    /// What became of it.
    pub outcome: Outcome,
    /// A sentence without its period, on one line: what is wrong, and what was expected or done.
    pub message: String,
}

/// What became of something that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// There is no draft of it.
    LeftOut,
    /// There is a draft, which says less or something else.
    Changed,
}

/// Why a file was not read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The file is too large.
    #[error("the file has {bytes} bytes, at most {INPUT_BYTES_MAX} are read: split it")]
    TooLarge {
        /// How large it is.
        bytes: usize,
    },
    /// There are too many items in it.
    #[error("the file has more than {DRAFTS_MAX} items: split it")]
    TooMany,
    /// It is not the format it should be.
    #[error("line {line}: {message}")]
    Malformed {
        /// Where that shows.
        line: usize,
        /// What is wrong and what was expected.
        message: String,
    },
    /// An issue of GitHub does not say which repository it belongs to.
    #[error(
        "line {line}: #{number} does not say its repository: export `url` too, or name it with --repo owner/name"
    )]
    RepositoryUnknown {
        /// Where the issue stands.
        line: usize,
        /// Its number.
        number: u64,
    },
    /// The namespace does not suit the format.
    #[error("`{0}` is not a repository: expected owner/name")]
    BadRepository(String),
}

/// Reads a file.
pub fn read(format: Format, text: &str, options: &Options) -> Result<Read, ImportError> {
    if text.len() > INPUT_BYTES_MAX {
        return Err(ImportError::TooLarge { bytes: text.len() });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let namespace = options.namespace.as_deref().map(str::trim).filter(|word| !word.is_empty());
    let mut gather = Gather::default();
    match format {
        Format::Github => github::read(text, namespace, &mut gather)?,
        Format::Beads => beads::read(text, namespace, &mut gather)?,
        Format::Jsonl => jsonl::read(text, namespace, &mut gather)?,
        Format::Markdown => markdown::read(text, namespace, &mut gather)?,
    }
    Ok(gather.finish())
}
