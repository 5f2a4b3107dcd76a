//! `docs/lifecycle.md` is printed from the tables and compared with them.
//!
//! To write it anew: `XB_BLESS=1 cargo test -p extraboard-core --test it`.

use std::fmt::Write as _;
use std::path::Path;

use extraboard_core::clock::Timestamp;
use extraboard_core::patch::{Ask, Role, ask};
use extraboard_core::reason::{Counters, Draw, Notice, Reason, Settlement, route};
use extraboard_core::report::Retryable;
use extraboard_core::state::{State, Verb};
use extraboard_core::status::Status;

#[test]
fn the_document_shows_the_tables_as_they_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lifecycle.md");
    let printed = document();
    #[expect(clippy::disallowed_methods, reason = "a person asks for the document to be written anew")]
    let bless = std::env::var_os("XB_BLESS").is_some();
    if bless {
        std::fs::write(&path, &printed).expect("the document can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == printed,
        "docs/lifecycle.md is out of date: XB_BLESS=1 cargo test -p extraboard-core --test it"
    );
}

fn document() -> String {
    let mut text = String::from(INTRODUCTION);
    text.push_str(&diagram());
    text.push_str(ENDINGS);
    text.push_str(&reasons());
    text.push_str(PATCHES);
    for role in Role::ALL {
        text.push_str(&patches(role));
    }
    text
}

const INTRODUCTION: &str = "# The life of a task

This page is printed from the tables in `crates/core` and compared with them by a test.

Every change of state is one of these arrows. The arrows from `queued` for complete, submit, requeue, block, fail and
time_out are for one case only: the late report of the newest dispatch, whose lease lapsed and whose task nobody has
claimed since.

";

const ENDINGS: &str = "
## Why a dispatch ends, and where its task goes

The first reason recorded for a dispatch wins. \"Waits\" is for the first time; the next times wait longer, and in the
end the task is given up: the 5th crash fails it, the 5th unavailable agent blocks it, the 10th loss fails it, and so does
one failed or timed-out attempt more than `maxRetries`. Failed attempts wait up to a quarter longer than shown, by a
random draw. Settlement moves a task only while it is assigned or running: what was canceled, closed or reopened meanwhile
stays as it is.

";

const PATCHES: &str = "
## What a status in a PATCH does

Rows are the state an issue is in, columns the status asked for. A cell names the verb; `=` means that it has that status
already and nothing happens; an empty cell is refused with 409 and the legal verbs.
";

fn diagram() -> String {
    let mut text = String::from(
        "```mermaid\nstateDiagram-v2\n    [*] --> triage\n    [*] --> backlog\n    [*] --> queued\n",
    );
    for from in State::ALL {
        for verb in Verb::ALL {
            if let Ok(to) = from.after(*verb) {
                writeln!(text, "    {from} --> {to}: {verb}").expect("writing to a string works");
            }
        }
    }
    text.push_str("```\n");
    text
}

fn reasons() -> String {
    let mut text =
        String::from("| reason | task goes to | waits | spends | tells |\n|---|---|---|---|---|\n");
    for reason in Reason::ALL {
        let now = Timestamp::from_micros(0);
        let counters = Counters::default();
        let (retryable, retry_after, max_retries, draw) = (Retryable::Yes, None, 3, Draw::NONE);
        let settlement = Settlement {
            reason: *reason,
            retryable,
            retry_after,
            counters,
            max_retries,
            on_account: false,
            now,
            draw,
        };
        let route = route(&settlement);
        let to = match route.verb {
            Some(verb) => State::Running.after(verb).expect("every route is legal").as_str(),
            None => "canceled, when the reason is set",
        };
        let waits = route.not_before.map_or(String::new(), |at| format!("{} s", at.since(now).as_secs()));
        let tells = match route.notice {
            Some(Notice::DeadLetter) => "dead letter",
            Some(Notice::NeedsPerson) => "needs a person",
            Some(Notice::Alert) => "alert",
            None => "",
        };
        writeln!(text, "| {reason} | {to} | {waits} | {} | {tells} |", spent(route.counters))
            .expect("writing to a string works");
    }
    text
}

fn spent(counters: Counters) -> &'static str {
    match counters {
        Counters { crash: 1, .. } => "crash",
        Counters { unavailable: 1, .. } => "unavailable",
        Counters { retry: 1, .. } => "retry",
        Counters { lost: 1, .. } => "lost",
        _ => "",
    }
}

fn patches(role: Role) -> String {
    let title = match role {
        Role::Holder => "By the holder of the open dispatch",
        Role::Person => "By a person (admin token)",
        Role::Agent => "By anybody else",
    };
    let columns: Vec<_> = Status::ALL.iter().map(|status| status.as_str()).collect();
    let mut text = format!(
        "\n### {title}\n\n| from | {} |\n|---|{}\n",
        columns.join(" | "),
        "---|".repeat(columns.len())
    );
    let rows = State::ALL.iter().filter(|from| role != Role::Holder || from.is_active());
    for from in rows {
        let cells = Status::ALL.iter().map(|asked| match ask(*from, *asked, role) {
            Some(Ask::Nothing) => "=",
            Some(ask) => ask.as_str(),
            None => "",
        });
        writeln!(text, "| {from} | {} |", cells.collect::<Vec<_>>().join(" | "))
            .expect("writing to a string works");
    }
    text
}
