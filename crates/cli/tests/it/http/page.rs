//! Prompts as whoever gets them reads them: what stands in a fence, and what does not.

/// A block of a prompt between two fences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence {
    /// What stands behind the opening fence.
    pub(crate) label: String,
    pub(crate) text: String,
}

/// A prompt, taken apart by the rules of Markdown.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) fences: Vec<Fence>,
    /// The lines that stand in no fence.
    pub(crate) lines: Vec<String>,
}

impl Page {
    /// Reads a prompt, in which every fence must be closed.
    #[track_caller]
    pub(crate) fn read(prompt: &str) -> Self {
        let mut page = Self::default();
        let mut open: Option<(char, usize, Fence)> = None;
        for line in prompt.lines() {
            let (mark, length) = fence(line);
            open = match open {
                None if length >= 3 => {
                    let label = line.trim_start().trim_start_matches(mark).trim().to_owned();
                    Some((mark, length, Fence { label, text: String::new() }))
                }
                None => {
                    page.lines.push(line.to_owned());
                    None
                }
                Some((of, least, fence)) if is_end(line, of, least) => {
                    page.fences.push(fence);
                    None
                }
                Some((of, least, mut fence)) => {
                    fence.text.push_str(line);
                    fence.text.push('\n');
                    Some((of, least, fence))
                }
            };
        }
        assert!(open.is_none(), "a fence is not closed: {open:?}\n{prompt}");
        page
    }

    /// Returns the headings that stand in no fence.
    pub(crate) fn headings(&self) -> Vec<&str> {
        self.lines.iter().map(String::as_str).filter(|line| line.trim_start().starts_with('#')).collect()
    }

    /// Returns the commands, in their order.
    pub(crate) fn commands(&self) -> Vec<&str> {
        let blocks = self.fences.iter().filter(|fence| fence.label == "sh");
        blocks.map(|fence| fence.text.as_str()).collect()
    }

    /// Returns the texts from outside whose label begins with these words.
    pub(crate) fn texts(&self, label: &str) -> Vec<&str> {
        let blocks = self.fences.iter().filter(|fence| fence.label.starts_with(label));
        blocks.map(|fence| fence.text.trim_end_matches('\n')).collect()
    }
}

/// Returns the mark a line begins with and how often it stands there.
fn fence(line: &str) -> (char, usize) {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let rest = line.trim_start_matches(' ');
    let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~')).unwrap_or('`');
    let length = rest.chars().take_while(|char| *char == mark).count();
    // What stands deeper is code, and a line with more backticks is a span of code.
    let is_span = mark == '`' && rest.trim_start_matches(mark).contains('`');
    if indent > 3 || is_span { (mark, 0) } else { (mark, length) }
}

fn is_end(line: &str, mark: char, least: usize) -> bool {
    let (of, length) = fence(line);
    of == mark && length >= least && line.trim().chars().all(|char| char == mark)
}

#[test]
fn page_tells_what_is_fenced() {
    let page = Page::read("# a\n````text: x\n```\n# b\n```\n````\nc ``d``\n```sh\nls\n```\n");
    assert_eq!(page.headings(), ["# a"]);
    assert_eq!(page.lines, ["# a", "c ``d``"]);
    assert_eq!(page.texts("text: x"), ["```\n# b\n```"]);
    assert_eq!(page.commands(), ["ls\n"]);
}
