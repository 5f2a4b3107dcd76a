//! Goes through a tree and writes the prompt.

use serde_json::Value as Json;

use crate::error::{Broken, Place};
use crate::eval::{Round, Scope, Scopes, evaluate};
use crate::output::{NODE_COST, Output};
use crate::pretty::pretty;
use crate::tree::{Branch, Expression, Node, NodeKind, Scoped};
use crate::value::Value;

/// Which branches are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Those whose conditions hold.
    Taken,
    /// Every one, to see what could go wrong in it. What comes out is no prompt.
    Every,
}

/// Writes a prompt; on failure also says where it failed.
pub(crate) fn render<'a>(
    nodes: &'a [Node],
    root: Value<'a>,
    token_place: &'a str,
    walk: Walk,
) -> Result<String, (Broken, Option<Place>)> {
    let scopes = vec![Scope { this: root, round: None, names: None }];
    let mut renderer = Renderer { scopes, output: Output::new(token_place), walk, place: None };
    match renderer.nodes(nodes) {
        Ok(()) => renderer.output.finish().map_err(|broken| (broken, renderer.place)),
        Err(broken) => Err((broken, renderer.place)),
    }
}

struct Renderer<'a> {
    scopes: Scopes<'a>,
    output: Output<'a>,
    walk: Walk,
    place: Option<Place>,
}

type Written = Result<(), Broken>;

impl<'a> Renderer<'a> {
    fn nodes(&mut self, nodes: &'a [Node]) -> Written {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'a Node) -> Written {
        self.place = node.place;
        self.output.spend(NODE_COST)?;
        match &node.kind {
            NodeKind::Literal(text) => {
                self.output.spend(text.len())?;
                self.output.literal(text).inspect_err(|_| self.place = self.odd_place())
            }
            NodeKind::Print(expression) => {
                let value = self.value(expression)?;
                self.print(&value)
            }
            NodeKind::Json(expression) => {
                let value = self.value(expression)?;
                self.json(&value)
            }
            NodeKind::Branch(branch) => self.branch(branch),
            NodeKind::Each(each) => self.each(each),
            NodeKind::With(with) => self.with(with),
            NodeKind::Partial(nodes) => self.partial(nodes),
        }
    }

    /// Returns the place of a line that was refused within the text that is being written.
    ///
    /// The parser's place of a text is that of the first thing seen of it.
    fn odd_place(&self) -> Option<Place> {
        let Some(((lines, column), place)) = self.output.odd.zip(self.place) else { return self.place };
        Some(Place { line: place.line + lines, column: column.unwrap_or(place.column) })
    }

    fn value(&mut self, expression: &'a Expression) -> Result<Value<'a>, Broken> {
        evaluate(expression, &self.scopes, &mut self.output)
    }

    fn print(&mut self, value: &Value<'a>) -> Written {
        match value {
            Value::Nothing => self.nothing(),
            Value::Flag(flag) => self.output.word(if *flag { "true" } else { "false" }),
            Value::Number(number) => self.output.word(&number.to_string()),
            Value::Word(word) => self.output.word(word),
            Value::Line(text) => self.output.line(text),
            Value::Text { text, about } => self.output.text(text, about),
            Value::Json { .. } | Value::List(_) | Value::Object(_) => self.json(value),
        }
    }

    /// Writes nothing; what is missing from a full sample could be anything elsewhere.
    fn nothing(&self) -> Written {
        if self.walk == Walk::Every { self.output.refuse_code() } else { Ok(()) }
    }

    fn json(&mut self, value: &Value<'a>) -> Written {
        let about = match value {
            Value::Nothing => return self.nothing(),
            Value::Json { about, .. } | Value::Text { about, .. } => about,
            _ => "data",
        };
        self.output.json(&pretty(value, self.output.json_room()), about)
    }

    fn branch(&mut self, branch: &'a Branch) -> Written {
        let holds = self.value(&branch.test)?.is_truthy(branch.zero);
        match self.walk {
            Walk::Every => self.both(|it| it.nodes(&branch.then), &branch.otherwise),
            Walk::Taken if holds => self.nodes(&branch.then),
            Walk::Taken => self.nodes(&branch.otherwise),
        }
    }

    /// Goes through a body and what stands in its stead, as if each were the only one.
    fn both(&mut self, body: impl FnOnce(&mut Self) -> Written, otherwise: &'a [Node]) -> Written {
        let place = self.place;
        let before = self.output.block;
        body(self)?;
        let after = std::mem::replace(&mut self.output.block, before);
        self.nodes(otherwise)?;
        if let Some(block) = self.output.block.or(after) {
            self.output.block = block;
            return Ok(());
        }
        self.place = place;
        Err(Broken("a code block begins or ends in one branch and not in the other".to_owned()))
    }

    fn each(&mut self, each: &'a Scoped) -> Written {
        let of = self.value(&each.of)?;
        let is_empty = parts(&of).is_none_or(|count| count == 0);
        match self.walk {
            Walk::Every => self.both(|it| it.rounds(each, &of), &each.otherwise),
            Walk::Taken if is_empty => self.nodes(&each.otherwise),
            Walk::Taken => self.rounds(each, &of),
        }
    }

    fn rounds(&mut self, each: &'a Scoped, of: &Value<'a>) -> Written {
        let count = parts(of).unwrap_or(0);
        let round = |index, key| Round { index, key, is_last: index + 1 >= count };
        match of {
            Value::List(list) => {
                (0..count).try_for_each(|index| self.scope(each, list.get(index), Some(round(index, None))))
            }
            Value::Object(object) => object.keys().iter().enumerate().try_for_each(|(index, key)| {
                self.scope(each, object.get(key), Some(round(index, Some(key))))
            }),
            Value::Json { json: Json::Array(list), about } => {
                list.iter().enumerate().try_for_each(|(index, json)| {
                    self.scope(each, Value::Json { json, about }.plain(), Some(round(index, None)))
                })
            }
            Value::Json { json: Json::Object(fields), about } => {
                fields.iter().enumerate().try_for_each(|(index, (key, json))| {
                    self.scope(each, Value::Json { json, about }.plain(), Some(round(index, Some(key))))
                })
            }
            _ => self.scope(each, Value::Nothing, Some(round(0, None))),
        }
    }

    fn with(&mut self, with: &'a Scoped) -> Written {
        let of = self.value(&with.of)?;
        let holds = of.is_truthy(crate::tree::Zero::Nothing);
        let round = self.scopes.last().and_then(|scope| scope.round);
        match self.walk {
            Walk::Every => self.both(|it| it.scope(with, of, round), &with.otherwise),
            Walk::Taken if holds => self.scope(with, of, round),
            Walk::Taken => self.nodes(&with.otherwise),
        }
    }

    fn scope(&mut self, block: &'a Scoped, this: Value<'a>, round: Option<Round<'a>>) -> Written {
        self.output.spend(NODE_COST)?;
        self.scopes.push(Scope { this, round, names: Some(&block.names) });
        self.nodes(&block.body)?;
        self.scopes.pop();
        Ok(())
    }

    fn partial(&mut self, nodes: &'a [Node]) -> Written {
        let place = self.place;
        let inner = self.scopes.split_off(1);
        let written = self.nodes(nodes);
        self.scopes.extend(inner);
        self.place = place;
        written
    }
}

/// Returns how many parts a value has that can be gone through.
fn parts(value: &Value<'_>) -> Option<usize> {
    match value {
        Value::List(_) | Value::Object(_) | Value::Json { .. } => Some(value.len()),
        _ => None,
    }
}
