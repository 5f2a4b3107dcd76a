//! What a desk and its callers say to each other over HTTP, and a typed client that says it.
//!
//! The contract in prose is `docs/api.md`. This crate knows no rules: it does not tell a legal status from an
//! illegal one, nor what a state allows. Requests refuse unknown fields, so that a misspelt one is not lost
//! in silence; answers ignore them, so that an old client survives a new server.

pub mod artifact;
pub mod claimer;
pub mod client;
pub mod comment;
pub mod dashboard;
pub mod dispatch;
pub mod doctor;
pub mod envelope;
pub mod error;
pub mod event;
pub mod gate;
pub mod goal;
pub mod inbox;
pub mod issue;
pub mod issue_ref;
pub mod label;
pub mod order;
mod patch;
pub mod project;
pub mod relation;
pub mod review;
pub mod rules;
pub mod settings;
pub mod signal;
pub mod status;
pub mod template;
pub mod token;
pub mod why;
pub mod work;
