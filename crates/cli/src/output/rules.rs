//! The rules of the desk as people read them.

use std::fmt::Write as _;

use extraboard_api::rules::{Limits, Rules};

use super::{Align, Style, Table, clean_line};

/// Returns the profile with every number, the limits, and how far the order follows.
pub(crate) fn rules_page(rules: &Rules) -> String {
    let order = if rules.reranking { "waiting tasks are still being moved" } else { "all tasks stand by it" };
    let facts = [
        ("profile", rules.profile.name.clone()),
        ("version", rules.version.to_string()),
        ("order", order.to_owned()),
        ("poll", format!("every {} s", rules.poll_interval_secs)),
    ];
    let mut page = String::new();
    for (name, value) in facts {
        let _ = writeln!(page, "{name:<8}  {}", clean_line(&value));
    }
    let mut numbers = Table::new(&[("NUMBER", Align::Left), ("POINTS", Align::Right)]);
    for (name, number) in &rules.profile.numbers {
        numbers.row([name.clone(), number.to_string()]);
    }
    page + "\n" + &numbers.render(Style::Plain) + "\n" + &limits_table(&rules.limits).render(Style::Plain)
}

/// Returns a row per limit; those that are not set are named too.
pub(crate) fn limits_table(limits: &Limits) -> Table {
    let mut table = Table::new(&[("LIMIT", Align::Left), ("AT ONCE", Align::Right)]);
    let text = |limit: &Option<i64>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
    let mut row = |name: String, limit: &Option<i64>| table.row([name, text(limit)]);
    row("total".to_owned(), &limits.total);
    for (kind, limit) in &limits.kinds {
        row(format!("kind {kind}"), limit);
    }
    row("each project".to_owned(), &limits.project);
    row("each agent".to_owned(), &limits.agent);
    for (agent, limit) in &limits.agents {
        row(format!("agent {agent}"), limit);
    }
    row("each account".to_owned(), &limits.account);
    table
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_are_told_whole() {
        let rules: Rules = serde_json::from_value(json!({
            "version": 3,
            "profile": {"name": "pipeline", "numbers": {"code": 20, "goal_bonus": 20}},
            "limits": {"total": 10, "kinds": {"code": 4}, "agents": {"ada": 0}},
            "pollIntervalSecs": 1, "reranking": true
        }))
        .unwrap();
        insta::assert_snapshot!(rules_page(&rules), @r"
        profile   pipeline
        version   3
        order     waiting tasks are still being moved
        poll      every 1 s

        NUMBER      POINTS
        code            20
        goal_bonus      20

        LIMIT         AT ONCE
        total              10
        kind code           4
        each project     none
        each agent       none
        agent ada           0
        each account     none
        ");
    }
}
