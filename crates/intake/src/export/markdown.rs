//! A task list for people to read: children below their parents, details in brackets.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::{Exported, ExportedComment};
use crate::import::{end_of_code, is_label, priority_word};
use crate::text::one_line;

/// Writes issues as a task list.
///
/// Labels and the priority stand as `#label` and `!high` where they can; a label of several words stands
/// with the other details, in brackets below the title. An issue whose parent is not among the others
/// stands at the left.
pub fn write_markdown(issues: &[Exported]) -> String {
    let list = List::new(issues);
    let mut text = String::new();
    let mut written = HashSet::new();
    let roots = (0..issues.len()).filter(|index| list.parent(*index).is_none());
    // Whatever lies below itself is reached by no root; it must not be lost.
    for start in roots.chain(0..issues.len()) {
        let mut next = vec![(start, 0)];
        while let Some((index, level)) = next.pop() {
            if written.insert(index) {
                list.write(index, level, &mut text);
                let children = list.children.get(issues[index].key.as_str());
                let children = children.into_iter().flatten().rev();
                next.extend(children.map(|child| (*child, level + 1)));
            }
        }
    }
    text
}

/// Issues, and where each stands.
struct List<'a> {
    issues: &'a [Exported],
    places: HashMap<&'a str, usize>,
    children: HashMap<&'a str, Vec<usize>>,
}

impl<'a> List<'a> {
    fn new(issues: &'a [Exported]) -> Self {
        let mut children: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, issue) in issues.iter().enumerate() {
            if let Some(parent) = &issue.parent {
                children.entry(parent).or_default().push(index);
            }
        }
        let places = issues.iter().enumerate().map(|(index, issue)| (issue.key.as_str(), index)).collect();
        Self { issues, places, children }
    }

    fn parent(&self, index: usize) -> Option<usize> {
        self.places.get(self.issues[index].parent.as_deref()?).copied()
    }

    fn write(&self, index: usize, level: usize, text: &mut String) {
        let issue = &self.issues[index];
        let mark = match issue.status.as_str() {
            "done" => "x",
            "canceled" => "-",
            _ => " ",
        };
        let title: Vec<String> = one_line(&issue.title).split(' ').map(escape).collect();
        let mut line = format!("- [{mark}] {}", title.join(" "));
        for label in issue.labels.iter().filter(|label| is_label(label)) {
            let _ = write!(line, " #{label}");
        }
        if let Some(word) = issue.priority_value.and_then(priority_word) {
            let _ = write!(line, " !{word}");
        }
        put(text, level, &line);
        put(text, level + 1, &format!("({})", self.details(issue)));
        if let Some(description) = &issue.description {
            text.push('\n');
            put(text, level + 1, description);
            // Code without an end would hold all that follows, whoever reads it.
            if let Some(end) = end_of_code(description) {
                put(text, level + 1, &end);
            }
        }
        for comment in &issue.comments {
            text.push('\n');
            put(text, level + 1, &quote(comment));
        }
    }

    fn details(&self, issue: &Exported) -> String {
        let mut details = vec![self.reference(&issue.key)];
        if !matches!(issue.status.as_str(), "done" | "canceled") {
            details.push(issue.status.clone());
        }
        details.extend(issue.kind.clone());
        let others = issue.labels.iter().filter(|label| !is_label(label));
        details.extend(others.map(|label| format!("label {}", one_line(label))));
        for (what, keys) in [("blocked by", &issue.blocked_by), ("related to", &issue.related)] {
            details.extend(keys.iter().map(|key| format!("{what} {}", self.reference(key))));
        }
        details.extend(issue.owner.as_ref().map(|owner| format!("for {owner}")));
        details.extend(issue.needs.iter().map(|need| format!("needs {need}")));
        details.join(", ")
    }

    /// Returns the number of an issue, else its key.
    fn reference(&self, key: &str) -> String {
        let number = self.places.get(key).and_then(|index| self.issues[*index].number);
        number.map_or_else(|| key.to_owned(), |number| format!("#{number}"))
    }
}

