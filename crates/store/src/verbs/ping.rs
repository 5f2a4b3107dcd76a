//! Does the database take a write?

use crate::error::Error;
use crate::tx::{Tx, Verb, expect_rows};
use crate::value::params;

/// Writes something that changes nothing: a database that can only be read is not up.
#[derive(Clone, Copy, Debug)]
pub struct Ping;

impl Verb for Ping {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        let sql = "UPDATE sequencer SET last_pos = last_pos WHERE one = 1";
        expect_rows("a ping", 1, tx.execute(sql.into(), params![]).await?)
    }
}
