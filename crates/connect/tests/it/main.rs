//! Properties of connecting and taking back, and the file layer.
//!
//! `cfg(test)` holds for the whole binary; saying so lets clippy know that helpers may unwrap too.

#[cfg(test)]
mod codex;
#[cfg(test)]
mod entries;
#[cfg(test)]
mod file;
#[cfg(test)]
mod json;
#[cfg(test)]
mod round_trip;
