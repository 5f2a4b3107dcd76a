//! What an agent can do, and what a task needs of it: sets of lower-case words.

use std::collections::BTreeSet;

/// The most words of one set.
pub const CAPABILITIES_MAX: usize = 20;
/// The longest word, in characters.
pub const CAPABILITY_CHARS_MAX: usize = 50;

/// A set of words, without regard to case.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capabilities(BTreeSet<String>);

impl Capabilities {
    /// Makes a set of words; case and repetitions do not matter.
    pub fn new<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Result<Self, BadCapability> {
        let mut set = BTreeSet::new();
        for word in words {
            let word = word.as_ref().trim().to_lowercase();
            let is_word = !word.is_empty()
                && word.chars().count() <= CAPABILITY_CHARS_MAX
                && word.chars().all(|char| char.is_alphanumeric() || "-_.+#/:".contains(char));
            if !is_word {
                return Err(BadCapability::Word(word));
            }
            set.insert(word);
        }
        if set.len() > CAPABILITIES_MAX {
            return Err(BadCapability::TooMany(set.len()));
        }
        Ok(Self(set))
    }

    /// Reads a comma list; an empty text is the empty set.
    pub fn parse(list: &str) -> Result<Self, BadCapability> {
        Self::new(list.split(',').map(str::trim).filter(|word| !word.is_empty()))
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the words in order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns what is needed and not among these.
    pub fn missing(&self, needs: &Self) -> Vec<String> {
        needs.0.difference(&self.0).cloned().collect()
    }
}

impl std::fmt::Display for Capabilities {
    /// Writes the set as a comma list, the way it is stored.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, word) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            f.write_str(word)?;
        }
        Ok(())
    }
}

/// Words that make no set of capabilities.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCapability {
    /// Something that is not a word.
    #[error("expected words of 1 to {CAPABILITY_CHARS_MAX} letters, digits and -_.+#/:, got {0:?}")]
    Word(String),
    /// More words than a set may have.
    #[error("expected at most {CAPABILITIES_MAX} words, got {0}")]
    TooMany(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m1_case_and_order_do_not_matter() {
        let can = Capabilities::parse("Rust, SQL,rust").unwrap();
        assert_eq!(can.to_string(), "rust,sql");
        let needs = Capabilities::new(["sql", "K8S"]).unwrap();
        assert_eq!(can.missing(&needs), ["k8s"]);
        assert!(can.missing(&Capabilities::default()).is_empty());
    }

    #[test]
    fn what_is_not_a_word_is_refused() {
        assert_eq!(Capabilities::new(["a b"]), Err(BadCapability::Word("a b".to_owned())));
        assert!(Capabilities::new(["x".repeat(51)]).is_err());
        assert_eq!(Capabilities::new((0..21).map(|n| n.to_string())), Err(BadCapability::TooMany(21)));
        assert_eq!(Capabilities::parse(" , "), Ok(Capabilities::default()));
    }
}
