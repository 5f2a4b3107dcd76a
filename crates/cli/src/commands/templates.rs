//! `xb templates`

mod conditions;
mod diff;
mod file;
mod folder;
mod sync;
mod view;

use extraboard_api::client::ClientError;
use extraboard_api::envelope::{One, PageQuery};
use extraboard_api::template::{PreviewQuery, TemplateCreate, TemplatePatch, VersionCreate};
use extraboard_core::template::CONTENT_BYTES_MAX;

use crate::commands::input::read_text;
use crate::commands::number::whole;
use crate::commands::or_none::OrNone;
use crate::context::Context;
use crate::error::{CliError, FlagNames, Kind};
use crate::output::{clean_line, clean_text, talk};
use crate::task_ref::TaskRef;

const FLAGS: &FlagNames = &[
    ("slug", "SLUG"),
    ("name", "--name"),
    ("description", "--description"),
    ("conditions", "--when"),
    ("specificity", "--specificity"),
    ("projectId", "--project"),
    ("content", "FILE"),
    ("changelog", "--changelog"),
    ("door", "--door"),
    ("versionId", "--version"),
    ("limit", "--limit"),
    ("offset", "--offset"),
];

/// List templates, which prompts are made by, or work with them
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    page: Page,
}

/// Which part of a list is wanted.
#[derive(Debug, clap::Args)]
struct Page {
    /// At most this many, 1 to 200; 50 if not given
    #[arg(long, value_name = "N", value_parser = whole)]
    limit: Option<i64>,

    /// Leave out the first so many
    #[arg(long, value_name = "N", value_parser = whole)]
    offset: Option<i64>,
}

impl Page {
    fn query(&self) -> PageQuery {
        PageQuery { limit: self.limit, offset: self.offset }
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show one template and its text
    Show(NameArgs),
    Create(CreateArgs),
    Edit(EditArgs),
    /// Delete a template
    Delete(NameArgs),
    /// List the versions of a template, newest first
    Versions(PageArgs),
    AddVersion(AddVersionArgs),
    /// Make a version the one in use
    Promote {
        /// The template, by slug or uuid
        #[arg(value_name = "SLUG")]
        template: String,

        /// The version, by number or uuid
        #[arg(value_name = "VERSION")]
        version: String,
    },
    Preview(PreviewArgs),
    /// Show what was said about the prompts of a template, newest first
    Reviews(PageArgs),
    /// Write every template into a folder, a file each
    ///
    /// Files of templates that are not there stay as they are.
    Pull(sync::PullArgs),
    /// Make the desk's templates what the files of a folder say
    ///
    /// Templates without a file stay as they are. If any file is not well formed nothing is done.
    Push(sync::PushArgs),
    /// Show what a push of a folder would change
    ///
    /// Exits with 1 if that is anything. Templates without a file are not compared.
    Diff(sync::DiffArgs),
}

#[derive(Debug, clap::Args)]
struct NameArgs {
    /// The template, by slug or uuid
    #[arg(value_name = "SLUG")]
    template: String,
}

#[derive(Debug, clap::Args)]
struct PageArgs {
    /// The template, by slug or uuid
    #[arg(value_name = "SLUG")]
    template: String,

    #[command(flatten)]
    page: Page,
}

/// Create a template
///
/// It is used once it has a version, such as --file gives it.
#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// What it goes by: lower-case words with hyphens between
    #[arg(value_name = "SLUG")]
    slug: String,

    /// What people call it; the slug if not given
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// What it is about
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,

    /// What it asks of a task, such as type=signal or labels=bug,web; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    when: Vec<String>,

    /// How particular it is, 0 to 100; 10 if not given
    #[arg(long, value_name = "N", value_parser = whole)]
    specificity: Option<i64>,

    /// The only project it is for, by name or uuid
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Its first text; - reads standard input
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
}

/// Edit a template; what is not named stays
#[derive(Debug, clap::Args)]
struct EditArgs {
    /// The template, by slug or uuid
    #[arg(value_name = "SLUG")]
    template: String,

