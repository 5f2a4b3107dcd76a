//! Starting, watching and stopping a desk.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use extraboard_testkit::process::{Process, free_port, wait_until};
use serde_json::json;

use super::{Outcome, json, run};
use crate::harness::{Backend, Desk, Plan, get, post, xb};

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn demo_has_something_to_do_and_is_added_once() {
    let mut desk = Desk::start(Plan::default().up().flag("--demo"));
    let count = desk.issues().len();
    assert!(count > 2);
    assert!(desk.log().contains("sample tasks were added"), "{}", desk.log());
    assert!(run(&desk, &["claim"]).exits(0).contains("Sign-up fails"));
    desk.restart();
    assert_eq!(desk.issues().len(), count);
    assert!(desk.log().contains("no samples were added"), "{}", desk.log());
}

#[test]
fn start_says_where_everything_is() {
    for (backend, scheme) in [(Backend::Sqlite, "sqlite:"), (Backend::Postgres, "postgres://")] {
        let desk = Desk::start(backend.plan().up());
        let log = desk.log();
        for said in [
            &format!("pid {}", desk.pid()),
            &desk.url(),
            &format!("http://{}/metrics", desk.metrics()),
            scheme,
        ] {
            assert!(log.contains(said), "{said} is missing in\n{log}");
        }
        assert!(log.contains(&format!("xb --data-dir {} add", desk.data_dir().display())), "{log}");
        assert!(!log.contains(&desk.admin_token()));
        let file: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(desk.data_dir().join("desk.json")).unwrap()).unwrap();
        assert_eq!((&file["pid"], &file["url"]), (&json!(desk.pid()), &json!(desk.url())));
    }
}

#[test]
fn files_of_a_desk_are_private() {
    let desk = Backend::Sqlite.desk();
    for name in ["admin.token", "desk.json", "extraboard.db"] {
        let mode = fs::metadata(desk.data_dir().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name} has mode {mode:o}");
    }
}

#[test]
fn status_tells_what_the_desk_does() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let desk = backend.desk();
        for _ in 0..3 {
            run(&desk, &["add", "t"]).exits(0);
        }
        json(&desk, &["claim"]);
        let status = json(&desk, &["status"]);
        assert_eq!(status["url"], desk.url());
        assert_eq!(status["data"]["pid"], desk.pid());
        assert_eq!((&status["data"]["line"], &status["data"]["unclosed"]), (&json!(2), &json!(1)));
        assert_eq!(status["data"]["states"], json!({"queued": 2, "running": 1}));
        let page = run(&desk, &["status"]);
        assert!(page.exits(0).contains("queued 2, running 1"), "{}", page.out);
        assert!(page.out.contains("2 waiting") && page.out.contains("1 not closed"), "{}", page.out);
    }
}

#[test]
fn stop_ends_the_desk_and_nothing_is_lost() {
    for plan in [Plan::default().up(), Plan::default(), Backend::Postgres.plan()] {
        let mut desk = Desk::start(plan);
        desk.send(&post("/api/issues", &json!({"title": "kept", "type": "task"}))).expect(201);
        let stopped = run(&desk, &["stop"]);
        assert_eq!(stopped.exits(0), format!("stopped the desk: pid {} at {}\n", desk.pid(), desk.url()));
        assert!(desk.wait_end().success());
        run(&desk, &["stop"]).fails(3, "no desk is running");
        run(&desk, &["status"]).fails(3, "hint: start a desk with `xb up`");
        desk.restart();
        assert_eq!(desk.issues()[0]["title"], "kept");
        assert!(desk.terminate().success());
    }
}

#[test]
fn hangup_ends_the_desk_as_politely_as_any_signal() {
    for plan in [Plan::default().up(), Plan::default()] {
        let mut desk = Desk::start(plan);
        assert!(desk.end_by("-HUP").success());
        assert!(!desk.data_dir().join("desk.json").exists());
    }
}

#[test]
fn nohup_is_respected() {
    let folder = tempfile::tempdir().unwrap();
    let metrics = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let mut command = Command::new("nohup");
    command
        .arg(env!("CARGO_BIN_EXE_xb"))
        .args(["serve", "--listen", "127.0.0.1:0", "--metrics-listen", &metrics.to_string()])
        .args(["--data-dir", folder.path().to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let desk = Process::spawn(&mut command);
    wait_until(LIMIT, "the desk to be healthy", || {
        get("/health").send(metrics).ok().filter(|reply| reply.status == 200)
    });
    let status = fs::read_to_string(format!("/proc/{}/status", desk.id())).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    assert!(ignored.ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']), "SIGHUP is not in {ignored}");
}

#[test]
fn ports_in_use_are_named_and_nothing_else_happens() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for command in ["up", "serve"] {
        for (flag, other) in [("--listen", "--metrics-listen"), ("--metrics-listen", "--listen")] {
            let folder = tempfile::tempdir().unwrap();
            let output =
                xb(folder.path()).args([command, flag, &address, other, "127.0.0.1:0"]).output().unwrap();
            let outcome = Outcome::from(output);
            outcome.fails(1, &format!("xb: cannot listen on {address}"));
            outcome.fails(1, &format!("hint: another program uses that port; choose a free one with {flag}"));
            assert!(!folder.path().join("desk.json").exists());
            assert!(!folder.path().join("extraboard.db").exists());
        }
    }
}

#[test]
fn one_port_cannot_serve_both() {
    let desk = Backend::Sqlite.desk();
    let folder = tempfile::tempdir().unwrap();
    let address = desk.api().to_string();
    let output = xb(folder.path()).args(["up", "--listen", &address]).output().unwrap();
    Outcome::from(output).fails(1, &format!("cannot listen on {address}"));
    desk.send(&get("/api/status")).expect(200);
}
