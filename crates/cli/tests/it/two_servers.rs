//! Two desks: side by side on one PostgreSQL, and never two on one file.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::net::SocketAddr;
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use extraboard_testkit::database::fresh_postgres_url;
use extraboard_testkit::process::{free_port, wait_until};
use serde_json::{Value, json};

use crate::harness::{Backend, Desk, Plan, Reply, Request, get, post, xb};

const TASK_COUNT: usize = 500;
const CLIENT_COUNT: usize = 16;

fn pair() -> [Desk; 2] {
    let url = fresh_postgres_url();
    [(), ()].map(|()| Desk::start(Plan::default().db(&url)))
}

fn fill(desks: &[Desk; 2]) {
    for count in 0..TASK_COUNT {
        let body = json!({"title": format!("task {count}"), "type": "task", "status": "todo", "priority": count % 5});
        desks[count % 2].send(&post("/api/issues", &body)).expect(201);
    }
}

/// Returns each task's place in the line.
fn places(desk: &Desk) -> HashMap<i64, usize> {
    let page =
        |offset| desk.send(&get(&format!("/api/dispatch/queue?limit=200&offset={offset}"))).expect(200);
    let entries = [0, 200, 400].map(|offset| page(offset)["data"].as_array().unwrap().clone()).concat();
    entries
        .iter()
        .enumerate()
        .map(|(place, entry)| (entry["issue"]["number"].as_i64().unwrap(), place))
        .collect()
}

/// Takes and finishes tasks until there are none, claiming here and reporting there; returns their numbers.
fn drain(name: &str, claim_at: SocketAddr, report_at: SocketAddr) -> Vec<i64> {
    let mut numbers = Vec::new();
    loop {
        let reply = get("/api/dispatch/next").agent(name).send(claim_at).unwrap();
        if reply.status == 204 {
            return numbers;
        }
        let next = reply.expect(200);
        numbers.push(next["issue"]["number"].as_i64().unwrap());
        let path = format!("/api/dispatches/{}/complete", next["dispatch"]["id"].as_str().unwrap());
        let token = next["dispatch"]["token"].as_str().unwrap();
        post(&path, &json!({"result": name})).token(token).send(report_at).unwrap().expect(200);
    }
}

#[test]
fn two_desks_hand_out_every_task_once_and_in_order() {
    let desks = pair();
    fill(&desks);
    let places = places(&desks[0]);
    assert_eq!(places.len(), TASK_COUNT);
    let taken: Vec<Vec<i64>> = thread::scope(|scope| {
        let work = |client: usize| {
            let (here, there) = (desks[client % 2].api(), desks[(client / 2) % 2].api());
            scope.spawn(move || drain(&format!("client-{client}"), here, there))
        };
        let clients: Vec<_> = (0..CLIENT_COUNT).map(work).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    for numbers in &taken {
        assert!(numbers.is_sorted_by_key(|number| places[number]), "out of order: {numbers:?}");
    }
    let mut all = taken.concat();
    all.sort_unstable();
    let mut expected: Vec<i64> = places.into_keys().collect();
    expected.sort_unstable();
    assert_eq!(all, expected);
    for desk in &desks {
        let status = desk.send(&get("/api/status")).expect(200);
        assert_eq!(status["data"]["states"], json!({"done": TASK_COUNT}));
    }
}

#[test]
fn dispatch_token_of_one_desk_works_at_the_other() {
    let [one, other] = pair();
    one.send(&post("/api/issues", &json!({"title": "shared", "type": "task", "status": "todo"}))).expect(201);
    let next = one.send(&get("/api/dispatch/next").agent("ada")).expect(200);
    let dispatch = next["dispatch"]["id"].as_str().unwrap();
    let token = next["dispatch"]["token"].as_str().unwrap();
    let report = |verb| post(&format!("/api/dispatches/{dispatch}/{verb}"), &Value::Null).token(token);
    assert_eq!(other.send(&report("heartbeat")).expect(200)["order"], "continue");
    assert_eq!(other.send(&report("complete")).expect(200)["issue"]["state"], "done");
    assert_eq!(one.send(&get("/api/issues/1")).expect(200)["data"]["state"], "done");
}

#[test]
fn admin_token_of_each_desk_is_a_persons_at_both() {
    let [one, other] = pair();
    for (from, to) in [(&one, &other), (&other, &one)] {
        to.send(&get("/api/status").token(&from.admin_token())).expect(200);
    }
}

#[test]
fn one_of_two_desks_may_die() {
    let [mut one, other] = pair();
    one.send(&post("/api/issues", &json!({"title": "survives", "type": "task", "status": "todo"})))
        .expect(201);
    let next = one.send(&get("/api/dispatch/next").agent("ada")).expect(200);
    one.kill_9();
    let path = format!("/api/dispatches/{}/complete", next["dispatch"]["id"].as_str().unwrap());
    other.send(&post(&path, &Value::Null).agent("ada")).expect(200);
    one.restart();
    assert_eq!(one.send(&get("/api/issues/1")).expect(200)["data"]["state"], "done");
}

/// Starts a second desk on the first one's file; it must not get far.
fn second_on_file(first: &Desk, words: &[&str], data_dir: &std::path::Path) -> Output {
    let listen = format!("127.0.0.1:{}", free_port());
    let metrics = format!("127.0.0.1:{}", free_port());
    xb(data_dir)
        .args(words)
        .args(["--db", first.database_file().to_str().unwrap()])
        .args(["--listen", &listen, "--metrics-listen", &metrics])
        .output()
        .unwrap()
}

fn contents(first: &Desk) -> BTreeMap<String, Vec<u8>> {
    let names = ["extraboard.db", "extraboard.db.lock", "desk.json", "admin.token"];
    names.map(|name| (name.to_owned(), fs::read(first.data_dir().join(name)).unwrap())).into()
}

#[test]
fn second_desk_on_the_same_file_is_refused_and_touches_nothing() {
    for (first, second) in [("serve", "serve"), ("up", "serve"), ("serve", "up")] {
        let plan = if first == "up" { Plan::default().up() } else { Plan::default() };
        let mut desk = Desk::start(plan);
        desk.send(&post("/api/issues", &json!({"title": "mine", "type": "task"}))).expect(201);
        let (before, issues) = (contents(&desk), desk.issues());
        let elsewhere = tempfile::tempdir().unwrap();
        for data_dir in [desk.data_dir(), elsewhere.path()] {
            let output = second_on_file(&desk, &[second], data_dir);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(4), "{said}");
            let who = format!("pid {} at {}", desk.pid(), desk.url());
            assert!(said.contains(&who), "{said}");
        }
        assert!(!elsewhere.path().join("desk.json").exists());
        assert_eq!(contents(&desk), before);
        assert_eq!(desk.issues(), issues);
        assert!(desk.is_running());
    }
}

#[test]
fn second_up_in_the_same_folder_says_who_runs_and_where() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let mut desk = Desk::start(backend.plan().up());
        let second = desk.run(&["up"]);
        let said = String::from_utf8_lossy(&second.stderr);
        assert_eq!(second.status.code(), Some(4), "{said}");
        let who = format!("a desk is already running: pid {} at {}", desk.pid(), desk.url());
        assert!(said.contains(&who), "{said}");
        assert!(desk.is_running());
        assert!(desk.terminate().success());
        assert!(!desk.data_dir().join("desk.json").exists());
    }
}

