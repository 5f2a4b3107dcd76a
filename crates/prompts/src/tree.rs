//! A template that was read and checked: what is left of the language.

use std::sync::Arc;

use serde_json::Number;

use crate::error::Place;

/// One piece of a template.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where it stands; nothing in the parts that Extraboard ships.
    pub(crate) place: Option<Place>,
    /// What it is.
    pub(crate) kind: NodeKind,
}

/// What a piece of a template is.
#[derive(Debug)]
pub(crate) enum NodeKind {
    /// Text of the template itself.
    Literal(Box<str>),
    /// A value.
    Print(Expression),
    /// A value as JSON.
    Json(Expression),
    /// One of two bodies.
    Branch(Branch),
    /// A body for each of many values.
    Each(Scoped),
    /// A body for one value.
    With(Scoped),
    /// A shared part; it always sees the variables as they are outside of all blocks.
    Partial(Arc<[Node]>),
}

/// One of two bodies.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) test: Expression,
    pub(crate) zero: Zero,
    pub(crate) then: Vec<Node>,
    pub(crate) otherwise: Vec<Node>,
}

/// A body that has values of its own.
#[derive(Debug)]
pub(crate) struct Scoped {
    pub(crate) of: Expression,
    /// What the value, and its key or index, are called in the body.
    pub(crate) names: Names,
    pub(crate) body: Vec<Node>,
    pub(crate) otherwise: Vec<Node>,
}

/// What `as |value key|` calls things.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) value: Option<Box<str>>,
    pub(crate) key: Option<Box<str>>,
}

/// What a zero counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zero {
    /// As nothing.
    Nothing,
    /// As something.
    Something,
}

/// Something that has a value.
#[derive(Debug)]
pub(crate) enum Expression {
    /// A variable.
    Path(Path),
    /// `@index`, `@key`, `@first` or `@last`, so many blocks further out.
    Local(usize, Local),
    /// A string of the template.
    Text(Box<str>),
    /// A number of the template.
    Number(Number),
    /// True or false.
    Flag(bool),
    /// Nothing.
    Null,
    /// What a helper makes of values.
    Call(Call, Vec<Self>),
}

/// The way to a variable.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) from: From,
    pub(crate) keys: Vec<Box<str>>,
}

/// Where the way to a variable begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// Outside of all blocks.
    Root,
    /// So many blocks further out.
    Up(usize),
}

/// What a block says about its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    Index,
    Key,
    First,
    Last,
}

/// A helper that makes a value of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    PriorityLabel,
    Lookup,
    Len,
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    And,
    Or,
    Not,
}

impl Call {
    /// Returns the helper of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "priority_label" => Self::PriorityLabel,
            "lookup" => Self::Lookup,
            "len" => Self::Len,
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "gt" => Self::Gt,
            "gte" => Self::Gte,
            "lt" => Self::Lt,
            "lte" => Self::Lte,
            "and" => Self::And,
            "or" => Self::Or,
            "not" => Self::Not,
            _ => return None,
        })
    }

    /// Returns how many values it takes, at least and at most.
    pub(crate) const fn arity(self) -> (usize, usize) {
        match self {
            Self::PriorityLabel | Self::Len | Self::Not => (1, 1),
            Self::Lookup | Self::Eq | Self::Ne | Self::Gt | Self::Gte | Self::Lt | Self::Lte => (2, 2),
            Self::And | Self::Or => (1, 10),
        }
    }
}
