//! What people and agents say to each other about a task.

use crate::words::words;

/// The longest comment, question or answer, in characters.
pub const COMMENT_CHARS_MAX: usize = 20_000;

words! {
    /// What somebody says something for.
    pub enum CommentKind, "kind of comment" {
        /// To be read by whoever comes by.
        Comment = "comment",
        /// An agent cannot go on without an answer.
        Question = "question",
        /// What a person answered.
        Answer = "answer",
    }
}

words! {
    /// Who says something.
    pub enum AuthorType, "type of author" {
        /// A person.
        Human = "human",
        /// An agent.
        Agent = "agent",
    }
}
