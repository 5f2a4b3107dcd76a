//! The configuration from sample files (`tests/config`), variables and flags.

use std::fs;

use super::*;

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/config");

fn environment(variables: &[(&str, &str)]) -> Environment {
    let fixed = [("HOME", "/home/ada"), ("XDG_DATA_HOME", "/nowhere")];
    Environment::of(
        fixed.iter().chain(variables).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
    )
}

fn samples(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(SAMPLES).join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// Returns what a sample's comments expect, one line each.
fn expectations(path: &Path, mark: &str) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect();
    assert!(!lines.is_empty(), "{} expects nothing", path.display());
    lines
}

fn load_file(path: &Path, variables: &[(&str, &str)]) -> Result<Loaded, ConfigProblem> {
    let flags = Flags { config: Some(path.to_owned()), ..Flags::default() };
    load(&flags, &environment(variables))
}

fn shown(loaded: &Loaded) -> Vec<String> {
    loaded.shown().iter().map(|shown| format!("{} = {}", shown.key.name(), shown.value)).collect()
}

fn origins(loaded: &Loaded) -> String {
    let lines = loaded.shown().into_iter().map(|shown| format!("{} {}", shown.key.name(), shown.origin));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn valid_samples_give_what_they_say() {
    for path in samples("valid") {
        let loaded = load_file(&path, &[("EXTRABOARD_DATA_DIR", "")]).unwrap();
        let shown = shown(&loaded);
        for line in expectations(&path, "# gives: ") {
            let line = line
                .replace("FOLDER", path.parent().unwrap().to_str().unwrap())
                .replace("/data/", "/nowhere/extraboard/");
            assert!(shown.contains(&line), "{}: {line} is not in {shown:#?}", path.display());
        }
    }
}

#[test]
fn invalid_samples_are_refused_as_they_say() {
    for path in samples("invalid") {
        let problem = load_file(&path, &[]).unwrap_err();
        let expected = expectations(&path, "# error: ").concat().replace("FILE", path.to_str().unwrap());
        assert_eq!(problem.to_string(), expected);
    }
}

#[test]
fn the_file_of_the_data_directory_is_read_if_it_exists() {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().to_str().unwrap();
    let variables = environment(&[("EXTRABOARD_DATA_DIR", data_dir)]);
    assert_eq!(load(&Flags::default(), &variables).unwrap().config.leases.pull_secs, 3600);
    fs::write(folder.path().join(FILE_NAME), "leases.pull_secs = 77").unwrap();
    assert_eq!(load(&Flags::default(), &variables).unwrap().config.leases.pull_secs, 77);
}

#[test]
fn a_named_file_must_exist() {
    let problem = load_file(Path::new("/nowhere/x.toml"), &[]).unwrap_err();
    assert_eq!(problem.to_string(), "cannot read config file /nowhere/x.toml");
    let named = environment(&[("EXTRABOARD_CONFIG", "/nowhere/y.toml")]);
    let problem = load(&Flags::default(), &named).unwrap_err();
    assert_eq!(problem.to_string(), "cannot read config file /nowhere/y.toml");
}

#[test]
fn flags_win_over_variables_over_file_over_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.toml");
    fs::write(
        &path,
        "data_dir = \"/f\"\nserver.listen = \"127.0.0.1:1\"\nserver.metrics_listen = \"127.0.0.1:1\"\n",
    )
    .unwrap();
    let flags = Flags {
        config: Some(path.clone()),
        listen: Some("127.0.0.1:3".to_owned()),
        verbose: 1,
        ..Flags::default()
    };
    let variables = environment(&[
        ("EXTRABOARD_SERVER_LISTEN", "127.0.0.1:2"),
        ("EXTRABOARD_SERVER_METRICS_LISTEN", "127.0.0.1:2"),
        ("EXTRABOARD_SERVER_HOSTS", "a.example, b.example,"),
    ]);
    let loaded = load(&flags, &variables).unwrap();
    assert_eq!(loaded.config.server.listen.port(), 3);
    assert_eq!(loaded.config.server.metrics_listen.port(), 2);
    assert_eq!(loaded.config.server.hosts, ["a.example", "b.example"]);
    let expected = "data_dir FILE\ndatabase.url default\nserver.listen --listen\n\
         server.metrics_listen EXTRABOARD_SERVER_METRICS_LISTEN\nserver.hosts EXTRABOARD_SERVER_HOSTS\n\
         leases.pull_secs default\nlog.level -v\nlog.format default";
    assert_eq!(origins(&loaded), expected.replace("FILE", path.to_str().unwrap()));
}

#[test]
fn bad_variables_are_named() {
    let check = |name, value, expected: &str| {
        let problem = load(&Flags::default(), &environment(&[(name, value)])).unwrap_err();
        assert_eq!(problem.to_string(), expected);
    };
    check(
        "EXTRABOARD_SERVER_LISEN",
        "x",
        "unknown variable EXTRABOARD_SERVER_LISEN: did you mean EXTRABOARD_SERVER_LISTEN?",
    );
    check("EXTRABOARD_FOO", "x", "unknown variable EXTRABOARD_FOO");
    check("EXTRABOARD_TOKN", "secret", "unknown variable EXTRABOARD_TOKN: did you mean EXTRABOARD_TOKEN?");
    check(
        "EXTRABOARD_LEASES_PULL_SECS",
        "an hour",
        "`leases.pull_secs` from EXTRABOARD_LEASES_PULL_SECS is `an hour`: \
         expected a whole number of seconds from 10 to 86400",
    );
    check(
        "EXTRABOARD_DATABASE_URL",
        "mysql://u:secret@host/db",
        "`database.url` from EXTRABOARD_DATABASE_URL is `mysql://u:***@host/db`: \
         expected a path, `sqlite:PATH` or `postgres://…`",
    );
}

#[test]
fn without_any_home_a_data_directory_must_be_named() {
    let problem = load(&Flags::default(), &Environment::default()).unwrap_err();
    assert!(matches!(problem, ConfigProblem::NoDataDir));
    let flags = Flags { data_dir: Some("/srv/desk".to_owned()), ..Flags::default() };
    assert_eq!(load(&flags, &Environment::default()).unwrap().config.data_dir, Path::new("/srv/desk"));
}

#[test]
fn the_environment_shows_no_values() {
    let variables = environment(&[("EXTRABOARD_TOKEN", "secret")]);
    assert_eq!(format!("{variables:?}"), r#"{"EXTRABOARD_TOKEN", "HOME", "XDG_DATA_HOME"}"#);
}
