//! Examples of what happens to Codex' file; `tests/it` has the properties.

use super::*;

fn entry() -> Entry {
    let env = [("A".to_owned(), "b".to_owned()), ("c d".to_owned(), "\"\\\u{7f}".to_owned())].into();
    Entry { command: "xb".to_owned(), args: vec!["mcp".to_owned()], env }
}

const TABLE: &str = r#"[mcp_servers.extraboard]
command = "xb"
args = ["mcp"]
env = { A = "b", "c d" = "\"\\\u007f" }"#;

const INLINE: &str = r#"{ command = "xb", args = ["mcp"], env = { A = "b", "c d" = "\"\\\u007f" } }"#;

/// Checks what connecting makes of a text, that it changes nothing twice, and that it can be taken back.
#[track_caller]
fn check(before: &str, expected: &str) {
    let put = |text| connect(Some(text), &entry(), Foreign::Refuse).unwrap();
    assert_eq!(put(before), Change::Write(expected.to_owned()));
    assert_eq!(put(expected), Change::Nothing);
    assert_eq!(disconnect(expected, Foreign::Refuse).unwrap(), Change::Write(before.to_owned()));
}

#[track_caller]
fn check_replaced(before: &str, expected: &str) {
    let change = connect(Some(before), &entry(), Foreign::Override).unwrap();
    assert_eq!(change, Change::Write(expected.to_owned()));
}

#[track_caller]
fn check_undo(before: &str, expected: &str) {
    let change = disconnect(before, Foreign::Override).unwrap();
    assert_eq!(change, Change::Write(expected.to_owned()));
}

#[test]
fn file_is_created_and_removed() {
    let expected = format!("{TABLE}\n");
    let change = connect(None, &entry(), Foreign::Refuse).unwrap();
    assert_eq!(change, Change::Write(expected.clone()));
    assert_eq!(disconnect(&expected, Foreign::Refuse).unwrap(), Change::Remove);
    check("", TABLE);
}

#[test]
fn table_comes_last() {
    check("# a\n", &format!("# a\n\n{TABLE}\n"));
    check("a = 1", &format!("a = 1\n\n{TABLE}"));
    check("a = 1\r\n", &format!("a = 1\r\n\r\n{}\r\n", TABLE.replace('\n', "\r\n")));
    check("\n\n", &format!("\n\n\n{TABLE}\n"));
    for before in [
        "[mcp_servers.a]\ncommand = 'a' # b\n\n[z]\n",
        "[mcp_servers]\na.command = 'a'\n",
        "mcp_servers.a = { command = 'a' }\n",
        "[mcp_servers]\n[[z]]\n",
        "[z.mcp_servers.extraboard]\ncommand = 'a'\n",
    ] {
        check(before, &format!("{before}\n{TABLE}\n"));
    }
}

#[test]
fn table_that_is_one_value_takes_the_entry() {
    check("mcp_servers = {}\na = 1", &format!("mcp_servers = {{extraboard = {INLINE}}}\na = 1"));
    check("mcp_servers = { }", &format!("mcp_servers = {{extraboard = {INLINE} }}"));
    let line = |rest: &str| format!("mcp_servers = {{ a = {{ b = 1 }}{rest} }} # c\n");
    check(&line(""), &line(&format!(", extraboard = {INLINE}")));
    check(&line(","), &line(&format!(", extraboard = {INLINE},")));
    check(&line(", d.e = 1"), &line(&format!(", d.e = 1, extraboard = {INLINE}")));
}

#[test]
fn entry_of_ours_is_brought_up_to_date() {
    let old = "[mcp_servers.extraboard]\ncommand = '/old/xb' # c\nargs = ['mcp']\nenabled = false\n";
    check_replaced(&format!("a = 1\n{old}\n[b]\n"), &format!("a = 1\n{TABLE}\n\n[b]\n"));
    check_replaced(&format!("{old}[mcp_servers.extraboard.env]\nA = 'x'"), TABLE);
    let old = "extraboard = { command = 'x', args = ['mcp'] }";
    check_replaced(
        &format!("[mcp_servers]\n{old} # c\n"),
        &format!("[mcp_servers]\nextraboard = {INLINE} # c\n"),
    );
    let old = "mcp_servers.extraboard.command = 'x'\nmcp_servers.extraboard.args = ['mcp']\na = 1\n";
    check_replaced(old, &format!("a = 1\n\n{TABLE}\n"));
}

#[test]
fn entry_of_someone_else_is_shown() {
    let message = "there is an entry named `extraboard` that xb did not write:\n";
    for there in [
        "[mcp_servers.extraboard]\nurl = 'x'",
        "[mcp_servers.extraboard]\ncommand = 'xb'\nargs = ['mcp']\nstartup_timeout_sec = 3",
        "[mcp_servers.extraboard]\ncommand = 'npx'",
    ] {
        let error = connect(Some(there), &entry(), Foreign::Refuse).unwrap_err();
        assert_eq!(error.to_string(), format!("line 1, column 14: {message}{there}"));
        assert_eq!(disconnect(there, Foreign::Refuse).unwrap_err(), error);
        check_replaced(there, TABLE);
        check_undo(there, "");
    }
}

#[test]
fn invalid_file_is_refused_with_its_place() {
    let check = |text: &str, expected: &str| {
        assert_eq!(connect(Some(text), &entry(), Foreign::Refuse).unwrap_err().to_string(), expected);
        assert_eq!(disconnect(text, Foreign::Refuse).unwrap_err().to_string(), expected);
    };
    check("a = 1\nb = \n", "line 2, column 5: string values must be quoted, expected literal string");
    check("a = 1\na = 2\n", "line 2, column 1: duplicate key");
    check("mcp_servers = 1", "line 1, column 1: `mcp_servers` is not a table");
    check("[[mcp_servers]]", "line 1, column 3: `mcp_servers` is not a table");
}

#[test]
fn entry_is_taken_out_wherever_it_stands() {
    check_undo(&format!("a = 1\n\n{TABLE}\n\n[b]\n"), "a = 1\n\n[b]\n");
    check_undo(&format!("{TABLE}\n\n[b]\n"), "[b]\n");
    check_undo(&format!("[a]\n{TABLE}\n# c\n"), "[a]\n# c\n");
    check_undo("[mcp_servers]\nextraboard = {}\nb = {}\n", "[mcp_servers]\nb = {}\n");
    check_undo("mcp_servers.extraboard.command = 'x'\nb = 1\n", "b = 1\n");
    check_undo("mcp_servers = { extraboard = {}, b = {} }\n", "mcp_servers = { b = {} }\n");
    check_undo(
        "[mcp_servers.extraboard]\nurl = 'x'\n[b]\n[mcp_servers.extraboard.env]\nA = '''\nb'''\n[c]\n",
        "[b]\n[c]\n",
    );
    for text in ["", "[mcp_servers]", "[mcp_servers.a]\n", "mcp_servers = {}"] {
        assert_eq!(disconnect(text, Foreign::Refuse).unwrap(), Change::Nothing);
    }
}

#[test]
fn text_that_cannot_be_cut_is_left_alone() {
    let text = "mcp_servers = { a = 1, # b,\n extraboard = {} }";
    let error = disconnect(text, Foreign::Override).unwrap_err();
    let message = "`mcp_servers` is written in a way that xb cannot change; please edit it by hand";
    assert_eq!(error.to_string(), format!("line 2, column 2: {message}"));
}
