//! Every help text, as printed.

use std::fmt::Write as _;
use std::process::Command;

const COMMANDS: [&[&str]; 89] = [
    &[],
    &["up"],
    &["serve"],
    &["stop"],
    &["status"],
    &["add"],
    &["claim"],
    &["next"],
    &["queue"],
    &["show"],
    &["list"],
    &["edit"],
    &["done"],
    &["fail"],
    &["release"],
    &["retry"],
    &["cancel"],
    &["park"],
    &["admit"],
    &["reopen"],
    &["why"],
    &["bump"],
    &["move"],
    &["depend"],
    &["undepend"],
    &["artifact"],
    &["projects"],
    &["projects", "add"],
    &["projects", "show"],
    &["projects", "edit"],
    &["projects", "delete"],
    &["goals"],
    &["goals", "add"],
    &["goals", "edit"],
    &["goals", "delete"],
    &["pause"],
    &["resume"],
    &["profile"],
    &["profile", "apply"],
    &["limits"],
    &["limits", "set"],
    &["gates"],
    &["gates", "open"],
    &["work"],
    &["ask"],
    &["answer"],
    &["inbox"],
    &["inbox", "dismiss"],
    &["comment"],
    &["comments"],
    &["events"],
    &["token"],
    &["token", "create"],
    &["token", "list"],
    &["token", "revoke"],
    &["mcp"],
    &["connect"],
    &["init"],
    &["labels"],
    &["labels", "add"],
    &["labels", "edit"],
    &["labels", "delete"],
    &["signal"],
    &["signals"],
    &["templates"],
    &["templates", "show"],
    &["templates", "create"],
    &["templates", "edit"],
    &["templates", "delete"],
    &["templates", "versions"],
    &["templates", "add-version"],
    &["templates", "promote"],
    &["templates", "preview"],
    &["templates", "reviews"],
    &["templates", "pull"],
    &["templates", "push"],
    &["templates", "diff"],
    &["review"],
    &["prompts"],
    &["dashboard"],
    &["activity"],
    &["import"],
    &["export"],
    &["project"],
    &["project", "show"],
    &["project", "apply"],
    &["doctor"],
    &["config"],
    &["config", "show"],
];

#[test]
fn help_is_as_recorded() {
    let mut all = String::new();
    for words in COMMANDS {
        let output =
            Command::new(env!("CARGO_BIN_EXE_xb")).args(words).arg("--help").env_clear().output().unwrap();
        assert!(output.status.success(), "{words:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        // The global options are the same everywhere: once is enough.
        let own =
            if words.is_empty() { text.as_str() } else { text.split("Global options:").next().unwrap() };
        let _ = writeln!(all, "$ xb {}\n\n{}\n", [words, &["--help"]].concat().join(" "), own.trim_end());
    }
    insta::assert_snapshot!(all);
}

#[test]
fn every_command_is_recorded() {
    let output = Command::new(env!("CARGO_BIN_EXE_xb")).arg("--help").env_clear().output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let listed = text.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    for line in listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let name = line.split_whitespace().next().unwrap();
        assert!(COMMANDS.contains(&[name].as_slice()), "{name} is not in the snapshot");
    }
}
