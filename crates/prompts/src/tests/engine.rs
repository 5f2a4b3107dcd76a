//! The language does what it says.

use extraboard_core::prompt::Context;

use super::{render, rendered, with};
use crate::sample;
use crate::{token_place, with_token};

#[track_caller]
fn check(content: &str, expected: &str) {
    assert_eq!(rendered(content), expected, "{content}");
}

#[test]
fn t1_variables_are_those_of_the_api() {
    check("{{issue.number}} {{issue.title}}", "4 Checkout fails for some carts");
    check(
        "{{issue.type}} {{issue.status}} {{issue.state}} {{issue.priority}} {{issue.priorityValue}}",
        "task in_progress running 3 50",
    );
    check("{{issue.signalPayload.message}} {{issue.signalPayload.tags.[0]}}", "TypeError web");
    check("{{issue.hypothesis.confidence}} {{issue.createdAt}}", "0.7 2026-01-01T00:00:00Z");
    check("{{parent.number}} {{project.name}} {{goal.title}}", "1 Payments Fewer failed payments");
    check("{{labels.[0].name}} {{labels.length}} {{issue.needs.[1]}}", "bug 1 sql");
    check("{{blocking.[0].number}} {{blockedBy.[0].title}} {{door}}", "7 Relative 8 pull");
    check("{{serverUrl}} {{loopUrl}}", "http://127.0.0.1:8600 http://127.0.0.1:8600");
    check("{{meta.templateSlug}} {{meta.versionNumber}}", "sample 1");
    check("{{dispatchId}}", "01990000-0000-7000-8000-000000000001");
    check("{{previousSessions.[0].status}} {{previousSessions.[0].own}}", "failed true");
    check("{{hasFailedSessions}} {{askForReview}}", "true true");
}

#[test]
fn t2_conditionals_take_one_branch() {
    check("{{#if parent}}a{{else}}b{{/if}}{{#unless parent}}c{{else}}d{{/unless}}", "ad");
    check("{{#if nothing}}a{{else if labels}}b{{else}}c{{/if}}", "b");
    check("{{#if issue.boost}}a{{/if}}{{#if issue.boost includeZero=true}}b{{/if}}", "b");
    check("{{#if (and parent (not nothing) (gt issue.priorityValue 49))}}a{{/if}}", "a");
    check("{{#eq issue.type \"task\"}}a{{else}}b{{/eq}}{{#if (ne door \"pull\")}}c{{/if}}", "a");
}

#[test]
fn t3_each_goes_through_lists_and_objects() {
    check("{{#each siblings}}{{@index}}:{{number}}{{#unless @last}}, {{/unless}}{{/each}}", "0:2, 1:3");
    check("{{#each siblings as |one at|}}{{at}}{{one.number}}{{issue.number}}{{/each}}", "0213");
    check("{{#each siblings}}{{@root.issue.number}}{{../issue.number}}{{this.number}} {{/each}}", "442 443 ");
    check("{{#each nothing}}a{{else}}b{{/each}}", "b");
    check("{{#each issue.signalPayload}}{{@key}} {{/each}}", "count message tags title ");
    check("{{#each siblings}}{{#each ../labels}}{{name}}{{@../index}} {{/each}}{{/each}}", "bug0 bug1 ");
    check("{{#with goal as |it|}}{{it.unit}}{{unit}}{{/with}}{{#with nothing}}a{{else}}b{{/with}}", "%%b");
}

#[test]
fn t4_json_is_pretty_and_fenced() {
    check(
        "{{json issue.signalPayload.tags}}",
        "````json: signalPayload, from outside\n[\n  \"web\"\n]\n````\n",
    );
    check("{{json labels.[0].name}}", "````json: data, from outside\n\"bug\"\n````\n");
    check("{{issue.signalPayload.tags}}", "````json: signalPayload, from outside\n[\n  \"web\"\n]\n````\n");
    check("{{json nothing}}", "");
    let whole = rendered("{{json this}}");
    assert!(whole.contains("\"previousSessions\": [\n") && !whole.contains("token"), "{whole}");
    // The sample has everything, so every field that is listed is there.
    assert!(!whole.contains("null"), "{whole}");
}

