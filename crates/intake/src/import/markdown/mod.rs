//! Task lists in Markdown: `- [ ] title`, with whatever is indented below it.
//!
//! An item below an item is its child, other indented text is its description. Headings are not tasks: the
//! nearest one becomes a label, except the first level, which is the title of the document; all of them but
//! that tell equal titles apart. Everything else in the file is prose and not read.

mod item;

use super::draft::{Draft, Status};
use super::gather::Gather;
use super::links::{Link, Says};
use super::{ImportError, Outcome, key};
use item::{Mark, Words};
pub(crate) use item::{end_of_code, is_label};

/// Reads task lists.
pub(super) fn read(text: &str, namespace: Option<&str>, gather: &mut Gather) -> Result<(), ImportError> {
    let mut scan = Scan::default();
    for (index, line) in text.lines().enumerate() {
        scan.line(index + 1, line);
    }
    if let Some(fence) = scan.fence {
        let message = "the code block that begins here has no end, so the rest was read as code".to_owned();
        gather.problem(fence.line, Outcome::Changed, message);
    }
    if let Some((line, count)) = scan.plain {
        let message = format!("items without a box were left out ({count}): expected `- [ ] title`");
        gather.problem(line, Outcome::LeftOut, message);
    }
    if scan.tasks.is_empty() {
        let message = "no tasks were found: expected lines like `- [ ] title`".to_owned();
        gather.problem(1, Outcome::LeftOut, message);
    }
    let keys: Vec<String> =
        scan.tasks.iter().map(|task| key::of("markdown", namespace, &task.path)).collect();
    for (task, key) in scan.tasks.iter().zip(&keys) {
        let below = |parent: usize| Link { from: key.clone(), says: Says::Parent, to: keys[parent].clone() };
        gather.add(task.draft(key), task.parent.map(below).into_iter().collect())?;
    }
    Ok(())
}

/// An item with a box.
struct Task {
    line: usize,
    mark: Mark,
    words: Words,
    /// The nearest heading.
    heading: Option<String>,
    /// The slugs of the headings, of the items above and of its own title.
    path: String,
    parent: Option<usize>,
    body: Vec<String>,
}

impl Task {
    fn draft(&self, key: &str) -> Draft {
        let mut draft = Draft::new(key.to_owned(), &self.words.title, self.line);
        draft.status = match self.mark {
            Mark::Open => Status::Triage,
            Mark::Done => Status::Done,
            Mark::Canceled => Status::Canceled,
        };
        draft.priority = self.words.priority;
        draft.labels.clone_from(&self.words.labels);
        draft.labels.extend(self.heading.clone());
        draft.description = Some(item::dedent(&self.body));
        draft
    }
}

/// A block of code that is not closed yet.
struct Fence {
    line: usize,
    mark: String,
    /// The task it describes.
    task: Option<usize>,
}

/// What stands open while the lines go by.
#[derive(Default)]
struct Scan {
    tasks: Vec<Task>,
    /// Headings below the first level, outermost first.
    headings: Vec<(usize, String)>,
    /// How far open items are indented, and which they are.
    open: Vec<(usize, usize)>,
    fence: Option<Fence>,
    /// Where the first item without a box stands, and how many there are.
    plain: Option<(usize, usize)>,
    is_after_blank: bool,
}

impl Scan {
    fn line(&mut self, number: usize, line: &str) {
        if let Some(fence) = &self.fence {
            let (task, is_end) = (fence.task, item::closes(line, &fence.mark));
            self.describe(task, line);
            if is_end {
                self.fence = None;
            }
            return;
        }
        if line.trim().is_empty() {
            self.is_after_blank = true;
            return;
        }
        let (indent, rest) = item::indent(line);
        let is_inside = self.open.first().is_some_and(|(outermost, _)| indent > *outermost);
        if let Some((level, text)) = item::heading(rest).filter(|_| !is_inside) {
            self.heading(level, text);
        } else {
            self.open.retain(|(column, _)| *column < indent);
            match item::task(rest) {
                Some((mark, text)) => self.task(number, indent, mark, text),
                None => self.text(number, line, rest),
            }
        }
        self.is_after_blank = false;
    }

    fn heading(&mut self, level: usize, text: String) {
        self.open.clear();
        self.headings.retain(|(outer, _)| *outer < level);
        if level > 1 {
            self.headings.push((level, text));
        }
    }

    fn task(&mut self, line: usize, indent: usize, mark: Mark, text: &str) {
        let words = Words::read(text);
        let parent = self.open.last().map(|(_, index)| *index);
        let slug = key::slug(&words.title);
        let above = match parent {
            Some(parent) => vec![self.tasks[parent].path.clone()],
            None => self.headings.iter().map(|(_, text)| key::slug(text)).collect(),
        };
        // Fitted at every level, so that deep lists do not grow long paths.
        let path = key::fit(&[above, vec![slug]].concat().join("/"));
        let heading = self.headings.last().map(|(_, text)| text.clone());
        self.open.push((indent, self.tasks.len()));
        self.tasks.push(Task { line, mark, words, heading, path, parent, body: Vec::new() });
    }

    fn text(&mut self, number: usize, line: &str, rest: &str) {
        let task = self.open.last().map(|(_, index)| *index);
        self.describe(task, line);
        if let Some(mark) = item::opens(rest) {
            self.fence = Some(Fence { line: number, mark, task });
        } else if task.is_none() && item::bullet(rest).is_some() {
            let (_, count) = self.plain.get_or_insert((number, 0));
            *count += 1;
        }
    }

    fn describe(&mut self, task: Option<usize>, line: &str) {
        let Some(task) = task else { return };
        let body = &mut self.tasks[task].body;
        if self.is_after_blank && !body.is_empty() {
            body.push(String::new());
            self.is_after_blank = false;
        }
        body.push(line.trim_end().to_owned());
    }
}
