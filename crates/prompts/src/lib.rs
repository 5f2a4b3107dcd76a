//! Makes prompts: templates in, text for agents out.
//!
//! The language is Handlebars, read by the `handlebars` crate's parser and by nothing else of
//! it: what was read is checked and turned into a small tree (`tree`), and that is walked here.
//! So a value knows until it is written whether it is ours, a line from outside or a text from
//! outside, and all of them leave by one gate (`output`). What the desk is asked for, and where
//! templates are kept, is no matter of this crate.
//!
//! The invariant: a stranger's text cannot leave its fence in a prompt, begin a line as markup,
//! be read as a template, or become a token; and no template makes a prompt without an end.

mod clean;
mod compile;
mod error;
mod eval;
mod input;
mod markup;
mod object;
mod output;
mod partials;
mod pretty;
mod read;
mod render;
mod sample;
mod scan;
mod shipped;
#[cfg(test)]
mod tests;
mod token;
mod tree;
mod value;

pub use compile::{Compiled, compile};
pub use error::{Broken, TemplateError};
pub use input::{Source, Surroundings};
pub use output::PROMPT_BYTES_MAX;
pub use shipped::{Shipped, shipped};
pub use token::{token_place, with_token};
