//! One file per command: its arguments, and what it does.

mod each;
mod holder;
mod priority;

pub(crate) mod add;
pub(crate) mod admit;
pub(crate) mod cancel;
pub(crate) mod claim;
pub(crate) mod config;
pub(crate) mod done;
pub(crate) mod fail;
pub(crate) mod list;
pub(crate) mod next;
pub(crate) mod park;
pub(crate) mod queue;
pub(crate) mod release;
pub(crate) mod reopen;
pub(crate) mod retry;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod up;