#[test]
fn t5_priorities_have_names() {
    check(
        "{{priority_label 1}} {{priority_label 2}} {{priority_label 3}} {{priority_label 4}} {{priority_label 0}}",
        "urgent high medium low none",
    );
    check(
        "{{priority_label 5}} {{priority_label nothing}} {{priority_label issue.priority}}",
        "unknown unknown medium",
    );
}

#[test]
fn t6_partials_see_all_variables_wherever_they_stand() {
    let outside = rendered("{{> parent_context}}");
    assert!(outside.contains("## Part of #1: Relative 1 (plan, in_progress)"), "{outside}");
    assert_eq!(rendered("{{#each labels}}{{> parent_context}}{{/each}}"), outside);
}

#[test]
fn t7_what_is_missing_is_nothing() {
    check("[{{nothing}}{{issue.nothing.more}}{{siblings.[9].title}}{{labels.foo}}{{@key}}{{../../x}}]", "[]");
    let bare = |content| render(content, sample::empty()).unwrap();
    assert_eq!(bare("[{{parent.title}}{{issue.description}}{{json issue.signalPayload}}{{goal}}]"), "[]");
    assert_eq!(bare("{{dispatchId}} {{token}}"), "[id of the dispatch] [token of the dispatch]");
}

#[test]
fn t8_the_helpers_of_the_language_are_there() {
    check(
        "{{lookup issue \"number\"}} {{lookup labels 0}}",
        "4 \n\n````json: data, from outside\n{\n  \"id\": \"01990000-0000-7000-8000-000000000001\",\n  \"name\": \"bug\",\n  \"color\": \"#ff0000\"\n}\n````\n",
    );
    check(
        "{{len siblings}} {{eq 1 1}} {{or nothing 0}} {{lt 1 2}} {{gte 2 2}} {{lte 3 2}}",
        "2 true false true true false",
    );
}

#[test]
fn t9_a_template_is_parsed_once_and_used_often() {
    let compiled = crate::compile("#{{issue.number}}").unwrap();
    let prompt = |context: &Context| compiled.render(context, &sample::source(), sample::surroundings());
    assert_eq!(prompt(sample::full()), prompt(sample::full()));
    let shared: &(dyn Send + Sync) = &compiled;
    let _ = shared;
}

#[test]
fn t17_the_token_stands_in_a_prompt_only_as_its_place() {
    let context = sample::full();
    let prompt = rendered("Bearer {{token}}, again {{loopToken}}");
    let place = token_place(context.dispatch);
    assert_eq!(prompt, format!("Bearer {place}, again {place}"));
    assert_eq!(with_token(&prompt, context.dispatch.unwrap(), "xbd_1"), "Bearer xbd_1, again xbd_1");
}

#[test]
fn whitespace_and_comments_are_as_in_handlebars() {
    check("a\n{{#if parent}}\nb\n{{/if}}\nc", "a\nb\nc");
    check("a {{~#if parent~}} b {{~/if~}} c", "abc");
    check("a{{! gone }}b{{!-- {{gone}} --}}c", "abc");
    check(r"\{{issue.number}} \\{{issue.number}}", r"{{issue.number}} \4");
}

#[test]
fn a_text_within_a_text_is_no_template() {
    let context = with(|context| {
        context.task.title = "{{loopToken}} {{{x}}} {{#if}}".to_owned();
        context.task.description = Some("{{loopToken}}\n{{> reporting}}".to_owned());
    });
    let prompt = render("{{issue.title}}\n{{issue.description}}", &context).unwrap();
    assert_eq!(
        prompt,
        "{{loopToken}} {{{x}}} {{#if}}\n\n````text: description, from outside\n{{loopToken}}\n{{> reporting}}\n````\n"
    );
}