const MANY: usize = 5_000;
const CLIENTS: usize = 64;
const WRITERS: usize = 8;
const LONG_LIMIT: Duration = Duration::from_secs(200);
/// The desk that is never killed.
const SURVIVOR: usize = 1;

/// What all clients of the long drain share.
struct Long {
    desks: [SocketAddr; 2],
    done: AtomicUsize,
    /// Answers of the survivor that were its own failures.
    faults: AtomicUsize,
}

impl Long {
    /// Asks one desk and then the other until one of them answers.
    fn ask(&self, request: &Request, first: usize) -> Reply {
        let turns = (first..).map(|turn| turn % 2);
        for at in turns {
            match request.send(self.desks[at]) {
                Ok(reply) if reply.status < 500 => return reply,
                Ok(_) if at == SURVIVOR => drop(self.faults.fetch_add(1, Ordering::SeqCst)),
                Ok(_) | Err(_) => {}
            }
        }
        unreachable!("one of them answers in the end")
    }

    /// Takes and finishes tasks until there are none; returns their numbers.
    fn drain(&self, client: usize) -> Vec<i64> {
        let name = format!("client-{client}");
        let mut numbers = Vec::new();
        loop {
            // With a key a claim whose answer was lost can be made again.
            let key = format!("{name}-{}", numbers.len());
            let reply = self.ask(&get("/api/dispatch/next").agent(&name).key(&key), client);
            if reply.status == 204 {
                return numbers;
            }
            let next = reply.expect(200);
            let path = format!("/api/dispatches/{}/complete", next["dispatch"]["id"].as_str().unwrap());
            let token = next["dispatch"]["token"].as_str().unwrap();
            self.ask(&post(&path, &json!({"result": name})).token(token), client + numbers.len()).expect(200);
            numbers.push(next["issue"]["number"].as_i64().unwrap());
            self.done.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn wait_done(&self, count: usize) {
        let done = || self.done.load(Ordering::SeqCst) >= count;
        wait_until(LONG_LIMIT, "tasks to be done", || done().then_some(()));
    }
}

#[test]
fn sixty_four_clients_drain_two_desks_though_one_is_killed_midway() {
    let mut desks = pair();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let desk = &desks[writer % 2];
            scope.spawn(move || {
                for count in 0..MANY / WRITERS {
                    let title = format!("{writer} {count}");
                    let body =
                        json!({"title": title, "type": "task", "status": "todo", "priority": count % 5});
                    desk.send(&post("/api/issues", &body)).expect(201);
                }
            });
        }
    });
    let before: HashMap<i64, i64> = desks[SURVIVOR]
        .issues()
        .iter()
        .map(|issue| (issue["number"].as_i64().unwrap(), issue["priorityValue"].as_i64().unwrap()))
        .collect();
    assert_eq!(before.len(), MANY);
    let long = Long {
        desks: [desks[0].api(), desks[1].api()],
        done: AtomicUsize::new(0),
        faults: AtomicUsize::new(0),
    };
    let taken: Vec<Vec<i64>> = thread::scope(|scope| {
        let long = &long;
        let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || long.drain(client))).collect();
        long.wait_done(MANY / 3);
        desks[0].kill_9();
        long.wait_done(2 * MANY / 3);
        desks[0].restart();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(long.faults.load(Ordering::SeqCst), 0, "{}", desks[SURVIVOR].log());
    for numbers in &taken {
        let worth: Vec<_> = numbers.iter().map(|number| -before[number]).collect();
        assert!(worth.is_sorted(), "out of order: {numbers:?}");
    }
    let mut all = taken.concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), MANY, "every task once");
    for issue in desks[0].issues() {
        assert_eq!((&issue["state"], &issue["attempt"]), (&json!("done"), &json!(1)), "{issue}");
    }
}
