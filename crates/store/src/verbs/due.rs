//! When does something happen by itself next?

use extraboard_core::clock::Timestamp;

use crate::error::Error;
use crate::tx::{Tx, Verb, first};
use crate::value::params;

/// Asks for the next timer and the next lease that ends.
#[derive(Clone, Copy, Debug)]
pub struct DueNext;

/// The next moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// When the next task joins the line.
    pub timer: Option<Timestamp>,
    /// When the next lease ends.
    pub lease: Option<Timestamp>,
}

const NEXT: &str = "SELECT (SELECT MIN(due_at) FROM timer), \
       (SELECT MIN(lease_until) FROM dispatch WHERE closed_at IS NULL)";

impl Verb for DueNext {
    type Output = Due;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Due, Error> {
        let row = first(tx, NEXT.into(), params![]).await?;
        let mut row = row.ok_or_else(|| Error::Broken("a minimum returned nothing".to_owned()))?;
        let timer = row.opt_int()?.map(Timestamp::from_micros);
        let lease = row.opt_int()?.map(Timestamp::from_micros);
        Ok(Due { timer, lease })
    }
}
