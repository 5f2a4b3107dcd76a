//! Values that go to the database and rows that come back.

use crate::error::Error;

/// A parameter. Nulls are typed, because PostgreSQL's are.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    /// A list: an array on PostgreSQL, a JSON array on SQLite.
    Ints(Vec<i64>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Int(Some(value.into()))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(Some(value.to_owned()))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(Some(value))
    }
}

impl From<Option<String>> for Value {
    fn from(value: Option<String>) -> Self {
        Self::Text(value)
    }
}

impl From<&Option<String>> for Value {
    fn from(value: &Option<String>) -> Self {
        Self::Text(value.clone())
    }
}

impl From<Vec<i64>> for Value {
    fn from(value: Vec<i64>) -> Self {
        Self::Ints(value)
    }
}

/// Makes a list of parameters.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        vec![$(crate::value::Value::from($value)),*]
    };
}

pub(crate) use params;

/// One column of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Int(i64),
    Text(String),
}

/// A row, read column by column in the order of the statement.
#[derive(Debug)]
pub struct Row(std::vec::IntoIter<Cell>);

impl Row {
    pub(crate) fn new(cells: Vec<Cell>) -> Self {
        Self(cells.into_iter())
    }

    /// Reads the next column, which holds a number.
    pub(crate) fn int(&mut self) -> Result<i64, Error> {
        self.opt_int()?.ok_or_else(|| Error::unreadable("a null where a number is expected"))
    }

    /// Reads the next column, which holds a number or null.
    pub(crate) fn opt_int(&mut self) -> Result<Option<i64>, Error> {
        match self.0.next() {
            Some(Cell::Int(value)) => Ok(Some(value)),
            Some(Cell::Null) => Ok(None),
            other => Err(Error::unreadable(format!("{other:?} where a number is expected"))),
        }
    }

    /// Reads the next column, which holds 0 or 1.
    pub(crate) fn flag(&mut self) -> Result<bool, Error> {
        self.int().map(|value| value != 0)
    }

    /// Reads the next column, which holds text.
    pub(crate) fn text(&mut self) -> Result<String, Error> {
        self.opt_text()?.ok_or_else(|| Error::unreadable("a null where text is expected"))
    }

    /// Reads the next column, which holds text or null.
    pub(crate) fn opt_text(&mut self) -> Result<Option<String>, Error> {
        match self.0.next() {
            Some(Cell::Text(value)) => Ok(Some(value)),
            Some(Cell::Null) => Ok(None),
            other => Err(Error::unreadable(format!("{other:?} where text is expected"))),
        }
    }

    /// Reads the next column, which holds a word of a closed set, an id or the like.
    pub(crate) fn parse<V: std::str::FromStr>(&mut self) -> Result<V, Error> {
        let text = self.text()?;
        text.parse().map_err(|_| Error::unreadable(format!("{text:?}")))
    }

    /// Reads the next column as [`Row::parse`] does, or null.
    pub(crate) fn opt_parse<V: std::str::FromStr>(&mut self) -> Result<Option<V>, Error> {
        match self.opt_text()? {
            Some(text) => text.parse().map(Some).map_err(|_| Error::unreadable(format!("{text:?}"))),
            None => Ok(None),
        }
    }
}
