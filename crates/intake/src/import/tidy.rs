//! Drafts brought within the limits of an issue; what had to be changed for that is said.

use std::collections::BTreeSet;

use super::draft::{Draft, Remark};
use super::{Outcome, Problem};
use crate::text::{TITLE_CHARS_MAX, cut, one_line, short_line};

const DESCRIPTION_CHARS_MAX: usize = 100_000;
const COMMENT_CHARS_MAX: usize = 20_000;
const LABELS_MAX: usize = 50;
const LABEL_CHARS_MAX: usize = 100;
const OWNER_CHARS_MAX: usize = 100;
const NEEDS_MAX: usize = 20;
const NEED_CHARS_MAX: usize = 50;

/// Brings a draft within the limits; false where nothing is left of its title.
pub(super) fn tidy(draft: &mut Draft, problems: &mut Vec<Problem>) -> bool {
    let title = one_line(&draft.title);
    if title.is_empty() {
        return false;
    }
    let mut notes = Notes { key: draft.key.clone(), line: draft.place.line, problems };
    draft.title = notes.cut("the title", &title, TITLE_CHARS_MAX);
    let description = draft.description.take().unwrap_or_default();
    draft.description = notes.prose("the description", &description, DESCRIPTION_CHARS_MAX);
    draft.labels = labels(&draft.labels, &mut notes);
    draft.comments = comments(&draft.comments, &mut notes);
    draft.needs = needs(&draft.needs, &mut notes);
    draft.owner = draft.owner.as_deref().map(one_line).filter(|owner| !owner.is_empty());
    if draft.owner.as_ref().is_some_and(|owner| owner.chars().count() > OWNER_CHARS_MAX) {
        draft.owner = None;
        notes.say(&format!("the owner has more than {OWNER_CHARS_MAX} characters and was left out"));
    }
    if let Some(points) = draft.priority.filter(|points| !(1..=100).contains(points)) {
        draft.priority = None;
        notes.say(&format!("the priority {points} was left out: expected 1 to 100"));
    }
    true
}

/// Says what was changed about one draft.
struct Notes<'a> {
    key: String,
    line: usize,
    problems: &'a mut Vec<Problem>,
}

impl Notes<'_> {
    fn say(&mut self, message: &str) {
        let message = format!("`{}`: {message}", self.key);
        self.problems.push(Problem { line: self.line, outcome: Outcome::Changed, message });
    }

    fn cut(&mut self, what: &str, text: &str, chars_max: usize) -> String {
        let short = cut(text, chars_max);
        if short.len() != text.len() {
            let count = text.chars().count();
            self.say(&format!("{what} has {count} characters and was cut to {chars_max}"));
        }
        short.into_owned()
    }

    /// Tidies text of several lines; nothing where there is nothing to see in it.
    fn prose(&mut self, what: &str, text: &str, chars_max: usize) -> Option<String> {
        let text = text.replace('\0', "");
        (!text.trim().is_empty()).then(|| self.cut(what, &text, chars_max))
    }
}

fn labels(labels: &[String], notes: &mut Notes<'_>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut tidy = Vec::new();
    for label in labels {
        let label = one_line(label);
        if label.is_empty() {
            continue;
        }
        let label = notes.cut("a label", &label, LABEL_CHARS_MAX);
        if seen.insert(label.clone()) {
            tidy.push(label);
        }
    }
    if tidy.len() > LABELS_MAX {
        notes.say(&format!("of {} labels the first {LABELS_MAX} were kept", tidy.len()));
        tidy.truncate(LABELS_MAX);
    }
    tidy
}

fn comments(comments: &[Remark], notes: &mut Notes<'_>) -> Vec<Remark> {
    let mut tidied = Vec::new();
    for remark in comments {
        let replies = self::comments(&remark.replies, notes);
        match notes.prose("a comment", &remark.body, COMMENT_CHARS_MAX) {
            Some(body) => {
                let author = remark.author.as_deref().map(|author| short_line(author, OWNER_CHARS_MAX));
                tidied.push(Remark { author: author.filter(|author| !author.is_empty()), body, replies });
            }
            // What was said to nothing stands for itself.
            None => tidied.extend(replies),
        }
    }
    tidied
}

