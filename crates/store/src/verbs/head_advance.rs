//! Move the heads of the line on, past what was handed out.

use crate::error::Error;
use crate::rules::take_rank_lock;
use crate::tx::{Tx, Verb, first};
use crate::value::params;

/// Lets each level of the line begin where its first task stands.
///
/// Takes the rank lock, so that nothing is on its way into the line: whatever enters
/// later sees the new head and moves it back if need be. Nothing is ever ahead of it.
#[derive(Clone, Copy, Debug)]
pub struct HeadAdvance;

const FIRST: &str = "SELECT arrival FROM line WHERE level = $1 AND arrival >= $2 ORDER BY arrival LIMIT 1";

impl Verb for HeadAdvance {
    type Output = ();

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), Error> {
        take_rank_lock(tx).await?;
        for mut row in tx.query("SELECT level, arrival FROM line_head".into(), params![]).await? {
            let (level, head) = (row.int()?, row.int()?);
            let found = first(tx, FIRST.into(), params![level, head]).await?;
            match found.map(|mut row| row.int()).transpose()? {
                Some(arrival) if arrival == head => {}
                Some(arrival) => {
                    let sql = "UPDATE line_head SET arrival = $2 WHERE level = $1";
                    tx.execute(sql.into(), params![level, arrival]).await?;
                }
                None => {
                    tx.execute("DELETE FROM line_head WHERE level = $1".into(), params![level]).await?;
                }
            }
        }
        Ok(())
    }
}
