//! The ways a task may leave the desk.

use crate::words::words;

words! {
    /// One way out.
    pub enum Door, "door" {
        /// An agent asks for work.
        Pull = "pull",
        /// The broker picks an agent.
        Push = "push",
        /// A runner spawns a CLI agent.
        Run = "run",
    }
}

impl Door {
    const fn bit(self) -> u8 {
        match self {
            Self::Pull => 1,
            Self::Push => 2,
            Self::Run => 4,
        }
    }
}

/// A non-empty set of doors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Doors(u8);

impl Doors {
    /// Every door.
    pub const ANY: Self = Self(7);
    /// What a task created on `/api` may leave by unless it says otherwise.
    pub const API_DEFAULT: Self = Self(5);

    /// Makes a set, or nothing if there is no door in it.
    pub fn new(doors: impl IntoIterator<Item = Door>) -> Option<Self> {
        let bits = doors.into_iter().fold(0, |bits, door| bits | door.bit());
        Self::from_bits(bits.into())
    }

    /// Reads a stored set.
    pub fn from_bits(bits: i64) -> Option<Self> {
        u8::try_from(bits).ok().filter(|bits| (1..=7).contains(bits)).map(Self)
    }

    /// Returns the set as it is stored.
    pub fn bits(self) -> i64 {
        self.0.into()
    }

    /// Tells whether the door is in the set.
    pub const fn contains(self, door: Door) -> bool {
        self.0 & door.bit() != 0
    }

    /// Returns the doors in the set.
    pub fn iter(self) -> impl Iterator<Item = Door> {
        Door::ALL.iter().copied().filter(move |door| self.contains(*door))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_doors_is_never_empty() {
        assert_eq!(Doors::new([]), None);
        assert_eq!(Doors::from_bits(0), None);
        assert_eq!(Doors::from_bits(8), None);
        assert_eq!(Doors::new(Door::ALL.iter().copied()), Some(Doors::ANY));
        assert_eq!(Doors::new([Door::Pull, Door::Run]), Some(Doors::API_DEFAULT));
    }
}
