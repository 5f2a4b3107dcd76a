//! What came of an import.

use std::fmt::Write as _;

use serde::Serialize;

use crate::output::{clean_line, talk};

/// Everything that was or would be done.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) dry_run: bool,
    pub(super) created: Vec<Filed>,
    /// What was there already; it was not changed.
    pub(super) known: Vec<Filed>,
    pub(super) left_out: Vec<LeftOut>,
    /// What came over otherwise than it stands in the file.
    pub(super) remarks: Vec<Remark>,
    pub(super) labels: Vec<String>,
}

/// A task that is, or would be, there.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Filed {
    pub(super) key: String,
    /// None while nothing was created.
    pub(super) number: Option<i64>,
    pub(super) title: String,
}

/// Something there is no task of.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LeftOut {
    pub(super) line: usize,
    pub(super) reason: String,
    /// Whether the desk would not have it, which is a failure.
    pub(super) refused: bool,
}

/// Something that is worth saying.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Remark {
    pub(super) line: usize,
    pub(super) text: String,
}

impl Report {
    /// Returns how much the desk would not have.
    pub(super) fn refused(&self) -> usize {
        self.left_out.iter().filter(|left| left.refused).count()
    }

    /// Returns a line per task, and says the sums to whoever watches.
    pub(super) fn text(&self) -> String {
        let created = if self.dry_run { "would be created" } else { "created" };
        let (new, known, left) = (self.created.len(), self.known.len(), self.left_out.len());
        talk(&format!("{new} {created}, {known} already there, {left} left out"));
        let mut text = String::new();
        if self.dry_run {
            for label in &self.labels {
                let _ = writeln!(text, "would add label {}", clean_line(label));
            }
        }
        for filed in &self.created {
            let _ = writeln!(text, "{}", line(if self.dry_run { "would create" } else { "created" }, filed));
        }
        for filed in &self.known {
            let _ = writeln!(text, "{}", line("already there", filed));
        }
        for left in &self.left_out {
            let _ = writeln!(text, "left out line {}: {}", left.line, clean_line(&left.reason));
        }
        for remark in &self.remarks {
            let _ = writeln!(text, "note line {}: {}", remark.line, clean_line(&remark.text));
        }
        text
    }
}

fn line(what: &str, filed: &Filed) -> String {
    let number = filed.number.map_or_else(String::new, |number| format!(" #{number}"));
    clean_line(&format!("{what}{number} {}: {}", filed.key, filed.title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_told() {
        let filed = |number, key: &str| Filed { key: key.to_owned(), number, title: "T\u{1b}".to_owned() };
        let mut report = Report {
            created: vec![filed(Some(7), "a")],
            known: vec![filed(Some(3), "b")],
            left_out: vec![LeftOut { line: 4, reason: "it is closed".to_owned(), refused: false }],
            remarks: vec![Remark { line: 5, text: "the title was cut".to_owned() }],
            labels: vec!["bug".to_owned()],
            dry_run: false,
        };
        insta::assert_snapshot!(report.text(), @r"
        created #7 a: T�
        already there #3 b: T�
        left out line 4: it is closed
        note line 5: the title was cut
        ");
        assert_eq!(report.refused(), 0);
        report.dry_run = true;
        report.created = vec![filed(None, "a")];
        insta::assert_snapshot!(report.text(), @r"
        would add label bug
        would create a: T�
        already there #3 b: T�
        left out line 4: it is closed
        note line 5: the title was cut
        ");
    }
}
