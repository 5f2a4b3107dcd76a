//! Fresh databases.

use extraboard_testkit::{
    database::{fresh_postgres_url, fresh_url_on},
    postgres::{Binaries, PrivatePostgres},
};

#[test]
fn fresh_databases_do_not_share_tables() {
    let server = PrivatePostgres::start().unwrap();
    let binaries = Binaries::find().unwrap();
    let (one, other) =
        (fresh_url_on(&server.url("postgres")).unwrap(), fresh_url_on(&server.url("postgres")).unwrap());
    for url in [one, other] {
        binaries.psql(&url, "CREATE TABLE mine (id int)").unwrap();
    }
}

#[test]
fn announced_server_gives_a_fresh_database() {
    let answer = Binaries::find().unwrap().psql(&fresh_postgres_url(), "SELECT current_database()").unwrap();
    assert!(answer.starts_with("xb_"), "{answer}");
}

#[test]
fn server_that_is_not_there_is_an_error() {
    let port = extraboard_testkit::process::free_port();
    let error = fresh_url_on(&format!("postgres://postgres@127.0.0.1:{port}/postgres")).unwrap_err();
    assert!(error.to_string().contains("Connection refused"), "{error}");
}
