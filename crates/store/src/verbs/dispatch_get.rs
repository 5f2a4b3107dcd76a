//! Read a dispatch.

use extraboard_core::dispatch::Dispatch;
use extraboard_core::id::DispatchId;

use crate::error::Error;
use crate::rows::dispatch;
use crate::tx::{Tx, Verb};

/// Reads a dispatch, closed or not.
#[derive(Clone, Copy, Debug)]
pub struct DispatchGet {
    /// The dispatch.
    pub dispatch: DispatchId,
}

impl Verb for DispatchGet {
    type Output = Dispatch;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Dispatch, Error> {
        dispatch::get(tx, self.dispatch).await
    }
}
