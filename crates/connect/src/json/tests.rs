//! Examples of what happens to JSON files; `tests/it` has the properties.

use crate::{Agent, Change, Entry, Foreign, connect, disconnect};

fn entry() -> Entry {
    Entry { command: "xb".to_owned(), args: vec!["mcp".to_owned()], ..Entry::default() }
}

fn entry_with_env() -> Entry {
    Entry { env: [("A".to_owned(), "b\"".to_owned())].into(), ..entry() }
}

/// Checks what connecting makes of a text, that it changes nothing twice, and that it can be taken back.
#[track_caller]
fn check(agent: Agent, before: &str, expected: &str) {
    let put = |text| connect(agent, Some(text), &entry(), Foreign::Refuse).unwrap();
    assert_eq!(put(before), Change::Write(expected.to_owned()));
    assert_eq!(put(expected), Change::Nothing);
    let undone = disconnect(agent, expected, Foreign::Refuse).unwrap();
    assert_eq!(undone, Change::Write(before.to_owned()));
}

#[track_caller]
fn check_error(agent: Agent, text: &str, expected: &str) {
    let error = connect(agent, Some(text), &entry(), Foreign::Refuse).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(disconnect(agent, text, Foreign::Refuse).unwrap_err(), error);
}

#[track_caller]
fn check_undo(agent: Agent, before: &str, expected: &str) {
    let change = disconnect(agent, before, Foreign::Refuse).unwrap();
    assert_eq!(change, Change::Write(expected.to_owned()));
}

const CLAUDE: &str = r#"{
  "mcpServers": {
    "extraboard": {
      "command": "xb",
      "args": ["mcp"],
      "env": {
        "A": "b\""
      }
    }
  }
}
"#;

const OPENCODE: &str = r#"{
  "mcp": {
    "extraboard": {
      "type": "local",
      "command": ["xb", "mcp"],
      "enabled": true,
      "environment": {
        "A": "b\""
      }
    }
  }
}
"#;

#[test]
fn file_is_created_and_removed() {
    for (agent, expected) in [(Agent::Claude, CLAUDE), (Agent::Opencode, OPENCODE)] {
        let put = |text| connect(agent, text, &entry_with_env(), Foreign::Refuse).unwrap();
        assert_eq!(put(None), Change::Write(expected.to_owned()));
        assert_eq!(put(Some(expected)), Change::Nothing);
        assert_eq!(disconnect(agent, expected, Foreign::Refuse).unwrap(), Change::Remove);
    }
}

