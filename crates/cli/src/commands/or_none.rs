//! Values that `none` takes away.

use std::str::FromStr;

/// A value, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrNone<T>(pub(crate) Option<T>);

impl<T: FromStr> FromStr for OrNone<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        if text == "none" { Ok(Self(None)) } else { text.parse().map(|value| Self(Some(value))) }
    }
}

/// A name and its value, such as `code=5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named<T> {
    pub(crate) name: String,
    pub(crate) value: T,
}

impl<T: FromStr> Named<T> {
    /// Reads a name and its value, or says what was expected.
    pub(crate) fn read(text: &str, expected: &'static str) -> Result<Self, &'static str> {
        let (name, value) = text.rsplit_once('=').ok_or(expected)?;
        let value = value.parse().map_err(|_| expected)?;
        Ok(Self { name: name.to_owned(), value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_told_from_a_value() {
        assert_eq!("none".parse(), Ok(OrNone::<i64>(None)));
        assert_eq!("0".parse(), Ok(OrNone(Some(0))));
        assert!("few".parse::<OrNone<i64>>().is_err());
    }

    #[test]
    fn a_name_may_hold_an_equals_sign() {
        let named = |name: &str, value| Ok(Named { name: name.to_owned(), value });
        let read = |text| Named::<i64>::read(text, "expected sense");
        assert_eq!(read("a=b=3"), named("a=b", 3));
        assert_eq!(read("code=-3"), named("code", -3));
        for text in ["code", "code=few"] {
            assert_eq!(read(text), Err("expected sense"));
        }
    }
}