    /// Call it this
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Say what it is about; an empty text takes that away
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,

    /// What it asks of a task, in place of all it asks now, or none
    #[arg(long, value_name = "NAME=VALUE|none")]
    when: Vec<String>,

    /// How particular it is, 0 to 100
    #[arg(long, value_name = "N", value_parser = whole)]
    specificity: Option<i64>,

    /// The only project it is for, by name or uuid, or none
    #[arg(long, value_name = "PROJECT|none")]
    project: Option<OrNone<String>>,
}

/// Add a version to a template
///
/// The first one is in use at once; others are drafts until they are promoted.
#[derive(Debug, clap::Args)]
struct AddVersionArgs {
    /// The template, by slug or uuid
    #[arg(value_name = "SLUG")]
    template: String,

    /// The text; - reads standard input
    #[arg(value_name = "FILE")]
    file: String,

    /// What is new in it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    changelog: Option<String>,
}

/// Show the prompt that a task would be handed out with
#[derive(Debug, clap::Args)]
struct PreviewArgs {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// The way it would leave: pull (if not given), push or run
    #[arg(long, value_name = "DOOR")]
    door: Option<String>,

    /// Make it by this version, also a draft, by uuid
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    match &args.command {
        None => list(&args.page, ctx).await,
        Some(Command::Show(args)) => show(args, ctx).await,
        Some(Command::Create(args)) => create(args, ctx).await,
        Some(Command::Edit(args)) => edit(args, ctx).await,
        Some(Command::Delete(args)) => delete(args, ctx).await,
        Some(Command::Versions(args)) => versions(args, ctx).await,
        Some(Command::AddVersion(args)) => add_version(args, ctx).await,
        Some(Command::Promote { template, version }) => promote(template, version, ctx).await,
        Some(Command::Preview(args)) => preview(args, ctx).await,
        Some(Command::Reviews(args)) => reviews(args, ctx).await,
        Some(Command::Pull(args)) => sync::pull(args, ctx).await,
        Some(Command::Push(args)) => sync::push(args, ctx).await,
        Some(Command::Diff(args)) => sync::diff(args, ctx).await,
    }
}

async fn list(page: &Page, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let listed = client.template_list(&page.query()).await;
    let list = listed.map_err(|error| CliError::of_request(&error, FLAGS))?;
    let prompts = client.dashboard_prompts().await?;
    ctx.out.show(&list, |style| {
        talk(&format!("{} of {} templates", list.data.len(), list.total));
        if list.data.is_empty() {
            return String::new();
        }
        view::template_table(&list.data, &prompts.data, style)
    })
}

async fn show(args: &NameArgs, ctx: &Context) -> Result<(), CliError> {
    let found = ctx.desk()?.client.template_get(&args.template).await;
    let detail = found.map_err(|error| named(&error, &args.template))?;
    ctx.out.show(&One { data: &detail }, |_| view::template_page(&detail))
}

async fn create(args: &CreateArgs, ctx: &Context) -> Result<(), CliError> {
    let create = TemplateCreate {
        slug: args.slug.clone(),
        name: args.name.clone().unwrap_or_else(|| args.slug.clone()),
        description: args.description.clone(),
        conditions: Some(conditions::read(&args.when)?),
        specificity: args.specificity,
        project_id: args.project.clone(),
    };
    let content = args.file.as_deref().map(content).transpose()?;
    let client = ctx.desk()?.client;
    let created = client.template_create(&create).await;
    let template = created.map_err(|error| CliError::of_request(&error, FLAGS))?;
    if let Some(content) = content {
        let version = VersionCreate { content, ..VersionCreate::default() };
        let added = client.version_create(&template.id, &version).await;
        added.map_err(|error| {
            CliError::of_request(&error, FLAGS).hint(format!(
                "the template was created: mend the text and use `xb templates add-version {}`",
                args.slug
            ))
        })?;
    }
    ctx.out.show(&One { data: &template }, |_| format!("created template {}", clean_line(&template.slug)))
}

