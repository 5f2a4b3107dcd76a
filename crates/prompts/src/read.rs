//! Turns what the parser read into a tree, and refuses what is not in our language.
//!
//! Nothing here depends on values: a helper or partial that does not exist is refused also in
//! a branch nobody ever takes.

use handlebars::template::{
    BlockParam, DecoratorTemplate, HelperTemplate, Parameter, Subexpression, Template, TemplateElement,
};
use handlebars::{Path as ParsedPath, PathSeg};
use serde_json::Value as Json;

use crate::error::{Place, TemplateError};
use crate::partials::Partials;
use crate::tree::{Branch, Call, Expression, From, Local, Names, Node, NodeKind, Path, Scoped, Zero};

/// How many `each` may stand within each other.
const EACH_DEEP_MAX: usize = 2;

/// Reads a template. Partials are those that may be used in it.
pub(crate) fn read(template: &Template, partials: &Partials) -> Result<Vec<Node>, TemplateError> {
    Reader { partials, place: None, loops: 0 }.nodes(template)
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    partials: &'a Partials,
    /// Where the element stands that is being read.
    place: Option<Place>,
    /// How many `each` it stands in.
    loops: usize,
}

type Read<T> = Result<T, TemplateError>;

impl Reader<'_> {
    fn nodes(self, template: &Template) -> Read<Vec<Node>> {
        let mut nodes = Vec::with_capacity(template.elements.len());
        for (index, element) in template.elements.iter().enumerate() {
            // The body of an `else if` has no places of its own.
            let place = template.mapping.get(index).map(|at| Place { line: at.0, column: at.1 });
            let reader = Reader { place: place.or(self.place), ..self };
            if let Some(kind) = reader.element(element)? {
                nodes.push(Node { place: reader.place, kind });
            }
        }
        Ok(nodes)
    }

    fn body(self, template: Option<&Template>) -> Read<Vec<Node>> {
        template.map_or(Ok(Vec::new()), |template| self.nodes(template))
    }

    fn refuse<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(TemplateError::at(message, self.place))
    }

    fn element(self, element: &TemplateElement) -> Read<Option<NodeKind>> {
        match element {
            TemplateElement::RawString(text) if text.is_empty() => Ok(None),
            TemplateElement::RawString(text) => Ok(Some(NodeKind::Literal(text.as_str().into()))),
            TemplateElement::Expression(helper) => self.print(helper).map(Some),
            TemplateElement::HelperBlock(helper) => self.block(helper).map(Some),
            TemplateElement::PartialExpression(partial) => self.partial(partial).map(Some),
            TemplateElement::Comment(_) => Ok(None),
            TemplateElement::HtmlExpression(_) => {
                self.refuse("found a value that is not to be cleaned: write it with two braces")
            }
            TemplateElement::PartialBlock(_) => self.refuse("a partial takes no block"),
            _ => self.refuse("there are no decorators and no inline partials"),
        }
    }

    fn print(self, helper: &HelperTemplate) -> Read<NodeKind> {
        if helper.params.is_empty() && helper.hash.is_empty() {
            if let Some(name) = helper.name.as_name().filter(|name| is_helper(name)) {
                return self.refuse(format!("the helper {name} needs a value"));
            }
            return self.expression(&helper.name).map(NodeKind::Print);
        }
        match helper.name.as_name() {
            Some("json") => {
                self.check_values("json", helper, (1, 1))?;
                self.expression(&helper.params[0]).map(NodeKind::Json)
            }
            Some(name) => self.call(name, helper).map(NodeKind::Print),
            None => self.refuse("the name of a helper cannot be computed"),
        }
    }

    fn call(self, name: &str, helper: &HelperTemplate) -> Read<Expression> {
        let Some(call) = Call::named(name) else {
            return self.refuse(match name {
                "if" | "unless" | "each" | "with" => format!("{name} is a block: write {{{{#{name} …}}}}"),
                "json" => "json stands alone: its text is no value for others".to_owned(),
                _ => format!("there is no helper {name}"),
            });
        };
        self.check_values(name, helper, call.arity())?;
        let values = helper.params.iter().map(|value| self.expression(value)).collect::<Read<_>>()?;
        Ok(Expression::Call(call, values))
    }

    fn check_values(self, name: &str, helper: &HelperTemplate, (least, most): (usize, usize)) -> Read<()> {
        let count = helper.params.len();
        if !(least..=most).contains(&count) {
            let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
            return self.refuse(format!("{name} takes {wanted} values, got {count}"));
        }
        let takes = |key: &str| matches!(name, "if" | "unless") && key == "includeZero";
        match helper.hash.keys().find(|key| !takes(key)) {
            Some(key) => self.refuse(format!("{name} takes no {key}=")),
            None => Ok(()),
        }
    }

    fn block(self, helper: &HelperTemplate) -> Read<NodeKind> {
        let Some(name) = helper.name.as_name() else {
            return self.refuse("the name of a block cannot be computed");
        };
        match name {
            "if" | "unless" => self.branch(name, helper).map(NodeKind::Branch),
            "each" if self.loops == EACH_DEEP_MAX => {
                self.refuse(format!("each stands within each other more than {EACH_DEEP_MAX} deep"))
            }
            "each" => Reader { loops: self.loops + 1, ..self }.scoped(name, helper).map(NodeKind::Each),
            "with" => self.scoped(name, helper).map(NodeKind::With),
            _ if Call::named(name).is_some() => {
                let test = self.call(name, helper)?;
                self.bodies(helper, test, Zero::Nothing).map(NodeKind::Branch)
            }
            _ => self.refuse(format!("there is no block {name}")),
        }
    }

    fn branch(self, name: &str, helper: &HelperTemplate) -> Read<Branch> {
        self.check_values(name, helper, (1, 1))?;
        let zero = match helper.hash.get("includeZero") {
            None | Some(Parameter::Literal(Json::Bool(false))) => Zero::Nothing,
            Some(Parameter::Literal(Json::Bool(true))) => Zero::Something,
            Some(_) => return self.refuse("includeZero is true or false"),
        };
        let test = self.expression(&helper.params[0])?;
        let mut branch = self.bodies(helper, test, zero)?;
        if name == "unless" {
            std::mem::swap(&mut branch.then, &mut branch.otherwise);
        }
        Ok(branch)
    }

    fn bodies(self, helper: &HelperTemplate, test: Expression, zero: Zero) -> Read<Branch> {
        if helper.block_param.is_some() {
            return self.refuse("only each and with name their values");
        }
        let then = self.body(helper.template.as_ref())?;
        let otherwise = self.body(helper.inverse.as_ref())?;
        Ok(Branch { test, zero, then, otherwise })
    }

    fn scoped(self, name: &str, helper: &HelperTemplate) -> Read<Scoped> {
        self.check_values(name, helper, (1, 1))?;
        Ok(Scoped {
            of: self.expression(&helper.params[0])?,
            names: names(helper.block_param.as_ref()),
            body: self.body(helper.template.as_ref())?,
            otherwise: self.body(helper.inverse.as_ref())?,
        })
    }

    fn partial(self, partial: &DecoratorTemplate) -> Read<NodeKind> {
        let Parameter::Name(name) = &partial.name else {
            return self.refuse("the name of a partial cannot be computed");
        };
        let Some(found) = self.partials.get(name) else {
            return self.refuse(format!("there is no partial {name}"));
        };
        if !partial.params.is_empty() || !partial.hash.is_empty() {
            return self.refuse("a partial takes no values: it sees all variables");
        }
        if self.loops + found.loops > EACH_DEEP_MAX {
            let message = format!("the partial {name} makes each stand more than {EACH_DEEP_MAX} deep");
            return self.refuse(message);
        }
        Ok(NodeKind::Partial(found.nodes.clone()))
    }

    fn expression(self, parameter: &Parameter) -> Read<Expression> {
        match parameter {
            Parameter::Path(ParsedPath::Local((up, name, _))) => {
                let local = match name.as_str() {
                    "index" => Local::Index,
                    "key" => Local::Key,
                    "first" => Local::First,
                    "last" => Local::Last,
                    _ => return self.refuse(format!("there is no @{name}")),
                };
                Ok(Expression::Local(*up, local))
            }
            Parameter::Path(ParsedPath::Relative((segments, raw))) => {
                Ok(Expression::Path(path(segments, raw)))
            }
            Parameter::Literal(json) => self.literal(json),
            Parameter::Subexpression(inner) => self.inner(inner),
            _ => self.refuse("expected a value"),
        }
    }

    fn literal(self, json: &Json) -> Read<Expression> {
        Ok(match json {
            Json::Null => Expression::Null,
            Json::Bool(flag) => Expression::Flag(*flag),
            Json::Number(number) => Expression::Number(number.clone()),
            Json::String(text) => Expression::Text(text.as_str().into()),
            Json::Array(_) | Json::Object(_) => {
                return self.refuse("lists and objects cannot be written out");
            }
        })
    }

    fn inner(self, inner: &Subexpression) -> Read<Expression> {
        match inner.as_element() {
            TemplateElement::Expression(helper) => match helper.name.as_name() {
                Some(name) => self.call(name, helper),
                None => self.refuse("the name of a helper cannot be computed"),
            },
            _ => self.refuse("expected a helper in brackets"),
        }
    }
}

fn is_helper(name: &str) -> bool {
    Call::named(name).is_some() || matches!(name, "json" | "if" | "unless" | "each" | "with" | "log" | "raw")
}

fn names(block_param: Option<&BlockParam>) -> Names {
    let name = |parameter: &Parameter| parameter.as_name().map(Box::from);
    match block_param {
        Some(BlockParam::Single(value)) => Names { value: name(value), key: None },
        Some(BlockParam::Pair((value, key))) => Names { value: name(value), key: name(key) },
        _ => Names::default(),
    }
}

/// Reads the way to a variable. The parser keeps its marks to itself, so the text says which they are.
fn path(segments: &[PathSeg], raw: &str) -> Path {
    let keys = segments.iter().filter_map(|segment| match segment {
        PathSeg::Named(name) => Some(name.as_str().into()),
        _ => None,
    });
    let keys: Vec<Box<str>> = keys.collect();
    let ups = segments.iter().filter(|segment| !matches!(segment, PathSeg::Named(_))).count();
    let start = raw.strip_prefix("this").unwrap_or(raw).trim_start_matches(['.', '/']);
    let from = if start.starts_with("@root") { From::Root } else { From::Up(ups) };
    Path { from, keys }
}
