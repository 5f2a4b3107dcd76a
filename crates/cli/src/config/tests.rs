//! The configuration from sample files (`tests/config`), variables and flags.

use std::collections::BTreeMap;
use std::fs;

use extraboard_core::gate::Limits;
use extraboard_core::kind::Kind;
use extraboard_core::profile::{Profile, ProfileName};
use extraboard_store::verbs::RulesEdit;

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

/// Returns what does not come from the defaults, a line each.
fn origins(loaded: &Loaded) -> String {
    let said = loaded.shown().into_iter().filter(|shown| shown.origin != "default");
    said.map(|shown| format!("{} {}", shown.key.name(), shown.origin)).collect::<Vec<_>>().join("\n")
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
    let expected = "data_dir FILE\nserver.listen --listen\n\
         server.metrics_listen EXTRABOARD_SERVER_METRICS_LISTEN\nserver.hosts EXTRABOARD_SERVER_HOSTS\n\
         log.level -v";
    assert_eq!(origins(&loaded), expected.replace("FILE", path.to_str().unwrap()));
}

#[test]
fn nobody_said_anything_about_the_rules_unless_somebody_did() {
    let said = |variables: &[(&str, &str)], flags: &Flags| {
        load(flags, &environment(variables)).unwrap().config.rules.said
    };
    assert_eq!(said(&[], &Flags::default()), RulesEdit::default());
    let limits = Limits { agents: BTreeMap::from([("ada".to_owned(), 2)]), ..Limits::default() };
    let expected = RulesEdit { limits: Some(limits), ..RulesEdit::default() };
    assert_eq!(said(&[("EXTRABOARD_LIMITS_AGENTS", "ada=2")], &Flags::default()), expected);
    let none = RulesEdit { limits: Some(Limits::default()), ..RulesEdit::default() };
    assert_eq!(said(&[("EXTRABOARD_LIMITS_TOTAL", "none")], &Flags::default()), none, "none was said");
    let interval = RulesEdit { poll_interval_secs: Some(1), ..RulesEdit::default() };
    assert_eq!(said(&[("EXTRABOARD_POLL_INTERVAL_SECS", "1")], &Flags::default()), interval);
    let mut profile = Profile::shipped(ProfileName::DepthFirst);
    profile.set("code", 7).unwrap();
    let expected = RulesEdit { profile: Some(profile), ..RulesEdit::default() };
    let flags = Flags { profile: Some("depth_first".to_owned()), ..Flags::default() };
    assert_eq!(said(&[("EXTRABOARD_PROFILE_CODE", "7")], &flags), expected);
}

#[test]
fn the_file_of_seed_004_means_what_it_says() {
    let loaded = load_file(&Path::new(SAMPLES).join("seed_004/loopr.yml"), &[]).unwrap();
    let kinds = [(Kind::Plan, 2), (Kind::Spec, 5), (Kind::Phase, 20), (Kind::Code, 50)];
    let expected = RulesEdit {
        // Its numbers are those of the profile that was made after it.
        profile: Some(Profile::shipped(ProfileName::DepthFirst)),
        limits: Some(Limits {
            total: Some(50),
            kinds: BTreeMap::from(kinds),
            account: Some(10),
            ..Limits::default()
        }),
        poll_interval_secs: Some(1),
    };
    assert_eq!(loaded.config.rules.said, expected);
    let shown = loaded.shown();
    let code = shown.iter().find(|shown| shown.key == Key::ProfileNumber("code")).unwrap();
    assert!(code.origin.ends_with("loopr.yml"), "{}", code.origin);
}

#[test]
fn variables_win_over_the_file_of_seed_004() {
    let path = Path::new(SAMPLES).join("seed_004/loopr.yml");
    let variables = [("EXTRABOARD_LIMITS_TOTAL", "none"), ("EXTRABOARD_PROFILE_PLAN", "41")];
    let rules = load_file(&path, &variables).unwrap().config.rules;
    assert_eq!((rules.limits.total, rules.limits.account), (None, Some(10)));
    assert_eq!((rules.number("plan"), rules.number("spec")), (Some(41), Some(60)));
}

