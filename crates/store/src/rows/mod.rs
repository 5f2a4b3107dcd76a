//! Rows of the database and the values they stand for.

pub(crate) mod dispatch;
pub(crate) mod event;
pub(crate) mod task;
