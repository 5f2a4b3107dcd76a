//! The admin token: to whom it goes, what it may look like, and how it is replaced.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use extraboard_testkit::process::{free_port, wait_until};

use super::{Outcome, run};
use crate::harness::{Backend, get, xb};

const LIMIT: Duration = Duration::from_secs(20);

/// Somebody who listens, answers nonsense, and remembers what was said.
struct Stranger {
    address: SocketAddr,
    heard: JoinHandle<String>,
}

impl Stranger {
    fn listen(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let address = listener.local_addr().unwrap();
        Self { address, heard: thread::spawn(move || overhear(listener.accept().unwrap().0)) }
    }

    /// Has the command talk to the stranger; returns what the stranger heard, in lower case.
    fn hear(self, command: &mut Command) -> String {
        Outcome::from(command.output().unwrap()).fails(1, "is that the address of a desk?");
        wait_until(LIMIT, "the stranger to hear something", || self.heard.is_finished().then_some(()));
        self.heard.join().unwrap().to_lowercase()
    }
}

fn overhear(mut stream: TcpStream) -> String {
    let mut heard = Vec::new();
    let mut buffer = [0; 4096];
    while !heard.windows(4).any(|window| window == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).unwrap();
        assert_ne!(count, 0, "a request has an end");
        heard.extend_from_slice(&buffer[..count]);
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nhuh?").unwrap();
    String::from_utf8(heard).unwrap()
}

#[test]
fn stranger_on_this_machine_is_not_told_the_admin_token() {
    let desk = Backend::Sqlite.desk();
    let stranger = || Stranger::listen(free_port());
    let by_flag = stranger();
    let url = format!("http://{}", by_flag.address);
    let heard = by_flag.hear(xb(desk.data_dir()).args(["list", "--server", &url]));
    assert!(heard.starts_with("get /api/issues") && !heard.contains("authorization"), "{heard}");
    let by_variable = stranger();
    let url = format!("http://{}", by_variable.address);
    let heard = by_variable.hear(xb(desk.data_dir()).arg("list").env("EXTRABOARD_URL", &url));
    assert!(!heard.contains("authorization"), "{heard}");
    let named = stranger();
    let url = format!("http://{}", named.address);
    let mut command = xb(desk.data_dir());
    let heard = named.hear(command.args(["list", "--server", &url]).env("EXTRABOARD_TOKEN", "xba_mine"));
    assert!(heard.contains("authorization: bearer xba_mine"), "{heard}");
}

#[test]
fn stranger_on_the_port_of_a_desk_that_is_down_is_not_told_the_admin_token() {
    let mut desk = Backend::Sqlite.desk();
    run(&desk, &["status"]).exits(0);
    desk.kill_9();
    assert!(desk.data_dir().join("desk.json").exists());
    let stranger = Stranger::listen(desk.api().port());
    let heard = stranger.hear(xb(desk.data_dir()).arg("list"));
    assert!(heard.starts_with("get /api/issues") && !heard.contains("authorization"), "{heard}");
}

#[test]
fn new_token_in_the_file_revokes_the_old_one() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let mut desk = backend.desk();
        let old = desk.admin_token();
        desk.restart();
        desk.send(&get("/api/status").token(&old)).expect(200);
        fs::remove_file(desk.data_dir().join("admin.token")).unwrap();
        desk.restart();
        assert_ne!(desk.admin_token(), old);
        desk.send(&get("/api/status").token(&old)).refused(401, "unauthorized");
        desk.send_as_person(get("/api/status")).expect(200);
    }
}

#[test]
fn token_that_somebody_made_up_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("admin.token");
    fs::write(&file, "hunter2\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    for command in ["up", "serve"] {
        let words = [command, "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"];
        let outcome = Outcome::from(xb(folder.path()).args(words).output().unwrap());
        outcome.fails(2, "holds no admin token: remove it, and the next start of a desk writes a new one");
        assert!(!outcome.err.contains("hunter2"), "{}", outcome.err);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "hunter2\n");
}
