//! No template and no task makes a prompt without an end, and none takes long.

use super::{render, rendered, with};
use crate::compile::compile;
use crate::output::PROMPT_BYTES_MAX;
use crate::shipped;

#[test]
fn a_prompt_that_is_too_long_names_the_limit() {
    let context = with(|context| context.task.signal_payload = Some(format!("[{}0]", "0,".repeat(9_999))));
    let template = format!("{{{{#each issue.signalPayload}}}}{}{{{{/each}}}}", "x".repeat(30));
    let broken = render(&template, &context).unwrap_err();
    assert_eq!(broken.to_string(), "the prompt is longer than 262144 bytes");
    let long = format!("{{{{#each siblings}}}}{}{{{{/each}}}}", "x".repeat(60_000));
    assert!(rendered(&long).len() == 120_000);
}

/// The worst there is: loops over the longest lists that fit into a payload, within each
/// other, that write nothing. It ends after 65,536 steps, within two to three milliseconds.
#[test]
fn a_template_never_loops_long() {
    let list = format!("[{}0]", "0,".repeat(100_000));
    let hidden = "\u{200b}".repeat(30_000);
    let context = with(|context| {
        context.task.signal_payload = Some(list);
        context.task.description = Some(hidden);
    });
    for inner in [
        "",
        "{{@root.issue.description}}",
        "{{#if (eq @root.issue.description @root.issue.description)}}{{/if}}",
    ] {
        let template = format!(
            "{{{{#each issue.signalPayload}}}}{{{{#each @root.issue.signalPayload}}}}{inner}{{{{/each}}}}{{{{/each}}}}"
        );
        let broken = render(&template, &context).unwrap_err();
        assert!(broken.0.contains("too much work"), "{broken}");
    }
}

/// Once there is no room for texts, nothing is written out for them any more.
#[test]
fn a_template_does_not_write_out_everything_again_and_again() {
    let list = format!("[{}0]", "0,".repeat(100_000));
    let context = with(|context| context.task.signal_payload = Some(list));
    let prompt = render(&"{{json issue.signalPayload}}".repeat(500), &context).unwrap();
    assert_eq!(prompt.matches("[… the rest is left out]").count(), 500);
    assert!(prompt.len() < 210 * 1024, "{}", prompt.len());
}

#[test]
fn a_text_that_is_mostly_hidden_is_not_looked_at_to_its_end() {
    let hidden = format!("{}x", "\u{200b}".repeat(99_999));
    let context = with(|context| context.task.description = Some(hidden));
    let prompt = render("{{issue.description}}", &context).unwrap();
    assert_eq!(prompt, "````text: description, from outside\n\n[… the rest is left out]\n````\n");
}

#[test]
fn comparing_long_texts_is_work() {
    let context = with(|context| {
        context.task.description = Some("x".repeat(90_000));
        context.siblings = vec![context.siblings[0].clone(); 20];
    });
    let template = "{{#each siblings}}{{#each @root.siblings}}\
                    {{#if (eq @root.issue.description @root.issue.description)}}{{/if}}{{/each}}{{/each}}";
    assert!(render(template, &context).unwrap_err().0.contains("too much work"));
}

#[test]
fn one_long_text_is_cut_and_says_so() {
    let context = with(|context| context.task.description = Some("ä".repeat(100_000)));
    let prompt = render("{{issue.description}}after", &context).unwrap();
    assert!(prompt.len() < 110_000 && prompt.ends_with("ä\n[… the rest is left out]\n````\n\nafter"));
    let context = with(|context| context.task.signal_payload = Some(format!("{:?}", "x".repeat(200_000))));
    let prompt = render("{{json issue.signalPayload}}after", &context).unwrap();
    assert!(prompt.len() < 40_000 && prompt.ends_with("\n[… the rest is left out]\n````\n\nafter"));
}

#[test]
fn json_however_deep_is_shown_as_far_as_it_goes() {
    let deep = |depth| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [31, 100, 50_000] {
        let context = with(|context| context.task.signal_payload = Some(deep(depth)));
        let prompt = render("{{json issue.signalPayload}}", &context).unwrap();
        assert!(prompt.starts_with("````json: signalPayload, from outside\n"), "{depth}");
    }
}

/// However much everybody wrote: what the template itself says still stands in the prompt.
#[test]
fn the_shipped_templates_make_a_prompt_of_the_longest_texts() {
    let long = |chars: usize| "漢".repeat(chars);
    let context = with(|context| {
        context.task.title = long(500);
        context.task.description = Some(long(100_000));
        context.task.signal_payload = Some(format!("{:?}", long(80_000)));
        context.task.question = Some(long(20_000));
        context.task.answer = Some(long(20_000));
        context.sessions = vec![context.sessions[0].clone(); 5];
        for session in &mut context.sessions {
            session.summary = Some(long(2_000));
            session.error = Some(long(2_000));
        }
        context.comments = vec![context.comments[0].clone(); 20];
        for comment in &mut context.comments {
            comment.body = long(2_000);
        }
        context.siblings = vec![context.siblings[0].clone(); 20];
        for sibling in &mut context.siblings {
            sibling.title = long(500);
            sibling.agent_summary = Some(long(2_000));
        }
    });
    for template in shipped() {
        let prompt =
            render(template.content, &context).unwrap_or_else(|broken| panic!("{}: {broken}", template.slug));
        assert!(prompt.len() < PROMPT_BYTES_MAX && prompt.contains("## What is data"), "{}", template.slug);
    }
}

#[test]
fn deep_templates_do_not_exhaust_the_stack() {
    let nested = |depth: usize| format!("{}x{}", "{{#if issue}}".repeat(depth), "{{/if}}".repeat(depth));
    assert!(compile(&nested(20)).is_ok());
    assert!(compile(&nested(21)).is_err());
    assert!(compile(&nested(2_500)).is_err());
    assert!(compile(&"(".repeat(60_000)).is_ok());
    assert!(compile(&format!("{{{{{}}}}}", "(".repeat(60_000))).is_err());
    assert!(compile(&format!("{{{{len {}}}}}", "[".repeat(900))).is_err());
}
