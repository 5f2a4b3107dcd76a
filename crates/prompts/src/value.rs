//! What an expression has for a value, and where that came from.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Number, Value as Json};

use crate::object::{List, Object};
use crate::tree::Zero;

/// A value, which knows what may be done with it.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    /// There is none.
    Nothing,
    /// True or false.
    Flag(bool),
    /// A number.
    Number(Number),
    /// Something the desk itself wrote: an id, a word of ours, an address, a moment.
    Word(Cow<'a, str>),
    /// A line from outside.
    Line(&'a str),
    /// A text from outside.
    Text {
        /// What it says.
        text: &'a str,
        /// What it is.
        about: &'static str,
    },
    /// JSON from outside.
    Json {
        /// What it says.
        json: &'a Json,
        /// What it is.
        about: &'static str,
    },
    /// Many things.
    List(List<'a>),
    /// A thing with fields.
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    /// Makes a value of a word of ours.
    pub(crate) const fn word(word: &'a str) -> Self {
        Self::Word(Cow::Borrowed(word))
    }

    /// Makes a value of something of ours that is written down.
    pub(crate) fn shown(thing: impl std::fmt::Display) -> Self {
        Self::Word(Cow::Owned(thing.to_string()))
    }

    /// Makes a value of a whole number.
    pub(crate) fn number(number: i64) -> Self {
        Self::Number(number.into())
    }

    /// Makes a value of a count.
    pub(crate) fn count(count: usize) -> Self {
        Self::Number(count.into())
    }

    /// Makes a value of a line from outside, if there is one.
    pub(crate) fn line(line: Option<&'a str>) -> Self {
        line.map_or(Self::Nothing, Self::Line)
    }

    /// Makes a value of a text from outside, if there is one.
    pub(crate) fn text(text: Option<&'a str>, about: &'static str) -> Self {
        text.map_or(Self::Nothing, |text| Self::Text { text, about })
    }

    /// Returns the plain value of a piece of JSON; lists and objects stay what they are.
    pub(crate) fn plain(self) -> Self {
        match self {
            Self::Json { json, .. } => match json {
                Json::Null => Self::Nothing,
                Json::Bool(flag) => Self::Flag(*flag),
                Json::Number(number) => Self::Number(number.clone()),
                Json::String(text) => Self::Line(text),
                Json::Array(_) | Json::Object(_) => self,
            },
            other => other,
        }
    }

    /// Returns a field, or an element.
    pub(crate) fn get(&self, key: &str) -> Self {
        match self {
            Self::Object(object) => object.get(key),
            Self::List(list) => match key.parse() {
                Ok(index) => list.get(index),
                Err(_) if key == "length" => Self::count(list.len()),
                Err(_) => Self::Nothing,
            },
            Self::Json { json, about } => json_get(json, key, about),
            _ => Self::Nothing,
        }
    }

    /// Returns the characters of a value that is some.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Line(text) | Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Tells whether a condition holds.
    pub(crate) fn is_truthy(&self, zero: Zero) -> bool {
        match self {
            Self::Nothing => false,
            Self::Flag(flag) => *flag,
            Self::Number(number) => zero == Zero::Something || number.as_f64().is_some_and(|it| it != 0.0),
            Self::Word(_) | Self::Line(_) | Self::Text { .. } => {
                self.as_str().is_some_and(|it| !it.is_empty())
            }
            Self::List(list) => list.len() > 0,
            Self::Object(_) => true,
            Self::Json { json, .. } => match json {
                Json::Array(list) => !list.is_empty(),
                Json::Object(fields) => !fields.is_empty(),
                _ => self.clone().plain().is_truthy(zero),
            },
        }
    }

    /// Returns how many elements, fields or bytes there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Object(object) => object.keys().len(),
            Self::Json { json: Json::Array(list), .. } => list.len(),
            Self::Json { json: Json::Object(fields), .. } => fields.len(),
            _ => self.as_str().map_or(0, str::len),
        }
    }

    /// Compares plain values: numbers, strings and flags, each with their like.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => Some(Ordering::Equal),
            (Self::Flag(one), Self::Flag(two)) => Some(one.cmp(two)),
            (Self::Number(one), Self::Number(two)) => match (one.as_i64(), two.as_i64()) {
                (Some(one), Some(two)) => Some(one.cmp(&two)),
                _ => one.as_f64()?.partial_cmp(&two.as_f64()?),
            },
            _ => Some(self.as_str()?.cmp(other.as_str()?)),
        }
    }
}

fn json_get<'a>(json: &'a Json, key: &str, about: &'static str) -> Value<'a> {
    let found = match json {
        Json::Object(fields) => fields.get(key),
        Json::Array(list) if key == "length" => return Value::count(list.len()),
        Json::Array(list) => key.parse().ok().and_then(|index: usize| list.get(index)),
        _ => None,
    };
    found.map_or(Value::Nothing, |json| Value::Json { json, about }.plain())
}
