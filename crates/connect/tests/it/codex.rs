//! Properties of connecting in TOML.

use extraboard_connect::Agent;
use proptest::prelude::{ProptestConfig, Strategy};
use proptest::proptest;
use proptest::sample::{select, subsequence};

use crate::entries::entry;
use crate::round_trip::check;

/// Lines that may stand before the first table.
const FIRST: &[&str] =
    &["# comment", "", "model = \"gpt\" # why", "a.b = [1,\n  2, # c\n]", "c = '''\n[d]\n'''", "  e = 1  "];

/// Ways to write the table of servers that have to stand before the first table.
const FIRST_SERVERS: &[&str] = &[
    "mcp_servers = {}",
    "mcp_servers = {  } # c",
    "mcp_servers = { a = { command = 'a' } }",
    "mcp_servers = { a.command = 'a', b = {}, }",
    "mcp_servers = {\n  a = {}, # c\n}",
    "mcp_servers = { # c\n}",
    "mcp_servers.a = { command = 'a' }",
    "mcp_servers.a.command = 'a'",
];

/// Tables, in any order.
const TABLES: &[&str] = &[
    "[t]\nx = 1",
    "[t.mcp_servers.extraboard]",
    "\n[[list]] # c\ny = 'z'",
    "[[list]]",
    "[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
    "# last\n[z]\n\n# end",
];

/// Ways to write the table of servers among the others.
const TABLE_SERVERS: &[&str] = &[
    "[mcp_servers]",
    "[mcp_servers]\na.command = 'a'\nb = {}",
    "[mcp_servers.a]\ncommand = 'a'\n\n[mcp_servers.a.env]\nextraboard = '1'",
    "[mcp_servers.\"a b\"]\nurl = 'x'\n[mcp_servers]",
];

fn text() -> impl Strategy<Value = String> {
    let servers = select(vec![None, Some(FIRST_SERVERS), Some(TABLE_SERVERS)]);
    let first = subsequence(FIRST, 0..=FIRST.len()).prop_shuffle();
    let tables = subsequence(TABLES, 0..=TABLES.len()).prop_shuffle();
    let (at, choice) = (0..100_usize, 0..100_usize);
    let parts =
        (servers, first, tables, at, choice).prop_map(|(servers, mut first, mut tables, at, choice)| {
            if let Some(ways) = servers {
                let part = if ways == FIRST_SERVERS { &mut first } else { &mut tables };
                part.insert(at % (part.len() + 1), ways[choice % ways.len()]);
            }
            first.extend(tables);
            first
        });
    let newline = select(vec!["\n", "\r\n"]);
    let end = select(vec!["", "\n", "\n\n", "  ", "\n# end", "\n \t\n"]);
    let mark = select(vec!["", "", "", "\u{feff}"]);
    (mark, parts, newline, end, 0..100_usize).prop_map(|(mark, parts, newline, end, odd)| {
        let text = (parts.join("\n") + end).replace('\n', newline);
        // Now and then one line ends unlike the others.
        let odd_at = text.match_indices("\r\n").map(|(index, _)| index).nth(odd);
        mark.to_owned() + &odd_at.map_or(text.clone(), |at| text[..at].to_owned() + &text[at + 1..])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn toml_comes_back(text in text(), first in entry(), second in entry()) {
        let connected = check(Agent::Codex, &text, [&first, &second])?;
        assert!(connected.is_some(), "{text:?} has a place for the entry");
    }
}
