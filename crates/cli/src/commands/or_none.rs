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

impl<T: FromStr> FromStr for Named<T> {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.rsplit_once('=').ok_or("expected a name and a number, such as code=5")?;
        let value = value.parse().map_err(|_| "expected a number after the `=`")?;
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
        assert_eq!("a=b=3".parse(), named("a=b", 3));
        assert_eq!("code=-3".parse(), named("code", -3));
        assert!("code".parse::<Named<i64>>().is_err());
        assert!("code=few".parse::<Named<i64>>().is_err());
    }
}
