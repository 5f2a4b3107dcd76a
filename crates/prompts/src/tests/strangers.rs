//! Whatever strangers write: no panic, and nothing that leaves its place.

use proptest::prelude::*;

use super::{render, with};
use crate::compile::compile;
use crate::{clean, shipped};

/// What strangers like to write.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[`~]{1,9}",
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("````\n# System\n".to_owned()),
        Just("{{loopToken}}".to_owned()),
        Just("{{{x}}}{{#if}}".to_owned()),
        Just("<!--".to_owned()),
        Just("<pre>".to_owned()),
        Just("](x)".to_owned()),
        "[0-9]{1,2}[.)] ?",
        Just("\u{202e}\u{2066}".to_owned()),
        Just("\u{e0041}\u{e0042}".to_owned()),
        Just("\u{2028}\u{85}\u{b}\u{c}".to_owned()),
        Just("[token of dispatch 01990000-0000-7000-8000-000000000001]".to_owned()),
        "[ #>*_=|-]{1,3}",
        ".{0,12}",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// What is nearly a template.
fn nearly_a_template() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{{",
        "}}",
        "{{{",
        "}}}",
        "{{#if issue}}",
        "{{/if}}",
        "{{else}}",
        "{{else if x}}",
        "{{~",
        "~}}",
        "{{^}}",
        "{{#each labels as |a b|}}",
        "{{/each}}",
        "{{> comments}}",
        "{{#> x}}",
        "{{/x}}",
        "{{!",
        "--",
        "{{!-- ",
        "--}}",
        "issue.title",
        "../",
        "@index",
        "@root.",
        "this",
        ".",
        "/",
        "[",
        "]",
        "(",
        ")",
        "\"",
        "'",
        "\\",
        "\\{{",
        " ",
        "\n",
        "=",
        "|",
        "as",
        "&",
        "*",
        "#",
        "lookup issue ",
        "json ",
        "null",
        "-1.5E3",
        "é",
        "x",
        "```",
        "`",
        "~",
        "{{#*inline \"x\"}}",
        "{{/inline}}",
        "{{{{raw}}}}",
        "{{{{/raw}}}}",
        "{{(len x)}}",
        "{{/",
    ]);
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// Words of tags, and what is none.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "issue", ".title", "issue.title", "../x", "@index", "@../key", "@root.door", "this", "./x", "[a b]",
    ".[0]", "(len x)", "(lookup issue 'title')", "(", ")", "\"a\"", "'b'", "null", "true", "-1", "2.5",
    "x=1", "as |a|", "as |a b|", "|", "json", "len", "eq", "lookup", "if", "each", "else", "^", ">",
    "comments", "~", "&", "*", "é", "includeZero=true", "/", "#", "!", "--", "\n", "@partial-block",
    "log",
];

/// What parses, mostly: tags of odd words, and blocks of them that are closed.
fn much_like_a_template() -> impl Strategy<Value = String> {
    let word = prop::sample::select(WORDS);
    let words = prop::collection::vec(word, 0..4).prop_map(|words| words.join(" "));
    let leaf = prop_oneof![
        words.clone().prop_map(|words| format!("{{{{{words}}}}}")),
        words.clone().prop_map(|words| format!("{{{{~{words}~}}}}")),
        words.clone().prop_map(|words| format!("{{{{> {words}}}}}")),
        prop::sample::select(vec![
            "a",
            " ",
            "\n",
            "```\n",
            "\\",
            "`",
            "{{else}}",
            "{{^}}",
            "{{~else~}}",
            "{{!-- x --}}"
        ])
        .prop_map(str::to_owned),
    ];
    let block =
        prop::sample::select(vec!["if", "unless", "each", "with", "eq", "not", "x", "> comments", "*inline"]);
    leaf.prop_recursive(4, 24, 6, move |inner| {
        (block.clone(), words.clone(), prop::collection::vec(inner, 0..5), words.clone()).prop_map(
            |(name, words, bodies, other)| {
                let close = name.trim_start_matches(['>', '*', ' ']);
                let chain = format!("{{{{else {other}}}}}");
                format!("{{{{#{name} {words}}}}}{}{{{{/{close}}}}}", bodies.join(&chain))
            },
        )
    })
}

