//! What the engine promises as a whole: the language, the guards, the shipped templates.

mod engine;
mod fences;
mod fidelity;
mod limits;
mod refusals;
mod shipped;
mod strangers;

use extraboard_core::prompt::Context;

use crate::compile::compile;
use crate::error::Broken;
use crate::sample;

/// Makes a prompt for a context; the template must be one.
#[track_caller]
fn render(template: &str, context: &Context) -> Result<String, Broken> {
    let compiled = compile(template).unwrap_or_else(|error| panic!("{template}: {error}"));
    compiled.render(context, &sample::source(), sample::surroundings())
}

/// Makes a prompt for the full sample.
#[track_caller]
fn rendered(template: &str) -> String {
    render(template, sample::full()).unwrap()
}

/// Returns the full sample with something else in its place.
fn with(change: impl FnOnce(&mut Context)) -> Context {
    let mut context = sample::full().clone();
    change(&mut context);
    context
}
