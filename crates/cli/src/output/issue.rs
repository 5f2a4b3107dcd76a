//! A task as people read it: in one line, in a table, on a page.

use std::fmt::Write as _;

use extraboard_api::issue::{Counters, Issue, IssueBrief, IssueDetail, IssueDispatch};
use extraboard_api::work::{Commit, PullRequest};

use super::{Align, Table, clean_line, clean_text};

/// Returns one line: number, state, title.
pub(crate) fn issue_line(issue: &Issue) -> String {
    format!("#{} is {}: {}", issue.number, clean_line(&issue.state), clean_line(&issue.title))
}

/// Returns a table with a row per task.
pub(crate) fn issue_table(issues: &[Issue]) -> Table {
    let mut columns = vec![
        ("ID", Align::Right),
        ("STATE", Align::Left),
        ("PRIO", Align::Right),
        ("KIND", Align::Left),
        ("LABELS", Align::Left),
        ("TITLE", Align::Left),
    ];
    let has_labels = issues.iter().any(|issue| !issue.labels.is_empty());
    columns.retain(|(heading, _)| has_labels || *heading != "LABELS");
    let mut table = Table::new(&columns);
    for issue in issues {
        let mut cells = vec![
            format!("#{}", issue.number),
            issue.state.clone(),
            issue.priority_value.to_string(),
            issue.kind.clone(),
        ];
        if has_labels {
            cells.push(label_names(issue).unwrap_or_else(|| "-".to_owned()));
        }
        cells.push(issue.title.clone());
        table.row(cells);
    }
    table
}

/// Returns everything worth reading about one task.
pub(crate) fn issue_page(detail: &IssueDetail, project: Option<&str>) -> String {
    let issue = &detail.issue;
    let mut page = format!("#{} {}\n", issue.number, clean_line(&issue.title));
    let facts = [
        ("id", Some(issue.id.clone())),
        ("state", Some(issue.state.clone())),
        ("kind", Some(issue.kind.clone())),
        ("priority", Some(issue.priority_value.to_string())),
        ("boost", Some(issue.boost).filter(|boost| *boost != 0).map(|boost| boost.to_string())),
        ("labels", label_names(issue)),
        ("project", project.map(str::to_owned)),
        ("parent", detail.parent.as_ref().map(|parent| parent_line(parent, issue))),
        ("held", held_line(issue)),
        ("artifact", issue.input_artifact.as_ref().map(|path| artifact_line(path, issue))),
        ("needs", Some(issue.needs.join(", ")).filter(|needs| !needs.is_empty())),
        ("owner", issue.owner.clone()),
        ("doors", Some(issue.doors.join(", "))),
        ("attempt", Some(format!("{} (at most {} retries)", issue.attempt, issue.max_retries))),
        ("mishaps", mishaps_line(&issue.counters)),
        ("not before", issue.not_before.clone()),
        ("created", Some(issue.created_at.clone())),
        ("queued", issue.queued_at.clone()),
        ("started", issue.started_at.clone()),
        ("completed", issue.completed_at.clone()),
        ("source", issue.signal_source.clone()),
        ("key", issue.external_key.clone()),
        ("dispatch", issue.dispatch.as_ref().map(dispatch_line)),
        ("last error", issue.last_error.clone()),
        ("asked", issue.question.clone()),
        ("answered", issue.answer.clone()),
        ("commits", Some(commits_line(issue)).filter(|line| !line.is_empty())),
        ("pull reqs", Some(pull_requests_line(issue)).filter(|line| !line.is_empty())),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(page, "  {name:<11} {}", clean_line(&value));
        }
    }
    page.push_str(&around(detail));
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

fn label_names(issue: &Issue) -> Option<String> {
    let names: Vec<&str> = issue.labels.iter().map(|label| label.name.as_str()).collect();
    Some(names.join(", ")).filter(|names| !names.is_empty())
}

fn commits_line(issue: &Issue) -> String {
    let told = |commit: &Commit| match &commit.message {
        Some(message) => format!("{} {message}", commit.sha),
        None => commit.sha.clone(),
    };
    issue.commits.iter().map(told).collect::<Vec<_>>().join("; ")
}

fn pull_requests_line(issue: &Issue) -> String {
    let told = |request: &PullRequest| {
        let words = [&request.state, &request.title, &request.url].into_iter().flatten();
        words.fold(format!("#{}", request.number), |line, word| format!("{line} {word}"))
    };
    issue.pull_requests.iter().map(told).collect::<Vec<_>>().join("; ")
}

fn mishaps_line(counters: &Counters) -> Option<String> {
    let mishaps = [
        ("crash", counters.crash),
        ("unavailable", counters.unavailable),
        ("retry", counters.retry),
        ("lost", counters.lost),
    ];
    let mishaps = mishaps.iter().filter(|(_, count)| *count != 0);
    let texts: Vec<String> = mishaps.map(|(name, count)| format!("{name} {count}")).collect();
    Some(texts.join(", ")).filter(|text| !text.is_empty())
}

