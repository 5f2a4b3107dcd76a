//! Prompts by templates: what the desk is given to make them, and what comes with the program.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use extraboard_core::caller::Caller;
use extraboard_core::id::VersionId;
use extraboard_core::prompt::Context;
use extraboard_core::template::{Template, Version};
use extraboard_desk::Desk;
use extraboard_prompts::{Compiled, Source, Surroundings, compile, shipped};
use extraboard_store::error::Error;
use extraboard_store::verbs::{Prompter, Shipped, TemplatesInit};

/// How many versions are kept ready; more than are in use anywhere.
const COMPILED_MAX: usize = 256;

/// Whether agents are asked what they think of their prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskForReviews {
    /// Where their project does not say otherwise.
    Yes,
    /// Nowhere.
    No,
}

/// Makes prompts.
#[derive(Debug)]
pub struct Prompts {
    surroundings: Surroundings,
    ask: AskForReviews,
    /// Versions never change, so what was read stays read.
    compiled: Mutex<HashMap<VersionId, Arc<Compiled>>>,
}

impl Prompts {
    /// Makes prompts that tell agents to report to this address.
    pub fn new(server_url: String, ask: AskForReviews) -> Self {
        Self { surroundings: Surroundings { server_url }, ask, compiled: Mutex::default() }
    }

    fn compiled(&self, version: &Version) -> Result<Arc<Compiled>, String> {
        let known = || self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = known().get(&version.id) {
            return Ok(Arc::clone(compiled));
        }
        let compiled = compile(&version.content).map_err(|error| error.to_string())?;
        let mut known = known();
        if known.len() >= COMPILED_MAX {
            known.clear();
        }
        Ok(Arc::clone(known.entry(version.id).or_insert(Arc::new(compiled))))
    }
}

impl Prompter for Prompts {
    fn prompt(&self, template: &Template, version: &Version, context: &Context) -> Result<String, String> {
        let compiled = self.compiled(version)?;
        let source = Source {
            template: template.id,
            slug: &template.slug,
            version: version.id,
            number: version.number,
        };
        let made = match self.ask {
            AskForReviews::Yes => compiled.render(context, &source, &self.surroundings),
            AskForReviews::No => {
                let context = Context { ask_for_review: false, ..context.clone() };
                compiled.render(&context, &source, &self.surroundings)
            }
        };
        made.map_err(|broken| broken.to_string())
    }
}

/// Adds the templates that come with the program, as far as they are not there.
pub async fn install(desk: &Desk) -> Result<(), Error> {
    let shipped = shipped().into_iter().map(|shipped| Shipped {
        id: desk.new_template_id(),
        version: desk.new_version_id(),
        slug: shipped.slug.to_owned(),
        name: shipped.name.to_owned(),
        description: shipped.description.to_owned(),
        conditions: shipped.conditions,
        specificity: shipped.specificity,
        content: shipped.content.to_owned(),
    });
    let init = TemplatesInit { ctx: desk.ctx(Caller::Desk), shipped: shipped.collect() };
    let written = desk.write(init).await?;
    if written > 0 {
        tracing::info!("{written} templates came with this version");
    }
    Ok(())
}
