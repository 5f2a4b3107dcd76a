//! Templates in the test's hands: a prompter that writes down what it was handed.

use std::sync::Arc;

use extraboard_core::doors::Door;
use extraboard_core::gate::Nothing;
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::inbox::InboxKind;
use extraboard_core::prompt::{Context, Relative, Session};
use extraboard_core::status::Status;
use extraboard_core::template::{Template, Version};
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ClaimBatch, ClaimRequest, Claimed, InboxItem, InboxList, Preview, Prompter, Render, TaskEdit, TaskPatch,
    TaskPatched, TaskPreview, TemplateCreate, TemplateEdit, TemplateRef, VersionCreate, VersionGet,
    VersionPromote, VersionRef,
};
use extraboard_store::{Store, Verb};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::harness::{Answer, TestStore, agent, person};

/// Writes the facts of a context, a line each, below a line that names the version.
///
/// The content `broken` cannot be written at all, `broken for t` not for tasks titled `t`.
struct Scribe;

impl Prompter for Scribe {
    fn prompt(&self, template: &Template, version: &Version, context: &Context) -> Result<String, String> {
        let title = &context.task.title;
        if version.content == "broken" || version.content == format!("broken for {title}") {
            return Err(format!("nothing can be written for {title}"));
        }
        let mut lines = vec![format!("{} v{}: {}", template.slug, version.number, version.content)];
        lines.extend(facts(context));
        Ok(lines.join("\n"))
    }
}

/// Returns a maker of prompts that has read no template yet.
pub(crate) fn scribe() -> Render {
    Render::templates(Scribe)
}

fn facts(context: &Context) -> Vec<String> {
    let task = &context.task;
    let mut lines = vec![format!("task #{} {} by {}", task.number, task.title, context.door)];
    lines.extend(context.project.iter().map(|project| format!("project {}", project.name)));
    lines.extend(context.goal.iter().map(|goal| format!("goal {} {}", goal.title, goal.status)));
    lines.extend(task.labels.iter().map(|label| format!("label {} {}", label.name, label.color)));
    let groups = [
        ("parent", context.parent.as_slice()),
        ("sibling", &context.siblings),
        ("child", &context.children),
        ("blocking", &context.blocking),
        ("blocked by", &context.blocked_by),
    ];
    for (word, group) in groups {
        lines.extend(group.iter().map(|one| relative(word, one)));
    }
    lines.extend(context.sessions.iter().map(session));
    lines.extend(
        context.comments.iter().map(|said| format!("{} by {}: {}", said.kind, said.author, said.body)),
    );
    lines.extend(task.question.iter().map(|question| format!("asked {question}")));
    lines.extend(task.answer.iter().map(|answer| format!("answered {answer}")));
    lines.extend(context.has_failed_sessions.then(|| "failed before".to_owned()));
    lines.extend((!context.ask_for_review).then(|| "no review".to_owned()));
    lines
}

fn relative(word: &str, one: &Relative) -> String {
    let mut line = format!("{word} #{} {} {}", one.number, one.title, one.state);
    for text in [&one.description, &one.agent_summary].into_iter().flatten() {
        line = format!("{line}, {text}");
    }
    line
}

fn session(session: &Session) -> String {
    let mut line = format!("session #{}.{} {}", session.task, session.fence, session.status());
    for text in [&session.summary, &session.error].into_iter().flatten() {
        line = format!("{line}, {text}");
    }
    line
}

/// Returns the lines of a prompt below the first that begin with a word.
pub(crate) fn lines_of<'a>(claimed: &'a Claimed, word: &str) -> Vec<&'a str> {
    let prompt = claimed.dispatch.prompt.as_deref().expect("a template made a prompt");
    prompt.lines().skip(1).filter(|line| line.starts_with(word)).collect()
}

/// Returns the slug of the template a prompt was made by; none if there is no prompt.
pub(crate) fn slug_of(claimed: &Claimed) -> Option<&str> {
    claimed.dispatch.prompt.as_deref().and_then(|prompt| prompt.split(' ').next())
}

/// Templates and versions.
impl TestStore {
    pub(crate) fn templating(&self, slug: &str, edit: TemplateEdit) -> TemplateCreate {
        let (slug, name) = (slug.to_owned(), format!("the {slug}"));
        TemplateCreate { ctx: self.ctx(person()), id: self.template_id(), slug, name, edit }
    }

