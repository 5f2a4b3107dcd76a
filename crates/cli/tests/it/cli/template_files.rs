//! Templates as files: pull, change, diff, push.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Outcome, json, run};
use crate::harness::{Backend, Desk};

/// A desk, and a folder that is not there yet.
fn pulled(backend: Backend) -> (Desk, PathBuf) {
    let desk = backend.desk();
    let folder = desk.data_dir().join("prompts");
    let pulled = run(&desk, &["templates", "pull", folder.to_str().unwrap()]);
    pulled.exits(0);
    assert!(pulled.err.contains("18 new, 0 changed, 0 the same"), "{pulled:?}");
    (desk, folder)
}

fn sync(desk: &Desk, verb: &str, folder: &Path, more: &[&str]) -> Outcome {
    run(desk, &[&["templates", verb, folder.to_str().unwrap()], more].concat())
}

fn versions(desk: &Desk, slug: &str) -> Vec<(i64, String)> {
    let list = json(desk, &["templates", "versions", slug]);
    let of = |version: &serde_json::Value| {
        (version["version"].as_i64().unwrap(), version["status"].as_str().unwrap().to_owned())
    };
    list["data"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn templates_go_to_files_and_back() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let (desk, folder) = pulled(backend);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 18);
        assert_eq!(sync(&desk, "diff", &folder, &[]).exits(0), "");
        let again = sync(&desk, "pull", &folder, &[]);
        assert!(again.err.contains("0 new, 0 changed, 18 the same"), "{again:?}");
        let push = sync(&desk, "push", &folder, &[]);
        assert!(push.err.contains("0 new, 0 changed, 18 the same"), "{push:?}");
        assert_eq!(versions(&desk, "task-execution").len(), 1);

        let file = folder.join("task-execution.hbs");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("+++\nname = "), "{text}");
        let changed = text.replace(
            "Do what the issue asks for, all of it, and nothing else.",
            "Do #{{issue.number}} well.",
        );
        assert_ne!(changed, text);
        fs::write(&file, &changed).unwrap();
        let diff = sync(&desk, "diff", &folder, &[]);
        let lines = diff.exits(1);
        assert!(lines.contains("--- task-execution\n+++ task-execution.hbs\n"), "{lines}");
        assert!(
            lines.contains("\n-Do what the issue asks for")
                && lines.contains("\n+Do #{{issue.number}} well."),
            "{lines}"
        );
        let dry = sync(&desk, "push", &folder, &["--dry-run"]);
        assert!(dry.exits(0).contains("changed  task-execution: version added and promoted"), "{dry:?}");
        assert_eq!(versions(&desk, "task-execution").len(), 1);
        let push = sync(&desk, "push", &folder, &["--changelog", "well"]);
        assert!(push.exits(0).contains("changed  task-execution: version added and promoted"), "{push:?}");
        assert_eq!(sync(&desk, "diff", &folder, &[]).exits(0), "");
        assert_eq!(versions(&desk, "task-execution"), [(2, "active".to_owned()), (1, "retired".to_owned())]);
        run(&desk, &["add", "t"]).exits(0);
        let claimed = json(&desk, &["claim"]);
        assert_eq!(claimed["meta"]["versionNumber"], 2);
        assert!(claimed["prompt"].as_str().unwrap().contains("\nDo #1 well.\n"), "{}", claimed["prompt"]);
    }
}

