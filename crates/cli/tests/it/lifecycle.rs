//! Starting, finding and stopping a desk, as far as it goes without a request to it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn xb(data_dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xb"));
    // `kill` is found through PATH.
    command.env_clear().env("PATH", "/usr/bin:/bin").env("EXTRABOARD_DATA_DIR", data_dir);
    command
}

fn run(data_dir: &Path, words: &[&str]) -> Output {
    xb(data_dir).args(words).output().unwrap()
}

fn check(output: &Output, exit_code: i32, said: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(exit_code), "{stderr}");
    assert!(stderr.contains(said), "{stderr}");
}

/// A desk on free ports, killed if the test fails before it was stopped.
struct Desk(Child);

impl Desk {
    fn start(data_dir: &Path) -> Self {
        let mut child = xb(data_dir)
            .args(["up", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let started = lines.any(|line| line.unwrap().contains("is running"));
        assert!(started);
        // Reads on, so that the desk never writes into a closed pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self(child)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_second_desk_says_who_runs_and_stop_stops_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().join("desk");
    let mut desk = Desk::start(&data_dir);

    let second = run(&data_dir, &["up"]);
    check(&second, 4, &format!("xb: a desk is already running: pid {} at http://127.0.0.1:", desk.0.id()));
    check(&second, 4, "stop it with `xb stop`");
    let named = run(folder.path(), &["up", "--data-dir", data_dir.to_str().unwrap()]);
    check(&named, 4, &format!("stop it with `xb --data-dir {} stop`", data_dir.display()));

    check(&run(&data_dir, &["stop"]), 0, "");
    assert_eq!(desk.0.wait().unwrap().code(), Some(0));
    assert!(!data_dir.join("desk.json").exists());
    check(&run(&data_dir, &["stop"]), 3, "xb: no desk is running");
}

#[test]
fn a_desk_that_was_killed_does_not_stand_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    drop(Desk::start(folder.path()));
    assert!(folder.path().join("desk.json").exists());
    check(&run(folder.path(), &["list"]), 3, "xb: no desk answers at http://127.0.0.1:");
    check(&run(folder.path(), &["status"]), 3, "hint: start a desk with `xb up`");
    let again = Desk::start(folder.path());
    drop(again);
    check(&run(folder.path(), &["stop"]), 3, "xb: no desk is running");
    assert!(!folder.path().join("desk.json").exists());
}

#[test]
fn a_port_in_use_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(folder.path(), &["serve", "--listen", &address]);
    check(&output, 1, &format!("xb: cannot listen on {address}"));
    check(&output, 1, "hint: another program uses that port; choose a free one with --listen");
}

#[test]
fn a_bad_configuration_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    check(
        &run(folder.path(), &["serve", "--db", "mysql://x"]),
        2,
        "xb: `database.url` from --db is `mysql://x`",
    );
    let misspelt = xb(folder.path()).env("EXTRABOARD_LOG_LEVL", "info").arg("list").output().unwrap();
    check(&misspelt, 2, "did you mean EXTRABOARD_LOG_LEVEL?");
}

#[test]
fn config_show_names_each_origin() {
    let output = run(Path::new("/srv/desk"), &["config", "show", "-v"]);
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r"
    KEY                                  VALUE                           ORIGIN
    data_dir                             /srv/desk                       EXTRABOARD_DATA_DIR
    poll_interval_secs                   1                               default
    database.url                         sqlite:/srv/desk/extraboard.db  default
    server.listen                        127.0.0.1:8600                  default
    server.metrics_listen                127.0.0.1:8601                  default
    server.hosts                         []                              default
    server.trust_agent_id                false                           default
    server.rate_limit                    auto                            default
    server.public_url                    none                            default
    leases.pull_secs                     3600                            default
    events.keep_days                     30                              default
    prompts.ask_for_reviews              true                            default
    webhooks.github_secret               none                            default
    webhooks.sentry_secret               none                            default
    webhooks.posthog_secret              none                            default
    profile.name                         pipeline                        default
    profile.priority_weight              1                               default
    profile.signal                       50                              default
    profile.hypothesis                   40                              default
    profile.plan                         30                              default
    profile.spec                         20                              default
    profile.phase                        20                              default
    profile.code                         20                              default
    profile.task                         20                              default
    profile.monitor                      10                              default
    profile.goal_bonus                   20                              default
    profile.age_boost_per_day            1                               default
    profile.age_boost_per_minute         none                            default
    profile.age_boost_max                none                            default
    profile.patience_per_hour            0                               default
    profile.depth_boost_per_level        0                               default
    profile.retry_penalty_per_iteration  0                               default
    profile.retry_penalty_max            0                               default
    limits.total                         none                            default
    limits.project                       none                            default
    limits.agent                         none                            default
    limits.account                       none                            default
    limits.kinds.signal                  none                            default
    limits.kinds.hypothesis              none                            default
    limits.kinds.plan                    none                            default
    limits.kinds.spec                    none                            default
    limits.kinds.phase                   none                            default
    limits.kinds.code                    none                            default
    limits.kinds.task                    none                            default
    limits.kinds.monitor                 none                            default
    limits.agents                        {}                              default
    log.level                            debug                           -v
    log.format                           text                            default
    ");
}

#[test]
fn config_show_speaks_json() {
    let output = run(Path::new("/srv/desk"), &["config", "show", "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["leases.pull_secs"], serde_json::json!({"value": 3600, "origin": "default"}));
}
