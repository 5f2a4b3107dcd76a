//! A way to PostgreSQL on which answers are lost.

use extraboard_testkit::{
    database::fresh_postgres_url,
    postgres::{Binaries, Relay},
};

#[test]
fn commit_whose_answer_is_lost_takes_effect_all_the_same() {
    let (binaries, direct) = (Binaries::find().unwrap(), fresh_postgres_url());
    let relay = Relay::start(&direct).unwrap();
    let count = |url: &str| binaries.psql(url, "SELECT count(*) FROM note").unwrap();
    let write = "BEGIN; INSERT INTO note (body) VALUES ('written'); COMMIT";
    binaries.psql(relay.url(), "CREATE TABLE note (body text)").unwrap();
    binaries.psql(relay.url(), write).unwrap();
    relay.lose_next_commit();
    let error = binaries.psql(relay.url(), write).unwrap_err();
    assert!(error.to_string().contains("server closed the connection unexpectedly"), "{error}");
    assert_eq!(count(&direct), "2");
    binaries.psql(relay.url(), write).unwrap();
    assert_eq!(count(relay.url()), "3");
}