#[test]
fn file_that_is_new_becomes_a_template() {
    let (desk, folder) = pulled(Backend::Sqlite);
    run(&desk, &["projects", "add", "pay"]).exits(0);
    let text = "+++\nname = \"Own\"\ndescription = \"d\"\nspecificity = 70\nproject = \"pay\"\n\n[conditions]\ntype = \"task\"\n+++\nDo {{issue.title}}.\n";
    fs::write(folder.join("own.hbs"), text).unwrap();
    sync(&desk, "diff", &folder, &[]).exits(1);
    assert!(
        sync(&desk, "push", &folder, &["--draft"]).exits(0).contains("new      own: created, version added")
    );
    assert_eq!(sync(&desk, "diff", &folder, &[]).exits(0), "");
    let own = json(&desk, &["templates", "show", "own"])["data"].clone();
    assert_eq!((&own["name"], &own["specificity"]), (&"Own".into(), &70.into()));
    assert_eq!(own["activeVersion"]["content"].as_str().unwrap().trim_end(), "Do {{issue.title}}.");
    fs::write(folder.join("own.hbs"), text.replace("70", "71")).unwrap();
    assert!(sync(&desk, "push", &folder, &[]).exits(0).contains("changed  own: updated\n"));
    assert_eq!(versions(&desk, "own").len(), 1, "the text is the same");
    fs::remove_file(folder.join("own.hbs")).unwrap();
    sync(&desk, "push", &folder, &[]).exits(0);
    run(&desk, &["templates", "show", "own"]).exits(0);
    let back = sync(&desk, "pull", &folder, &[]);
    assert!(back.err.contains("1 new, 0 changed, 18 the same"), "{back:?}");
    let pulled = fs::read_to_string(folder.join("own.hbs")).unwrap();
    assert_eq!(pulled, text.replace("70", "71"), "projects are written by name");
}

#[test]
fn drafts_are_added_once_and_promoted_by_the_next_push() {
    let (desk, folder) = pulled(Backend::Sqlite);
    let file = folder.join("code-writing.hbs");
    let text = fs::read_to_string(&file).unwrap() + "More.\n";
    fs::write(&file, text).unwrap();
    for told in ["draft added", "draft is there already"] {
        let push = sync(&desk, "push", &folder, &["--draft"]);
        assert!(push.exits(0).contains(&format!("changed  code-writing: {told}\n")), "{push:?}");
        assert_eq!(versions(&desk, "code-writing"), [(2, "draft".to_owned()), (1, "active".to_owned())]);
        sync(&desk, "diff", &folder, &[]).exits(1);
    }
    assert!(sync(&desk, "push", &folder, &[]).exits(0).contains("code-writing: draft promoted"));
    assert_eq!(versions(&desk, "code-writing"), [(2, "active".to_owned()), (1, "retired".to_owned())]);
}

#[test]
fn file_that_is_not_well_formed_is_named_with_its_line_and_nothing_is_pushed() {
    let (desk, folder) = pulled(Backend::Sqlite);
    // What is well formed is not pushed either.
    let good = folder.join("a-good.hbs");
    fs::write(&good, "+++\nname = \"Good\"\n+++\nGood.\n").unwrap();
    let front = "+++\nname = \"n\"\n+++\n";
    for (name, text, says) in [
        ("bad.hbs", format!("{front}One.\n{{{{{{issue.title}}}}}}\n"), "bad.hbs line 5"),
        ("bad.hbs", format!("{front}One.\n{{{{#if x}}}}\n"), "bad.hbs line "),
        ("bad.hbs", "+++\nname = \"n\"\nspecifcity = 3\n+++\nx\n".to_owned(), "bad.hbs line 3"),
        ("bad.hbs", "+++\nname = 3\n+++\nx\n".to_owned(), "bad.hbs line 2"),
        ("bad.hbs", "+++\nname = \"n\"\nspecificity = 101\n+++\nx\n".to_owned(), "bad.hbs line 3"),
        ("bad.hbs", "no front\n".to_owned(), "bad.hbs line 1"),
        ("bad.hbs", "+++\nname = \"n\"\n".to_owned(), "bad.hbs line "),
        ("Bad Name.hbs", format!("{front}x\n"), "Bad Name.hbs line 1"),
    ] {
        let file = folder.join(name);
        fs::write(&file, &text).unwrap();
        for verb in ["push", "diff"] {
            let refused = sync(&desk, verb, &folder, &[]);
            refused.fails(2, says);
        }
        run(&desk, &["templates", "show", "a-good"]).fails(3, "no template a-good");
        fs::remove_file(file).unwrap();
    }
    fs::write(folder.join("code-writing.hbs"), "+++\nname = \"n\"\n+++\n").unwrap();
    sync(&desk, "push", &folder, &[]).fails(2, "code-writing.hbs has no text");
    run(&desk, &["templates", "show", "a-good"]).fails(3, "no template a-good");
    sync(&desk, "push", &desk.data_dir().join("nowhere"), &[]).fails(2, "nowhere");
}
