//! How people name a task: `42`, `#42` or its uuid.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use uuid::Uuid;

/// A task as named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TaskRef {
    Number(i64),
    Id(Uuid),
}

#[derive(Debug, PartialEq, Eq, Error)]
#[error("expected a number such as 42 or #42, or a uuid")]
pub(crate) struct NotATaskRef;

impl TaskRef {
    /// Returns the form that routes take.
    pub(crate) fn route(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Id(id) => id.to_string(),
        }
    }
}

impl FromStr for TaskRef {
    type Err = NotATaskRef;

    fn from_str(text: &str) -> Result<Self, NotATaskRef> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = digits.parse().ok().filter(|number| *number > 0);
            return number.map(Self::Number).ok_or(NotATaskRef);
        }
        Uuid::try_parse(text).map(Self::Id).map_err(|_| NotATaskRef)
    }
}

impl fmt::Display for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "#{number}"),
            Self::Id(id) => write!(f, "{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_uuids_are_read() {
        assert_eq!("42".parse(), Ok(TaskRef::Number(42)));
        assert_eq!("#42".parse(), Ok(TaskRef::Number(42)));
        let uuid: TaskRef = "01990000-0000-7000-8000-00000000ABCD".parse().unwrap();
        assert_eq!(uuid.route(), "01990000-0000-7000-8000-00000000abcd");
    }

    #[test]
    fn anything_else_is_not() {
        for text in [
            "",
            "#",
            "0",
            "-1",
            "+1",
            "4.2",
            "forty-two",
            "99999999999999999999",
            "#01990000-0000-7000-8000-00000000abcd",
        ] {
            assert_eq!(text.parse::<TaskRef>(), Err(NotATaskRef), "{text}");
        }
    }
}
