//! A private server through start, crash, return and end.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use extraboard_testkit::{
    postgres::{Binaries, PrivatePostgres},
    process::{Process, wait_until},
};

const LIMIT: Duration = Duration::from_mins(1);

fn data_directory(server: &PrivatePostgres) -> String {
    server.psql("postgres", "SHOW data_directory").expect("a running server knows its directory")
}

/// Returns the processes that serve this data directory: each keeps it as its working directory.
fn processes_in(data: &str) -> Vec<u32> {
    let pids = fs::read_dir("/proc")
        .expect("Linux has /proc")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|directory| directory.starts_with(data))
    })
    .collect()
}

#[test]
fn acknowledged_data_survives_kill_9() {
    let mut server = PrivatePostgres::start().unwrap();
    server.create_database("kept").unwrap();
    server.psql("kept", "CREATE TABLE note (body text)").unwrap();
    for round in 1..=3 {
        server.psql("kept", "INSERT INTO note (body) VALUES ('written')").unwrap();
        server.kill_9().unwrap();
        assert!(TcpStream::connect(("127.0.0.1", server.port())).is_err());
        server.restart().unwrap();
        assert_eq!(server.psql("kept", "SELECT count(*) FROM note").unwrap(), round.to_string());
    }
}

#[test]
fn kill_9_leaves_no_process_and_recovers_like_a_crash() {
    let mut server = PrivatePostgres::start().unwrap();
    let data = data_directory(&server);
    let mut psql = Command::new(Binaries::find().unwrap().path("psql"));
    psql.args(["--dbname", &server.url("postgres")]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut session = Process::spawn(&mut psql);
    wait_until(LIMIT, "an idle session", || {
        let count =
            server.psql("postgres", "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle'").unwrap();
        (count == "1").then_some(())
    });
    assert!(processes_in(&data).len() > 3);
    server.kill_9().unwrap();
    assert_eq!(processes_in(&data), Vec::<u32>::new());
    session.kill_9();
    server.restart().unwrap();
    let log = fs::read_to_string(Path::new(&data).with_file_name("server.log")).unwrap();
    assert!(log.contains("was not properly shut down"), "{log}");
}

#[test]
fn restart_of_a_running_server_is_a_crash_and_a_start() {
    let mut server = PrivatePostgres::start().unwrap();
    let before = server.psql("postgres", "SELECT pg_postmaster_start_time()").unwrap();
    server.restart().unwrap();
    assert_ne!(server.psql("postgres", "SELECT pg_postmaster_start_time()").unwrap(), before);
}

#[test]
fn dropped_server_leaves_nothing() {
    let server = PrivatePostgres::start().unwrap();
    let data = data_directory(&server);
    drop(server);
    assert_eq!(processes_in(&data), Vec::<u32>::new());
    assert!(!Path::new(&data).parent().unwrap().exists());
}

#[test]
fn dropped_server_leaves_nothing_after_a_crash() {
    let mut server = PrivatePostgres::start().unwrap();
    let data = data_directory(&server);
    server.kill_9().unwrap();
    drop(server);
    assert!(!Path::new(&data).parent().unwrap().exists());
}

#[test]
fn server_ends_when_its_owner_is_killed() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_private-postgres"));
    let mut owner = Process::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
    let mut url = String::new();
    BufReader::new(owner.take_stdout().unwrap()).read_line(&mut url).unwrap();
    let data = Binaries::find().unwrap().psql(url.trim(), "SHOW data_directory").unwrap();
    owner.kill_9();
    wait_until(LIMIT, "the orphaned server to go", || {
        let gone = processes_in(&data).is_empty() && !Path::new(&data).parent()?.exists();
        gone.then_some(())
    });
}

#[test]
fn failing_sql_is_an_error_with_the_servers_words() {
    let server = PrivatePostgres::start().unwrap();
    let error = server.psql("postgres", "SELECT 1 / 0").unwrap_err();
    assert!(error.to_string().contains("division by zero"), "{error}");
}
