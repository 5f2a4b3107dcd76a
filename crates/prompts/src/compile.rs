//! Makes a template of a text, or says why it is none.

use std::sync::Arc;

use extraboard_core::prompt::Context;
use handlebars::Template;

use crate::error::{Broken, Place, TemplateError};
use crate::input::{Input, Source, Surroundings};
use crate::object::Object;
use crate::partials::Partials;
use crate::read::read;
use crate::render::{Walk, render};
use crate::sample;
use crate::scan::scan;
use crate::tree::Node;
use crate::value::Value;

/// A text that is a template: parsed, checked, ready to render, and cheap to share.
#[derive(Clone, Debug)]
pub struct Compiled {
    nodes: Arc<[Node]>,
}

/// Parses and checks a text, and makes a prompt of it for trial.
pub fn compile(content: &str) -> Result<Compiled, TemplateError> {
    scan(content)?;
    let template = parse(content)?;
    let nodes = read(&template, Partials::shipped())?;
    let compiled = Compiled { nodes: nodes.into() };
    let (full, empty) = (sample::full(), sample::empty());
    compiled.try_out(full, Walk::Every)?;
    compiled.try_out(full, Walk::Taken)?;
    compiled.try_out(empty, Walk::Taken)?;
    Ok(compiled)
}

impl Compiled {
    /// Makes the prompt for a task.
    pub fn render(
        &self,
        context: &Context,
        source: &Source<'_>,
        surroundings: &Surroundings,
    ) -> Result<String, Broken> {
        let input = Input::new(context, source, surroundings);
        self.walk(&input, Walk::Taken).map_err(|(broken, _)| broken)
    }

    fn walk(&self, input: &Input<'_>, walk: Walk) -> Result<String, (Broken, Option<Place>)> {
        render(&self.nodes, Value::Object(Object::Root(input)), &input.token, walk)
    }

    fn try_out(&self, context: &Context, walk: Walk) -> Result<(), TemplateError> {
        let source = sample::source();
        let input = Input::new(context, &source, sample::surroundings());
        match self.walk(&input, walk) {
            Ok(_) => Ok(()),
            Err((broken, place)) => Err(TemplateError::at(broken.0, place)),
        }
    }
}

/// Parses a text that was scanned.
///
/// The parser is not ours and takes things for granted in places. Should it panic on a text
/// nobody thought of, that text is refused and nothing else happens.
fn parse(content: &str) -> Result<Template, TemplateError> {
    match std::panic::catch_unwind(|| Template::compile(content)) {
        Ok(Ok(template)) => Ok(template),
        Ok(Err(error)) => {
            let place = error.pos().map(|(line, column)| Place { line, column });
            Err(TemplateError::at(error.reason().to_string(), place))
        }
        Err(_) => Err(TemplateError::new("the parser cannot read this text")),
    }
}