fn parent_line(parent: &IssueBrief, issue: &Issue) -> String {
    let gate = if issue.gated_by_parent { "waits for it" } else { "does not wait for it" };
    format!("{}; depth {}, {gate}", brief_line(parent), issue.depth)
}

fn artifact_line(path: &str, issue: &Issue) -> String {
    let presence = if issue.artifact_present { "is there" } else { "is missing" };
    format!("{path} {presence}")
}

fn held_line(issue: &Issue) -> Option<String> {
    issue.held.then(|| match issue.open_blockers {
        0 => "yes".to_owned(),
        1 => "yes, by 1 open blocker".to_owned(),
        count => format!("yes, by {count} open blockers"),
    })
}

fn brief_line(brief: &IssueBrief) -> String {
    format!("#{} {} ({}, {})", brief.number, brief.title, brief.kind, brief.state)
}

/// Returns the relations and children, a line each.
fn around(detail: &IssueDetail) -> String {
    let mut text = String::new();
    if !detail.relations.is_empty() {
        text.push_str("\nrelations:\n");
    }
    for relation in &detail.relations {
        let kind = relation.kind.replace('_', " ");
        let _ = writeln!(text, "  {}", clean_line(&format!("{kind} {}", brief_line(&relation.related))));
    }
    if !detail.children.is_empty() {
        text.push_str("\nchildren:\n");
    }
    for child in &detail.children {
        let _ = writeln!(text, "  {}", clean_line(&brief_line(child)));
    }
    text
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
        insta::assert_snapshot!(issue_page(&detail(), None), @r#"
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

    fn brief(number: i64, state: &str) -> serde_json::Value {
        json!({"id": "0199", "number": number, "title": "T", "type": "plan", "status": "todo", "state": state})
    }

    #[test]
    fn a_page_tells_what_stands_around_a_task() {
        let mut detail = detail();
        let issue = &mut detail.issue;
        (issue.description, issue.result, issue.dispatch, issue.last_error) = (None, None, None, None);
        issue.counters = Counters::default();
        (issue.boost, issue.depth, issue.gated_by_parent) = (-5, 1, true);
        (issue.held, issue.open_blockers, issue.input_artifact) = (true, 2, Some("out/plan.md".to_owned()));
        (issue.needs, issue.owner) = (vec!["gpu".to_owned(), "rust".to_owned()], Some("ann".to_owned()));
        issue.labels = serde_json::from_value(json!([
            {"id": "0199", "name": "bug", "color": "red"}, {"id": "0199", "name": "web\u{1b}", "color": "red"}
        ]))
        .unwrap();
        issue.external_key = Some("github:acme/web#12".to_owned());
        detail.parent = serde_json::from_value(brief(7, "running")).unwrap();
        detail.children = serde_json::from_value(json!([brief(43, "queued"), brief(44, "done")])).unwrap();
        detail.relations = serde_json::from_value(json!([{
            "id": "0199", "type": "blocked_by", "issueId": "0199", "relatedIssueId": "0199",
            "related": brief(8, "queued"), "createdAt": "2026-01-01T00:00:00Z"
        }]))
        .unwrap();
        insta::assert_snapshot!(issue_page(&detail, Some("apollo")), @r"
        #42 Fix�[2J it
          id          01990000-0000-7000-8000-000000000000
          state       running
          kind        task
          priority    50
          boost       -5
          labels      bug, web�
          project     apollo
          parent      #7 T (plan, running); depth 1, waits for it
          held        yes, by 2 open blockers
          artifact    out/plan.md is missing
          needs       gpu, rust
          owner       ann
          doors       pull, run
          attempt     2 (at most 3 retries)
          created     2026-01-01T00:00:00Z
          key         github:acme/web#12

        relations:
          blocked by #8 T (plan, queued)

        children:
          #43 T (plan, queued)
          #44 T (plan, done)
        ");
    }

    #[test]
    fn labels_are_listed_where_there_are_any() {
        let plain = detail().issue;
        let heading = |issues: &[Issue]| {
            let text = issue_table(issues).render(crate::output::Style::Plain);
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(!heading(std::slice::from_ref(&plain))[0].contains("LABELS"));
        let labels = serde_json::from_value(json!([{"id": "0199", "name": "bug", "color": "red"}])).unwrap();
        let labelled = Issue { labels, ..plain.clone() };
        let lines = heading(&[plain, labelled]);
        assert!(lines[0].contains("KIND  LABELS  TITLE"), "{lines:?}");
        assert!(lines[1].contains("task  -       Fix"), "{lines:?}");
        assert!(lines[2].contains("task  bug     Fix"), "{lines:?}");
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(issue_line(&detail().issue), "#42 is running: Fix\u{fffd}[2J it");
    }
}
