//! The one gate by which everything enters a prompt.
//!
//! It knows where on a line it is, and whether the template has a code block open. Lines from
//! outside are cleaned and cannot begin a line as markup; texts from outside are put into
//! fences of their own; neither may stand in a code block of the template, because there is
//! no fence within a fence, and commands are run.

use crate::clean::{self, clip};
use crate::error::Broken;

/// The longest prompt, in bytes.
pub const PROMPT_BYTES_MAX: usize = 256 * 1024;
/// How many bytes of one text are shown.
const TEXT_BYTES_MAX: usize = 100 * 1024;
/// How many bytes of one value are shown as JSON.
pub(crate) const JSON_BYTES_MAX: usize = 32 * 1024;
/// How many bytes of texts are shown in all: the rest is left to the template.
const TEXTS_BYTES_MAX: usize = 160 * 1024;
/// How many bytes may be looked at to make a prompt, all told.
///
/// Every piece of a template costs at least [`NODE_COST`], so that no template goes through
/// more than a quarter of a million of them, whatever lists it walks.
const WORK_MAX: usize = 4 * 1024 * 1024;
/// What a piece of a template costs.
pub(crate) const NODE_COST: usize = 16;
/// The shortest fence around a text.
const FENCE_MIN: usize = 4;

/// A code block of the template that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: u8,
    length: usize,
}

/// A prompt that is being made.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    text: String,
    /// Where the current line begins.
    line: usize,
    /// The code block of the template that is open.
    pub(crate) fence: Option<Fence>,
    /// Whether the last thing was a fence, after which a line must begin.
    closed: bool,
    texts_left: usize,
    work_left: usize,
    token_place: &'a str,
}

impl<'a> Output<'a> {
    /// Begins a prompt. The place of the token is what no text from outside may say.
    pub(crate) fn new(token_place: &'a str) -> Self {
        Self {
            text: String::with_capacity(8 * 1024),
            line: 0,
            fence: None,
            closed: false,
            texts_left: TEXTS_BYTES_MAX,
            work_left: WORK_MAX,
            token_place,
        }
    }

    /// Ends the prompt.
    pub(crate) fn finish(mut self) -> String {
        self.end_fence();
        self.text
    }

    /// Counts work that is done.
    pub(crate) fn spend(&mut self, work: usize) -> Result<(), Broken> {
        self.work_left = self.work_left.checked_sub(work).ok_or_else(|| {
            Broken("the prompt takes too much work: its template goes through too many values".to_owned())
        })?;
        Ok(())
    }

    /// Writes text of the template.
    pub(crate) fn literal(&mut self, mut text: &str) -> Result<(), Broken> {
        if self.end_fence() {
            text = text.strip_prefix('\n').unwrap_or(text);
        }
        let mut from = self.text.len();
        self.push(text)?;
        while let Some(newline) = self.text[from..].find('\n') {
            from += newline + 1;
            self.fence = fence_after(self.fence, &self.text[self.line..from - 1]);
            self.line = from;
        }
        Ok(())
    }

    /// Writes something of ours.
    pub(crate) fn word(&mut self, word: &str) -> Result<(), Broken> {
        if word.is_empty() {
            return Ok(());
        }
        self.end_fence();
        self.push(word)
    }

    /// Writes a line from outside.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Broken> {
        self.spend(text.len())?;
        self.refuse_code()?;
        let line = clean::line(text);
        let line = self.without_token(&line);
        let Some(first) = line.chars().next() else { return Ok(()) };
        self.end_fence();
        let begins = !self.text[self.line..].contains(char::is_alphanumeric);
        if begins && "#>-+*=_|<[~`\\".contains(first) {
            self.push("\\")?;
        }
        self.push(&line)
    }

    /// Writes a text from outside, in a fence of its own.
    pub(crate) fn text(&mut self, text: &str, about: &str) -> Result<(), Broken> {
        self.fenced(text, &format!("text: {about}"), TEXT_BYTES_MAX)
    }

    /// Writes JSON, in a fence of its own.
    pub(crate) fn json(&mut self, text: &str, about: &str) -> Result<(), Broken> {
        self.fenced(text, &format!("json: {about}"), JSON_BYTES_MAX)
    }

    /// Refuses what is from outside, or may be, if the template has a code block open.
    pub(crate) fn refuse_code(&self) -> Result<(), Broken> {
        let begins_one = || fence_after(None, &self.text[self.line..]).is_some();
        if self.fence.is_none() && !begins_one() {
            return Ok(());
        }
        Err(Broken(
            "something from outside stands in a code block of the template: only numbers, ids, words \
             of the desk and the server's address may"
                .to_owned(),
        ))
    }

    fn fenced(&mut self, text: &str, label: &str, bytes_max: usize) -> Result<(), Broken> {
        self.spend(text.len())?;
        self.refuse_code()?;
        let text = clean::text(text);
        let text = self.without_token(&text);
        if text.trim().is_empty() {
            return Ok(());
        }
        let shown = clip(&text, bytes_max.min(self.texts_left));
        let is_cut = shown.len() < text.len();
        self.texts_left -= shown.len();
        let fence = "`".repeat(FENCE_MIN.max(clean::longest_backticks(shown) + 1));
        self.end_fence();
        if self.text.len() > self.line {
            self.push("\n")?;
        }
        self.push(&fence)?;
        self.push(label)?;
        self.push(", from outside\n")?;
        self.push(shown.trim_end_matches('\n'))?;
        if is_cut {
            self.push("\n[… the rest is left out]")?;
        }
        self.push("\n")?;
        self.push(&fence)?;
        self.closed = true;
        Ok(())
    }

    /// Begins a line if the last thing was a fence.
    fn end_fence(&mut self) -> bool {
        let was_closed = std::mem::take(&mut self.closed);
        if was_closed {
            self.text.push('\n');
            self.line = self.text.len();
        }
        was_closed
    }

    /// Takes the place of the token out of a text from outside.
    ///
    /// Something is put in its stead, so that no new one comes about.
    fn without_token<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        if text.contains(self.token_place) {
            text.replace(self.token_place, "[…]").into()
        } else {
            text.into()
        }
    }

    fn push(&mut self, text: &str) -> Result<(), Broken> {
        // One byte is kept for the end of a last fence.
        if self.text.len() + text.len() >= PROMPT_BYTES_MAX {
            return Err(Broken(format!("the prompt is longer than {PROMPT_BYTES_MAX} bytes")));
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// Returns the code block that is open after a line.
fn fence_after(open: Option<Fence>, line: &str) -> Option<Fence> {
    // In lists and quotes a fence stands further in.
    let line = line.trim_start_matches([' ', '\t', '>', '-', '*', '+']).trim_end();
    let mark = line.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'));
    let Some(mark) = mark else { return open };
    let rest = line.trim_start_matches(mark as char);
    let length = line.len() - rest.len();
    match open {
        Some(fence) if fence.mark == mark && length >= fence.length && rest.is_empty() => None,
        Some(fence) => Some(fence),
        None if length >= 3 && !(mark == b'`' && rest.contains('`')) => Some(Fence { mark, length }),
        None => None,
    }
}