#[test]
fn blank_file_and_empty_objects_get_one_line() {
    let check = |before: &str, expected: &str| check(Agent::Claude, before, expected);
    let line = r#"{"command": "xb", "args": ["mcp"]}"#;
    check("", &format!(r#"{{ "mcpServers": {{ "extraboard": {line} }} }}"#));
    check("\n", &format!("\n{{ \"mcpServers\": {{ \"extraboard\": {line} }} }}"));
    check("{}", &format!(r#"{{"mcpServers": {{ "extraboard": {line} }}}}"#));
    check("{ }\n", &format!("{{\"mcpServers\": {{ \"extraboard\": {line} }} }}\n"));
    check("{\r\n}", &format!("{{\r\n  \"mcpServers\": {{ \"extraboard\": {line} }}\r\n}}"));
    check(r#"{"mcpServers": {}}"#, &format!(r#"{{"mcpServers": {{"extraboard": {line}}}}}"#));
    check(r#"{"mcpServers": { }}"#, &format!(r#"{{"mcpServers": {{"extraboard": {line} }}}}"#));
    let before = "{\n\t\"mcpServers\": {\n\t}\n}";
    check(before, &format!("{{\n\t\"mcpServers\": {{\n\t\t\"extraboard\": {line}\n\t}}\n}}"));
}

#[test]
fn entry_follows_the_others() {
    let before =
        "{\n\t\"a\": 1,\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"o\"}\n\t},\n\t\"b\": 2\n}";
    let added = ",\n\t\t\"extraboard\": {\n\t\t\t\"command\": \"xb\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}";
    check(Agent::Claude, before, &before.replace("\"o\"}", &format!("\"o\"}}{added}")));
    let before = before.replace('\n', "\r\n");
    let added = added.replace('\n', "\r\n");
    check(Agent::Claude, &before, &before.replace("\"o\"}", &format!("\"o\"}}{added}")));
}

#[test]
fn servers_follow_what_else_there_is() {
    let before = "{\n    \"a\": 1\n}\n";
    let expected = "{\n    \"a\": 1,\n    \"mcpServers\": {\n        \"extraboard\": {\n            \"command\": \
                    \"xb\",\n            \"args\": [\"mcp\"]\n        }\n    }\n}\n";
    check(Agent::Claude, before, expected);
    let expected = r#"{"a":1, "mcpServers": { "extraboard": {"command": "xb", "args": ["mcp"]} }}"#;
    check(Agent::Claude, r#"{"a":1}"#, expected);
}

#[test]
fn same_names_elsewhere_are_left_alone() {
    let project = r#"{"projects": {"/p": {"mcpServers": {"extraboard": {"url": "x"}}}}, "extraboard": 1}"#;
    let line = r#"{"command": "xb", "args": ["mcp"]}"#;
    let expected =
        project.replace("\": 1}", &format!("\": 1, \"mcpServers\": {{ \"extraboard\": {line} }}}}"));
    check(Agent::Claude, project, &expected);
    let before = r#"{"a": {"a": 1, "a": 2}, "a": 3}"#;
    let expected = before.replace("3}", &format!("3, \"mcpServers\": {{ \"extraboard\": {line} }}}}"));
    check(Agent::Claude, before, &expected);
}

#[test]
fn comments_stay_with_their_members() {
    let line = r#"{"type": "local", "command": ["xb", "mcp"], "enabled": true}"#;
    let lines = "\"extraboard\": {\n      \"type\": \"local\",\n      \"command\": [\"xb\", \"mcp\"],\n      \
                 \"enabled\": true\n    }";
    let check = |before: &str, expected: String| check(Agent::Opencode, before, &expected);
    let file = |inside: &str| format!("// top\n{{\n  \"mcp\": {{{inside}\n  }} // end\n}}\n");
    check(
        &file("\n    \"a\": {} // about a  \n    // last"),
        file(&format!("\n    \"a\": {{}}, // about a  \n    {lines}\n    // last")),
    );
    check(
        &file("\n    \"a\": {}, /* about */ // a"),
        file(&format!("\n    \"a\": {{}}, /* about */ // a\n    {lines},")),
    );
    check(&file(" // none"), file(&format!(" // none\n    \"extraboard\": {line}")));
    check(r#"{"mcp": {/* none */}}"#, format!(r#"{{"mcp": {{/* none */ "extraboard": {line}}}}}"#));
    let lines = lines.replace("\n  ", "\n");
    check("{\"mcp\": {\"a\": {} // */\n}}", format!("{{\"mcp\": {{\"a\": {{}}, // */\n  {lines}\n}}}}"));
}

#[test]
fn trailing_commas_stay() {
    let before = "{\n  \"mcp\": {\n    \"a\": {},\n  },\n}";
    let expected = "{\n  \"mcp\": {\n    \"a\": {},\n    \"extraboard\": {\n      \"type\": \"local\",\n      \
                    \"command\": [\"xb\", \"mcp\"],\n      \"enabled\": true\n    },\n  },\n}";
    check(Agent::Opencode, before, expected);
}

#[test]
fn version_two_of_opencode_keeps_its_servers_together() {
    let check = |before: &str, expected: &str| check(Agent::Opencode, before, expected);
    let line = r#"{"type": "local", "command": ["xb", "mcp"]}"#;
    check(r#"{"mcp": {"servers": {}}}"#, &format!(r#"{{"mcp": {{"servers": {{"extraboard": {line}}}}}}}"#));
    let line = r#"{"type": "local", "command": ["xb", "mcp"], "enabled": true}"#;
    let before = r#"{"mcp": {"servers": {"type": "local", "command": ["s"]}}}"#;
    check(before, &before.replace("]}}", &format!("]}}, \"extraboard\": {line}}}")));
    check_undo(
        Agent::Opencode,
        r#"{"mcp": {"servers": {"a": {}}, "extraboard": {"type": "local", "command": ["xb", "mcp"]}}}"#,
        r#"{"mcp": {"servers": {"a": {}}}}"#,
    );
}

#[test]
fn entry_of_ours_is_brought_up_to_date() {
    let before = r#"{"mcpServers": {"extraboard": {"command": "/old/xb", "args": ["mcp"]}, "b": {}}}"#;
    let expected = before.replace("/old/xb", "xb");
    let change = connect(Agent::Claude, Some(before), &entry(), Foreign::Refuse).unwrap();
    assert_eq!(change, Change::Write(expected));
    let change = connect(Agent::Claude, Some(CLAUDE), &entry(), Foreign::Refuse).unwrap();
    let expected = CLAUDE.replace(",\n      \"env\": {\n        \"A\": \"b\\\"\"\n      }", "");
    assert_eq!(change, Change::Write(expected));
    let off = OPENCODE.replace("true", "false");
    let change = connect(Agent::Opencode, Some(&off), &entry_with_env(), Foreign::Refuse).unwrap();
    assert_eq!(change, Change::Write(OPENCODE.to_owned()));
}

#[test]
fn entry_that_says_the_same_is_left_as_it_is() {
    let text =
        r#"{"mcpServers":{"extraboard":{"args":["mcp"],"env":{},"type":"stdio","command":"\u0078b"}}}"#;
    let change = connect(Agent::Claude, Some(text), &entry(), Foreign::Refuse).unwrap();
    assert_eq!(change, Change::Nothing);
}

#[test]
fn entry_of_someone_else_is_shown_and_replaced_on_demand() {
    let message = "there is an entry named `extraboard` that xb did not write:\n";
    for value in
        ["17", r#"{"url": "x"}"#, r#"{"command": "npx", "args": []}"#, r#"{"command": "xb", "args": [1]}"#]
    {
        let text = format!("{{\n  \"mcpServers\": {{\"extraboard\": {value}, \"b\": 1}}}}");
        check_error(Agent::Claude, &text, &format!("line 2, column 18: {message}\"extraboard\": {value}"));
        let change = connect(Agent::Claude, Some(&text), &entry(), Foreign::Override).unwrap();
        let expected = text.replace(value, r#"{"command": "xb", "args": ["mcp"]}"#);
        assert_eq!(change, Change::Write(expected));
        let change = disconnect(Agent::Claude, &text, Foreign::Override).unwrap();
        assert_eq!(change, Change::Write("{\n  \"mcpServers\": { \"b\": 1}}".to_owned()));
    }
}

#[test]
fn file_of_another_shape_is_refused() {
    check_error(Agent::Claude, "[]", "line 1, column 1: the file is not an object");
    check_error(Agent::Claude, "{\"mcpServers\": []}", "line 1, column 16: `mcpServers` is not an object");
    check_error(
        Agent::Claude,
        "{\"mcpServers\": {},\n \"mcpServers\": {}}",
        "line 2, column 2: `mcpServers` is given a second time (first: line 1, column 2)",
    );
    check_error(
        Agent::Opencode,
        "{\"mcp\": {\"extraboard\": 1, \"extraboard\": 2}}",
        "line 1, column 27: `extraboard` is given a second time (first: line 1, column 10)",
    );
    check_error(
        Agent::Claude,
        "{} // a",
        "line 1, column 4: comments are not allowed in this file, found '/'",
    );
}

#[test]
fn entry_that_others_follow_is_taken_out() {
    let ours = r#""extraboard": {"command": "xb", "args": ["mcp"]}"#;
    let check = |before: &str, expected: &str| check_undo(Agent::Claude, before, expected);
    check(
        &format!("{{\"mcpServers\": {{\n  {ours},\n  \"b\": 1\n}}}}"),
        "{\"mcpServers\": {\n  \"b\": 1\n}}",
    );
    check(
        &format!("{{\"mcpServers\": {{ \"a\": 0, {ours}, \"b\": 1 }}}}"),
        "{\"mcpServers\": { \"a\": 0, \"b\": 1 }}",
    );
}

#[test]
fn object_with_a_comment_is_kept() {
    let ours = "\"extraboard\": {\n\"type\": \"local\", \"command\": [\"xb\", \"mcp\"]}";
    let before = format!("{{\n  \"mcp\": {{\n    // mine\n    {ours}\n  }}\n}}");
    check_undo(Agent::Opencode, &before, "{\n  \"mcp\": {\n    // mine\n  }\n}");
    let before = format!("// mine\n{{\n  \"mcp\": {{\n    {ours}\n  }}\n}}");
    check_undo(Agent::Opencode, &before, "// mine\n{}");
}

#[test]
fn nothing_is_taken_out_of_a_file_without_our_entry() {
    for text in ["", "{}", "{\"mcpServers\": {}}", "{\"mcpServers\": {\"a\": 1}}"] {
        assert_eq!(disconnect(Agent::Claude, text, Foreign::Refuse).unwrap(), Change::Nothing);
    }
}
