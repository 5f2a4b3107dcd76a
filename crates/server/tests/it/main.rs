//! The surfaces in this process, where the clock can be set.
//!
//! `cfg(test)` holds for the whole binary; saying so lets clippy know that helpers may unwrap too.

#[cfg(test)]
mod harness;
#[cfg(test)]
mod health;
