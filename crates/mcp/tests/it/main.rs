//! The MCP surface from outside: the official client, over both transports, against a desk that only records.
//!
//! `cfg(test)` holds for the whole binary; saying so lets clippy know that helpers may unwrap too.

#[cfg(test)]
mod client;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod http;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod resources;
#[cfg(test)]
mod review;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod work;
