//! The one gate by which everything enters a prompt.
//!
//! It knows where on a line it is, and whether the template has a code block open. Lines from
//! outside are cleaned and cannot begin a line as markup; texts from outside are put into
//! fences of their own, between blank lines, so that no HTML around them goes on; neither may
//! stand in a code block of the template, because there is no fence within a fence, and
//! commands are run.

use crate::clean::{self, clip};
use crate::error::Broken;
use crate::markup::{Block, Odd, after_markers, after_number};

/// The longest prompt, in bytes.
pub const PROMPT_BYTES_MAX: usize = 256 * 1024;
/// How many bytes of one text are shown.
const TEXT_BYTES_MAX: usize = 100 * 1024;
/// How many bytes of one value are shown as JSON.
const JSON_BYTES_MAX: usize = 32 * 1024;
/// How many bytes of texts are shown in all: the rest is left to the template.
const TEXTS_BYTES_MAX: usize = 160 * 1024;
/// How many bytes may be looked at to make a prompt, all told.
///
/// Every piece of a template costs at least [`NODE_COST`], so that no template goes through
/// more than 65,536 of them, whatever lists it walks.
const WORK_MAX: usize = 1024 * 1024;
/// What a piece of a template costs.
pub(crate) const NODE_COST: usize = 16;
/// How many bytes of a text are looked at even if there is no room for it.
const LOOK_BYTES_MIN: usize = 1024;
/// The shortest fence around a text.
const FENCE_MIN: usize = 4;

/// What is still to be written after a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    Nothing,
    /// A blank line, unless one follows anyway.
    Blank,
    /// The end of its last line, and a blank line.
    End,
}

