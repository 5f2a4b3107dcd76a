//! Why a task is where it is, as people read it: the verdict first.

use std::fmt::Write as _;

use extraboard_api::dispatch::Breakdown;
use extraboard_api::why::{Decision, Why, WhyClaimer, WhyGate};
use serde_json::Value;

use super::clean_line;

/// Returns verdict, score, position, everything in the way, what would start it, and the last decisions.
pub(crate) fn why_page(why: &Why) -> String {
    let issue = &why.issue;
    let mut page = format!("{}: #{} {}\n", clean_line(&why.verdict), issue.number, clean_line(&issue.title));
    let facts = [
        ("for", Some(why.claimer.as_ref().map_or_else(|| "anyone".to_owned(), claimer_text))),
        ("state", Some(issue.state.clone())),
        ("score", why.score.map(|score| score_text(score, why.breakdown.as_ref()))),
        ("position", why.position.map(|position| position_text(position, why.position_capped))),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(page, "  {name:<9} {}", clean_line(&value));
        }
    }
    if !why.gates.is_empty() {
        page.push_str("\nin its way:\n");
        page.extend(why.gates.iter().map(gate_text));
    }
    if let Some(change) = &why.change {
        let _ = writeln!(page, "\nwhat would start it:\n  {}", clean_line(change));
    }
    if !why.decisions.is_empty() {
        page.push_str("\nlast decisions:\n");
        page.extend(why.decisions.iter().map(decision_text));
    }
    let _ = writeln!(page, "\nas of event {}", why.pos);
    page
}

/// Returns a place in line; one that was not counted to the end says so.
pub(crate) fn position_text(position: i64, capped: bool) -> String {
    let digits = position.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if capped { text + "+" } else { text }
}

fn claimer_text(claimer: &WhyClaimer) -> String {
    let mut text = format!("{} through {}", claimer.name, claimer.door);
    let list = |words: &[String]| Some(words.join(", ")).filter(|text| !text.is_empty());
    let account = claimer.provider.as_ref().map(|provider| match &claimer.account {
        Some(account) => format!("{provider}/{account}"),
        None => provider.clone(),
    });
    let said = [
        ("kinds", list(&claimer.kinds)),
        ("project", claimer.project_id.clone()),
        ("capabilities", list(&claimer.capabilities)),
        ("owner", claimer.owner.clone()),
        ("account", account),
    ];
    for (name, value) in said {
        if let Some(value) = value {
            let _ = write!(text, "; {name} {value}");
        }
    }
    text
}

fn score_text(score: i64, breakdown: Option<&Breakdown>) -> String {
    let Some(parts) = breakdown else { return score.to_string() };
    let parts = [
        ("priority", parts.priority_weight),
        ("boost", parts.boost),
        ("type", parts.type_bonus),
        ("goal", parts.goal_bonus),
        ("age", parts.age_bonus),
        ("patience", parts.patience),
        ("depth", parts.depth_bonus),
        ("retry", parts.retry_penalty),
    ];
    let mut text = format!("{score} =");
    for (index, (name, points)) in parts.into_iter().filter(|(_, points)| *points != 0).enumerate() {
        let sign = match (points < 0, index) {
            (true, _) => "- ",
            (false, 0) => "",
            (false, _) => "+ ",
        };
        let _ = write!(text, " {sign}{name} {}", points.unsigned_abs());
    }
    if text.ends_with('=') { score.to_string() } else { text }
}

fn gate_text(gate: &WhyGate) -> String {
    let mut text = format!("  {:<12} {}", clean_line(&gate.gate), clean_line(&gate.detail));
    if let Some(until) = &gate.until {
        let _ = write!(text, ", until {}", clean_line(until));
    }
    text.push('\n');
    if let Some(change) = &gate.change {
        let _ = writeln!(text, "  {:<12} to change: {}", "", clean_line(change));
    }
    text
}

fn decision_text(decision: &Decision) -> String {
    let actor = decision.actor.as_deref().unwrap_or("-");
    let mut text = format!("  {}  {}  by {}", decision.at, decision.kind, actor);
    if decision.data.as_object().is_some_and(|data| !data.is_empty()) {
        let _ = write!(text, "  {}", compact(&decision.data));
    }
    clean_line(&text) + "\n"
}

/// The most of an event that is worth a line.
const DATA_CHARS_MAX: usize = 100;

fn compact(data: &Value) -> String {
    let text = data.to_string();
    if text.chars().count() <= DATA_CHARS_MAX {
        return text;
    }
    text.chars().take(DATA_CHARS_MAX - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn why(more: &Value) -> Why {
        let mut wire = json!({
            "issue": {
                "id": "0199", "number": 42, "title": "Fix\u{1b} it", "type": "code", "status": "todo",
                "state": "queued"
            },
            "claimer": null, "verdict": "next", "score": null, "breakdown": null, "position": null,
            "change": null, "pos": 15
        });
        wire.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(wire).unwrap()
    }

    #[test]
    fn everything_in_the_way_is_told() {
        let page = why_page(&why(&json!({
            "claimer": {
                "name": "agent:ada", "door": "pull", "capabilities": ["rust", "gpu"], "owner": "ann",
                "provider": "anthropic", "account": "team", "projectId": null, "kinds": ["code"]
            },
            "verdict": "waiting", "score": 66, "position": 1000, "positionCapped": true,
            "breakdown": {"priorityWeight": 50, "boost": 5, "typeBonus": 20, "ageBonus": 1, "retryPenalty": -10},
            "gates": [
                {"gate": "limit", "detail": "5 of at most 5 are handed out", "until": null, "change": "raise it"},
                {"gate": "not_before", "detail": "too early", "until": "2026-01-01T00:00:00Z", "change": null}
            ],
            "change": "raise it; wait",
            "decisions": [
                {"pos": 3, "type": "task.queued", "actor": "person:admin", "at": "2026-01-01T00:00:00Z", "data": {}},
                {"pos": 2, "type": "task.edited", "actor": null, "at": "2026-01-01T00:00:00Z", "data": {"boost": 5}}
            ]
        })));
        insta::assert_snapshot!(page, @r#"
        waiting: #42 Fix� it
          for       agent:ada through pull; kinds code; capabilities rust, gpu; owner ann; account anthropic/team
          state     queued
          score     66 = priority 50 + boost 5 + type 20 + age 1 - retry 10
          position  1,000+

        in its way:
          limit        5 of at most 5 are handed out
                       to change: raise it
          not_before   too early, until 2026-01-01T00:00:00Z

        what would start it:
          raise it; wait

        last decisions:
          2026-01-01T00:00:00Z  task.queued  by person:admin
          2026-01-01T00:00:00Z  task.edited  by -  {"boost":5}

        as of event 15
        "#);
    }

    #[test]
    fn what_is_not_there_is_left_out() {
        insta::assert_snapshot!(why_page(&why(&json!({}))), @r"
        next: #42 Fix� it
          for       anyone
          state     queued

        as of event 15
        ");
    }

    #[test]
    fn a_position_is_exact_or_says_that_it_is_not() {
        assert_eq!(position_text(7, false), "7");
        assert_eq!(position_text(1000, true), "1,000+");
        assert_eq!(position_text(123_456, false), "123,456");
    }

    #[test]
    fn a_score_without_parts_is_a_number() {
        assert_eq!(score_text(0, Some(&Breakdown::default())), "0");
        assert_eq!(score_text(7, None), "7");
        assert_eq!(score_text(-5, Some(&Breakdown { boost: -5, ..Breakdown::default() })), "-5 = - boost 5");
    }
}
