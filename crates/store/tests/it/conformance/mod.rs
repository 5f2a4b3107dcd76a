//! The properties, one idea per file.

pub(crate) mod claims;
pub(crate) mod constraints;
pub(crate) mod events;
pub(crate) mod idempotency;
pub(crate) mod leases;
pub(crate) mod lists;
pub(crate) mod migrations;
pub(crate) mod patches;
pub(crate) mod races;
pub(crate) mod reopening;
pub(crate) mod reports;
pub(crate) mod retries;
pub(crate) mod secrets;
pub(crate) mod tasks;
