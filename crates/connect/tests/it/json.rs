//! Properties of connecting in JSON, with and without comments.

use extraboard_connect::{Agent, Entry};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy};
use proptest::sample::select;
use proptest::strategy::Union;
use proptest::{prop_assert_eq, proptest};
use serde_json::{Value, json};

use crate::entries::entry;
use crate::round_trip::check;

const WHITE: &[&str] = &["", "", "", " ", "  ", "\n", "\n  ", "\n\t\t", "\r\n    ", "\t", " \r\n", "\r"];
const COMMENTS: &[&str] =
    &["/* c */", " /**/ ", "/*\n*/", " // c\n", "// c */ \t\r\n  ", "\n  // {\"a\"\n", "//\r"];
const SCALARS: &[&str] =
    &["1", "-0.5e+3", "null", "true", "\"s\"", "\"\\\"{\"", "\"// é\"", "\"\\u0061\\\\\""];
const KEYS: &[&str] = &["a", "b", "c", "é", "mcp", "mcpServers", "servers", "extraboard", "type", "command"];

#[derive(Clone, Copy)]
enum Style {
    Json,
    Jsonc,
}

fn trivia(style: Style) -> impl Strategy<Value = String> + Clone {
    let white = select(WHITE).prop_map(str::to_owned);
    match style {
        Style::Json => Union::new([white.boxed()]),
        Style::Jsonc => {
            let comments = vec(select([WHITE, COMMENTS].concat()), 0..3).prop_map(|parts| parts.concat());
            Union::new_weighted(vec![(3, white.boxed()), (1, comments.boxed())])
        }
    }
}

fn trailing_comma(style: Style) -> impl Strategy<Value = &'static str> + Clone {
    select(match style {
        Style::Json => vec![""],
        Style::Jsonc => vec!["", ","],
    })
}

/// Puts trivia and commas between things and brackets around them.
fn bracketed(
    brackets: [&'static str; 2],
    thing: impl Strategy<Value = String>,
    style: Style,
) -> impl Strategy<Value = String> {
    let things = vec((trivia(style), thing, trivia(style)), 0..4);
    (things, trivia(style), trailing_comma(style)).prop_map(move |(things, end, comma)| {
        let comma = if things.is_empty() { "" } else { comma };
        let things: Vec<String> = things.into_iter().map(|(a, b, c)| format!("{a}{b}{c}")).collect();
        format!("{}{}{comma}{end}{}", brackets[0], things.join(","), brackets[1])
    })
}

fn member(value: impl Strategy<Value = String>, style: Style) -> impl Strategy<Value = String> {
    (select(KEYS), trivia(style), trivia(style), value)
        .prop_map(|(key, a, b, value)| format!("\"{key}\"{a}:{b}{value}"))
}

fn value(style: Style) -> impl Strategy<Value = String> + Clone {
    let scalar = select(SCALARS).prop_map(str::to_owned);
    scalar.prop_recursive(3, 24, 4, move |inner| {
        let object = bracketed(["{", "}"], member(inner.clone(), style), style);
        let list = bracketed(["[", "]"], inner, style);
        Union::new_weighted(vec![(4, object.boxed()), (1, list.boxed())])
    })
}

/// Texts whose root is an object; often it has one for servers.
fn text(style: Style) -> impl Strategy<Value = String> {
    let object = move || bracketed(["{", "}"], member(value(style), style), style);
    let servers = (select(vec!["mcp", "mcpServers"]), trivia(style), object(), trivia(style));
    let around = servers.prop_map(|(key, a, inner, b)| format!("{{{a}\"{key}\": {inner}{b}}}"));
    let root = Union::new([object().boxed(), around.boxed()]);
    let mark = select(vec!["", "", "\u{feff}"]);
    (mark, trivia(style), root, trivia(style)).prop_map(|(mark, a, root, b)| format!("{mark}{a}{root}{b}"))
}

/// Returns how Claude Code reads an entry.
fn claude(entry: &Entry) -> Value {
    let mut value = json!({ "command": entry.command, "args": entry.args });
    if !entry.env.is_empty() {
        value["env"] = json!(entry.env);
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_json_comes_back(text in text(Style::Json), first in entry(), second in entry()) {
        if let Some(connected) = check(Agent::Claude, &text, [&first, &second])? {
            let read = |text: &str| serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}'));
            let (mut after, mut before) = (read(&connected).unwrap(), read(&text).unwrap());
            prop_assert_eq!(&after["mcpServers"]["extraboard"], &claude(&first));
            after["mcpServers"]["extraboard"] = Value::Null;
            before["mcpServers"]["extraboard"] = Value::Null;
            prop_assert_eq!(after, before);
        }
    }

    #[test]
    fn json_with_comments_comes_back(text in text(Style::Jsonc), first in entry(), second in entry()) {
        check(Agent::Opencode, &text, [&first, &second])?;
    }

    #[test]
    fn blank_json_comes_back(
        mark in select(vec!["", "\u{feff}"]),
        white in trivia(Style::Json),
        first in entry(),
    ) {
        check(Agent::Claude, &format!("{mark}{white}"), [&first, &first])?;
        check(Agent::Opencode, &format!("{mark}{white}"), [&first, &first])?;
    }
}
