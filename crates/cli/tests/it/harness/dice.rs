//! Chance that can be repeated: a small generator, and a seed that is printed.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// Set to repeat a run.
const SEED_VARIABLE: &str = "XB_TEST_SEED";

/// A seeded generator (`SplitMix64`).
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Takes the seed from the environment, or draws and prints one.
    #[expect(clippy::disallowed_methods, reason = "a run is repeated by naming its seed")]
    pub(crate) fn of_this_run() -> Self {
        let named = std::env::var(SEED_VARIABLE).ok().and_then(|text| text.parse().ok());
        let seed = named.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        println!("repeat with {SEED_VARIABLE}={seed}");
        Self(seed)
    }

    /// Returns dice of their own for one of several players.
    pub(crate) fn of_player(&self, player: usize) -> Self {
        let mut dice = Self(self.0 ^ (player as u64 + 1).wrapping_mul(0xD1B5_4A32_D192_ED03));
        dice.roll(2);
        dice
    }

    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % sides
    }
}