/// A prompt that is being made.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    text: String,
    /// Where the current line begins.
    line: usize,
    /// What the current line stands in.
    pub(crate) block: Block,
    gap: Gap,
    /// Where in the text of the template that was refused, counted from what is seen of it.
    pub(crate) odd: Option<(usize, Option<usize>)>,
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
            block: Block::Text,
            gap: Gap::Nothing,
            odd: None,
            texts_left: TEXTS_BYTES_MAX,
            work_left: WORK_MAX,
            token_place,
        }
    }

    /// Ends the prompt.
    pub(crate) fn finish(mut self) -> Result<String, Broken> {
        if self.gap == Gap::End {
            self.text.push('\n');
            return Ok(self.text);
        }
        self.block.after(&self.text[self.line..]).map_err(refused)?;
        Ok(self.text)
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
        if self.gap == Gap::End && !text.is_empty() {
            text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
            self.end_line();
            self.gap = Gap::Blank;
        }
        if self.gap == Gap::Blank && !text.is_empty() {
            let start = text.trim_start_matches([' ', '\t']);
            if start.starts_with(['\n', '\r']) {
                self.gap = Gap::Nothing;
            }
            self.fill_gap();
        }
        self.own(text)
    }

    /// Writes something of ours.
    pub(crate) fn word(&mut self, word: &str) -> Result<(), Broken> {
        if word.is_empty() {
            return Ok(());
        }
        self.fill_gap();
        self.own(word)
    }

    /// Writes what is not from outside, and looks at the lines that come to their end.
    ///
    /// To Markdown a lone carriage return ends a line, too.
    fn own(&mut self, text: &str) -> Result<(), Broken> {
        let begin = self.text.len();
        let mut from = begin;
        self.push(text)?;
        while let Some(end) = self.text[from..].find(['\n', '\r']) {
            let line = &self.text[self.line..from + end];
            self.block = self.block.after(line).map_err(|odd| {
                self.odd = Some(odd_place(&self.text[begin..], self.line.checked_sub(begin), odd));
                refused(odd)
            })?;
            from += end + 1;
            self.line = from;
        }
        Ok(())
    }

    /// Writes a line from outside.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Broken> {
        self.spend(text.len())?;
        self.refuse_code()?;
        let line = clean::line(text);
        let line = self.without_token(&line);
        if line.is_empty() {
            return Ok(());
        }
        self.fill_gap();
        let before = &self.text[self.line..];
        if ["<", "</", "<!", "<?"].iter().any(|tag| before.ends_with(tag)) {
            // It would be the name of a tag.
            self.push(" ")?;
        } else if before.ends_with(']') && line.starts_with(['(', '[', ':']) {
            self.push("\\")?;
        } else if !after_markers(before).contains(char::is_alphanumeric) {
            return self.beginning(&line);
        }
        self.push(&line)
    }

    /// Writes a line from outside where it could begin as markup.
    fn beginning(&mut self, line: &str) -> Result<(), Broken> {
        if line.starts_with(['#', '>', '-', '+', '*', '=', '_', '|', '[', '~', '`', '\\']) {
            self.push("\\")?;
        } else if let Some(rest) = after_number(line).filter(|rest| rest.is_empty() || rest.starts_with(' '))
        {
            let (number, rest) = line.split_at(line.len() - rest.len() - 1);
            self.push(number)?;
            self.push("\\")?;
            return self.push(rest);
        }
        self.push(line)
    }

    /// Writes a text from outside, in a fence of its own.
    pub(crate) fn text(&mut self, text: &str, about: &str) -> Result<(), Broken> {
        self.fenced(text, &format!("text: {about}"), TEXT_BYTES_MAX)
    }

    /// Returns how many bytes of JSON can be shown: more need not be made.
    pub(crate) fn json_room(&self) -> usize {
        JSON_BYTES_MAX.min(self.texts_left)
    }

    /// Writes JSON, in a fence of its own.
    pub(crate) fn json(&mut self, text: &str, about: &str) -> Result<(), Broken> {
        // It was made for this, which is work as well.
        self.spend(text.len())?;
        self.fenced(text, &format!("json: {about}"), JSON_BYTES_MAX)
    }

    /// Refuses what is from outside, or may be, if the template has a code block open.
    pub(crate) fn refuse_code(&self) -> Result<(), Broken> {
        let is_code = |block| matches!(block, Block::Code(_));
        if !is_code(self.block) && !is_code(self.block.after(&self.text[self.line..]).map_err(refused)?) {
            return Ok(());
        }
        Err(Broken(
            "something from outside stands in a code block of the template: only numbers, ids, words \
             of the desk and the server's address may"
                .to_owned(),
        ))
    }

    fn fenced(&mut self, text: &str, label: &str, bytes_max: usize) -> Result<(), Broken> {
        let bytes_max = bytes_max.min(self.texts_left);
        // What is hidden is not shown, so that more is looked at than there is room for.
        let looked_at = clip(text, (2 * bytes_max).max(LOOK_BYTES_MIN));
        let is_longer = looked_at.len() < text.len();
        self.spend(looked_at.len())?;
        self.refuse_code()?;
        let text = clean::text(looked_at);
        let text = self.without_token(&text);
        if text.trim().is_empty() && !is_longer {
            return Ok(());
        }
        let shown = clip(&text, bytes_max);
        let is_cut = is_longer || shown.len() < text.len();
        self.texts_left -= shown.len();
        let fence = "`".repeat(FENCE_MIN.max(clean::longest_backticks(shown) + 1));
        self.fill_gap();
        self.begin_paragraph();
        self.push(&fence)?;
        self.push(label)?;
        self.push(", from outside\n")?;
        self.push(shown.trim_end_matches('\n'))?;
        if is_cut {
            self.push("\n[… the rest is left out]")?;
        }
        self.push("\n")?;
        self.push(&fence)?;
        self.block = Block::Text;
        self.gap = Gap::End;
        Ok(())
    }

    /// Begins a line with a blank one before it, unless it is the first.
    fn begin_paragraph(&mut self) {
        if self.text.len() > self.line {
            self.end_line();
        }
        let last = self.text.lines().next_back().unwrap_or_default();
        if !last.trim_matches([' ', '\t', '\r']).is_empty() {
            self.end_line();
        }
    }

    /// Writes what is still to be written after a fence.
    fn fill_gap(&mut self) {
        let gap = std::mem::replace(&mut self.gap, Gap::Nothing);
        if gap == Gap::End {
            self.end_line();
        }
        if gap != Gap::Nothing {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        self.text.push('\n');
        self.line = self.text.len();
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
        // Some bytes are kept for the lines around a fence.
        if self.text.len() + text.len() + 4 > PROMPT_BYTES_MAX {
            return Err(Broken(format!("the prompt is longer than {PROMPT_BYTES_MAX} bytes")));
        }
        self.text.push_str(text);
        Ok(())
    }
}

fn refused(odd: Odd) -> Broken {
    Broken(odd.expected.to_owned())
}

/// Returns how many lines below what is first seen of a text a line of it begins, and the
/// column, if it begins within that text at all.
fn odd_place(text: &str, line: Option<usize>, odd: Odd) -> (usize, Option<usize>) {
    let seen = text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len();
    let above = line.and_then(|line| text.get(seen..line)).unwrap_or_default();
    (above.matches('\n').count(), line.map(|_| odd.column))
}
