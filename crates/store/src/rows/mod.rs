//! Rows of the database and the values they stand for.

pub(crate) mod dispatch;
pub(crate) mod event;
pub(crate) mod goal;
pub(crate) mod label;
pub(crate) mod project;
pub(crate) mod relation;
pub(crate) mod task;
pub(crate) mod template;
