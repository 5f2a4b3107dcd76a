//! One macro for closed sets of words.
//!
//! States, kinds, reasons and the like are stored and shown as text; this keeps
//! the variant, its word and the list of all of them in one place.

/// Declares an enum whose variants are words, with `ALL`, `as_str` and `FromStr`.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident, $unknown:literal {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
        }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the word that is stored and shown.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::words::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(crate::words::UnknownWord {
                        what: $unknown,
                        expected: &[$($word),+],
                    }),
                }
            }
        }
    };
}

pub(crate) use words;

/// A word that is not one of the closed set it was read as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a {what}: one of {}", expected.join(", "))]
pub struct UnknownWord {
    /// What the word should have named.
    pub what: &'static str,
    /// Every word that would have done.
    pub expected: &'static [&'static str],
}