fn needs(needs: &[String], notes: &mut Notes<'_>) -> Vec<String> {
    let mut tidy = BTreeSet::new();
    for need in needs {
        let word = need.trim().to_lowercase();
        let is_word = !word.is_empty()
            && word.chars().count() <= NEED_CHARS_MAX
            && word.chars().all(|char| char.is_alphanumeric() || "-_.+#/:".contains(char));
        if is_word {
            tidy.insert(word);
        } else {
            let shown = short_line(need, NEED_CHARS_MAX);
            notes.say(&format!(
                "the need `{shown}` was left out: expected 1 to {NEED_CHARS_MAX} letters, digits and -_.+#/:"
            ));
        }
    }
    if tidy.len() > NEEDS_MAX {
        notes.say(&format!("of {} needs the first {NEEDS_MAX} were kept", tidy.len()));
    }
    tidy.into_iter().take(NEEDS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: impl Fn(&mut Draft), expected: &[&str]) -> Draft {
        let mut draft = Draft::new("k".to_owned(), "title", 3);
        change(&mut draft);
        let mut problems = Vec::new();
        assert!(tidy(&mut draft, &mut problems));
        let found: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(found, expected);
        assert!(problems.iter().all(|problem| problem.line == 3));
        draft
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let change = |draft: &mut Draft| {
            draft.title = "ü".repeat(500);
            draft.description = Some("  a\n\tb\n".to_owned());
            draft.priority = Some(100);
            draft.comments = vec![Remark::new(None, "x".repeat(20_000))];
        };
        let draft = check(change, &[]);
        assert_eq!(draft.title.chars().count(), 500);
        assert_eq!(draft.description.as_deref(), Some("  a\n\tb\n"));
    }

    #[test]
    fn what_is_too_long_is_cut_and_said() {
        let change = |draft: &mut Draft| {
            draft.title = "ü".repeat(501);
            draft.description = Some("x".repeat(100_001));
            draft.labels = (0..52).map(|number| format!("label {number}")).collect();
            draft.owner = Some("o".repeat(101));
            draft.priority = Some(0);
        };
        let draft = check(
            change,
            &[
                "`k`: the title has 501 characters and was cut to 500",
                "`k`: the description has 100001 characters and was cut to 100000",
                "`k`: of 52 labels the first 50 were kept",
                "`k`: the owner has more than 100 characters and was left out",
                "`k`: the priority 0 was left out: expected 1 to 100",
            ],
        );
        assert_eq!((draft.title.chars().count(), draft.labels.len()), (500, 50));
        assert_eq!((draft.owner, draft.priority), (None, None));
    }

    #[test]
    fn nul_and_blanks_are_removed() {
        let change = |draft: &mut Draft| {
            draft.title = " a\0\nb ".to_owned();
            draft.description = Some("x\0y".to_owned());
            draft.labels = ["b", " ", "a\nc", "b"].map(str::to_owned).to_vec();
            draft.owner = Some(" \n".to_owned());
            let reply = Remark::new(Some("\0".to_owned()), "r\0".to_owned());
            let blank = Remark::new(None, "\0 ".to_owned());
            draft.comments = vec![Remark { replies: vec![reply, blank.clone()], ..blank }];
        };
        let draft = check(change, &[]);
        assert_eq!((draft.title.as_str(), draft.description.as_deref()), ("a b", Some("xy")));
        assert_eq!(draft.labels, ["b", "a c"]);
        assert_eq!((draft.owner, draft.comments), (None, vec![Remark::new(None, "r".to_owned())]));
    }

    #[test]
    fn needs_are_the_words_the_desk_takes() {
        let change = |draft: &mut Draft| {
            draft.needs = ["Rust", "k8s", "rust", "two words"].map(str::to_owned).to_vec();
        };
        let message = "`k`: the need `two words` was left out: expected 1 to 50 letters, digits and -_.+#/:";
        assert_eq!(check(change, &[message]).needs, ["k8s", "rust"]);
    }

    #[test]
    fn a_title_without_anything_to_see_is_none() {
        let mut draft = Draft::new("k".to_owned(), "\0 \n", 1);
        assert!(!tidy(&mut draft, &mut Vec::new()));
    }
}
