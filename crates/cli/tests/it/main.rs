//! The built binary, from outside.
//!
//! `cfg(test)` holds for the whole binary; saying so lets clippy know that helpers may unwrap too.

#[cfg(test)]
mod help;
#[cfg(test)]
mod lifecycle;