/// Returns what somebody said as a quotation, and within it what was said to that.
fn quote(comment: &ExportedComment) -> String {
    let author = comment.author.as_deref().map_or("somebody", str::trim);
    let said = format!("{author}: {}", comment.body);
    let said = std::iter::once(said).chain(comment.replies.iter().map(quote)).collect::<Vec<_>>().join("\n");
    let lines: Vec<String> = said.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

/// Keeps a word from being read as a label or a priority.
fn escape(word: &str) -> String {
    let is_special = word.trim_start_matches('\\').starts_with(['#', '!']);
    if is_special { format!("\\{word}") } else { word.to_owned() }
}

fn put(text: &mut String, level: usize, lines: &str) {
    for line in lines.lines() {
        if !line.trim().is_empty() {
            text.push_str(&"  ".repeat(level));
            text.push_str(line.trim_end());
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Format, Options, Status, read};

    fn issue(number: i64, title: &str, status: &str) -> Exported {
        Exported {
            key: format!("k{number}"),
            number: Some(number),
            title: title.to_owned(),
            status: status.to_owned(),
            ..Exported::default()
        }
    }

    fn issues() -> Vec<Exported> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        vec![
            Exported {
                parent: Some("k2".to_owned()),
                labels: words(&["bug", "needs review"]),
                priority_value: Some(100),
                description: Some("First.\n\n    code\n".to_owned()),
                comments: vec![ExportedComment {
                    author: Some("mona".to_owned()),
                    body: "Why?\nHow?".to_owned(),
                    replies: vec![ExportedComment {
                        body: "Thus.\nSo.".to_owned(),
                        ..ExportedComment::default()
                    }],
                    ..ExportedComment::default()
                }],
                ..issue(1, "Child of the second", "in_review")
            },
            Exported { kind: Some("plan".to_owned()), ..issue(2, "Learn #rust", "todo") },
            Exported { blocked_by: words(&["k1", "gone"]), ..issue(3, "Third", "done") },
            Exported { parent: Some("gone".to_owned()), ..issue(4, "Fourth", "canceled") },
        ]
    }

    #[test]
    fn children_stand_below_their_parents() {
        insta::assert_snapshot!(write_markdown(&issues()), @r#"
        - [ ] Learn \#rust
          (#2, todo, plan)
          - [ ] Child of the second #bug !urgent
            (#1, in_review, label needs review)

            First.

                code

            > mona: Why?
            > How?
            > > somebody: Thus.
            > > So.
        - [x] Third
          (#3, blocked by #1, blocked by gone)
        - [-] Fourth
          (#4)
        "#);
    }

    #[test]
    fn what_lies_below_itself_is_written_once() {
        let circle =
            |number, parent: &str| Exported { parent: Some(parent.to_owned()), ..issue(number, "t", "todo") };
        let text = write_markdown(&[circle(1, "k2"), circle(2, "k1"), circle(3, "k3")]);
        assert_eq!(text.matches("- [ ] t").count(), 3);
    }

    #[test]
    fn code_without_an_end_swallows_no_task() {
        let code = "Run\n```sh\nmake\n- [ ] no task";
        let mut issues: Vec<Exported> =
            (1..=6).map(|number| issue(number, &format!("Task {number}"), "todo")).collect();
        issues[1].description = Some(code.to_owned());
        issues[2].parent = Some("k2".to_owned());
        issues[2].description = Some("~~~\ncode\n~~~".to_owned());
        let found = read(Format::Markdown, &write_markdown(&issues), &Options::default()).unwrap();
        assert_eq!(found.problems, []);
        let titles: Vec<_> = found.drafts.iter().map(|draft| draft.title.as_str()).collect();
        assert_eq!(titles, ["Task 1", "Task 2", "Task 3", "Task 4", "Task 5", "Task 6"]);
        let description = format!("(#2, todo)\n\n{code}\n```");
        assert_eq!(found.drafts[1].description.as_deref(), Some(description.as_str()));
    }

    #[test]
    fn a_list_can_be_read_again() {
        let options = Options { namespace: Some("n".to_owned()) };
        let found = read(Format::Markdown, &write_markdown(&issues()), &options).unwrap();
        assert_eq!(found.problems, []);
        let shown: Vec<_> = found
            .drafts
            .iter()
            .map(|draft| (draft.title.as_str(), draft.status, draft.parent.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [
                ("Learn #rust", Status::Triage, None),
                ("Child of the second", Status::Triage, Some("markdown:n:learn-rust")),
                ("Third", Status::Done, None),
                ("Fourth", Status::Canceled, None),
            ]
        );
        assert_eq!(
            (found.drafts[1].priority, found.drafts[1].labels.clone()),
            (Some(100), vec!["bug".into()])
        );
    }
}