async fn edit(args: &EditArgs, ctx: &Context) -> Result<(), CliError> {
    let patch = TemplatePatch {
        name: args.name.clone(),
        description: args.description.clone().map(|text| Some(text).filter(|text| !text.is_empty())),
        conditions: if args.when.is_empty() { None } else { Some(conditions::read(&args.when)?) },
        specificity: args.specificity,
        project_id: args.project.clone().map(|project| project.0),
    };
    if patch == TemplatePatch::default() {
        return Err(CliError::new(Kind::Usage, "expected at least one change, such as --specificity 20"));
    }
    let patched = ctx.desk()?.client.template_patch(&args.template, &patch).await;
    let template = patched.map_err(|error| named(&error, &args.template))?;
    ctx.out.show(&One { data: &template }, |_| {
        let asked = conditions::shown(&template.conditions);
        clean_line(&format!(
            "template {} is for {asked}, specificity {}",
            template.slug, template.specificity
        ))
    })
}

async fn delete(args: &NameArgs, ctx: &Context) -> Result<(), CliError> {
    let deleted = ctx.desk()?.client.template_delete(&args.template).await;
    deleted.map_err(|error| named(&error, &args.template))?;
    let told = serde_json::json!({"deleted": args.template});
    ctx.out.show(&told, |_| format!("deleted template {}", clean_line(&args.template)))
}

async fn versions(args: &PageArgs, ctx: &Context) -> Result<(), CliError> {
    let listed = ctx.desk()?.client.version_list(&args.template, &args.page.query()).await;
    let list = listed.map_err(|error| named(&error, &args.template))?;
    ctx.out.show(&list, |style| {
        talk(&format!("{} of {} versions", list.data.len(), list.total));
        if list.data.is_empty() { String::new() } else { view::version_table(&list.data, style) }
    })
}

async fn add_version(args: &AddVersionArgs, ctx: &Context) -> Result<(), CliError> {
    let create = VersionCreate {
        content: content(&args.file)?,
        changelog: args.changelog.clone(),
        ..VersionCreate::default()
    };
    let added = ctx.desk()?.client.version_create(&args.template, &create).await;
    let version = added.map_err(|error| named(&error, &args.template))?;
    ctx.out.show(&One { data: &version }, |_| version_line(&args.template, version.version, &version.status))
}

async fn promote(template: &str, version: &str, ctx: &Context) -> Result<(), CliError> {
    let promoted = ctx.desk()?.client.version_promote(template, version).await;
    let version = promoted.map_err(|error| {
        CliError::of_named(&error, &format!("template {template} with a version {version}"), FLAGS)
    })?;
    ctx.out.show(&One { data: &version }, |_| version_line(template, version.version, &version.status))
}

async fn preview(args: &PreviewArgs, ctx: &Context) -> Result<(), CliError> {
    let query = PreviewQuery { door: args.door.clone(), version_id: args.version.clone() };
    let asked = ctx.desk()?.client.template_preview(&args.id.route(), &query).await;
    let preview = asked.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&preview, |_| {
        talk(&view::preview_line(&preview));
        if let Some(message) = &preview.message {
            talk(message);
        }
        preview.prompt.as_deref().map(clean_text).unwrap_or_default()
    })
}

async fn reviews(args: &PageArgs, ctx: &Context) -> Result<(), CliError> {
    let listed = ctx.desk()?.client.template_reviews(&args.template, &args.page.query()).await;
    let list = listed.map_err(|error| named(&error, &args.template))?;
    ctx.out.show(&list, |_| {
        talk(&format!("{} of {} reviews", list.data.len(), list.total));
        view::review_page(&list.data)
    })
}

fn content(file: &str) -> Result<String, CliError> {
    read_text(file, CONTENT_BYTES_MAX as u64)
}

fn version_line(template: &str, number: i64, status: &str) -> String {
    clean_line(&format!("version {number} of template {template} is {status}"))
}

fn named(error: &ClientError, template: &str) -> CliError {
    CliError::of_named(error, &format!("template {template}"), FLAGS)
}