    /// Creates a template that has no version yet.
    pub(crate) async fn bare_template(&self, slug: &str, edit: TemplateEdit) -> Template {
        self.store.write(self.templating(slug, edit)).await.unwrap()
    }

    /// Creates a template with an active version.
    pub(crate) async fn template(&self, slug: &str, edit: TemplateEdit) -> Version {
        let template = self.bare_template(slug, edit).await;
        self.version(&template, "text").await
    }

    pub(crate) fn versioning(&self, template: &Template, content: &str) -> VersionCreate {
        VersionCreate {
            ctx: self.ctx(person()),
            id: self.version_id(),
            template: TemplateRef::Id(template.id),
            content: content.to_owned(),
            changelog: None,
            author_type: None,
            author: None,
        }
    }

    pub(crate) async fn version(&self, template: &Template, content: &str) -> Version {
        Box::pin(self.store.write(self.versioning(template, content))).await.unwrap()
    }

    pub(crate) fn promoting(&self, version: &Version) -> VersionPromote {
        VersionPromote {
            ctx: self.ctx(person()),
            template: TemplateRef::Id(version.template),
            version: VersionRef::Id(version.id),
            epoch: self.version_id(),
        }
    }

    /// Adds a version to the template of another one and promotes it.
    pub(crate) async fn supersede(&self, old: &Version, content: &str) -> Version {
        let (template, _) = self.version_now(old).await;
        let version = self.version(&template, content).await;
        Box::pin(self.store.write(self.promoting(&version))).await.unwrap()
    }

    /// Reads a version as it is now, and its template.
    pub(crate) async fn version_now(&self, version: &Version) -> (Template, Version) {
        self.store.read(VersionGet { version: version.id }).await.unwrap()
    }
}

/// Prompts.
impl TestStore {
    pub(crate) fn prompted_batch(&self, requests: Vec<ClaimRequest>) -> ClaimBatch {
        ClaimBatch { render: self.scribe.clone(), ..self.batch(requests) }
    }

    pub(crate) async fn claim_prompted_all(&self, requests: Vec<ClaimRequest>) -> Vec<Answer> {
        Box::pin(self.store.write(self.prompted_batch(requests))).await.unwrap()
    }

    pub(crate) async fn claim_prompted_with(&self, request: ClaimRequest) -> Answer {
        self.claim_prompted_all(vec![request]).await.pop().unwrap()
    }

    pub(crate) async fn try_claim_prompted(&self) -> Result<Claimed, Nothing> {
        self.claim_prompted_with(self.request("a")).await.unwrap()
    }

    /// Claims the head of the line with a prompt by templates; there must be one.
    pub(crate) async fn claim_prompted(&self) -> Claimed {
        self.try_claim_prompted().await.unwrap()
    }

    /// Asks for one task by name, with a prompt by templates.
    pub(crate) async fn start_prompted(&self, number: TaskNumber) -> Result<TaskPatched, Error> {
        let patch = self.patching(agent("a"), number, TaskEdit::default(), Some(Status::InProgress));
        Box::pin(self.store.write(TaskPatch { render: self.scribe.clone(), ..patch })).await
    }

    pub(crate) async fn preview(&self, task: TaskNumber, version: Option<&Version>) -> Preview {
        let (task, version) = (TaskRef::Number(task), version.map(|version| version.id));
        let preview = TaskPreview { task, door: Door::Pull, version, render: self.scribe.clone() };
        Box::pin(self.store.read(preview)).await.unwrap()
    }

    /// Lists the tasks whose prompts wait for a person, with what is said about them.
    pub(crate) async fn broken_prompts(&self) -> Vec<InboxItem> {
        let list = InboxList { kinds: vec![InboxKind::BrokenPrompt], limit: 200, offset: 0 };
        self.store.read(list).await.unwrap().items
    }
}

/// Runs verbs at once, over two servers where the database allows it; the answers come in any order.
///
/// Nobody starts before everybody has a connection.
pub(crate) async fn at_once<V: Verb>(ctx: &TestStore, verbs: Vec<V>) -> Vec<Result<V::Output, Error>> {
    let stores = ctx.replicas().await;
    let ready = Arc::new(Barrier::new(verbs.len()));
    let mut running = JoinSet::new();
    for (index, verb) in verbs.into_iter().enumerate() {
        let (store, ready): (Arc<Store>, _) = (Arc::clone(&stores[index % 2]), Arc::clone(&ready));
        running.spawn(async move {
            store.check().await?;
            ready.wait().await;
            store.write(verb).await
        });
    }
    running.join_all().await
}
