//! The built binary, from outside.
//!
//! `cfg(test)` holds for the whole binary; saying so lets clippy know that helpers may unwrap too.

#[cfg(test)]
mod cli;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod help;
#[cfg(test)]
mod http;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod lease;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod two_servers;
