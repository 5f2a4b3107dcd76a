//! Reads what others send: webhooks and the exports of other trackers; and writes exports of our own.
//!
//! Everything here is pure: bytes and text go in, values come out. The crate knows the formats of others and
//! nothing of the desk: what becomes of a [`webhook::SignalDraft`] or an [`import::Draft`] is decided by
//! whoever asked. It reads no files, no clock and no environment, and no input makes it panic.

pub mod export;
pub mod import;
mod text;
pub mod webhook;
