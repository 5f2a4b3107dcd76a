//! Starts a private PostgreSQL by hand, prints its URL, and keeps it until its input ends.
//!
//! For tests run one by one: `XB_TEST_POSTGRES_URL=… cargo nextest run …` in another terminal.

use std::{
    error::Error,
    io::{self, Read as _},
};

use extraboard_testkit::postgres::PrivatePostgres;

#[expect(clippy::print_stdout, reason = "the URL is what this program is for")]
fn main() -> Result<(), Box<dyn Error>> {
    let server = PrivatePostgres::start()?;
    println!("{}", server.url("postgres"));
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
