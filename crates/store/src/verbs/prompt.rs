//! Make the prompts of tasks: choose a template, read what it needs, let it be written.
//!
//! How a template becomes text is somebody else's: a [`Prompter`] is handed in, pure, so
//! that a claim that has to run again makes the same prompts again.

use std::sync::Arc;

use extraboard_core::doors::Door;
use extraboard_core::id::{TaskRef, VersionId};
use extraboard_core::prompt::Context;
use extraboard_core::task::Task;
use extraboard_core::template::{self as templates, Template, Version};

use super::catalogue::{self, Catalogue, CatalogueCache};
use super::prompt_context::{self, Wanted};
use crate::error::Error;
use crate::rows::task;
use crate::rows::template::{self, TemplateRef};
use crate::tx::{Tx, Verb};

/// Writes prompts; pure.
pub trait Prompter: Send + Sync {
    /// Writes the prompt of a task by a version of a template, or says why it cannot.
    fn prompt(&self, template: &Template, version: &Version, context: &Context) -> Result<String, String>;
}

/// Makes the prompts of claims.
#[derive(Clone)]
pub enum Render {
    /// Of the task alone: for tests and benchmarks.
    Plain(Arc<dyn Fn(&Task) -> String + Send + Sync>),
    /// By templates.
    Templates(Arc<Templates>),
}

impl std::fmt::Debug for Render {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Templates(_) => "Templates",
        })
    }
}

impl Render {
    /// Makes prompts of the task alone.
    pub fn plain(render: impl Fn(&Task) -> String + Send + Sync + 'static) -> Self {
        Self::Plain(Arc::new(render))
    }

    /// Makes prompts by templates.
    pub fn templates(prompter: impl Prompter + 'static) -> Self {
        Self::Templates(Arc::new(Templates {
            cache: CatalogueCache::default(),
            prompter: Box::new(prompter),
        }))
    }
}

/// Whoever writes prompts, and the templates it knows.
pub struct Templates {
    cache: CatalogueCache,
    prompter: Box<dyn Prompter>,
}

impl std::fmt::Debug for Templates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Templates").field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// A prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub(crate) text: Option<String>,
    pub(crate) version: Option<VersionId>,
}

/// A prompt, or why there is none.
pub(crate) type Tried = Result<Made, String>;

/// Makes the prompts of tasks, in their order, by the templates of this epoch.
pub(crate) async fn make<T: Tx>(
    tx: &mut T,
    render: &Render,
    epoch: &str,
    wanted: Vec<Wanted>,
) -> Result<Vec<Tried>, Error> {
    match render {
        Render::Plain(render) => {
            let made = |wanted: Wanted| Ok(Made { text: Some(render(&wanted.task)), version: None });
            Ok(wanted.into_iter().map(made).collect())
        }
        _ if wanted.is_empty() => Ok(Vec::new()),
        Render::Templates(known) => {
            // Large, and every claim would have room for it.
            let catalogue = Box::pin(catalogue::read(tx, &known.cache, epoch)).await?;
            let contexts = Box::pin(prompt_context::read(tx, wanted)).await?;
            Ok(contexts.iter().map(|context| known.make(&catalogue, context)).collect())
        }
    }
}

impl Templates {
    fn make(&self, catalogue: &Catalogue, context: &Context) -> Tried {
        let Some((template, version)) = choose(catalogue, context) else { return Ok(Made::default()) };
        match self.prompter.prompt(template, version, context) {
            Ok(text) => Ok(Made { text: Some(text), version: Some(version.id) }),
            Err(why) => Err(format!("template {} version {}: {why}", template.slug, version.number)),
        }
    }
}

fn choose<'a>(catalogue: &'a Catalogue, context: &Context) -> Option<&'a (Template, Version)> {
    let facts = context.facts(confidence(&context.task));
    let chosen = templates::choose(catalogue.templates.iter().map(|(template, _)| template), &facts)?;
    catalogue.templates.iter().find(|(template, _)| template.id == chosen.id)
}

/// Returns how sure a task's hypothesis is, if it says so.
fn confidence(task: &Task) -> Option<f64> {
    let hypothesis: serde_json::Value = serde_json::from_str(task.hypothesis.as_deref()?).ok()?;
    hypothesis.get("confidence")?.as_f64()
}

/// Makes the prompt a task would get, without handing it out.
#[derive(Clone, Debug)]
pub struct TaskPreview {
    /// The task.
    pub task: TaskRef,
    /// The door it would leave by.
    pub door: Door,
    /// The version to make it by; the one of the template that is chosen if none is named.
    pub version: Option<VersionId>,
    /// Makes it.
    pub render: Render,
}

/// What a task would get.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The task.
    pub task: Task,
    /// What its prompt is made by, if anything matches.
    pub source: Option<(Template, Version)>,
    /// The prompt, or why there is none.
    pub prompt: Result<Option<String>, String>,
}

impl Verb for TaskPreview {
    type Output = Preview;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Preview, Error> {
        let task = task::get(tx, self.task).await?;
        let Render::Templates(known) = &self.render else {
            return Ok(Preview { task, source: None, prompt: Ok(None) });
        };
        let wanted = Wanted { task: task.clone(), door: self.door, dispatch: None };
        let context = prompt_context::read(tx, vec![wanted]).await?.into_iter().next();
        let context = context.ok_or_else(|| Error::Broken("a task without a context".to_owned()))?;
        let source = if let Some(version) = self.version {
            Some(named(tx, version).await?)
        } else {
            let epoch = catalogue::epoch(tx).await?;
            choose(&*catalogue::read(tx, &known.cache, &epoch).await?, &context).cloned()
        };
        let prompt = match &source {
            Some((template, version)) => known.prompter.prompt(template, version, &context).map(Some),
            None => Ok(None),
        };
        Ok(Preview { task, source, prompt })
    }
}

async fn named<T: Tx>(tx: &mut T, version: VersionId) -> Result<(Template, Version), Error> {
    let found = template::find_version(tx, version).await?;
    let found = found.ok_or(Error::NoVersion(template::VersionRef::Id(version)))?;
    Ok((template::get(tx, &TemplateRef::Id(found.template)).await?, found))
}