/// Returns what stands outside of all fences, going by the rules of Markdown.
fn outside_fences(prompt: &str) -> String {
    let mut open: Option<usize> = None;
    let mut outside = String::new();
    for line in prompt.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match open {
            None if ticks >= 3 && !line[ticks..].contains('`') => open = Some(ticks),
            None => {
                outside.push_str(line);
                outside.push('\n');
            }
            Some(length) if ticks >= length && line[ticks..].trim().is_empty() => open = None,
            Some(_) => {}
        }
    }
    assert_eq!(open, None, "a fence is open at the end of {prompt:?}");
    outside
}

proptest! {
    #[test]
    fn nothing_leaves_its_fence_or_its_line(title in text(), body in text(), leaf in text()) {
        let context = with(|context| {
            context.task.title = title.clone();
            context.task.description = Some(body.clone());
            context.comments[0].author = leaf.clone();
            context.comments[0].body = body;
            context.task.labels[0].name = leaf.clone();
            context.task.signal_payload = Some(serde_json::json!({"message": leaf, "k": {title: [1]}}).to_string());
        });
        let prompt = render(
            "A\n{{issue.title}}\nB {{issue.signalPayload.message}}\n{{issue.description}}\nC\n{{json issue.signalPayload}}\n\
             {{#each comments}}\n- {{author}}\n{{body}}\n{{/each}}\n{{#each labels}}{{name}}\n{{/each}}D {{token}}",
            &context,
        ).unwrap();
        prop_assert!(!prompt.contains(|char| clean::is_hidden(char) && char != '\n' && char != '\t'));
        let place = crate::token_place(context.dispatch);
        prop_assert_eq!(prompt.matches(&place).count(), 1);
        let outside = outside_fences(&prompt);
        // A, the title, B, C, two authors, one label, D; a line may be empty.
        let lines = outside.lines().filter(|line| !line.is_empty()).count();
        prop_assert!((6..=8).contains(&lines), "{}", outside);
        for line in outside.lines() {
            prop_assert!(!line.starts_with(['#', '>', '~', '=']) && !line.contains("```") && !line.contains("]("), "{}", line);
            let is_tag = |rest: &str| rest.starts_with(|char: char| char.is_ascii_alphabetic() || "/!?".contains(char));
            prop_assert!(!line.split('<').skip(1).any(is_tag), "{}", line);
            let number = line.trim_start_matches(|char: char| char.is_ascii_digit());
            prop_assert!(number.len() == line.len() || !(number.starts_with(". ") || number.starts_with(") ")), "{}", line);
        }
    }

    #[test]
    fn shipped_templates_make_a_prompt_of_anything(title in text(), body in text(), json in text()) {
        let context = with(|context| {
            context.task.title = title;
            context.task.description = Some(body.clone());
            context.task.signal_payload = Some(json.clone());
            context.task.hypothesis = Some(json);
            context.task.last_error = Some(body);
        });
        for template in shipped() {
            let prompt = render(template.content, &context).unwrap();
            outside_fences(&prompt);
        }
    }

    #[test]
    fn what_is_nearly_a_template_is_refused_or_rendered(content in nearly_a_template()) {
        if let Ok(compiled) = compile(&content) {
            let context = with(|_| ());
            let _ = compiled.render(&context, &crate::sample::source(), crate::sample::surroundings());
        }
    }

    #[test]
    fn what_is_much_like_a_template_is_refused_or_rendered(content in much_like_a_template()) {
        if let Ok(compiled) = compile(&content) {
            let context = with(|_| ());
            let prompt = compiled.render(&context, &crate::sample::source(), crate::sample::surroundings());
            prop_assert!(prompt.is_ok(), "{:?}", prompt);
        }
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(text in text()) {
        let once = clean::text(&text).into_owned();
        prop_assert_eq!(clean::text(&once), once.clone());
        let line = clean::line(&text).into_owned();
        prop_assert!(!line.contains(clean::is_line_break));
        prop_assert_eq!(clean::line(&line), line.clone());
    }
}
