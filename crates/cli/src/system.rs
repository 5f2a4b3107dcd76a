//! The real clock and the real randomness: the one place that reads them for the desk.

use extraboard_core::clock::{Clock, Entropy, Timestamp};

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that is injected elsewhere")]
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(jiff::Timestamp::now().as_microsecond())
    }
}

/// The machine's randomness.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "this is the randomness that is injected elsewhere")]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system has randomness");
    }
}

impl SystemEntropy {
    /// Draws 32 bytes, in hexadecimal.
    pub(crate) fn hex(self) -> String {
        let mut halves = [[0; 16]; 2];
        for half in &mut halves {
            self.fill(half);
        }
        let [high, low] = halves.map(u128::from_be_bytes);
        format!("{high:032x}{low:032x}")
    }
}
