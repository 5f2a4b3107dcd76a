//! The rules of Extraboard, pure.
//!
//! Values in, values out: nothing here waits, reads a clock, touches a disk or
//! draws a random number. What the other crates do, this one decides.

pub mod caller;
pub mod capabilities;
pub mod clock;
pub mod comment;
pub mod dispatch;
pub mod doors;
pub mod event;
pub mod gate;
pub mod graph;
pub mod id;
pub mod inbox;
pub mod kind;
pub mod label;
pub mod line;
pub mod patch;
pub mod priority;
pub mod profile;
pub mod project;
pub mod prompt;
pub mod reason;
pub mod report;
pub mod review;
pub mod signal;
pub mod state;
pub mod status;
pub mod task;
pub mod template;
pub mod token;
pub mod why;
pub mod words;
