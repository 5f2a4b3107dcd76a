//! The file layer, on a real file system.

use std::fs;
use std::path::{Path, PathBuf};

use extraboard_connect::{Agent, Change, Entry, FileError, Foreign, Plan, Scope, path, write};
use tempfile::TempDir;

fn entry() -> Entry {
    Entry { command: "xb".to_owned(), args: vec!["mcp".to_owned()], ..Entry::default() }
}

fn connect(agent: Agent, path: &Path) -> Result<Plan, FileError> {
    Plan::connect(agent, path, &entry(), Foreign::Refuse)
}

fn disconnect(agent: Agent, path: &Path) -> Plan {
    Plan::disconnect(agent, path, Foreign::Refuse).unwrap()
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.json");
    (folder, path)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_client_is_connected_and_disconnected() {
    let home = tempfile::tempdir().unwrap();
    let project = tempfile::tempdir().unwrap();
    for agent in Agent::ALL {
        for scope in [Scope::Project, Scope::User] {
            let path = path(agent, scope, home.path(), project.path());
            connect(agent, &path).unwrap().apply().unwrap();
            assert!(fs::read_to_string(&path).unwrap().contains("extraboard"));
            assert_eq!(connect(agent, &path).unwrap().change(), &Change::Nothing);
            disconnect(agent, &path).apply().unwrap();
            assert!(!path.exists());
            assert_eq!(disconnect(agent, &path).change(), &Change::Nothing);
        }
    }
}

#[test]
fn plan_touches_nothing() {
    let (folder, path) = folder();
    let plan = connect(Agent::Codex, &path).unwrap();
    let expected = "\n@@ -0,0 +1,3 @@\n+[mcp_servers.extraboard]\n+command = \"xb\"\n+args = [\"mcp\"]\n";
    assert_eq!(plan.diff(), format!("--- /dev/null\n+++ {}{expected}", path.display()));
    assert!(names(folder.path()).is_empty());
    fs::write(&path, "{}").unwrap();
    let plan = connect(Agent::Opencode, &path).unwrap();
    assert_eq!(plan.before(), Some("{}"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
}

#[test]
fn invalid_file_is_named_and_left_alone() {
    let (folder, path) = folder();
    let check = |bytes: &[u8], expected: &str| {
        fs::write(&path, bytes).unwrap();
        let error = connect(Agent::Opencode, &path).unwrap_err();
        assert_eq!(error.to_string(), format!("{}, {expected}", path.display()));
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(names(folder.path()), ["opencode.json"]);
    };
    check(b"{\n  oops", "line 2, column 3: expected a key in double quotes, found 'o'");
    check(b"{\n \xff}", "line 2, column 2: expected UTF-8");
}

#[test]
fn file_that_changed_meanwhile_is_left_alone() {
    let (_folder, path) = folder();
    let plan = connect(Agent::Opencode, &path).unwrap();
    fs::write(&path, "{\"theirs\": 1}").unwrap();
    assert!(matches!(plan.apply(), Err(FileError::Changed { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"theirs\": 1}");
}

#[test]
fn nothing_else_is_left_in_the_folder() {
    let (folder, path) = folder();
    write(&path, "a").unwrap();
    write(&path, "b").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "b");
    assert_eq!(names(folder.path()), ["opencode.json"]);
}

#[test]
fn folder_in_place_of_a_file_is_an_error() {
    let (_folder, path) = folder();
    fs::create_dir(&path).unwrap();
    let error = connect(Agent::Opencode, &path).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot read {}", path.display()));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn permissions_stay() {
        let (_folder, path) = folder();
        for expected in [0o600, 0o640, 0o444] {
            fs::write(&path, "{}").unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(expected)).unwrap();
            connect(Agent::Opencode, &path).unwrap().apply().unwrap();
            assert_eq!(mode(&path), expected);
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn new_file_is_like_any_other() {
        let (folder, path) = folder();
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        write(&path, "{}").unwrap();
        assert_eq!(mode(&path), mode(&other));
    }

    #[test]
    fn link_stays_and_what_it_leads_to_is_written() {
        let (folder, path) = folder();
        let real = folder.path().join("real.json");
        symlink("middle.json", &path).unwrap();
        symlink("real.json", folder.path().join("middle.json")).unwrap();
        let check_link = || assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
        // The file does not exist yet, then it does.
        connect(Agent::Opencode, &path).unwrap().apply().unwrap();
        check_link();
        assert!(fs::read_to_string(&real).unwrap().contains("extraboard"));
        disconnect(Agent::Opencode, &path).apply().unwrap();
        check_link();
        assert!(!real.exists());
        fs::write(&real, "{\"a\": 1}").unwrap();
        connect(Agent::Opencode, &path).unwrap().apply().unwrap();
        check_link();
        assert!(fs::read_to_string(&real).unwrap().contains("extraboard"));
    }

    #[test]
    fn links_in_a_circle_are_an_error() {
        let (_folder, path) = folder();
        symlink("opencode.json", &path).unwrap();
        assert!(matches!(write(&path, "{}"), Err(FileError::Io { .. })));
    }
}
