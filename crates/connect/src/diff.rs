//! Shows a change as a unified diff with one hunk: our edits stand close together.

use std::fmt::Write as _;
use std::path::Path;

/// How many unchanged lines are shown around a change.
const CONTEXT_LINE_COUNT: usize = 3;

/// Returns what changes from one text to another; `None` is a file that does not exist.
pub fn diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let name = |side: char, text: Option<&str>| match text {
        Some(_) => format!("{side} {}", path.display()),
        None => format!("{side} /dev/null"),
    };
    let mut result = format!("--{}\n++{}\n", name('-', before), name('+', after));
    let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = after.unwrap_or_default().split_inclusive('\n').collect();
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail_max = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(tail_max).take_while(|(a, b)| a == b).count();
    let start = head.saturating_sub(CONTEXT_LINE_COUNT);
    let tail_shown = tail.min(CONTEXT_LINE_COUNT);
    let place = |lines: &[&str]| {
        let count = lines.len() - tail + tail_shown - start;
        // A side without lines is said to be before the first.
        format!("{},{count}", if count == 0 { start } else { start + 1 })
    };
    let _ = writeln!(result, "@@ -{} +{} @@", place(&old), place(&new));
    let mut add = |sign: char, lines: &[&str]| {
        for line in lines {
            let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
            let _ = write!(result, "{sign}{line}{end}");
        }
    };
    add(' ', &old[start..head]);
    add('-', &old[head..old.len() - tail]);
    add('+', &new[head..new.len() - tail]);
    add(' ', &old[old.len() - tail..old.len() - tail + tail_shown]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: Option<&str>, after: Option<&str>, expected: &str) {
        assert_eq!(diff(Path::new("f"), before, after), expected);
    }

    #[test]
    fn change_is_shown_with_its_surroundings() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let expected = "--- f\n+++ f\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+a\n+b\n 6\n 7\n 8\n";
        check(Some(before), Some("1\n2\n3\n4\na\nb\n6\n7\n8\n9\n"), expected);
    }

    #[test]
    fn files_that_come_and_go_are_shown() {
        check(None, Some("a\n"), "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
        check(Some("a\n"), None, "--- f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n");
        check(Some("a\n"), Some("a\n"), "");
    }

    #[test]
    fn repeated_lines_are_not_counted_twice() {
        check(Some("a\n"), Some("a\na\n"), "--- f\n+++ f\n@@ -1,1 +1,2 @@\n a\n+a\n");
    }

    #[test]
    fn missing_line_end_is_shown() {
        let expected = "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n";
        check(Some("a"), Some("a\n"), expected);
    }
}