#[test]
fn a_file_that_is_far_too_large_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["large.toml", "large.yaml"] {
        let path = folder.path().join(name);
        fs::write(&path, "# ü\n".repeat(300_000)).unwrap();
        let problem = load_file(&path, &[]).unwrap_err();
        assert_eq!(problem.to_string(), format!("config file {} is larger than 1 MiB", path.display()));
    }
    let path = folder.path().join("binary.yaml");
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(matches!(load_file(&path, &[]).unwrap_err(), ConfigProblem::Unreadable { .. }));
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
        "EXTRABOARD_LIMITS_KINDS_COED",
        "5",
        "unknown variable EXTRABOARD_LIMITS_KINDS_COED: did you mean EXTRABOARD_LIMITS_KINDS_CODE?",
    );
    check(
        "EXTRABOARD_LIMITS_TOTAL",
        "few",
        "`limits.total` from EXTRABOARD_LIMITS_TOTAL is `few`: expected a whole number from 0 to 1000000, or `none`",
    );
    check(
        "EXTRABOARD_LIMITS_AGENTS",
        "ada",
        "`limits.agents` from EXTRABOARD_LIMITS_AGENTS is `ada`: \
         expected names of agents with whole numbers from 0 to 1000000",
    );
    check(
        "EXTRABOARD_PROFILE_CODE",
        "1001",
        "`profile.code` from EXTRABOARD_PROFILE_CODE is `1001`: expected a whole number from -1000 to 1000",
    );
    check(
        "EXTRABOARD_DATABASE_URL",
        "mysql://u:secret@host/db",
        "`database.url` from EXTRABOARD_DATABASE_URL is `mysql://u:***@host/db`: \
         expected a path, `sqlite:PATH` or `postgres://…`",
    );
}

#[test]
fn secrets_are_read_and_never_shown() {
    let variables = [("EXTRABOARD_WEBHOOKS_GITHUB_SECRET", "hunter2")];
    let loaded = load(&Flags::default(), &environment(&variables)).unwrap();
    let secret = loaded.config.webhooks.github.as_ref().map(Secret::reveal);
    assert_eq!(secret, Some("hunter2"));
    assert_eq!(loaded.config.webhooks.sentry, None);
    let shown = shown(&loaded);
    assert!(shown.contains(&r#"webhooks.github_secret = "set""#.to_owned()), "{shown:#?}");
    assert!(shown.contains(&"webhooks.sentry_secret = null".to_owned()), "{shown:#?}");
    assert!(!format!("{:?}", loaded.config).contains("hunter2"));
    for bad in [" hunter2", "hunter2\nhunter3"] {
        let variables = [("EXTRABOARD_WEBHOOKS_SENTRY_SECRET", bad)];
        let problem = load(&Flags::default(), &environment(&variables)).unwrap_err().to_string();
        assert!(!problem.contains("hunter"), "{problem}");
        assert!(problem.contains("webhooks.sentry_secret"), "{problem}");
    }
}

#[test]
fn a_public_url_is_one() {
    let read = |url: &str| {
        let variables = [("EXTRABOARD_SERVER_PUBLIC_URL", url)];
        load(&Flags::default(), &environment(&variables)).map(|loaded| loaded.config.server.public_url)
    };
    assert_eq!(read("").unwrap(), None);
    assert_eq!(read("https://desk.example.org/").unwrap().as_deref(), Some("https://desk.example.org"));
    assert_eq!(read("http://10.0.0.1:8600/desk").unwrap().as_deref(), Some("http://10.0.0.1:8600/desk"));
    for bad in ["desk.example.org", "ftp://x", "https://", "https:///x", "https://u:p@x", "https://x y"] {
        assert!(read(bad).is_err(), "{bad}");
    }
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
