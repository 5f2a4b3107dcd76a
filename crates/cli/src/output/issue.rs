//! A task as people read it: in one line, in a table, on a page.

use std::fmt::Write as _;

use extraboard_api::issue::{Issue, IssueDetail, IssueDispatch};

use super::{Align, Table, clean_line, clean_text};

/// Returns one line: number, state, title.
pub(crate) fn issue_line(issue: &Issue) -> String {
    format!("#{} is {}: {}", issue.number, clean_line(&issue.state), clean_line(&issue.title))
}

/// Returns a table with a row per task.
pub(crate) fn issue_table(issues: &[Issue]) -> Table {
    let mut table = Table::new(&[
        ("ID", Align::Right),
        ("STATE", Align::Left),
        ("PRIO", Align::Right),
        ("KIND", Align::Left),
        ("TITLE", Align::Left),
    ]);
    for issue in issues {
        table.row([
            format!("#{}", issue.number),
            issue.state.clone(),
            issue.priority_value.to_string(),
            issue.kind.clone(),
            issue.title.clone(),
        ]);
    }
    table
}

/// Returns everything worth reading about one task.
pub(crate) fn issue_page(detail: &IssueDetail) -> String {
    let issue = &detail.issue;
    let mut page = format!("#{} {}\n", issue.number, clean_line(&issue.title));
    let counters = &issue.counters;
    let mishaps = [
        ("crash", counters.crash),
        ("unavailable", counters.unavailable),
        ("retry", counters.retry),
        ("lost", counters.lost),
    ];
    let mishaps =
        mishaps.iter().filter(|(_, count)| *count != 0).map(|(name, count)| format!("{name} {count}"));
    let facts = [
        ("id", Some(issue.id.clone())),
        ("state", Some(issue.state.clone())),
        ("kind", Some(issue.kind.clone())),
        ("priority", Some(issue.priority_value.to_string())),
        ("doors", Some(issue.doors.join(", "))),
        ("attempt", Some(format!("{} (at most {} retries)", issue.attempt, issue.max_retries))),
        ("mishaps", Some(mishaps.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())),
        ("not before", issue.not_before.clone()),
        ("created", Some(issue.created_at.clone())),
        ("queued", issue.queued_at.clone()),
        ("started", issue.started_at.clone()),
        ("completed", issue.completed_at.clone()),
        ("source", issue.signal_source.clone()),
        ("dispatch", issue.dispatch.as_ref().map(dispatch_line)),
        ("last error", issue.last_error.clone()),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(page, "  {name:<11} {}", clean_line(&value));
        }
    }
    for (name, text) in [("description", &issue.description), ("summary", &issue.agent_summary)] {
        if let Some(text) = text {
            let _ = writeln!(page, "\n{name}:\n{}", clean_text(text.trim_end()));
        }
    }
    if let Some(result) = &issue.result {
        let _ = writeln!(page, "\nresult:\n{}", clean_text(&format!("{result:#}")));
    }
    page
}

fn dispatch_line(dispatch: &IssueDispatch) -> String {
    let mut line = format!(
        "{} {}, held by {} through {}, attempt {}, fence {}",
        dispatch.id, dispatch.phase, dispatch.holder, dispatch.door, dispatch.attempt, dispatch.fence
    );
    if let Some(until) = &dispatch.lease_until {
        let _ = write!(line, ", lease until {until}");
    }
    if let Some(reason) = &dispatch.reason {
        let _ = write!(line, ", ending: {reason}");
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn detail() -> IssueDetail {
        serde_json::from_value(json!({
            "id": "01990000-0000-7000-8000-000000000000", "number": 42, "title": "Fix\u{1b}[2J it",
            "description": "First.\nSecond.\u{7}\n",
            "type": "task", "status": "in_progress", "state": "running",
            "priority": 3, "priorityValue": 50, "doors": ["pull", "run"], "maxRetries": 3,
            "attempt": 2, "counters": {"crash": 1, "unavailable": 0, "retry": 0, "lost": 2},
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
            "lastError": "boom\nbang", "result": {"lines": 3},
            "dispatch": {
                "id": "0199", "attempt": 2, "fence": 2, "holder": "agent:ada", "door": "pull", "phase": "open",
                "leaseUntil": "2026-01-01T01:00:00Z"
            }
        }))
        .unwrap()
    }

    #[test]
    fn a_page_leaves_out_what_is_not_there_and_cleans_the_rest() {
        insta::assert_snapshot!(issue_page(&detail()), @r#"
        #42 Fix�[2J it
          id          01990000-0000-7000-8000-000000000000
          state       running
          kind        task
          priority    50
          doors       pull, run
          attempt     2 (at most 3 retries)
          mishaps     crash 1, lost 2
          created     2026-01-01T00:00:00Z
          dispatch    0199 open, held by agent:ada through pull, attempt 2, fence 2, lease until 2026-01-01T01:00:00Z
          last error  boom bang

        description:
        First.
        Second.�

        result:
        {
          "lines": 3
        }
        "#);
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(issue_line(&detail().issue), "#42 is running: Fix\u{fffd}[2J it");
    }
}
