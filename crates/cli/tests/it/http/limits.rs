//! How much of a request's head is read; what is refused here is refused before the API sees it.

use crate::harness::{Backend, Desk, Request, get};

const KIB: usize = 1024;

/// Returns a request with a head of about that size.
fn sized(bytes: usize) -> Request {
    get("/api/status").header("x-padding", "x".repeat(bytes))
}

/// Returns a request with that many headers, three of which every request has.
fn counted(headers: usize) -> Request {
    (3..headers).fold(get("/api/status"), |request, index| request.header(&format!("x-{index}"), "y"))
}

fn long_path(bytes: usize) -> Request {
    get(&format!("/api/issues?cursor={}", "1".repeat(bytes)))
}

#[test]
fn heads_up_to_the_limit_pass() {
    let desk = Backend::Sqlite.desk();
    for size in [KIB, 16 * KIB, 60 * KIB] {
        desk.send(&sized(size)).expect(200);
    }
    desk.send(&counted(100)).expect(200);
    desk.send(&long_path(60 * KIB)).refused(422, "validation");
}

#[test]
fn heads_far_over_the_limit_are_refused_and_the_desk_goes_on() {
    let mut desk = Backend::Sqlite.desk();
    for size in [256 * KIB, 1024 * KIB, 8 * 1024 * KIB] {
        check(&mut desk, &sized(size), 431);
    }
    check(&mut desk, &counted(101), 431);
    check(&mut desk, &long_path(66 * KIB), 414);
    check(&mut desk, &long_path(1024 * KIB), 431);
}

/// Checks that a request gets a bare refusal, and the next one its answer.
#[track_caller]
fn check(desk: &mut Desk, refused: &Request, status: u16) {
    let reply = desk.send(refused);
    assert_eq!((reply.status, reply.text().as_str()), (status, ""));
    desk.send(&get("/api/status")).expect(200);
    assert!(desk.is_running());
}
