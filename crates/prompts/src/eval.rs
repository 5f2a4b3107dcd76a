//! What expressions are worth where they stand.

use std::cmp::Ordering;

use extraboard_core::priority::Level;

use crate::error::Broken;
use crate::output::{NODE_COST, Output};
use crate::tree::{Call, Expression, From, Local, Names, Path, Zero};
use crate::value::Value;

/// How many bytes are compared in the time it takes to look at one.
const COMPARED_FOR_ONE: usize = 8;

/// What variables mean within a block.
#[derive(Clone, Debug)]
pub(crate) struct Scope<'a> {
    /// What names are looked up in.
    pub(crate) this: Value<'a>,
    /// Where in a list the block is.
    pub(crate) round: Option<Round<'a>>,
    /// What the block calls its values.
    pub(crate) names: Option<&'a Names>,
}

/// Where in a list a block is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round<'a> {
    pub(crate) index: usize,
    pub(crate) key: Option<&'a str>,
    pub(crate) is_last: bool,
}

/// The blocks an expression stands in, the innermost last; the first is what is outside of all.
pub(crate) type Scopes<'a> = Vec<Scope<'a>>;

type Evaluated<'a> = Result<Value<'a>, Broken>;

/// Returns what an expression is worth.
pub(crate) fn evaluate<'a>(
    expression: &'a Expression,
    scopes: &Scopes<'a>,
    output: &mut Output<'_>,
) -> Evaluated<'a> {
    output.spend(NODE_COST)?;
    Ok(match expression {
        Expression::Path(path) => {
            output.spend(path.keys.len() * NODE_COST)?;
            follow(path, scopes)
        }
        Expression::Local(up, local) => self::local(*up, *local, scopes),
        Expression::Text(text) => Value::word(text),
        Expression::Number(number) => Value::Number(number.clone()),
        Expression::Flag(flag) => Value::Flag(*flag),
        Expression::Null => Value::Nothing,
        Expression::Call(call, values) => return called(*call, values, scopes, output),
    })
}

fn follow<'a>(path: &Path, scopes: &Scopes<'a>) -> Value<'a> {
    let (start, keys) = start(path, scopes);
    keys.iter().fold(start, |value, key| value.get(key))
}

/// Returns where the way to a variable begins, and what is left of it.
fn start<'a, 'p>(path: &'p Path, scopes: &Scopes<'a>) -> (Value<'a>, &'p [Box<str>]) {
    let outermost = || scopes.first().map_or(Value::Nothing, |scope| scope.this.clone());
    let up = match path.from {
        From::Root => return (outermost(), &path.keys),
        From::Up(up) => up,
    };
    if let (0, Some((name, rest))) = (up, path.keys.split_first())
        && let Some(value) = scopes.iter().rev().find_map(|scope| scope.named(name))
    {
        return (value, rest);
    }
    let this = scopes.iter().rev().nth(up).map_or_else(outermost, |scope| scope.this.clone());
    (this, &path.keys)
}

impl<'a> Scope<'a> {
    fn named(&self, name: &str) -> Option<Value<'a>> {
        let names = self.names?;
        if names.value.as_deref() == Some(name) {
            return Some(self.this.clone());
        }
        (names.key.as_deref() == Some(name)).then(|| match self.round {
            Some(Round { key: Some(key), .. }) => Value::Line(key),
            Some(round) => Value::count(round.index),
            None => Value::Nothing,
        })
    }
}

fn local<'a>(up: usize, local: Local, scopes: &Scopes<'a>) -> Value<'a> {
    let Some(round) = scopes.iter().rev().nth(up).and_then(|scope| scope.round) else {
        return Value::Nothing;
    };
    match local {
        Local::Index => Value::count(round.index),
        Local::Key => Value::line(round.key),
        Local::First => Value::Flag(round.index == 0),
        Local::Last => Value::Flag(round.is_last),
    }
}

fn called<'a>(
    call: Call,
    values: &'a [Expression],
    scopes: &Scopes<'a>,
    output: &mut Output<'_>,
) -> Evaluated<'a> {
    let mut value = |index: usize| evaluate(&values[index], scopes, output);
    Ok(match call {
        Call::And | Call::Or => return all_or_any(call, values, scopes, output),
        Call::Not => Value::Flag(!value(0)?.is_truthy(Zero::Nothing)),
        Call::Len => Value::count(value(0)?.len()),
        Call::PriorityLabel => Value::word(priority_label(&value(0)?)),
        Call::Lookup => {
            let of = value(0)?;
            match value(1)? {
                Value::Number(index) => of.get(&index.to_string()),
                key => key.as_str().map_or(Value::Nothing, |key| of.get(key)),
            }
        }
        Call::Eq | Call::Ne | Call::Gt | Call::Gte | Call::Lt | Call::Lte => {
            let (one, two) = (value(0)?.plain(), value(1)?.plain());
            output.spend(one.len().min(two.len()) / COMPARED_FOR_ONE)?;
            Value::Flag(holds(call, one.compare(&two)))
        }
    })
}

fn all_or_any<'a>(
    call: Call,
    values: &'a [Expression],
    scopes: &Scopes<'a>,
    output: &mut Output<'_>,
) -> Evaluated<'a> {
    let decides = call == Call::Or;
    for value in values {
        if evaluate(value, scopes, output)?.is_truthy(Zero::Nothing) == decides {
            return Ok(Value::Flag(decides));
        }
    }
    Ok(Value::Flag(!decides))
}

fn holds(call: Call, order: Option<Ordering>) -> bool {
    match call {
        Call::Eq => order == Some(Ordering::Equal),
        Call::Ne => order != Some(Ordering::Equal),
        Call::Gt => order == Some(Ordering::Greater),
        Call::Gte => order.is_some_and(Ordering::is_ge),
        Call::Lt => order == Some(Ordering::Less),
        _ => order.is_some_and(Ordering::is_le),
    }
}

fn priority_label(value: &Value<'_>) -> &'static str {
    let Value::Number(number) = value else { return "unknown" };
    match number.as_i64().and_then(Level::from_tracker) {
        Some(Level::Urgent) => "urgent",
        Some(Level::High) => "high",
        Some(Level::Medium) => "medium",
        Some(Level::Low) => "low",
        Some(Level::None) => "none",
        None => "unknown",
    }
}
