//! The running desk: what must happen by itself, and together.
//!
//! Claims that arrive together are made together; events get their positions;
//! timers come due; leases end. Nothing here is needed for correctness after a
//! crash: all of it is in the database.

mod chores;
mod claims;
mod clock;
mod desk;
mod loops;
mod sequencer;
mod timers;
pub mod watch;

pub use claims::Delivery;
pub use desk::{Claim, Desk, Settings};
pub use loops::{Loops, Running};
