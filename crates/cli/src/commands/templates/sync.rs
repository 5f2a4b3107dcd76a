//! `xb templates pull`, `push` and `diff`: templates between a folder and a desk.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use extraboard_api::client::{Client, ClientError};
use extraboard_api::envelope::PageQuery;
use extraboard_api::template::{TemplateCreate, TemplatePatch, Version, VersionCreate};
use serde::Serialize;

use super::diff::unified;
use super::file::{ENDING, TemplateFile};
use super::folder::{self, OfDesk};
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::output::{clean_line, clean_text, talk};

#[derive(Debug, clap::Args)]
pub(super) struct PullArgs {
    /// The folder, which is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Write nothing, only say what would be written
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct DiffArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct PushArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Leave new texts as drafts, to be promoted later
    #[arg(long)]
    draft: bool,

    /// What is new in these texts
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    changelog: Option<String>,

    /// Send nothing, only say what would be sent
    #[arg(long)]
    dry_run: bool,
}

/// What is said where nothing is done.
const DRY: &str = "a dry run: what is told was not done";

/// How a template of one side stands to the same template of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    New,
    Changed,
    Same,
}

impl Change {
    fn of(old: Option<&TemplateFile>, new: &TemplateFile) -> Self {
        match old {
            None => Self::New,
            Some(old) if old == new => Self::Same,
            Some(_) => Self::Changed,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "same",
        }
    }
}

/// What became of one template.
#[derive(Debug, Serialize)]
struct Told {
    slug: String,
    change: Change,
    /// What was done, or would be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    did: Vec<String>,
}

pub(super) async fn pull(args: &PullArgs, ctx: &Context) -> Result<(), CliError> {
    let desk = OfDesk::read(&ctx.desk()?.client).await?;
    let failed = |path: &Path, error| CliError::io(&format!("cannot write {}", path.display()), &error);
    if !args.dry_run {
        fs::create_dir_all(&args.folder).map_err(|error| failed(&args.folder, error))?;
    }
    let mut told = Vec::new();
    for (slug, file) in &desk.files {
        let path = folder::path_of(&args.folder, slug);
        let text = file.render();
        let change = match fs::read_to_string(&path) {
            Ok(there) => change_of_file(&path, &there, file, &desk),
            Err(_) => Change::New,
        };
        if change != Change::Same && !args.dry_run {
            fs::write(&path, text).map_err(|error| failed(&path, error))?;
        }
        told.push(Told { slug: slug.clone(), change, did: Vec::new() });
    }
    if args.dry_run {
        talk(DRY);
    }
    show(ctx, &told)
}

/// Tells whether a file says what the desk says; one that cannot be read says something else.
fn change_of_file(path: &Path, there: &str, file: &TemplateFile, desk: &OfDesk) -> Change {
    let read = TemplateFile::parse(path, there).map(|read| desk.projects.in_file(&read));
    read.map_or(Change::Changed, |read| Change::of(Some(&read), file))
}

pub(super) async fn diff(args: &DiffArgs, ctx: &Context) -> Result<(), CliError> {
    let files = folder::read(&args.folder)?;
    let desk = OfDesk::read(&ctx.desk()?.client).await?;
    let differences = differences(&files, &desk);
    let others = desk.files.keys().filter(|slug| !files.contains_key(*slug)).count();
    if others > 0 {
        ctx.remark(&format!("{others} of the desk's templates have no file here"));
    }
    let names: Vec<&String> = differences.keys().collect();
    ctx.out.show(&serde_json::json!({ "differ": names }), |_| {
        differences.values().map(|difference| clean_text(difference)).collect()
    })?;
    if differences.is_empty() { Ok(()) } else { Err(CliError::told(Kind::Failed)) }
}

/// Returns what differs, by slug: what a push would change. A template without a file is left alone by it.
fn differences(files: &BTreeMap<String, TemplateFile>, desk: &OfDesk) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (slug, file) in files {
        let old = desk.files.get(slug).map_or_else(String::new, TemplateFile::render);
        let lines = unified(&old, &desk.projects.in_file(file).render());
        if !lines.is_empty() {
            let of_desk = if old.is_empty() { "/dev/null" } else { slug };
            found.insert(slug.clone(), format!("--- {of_desk}\n+++ {slug}.{ENDING}\n{lines}"));
        }
    }
    found
}

pub(super) async fn push(args: &PushArgs, ctx: &Context) -> Result<(), CliError> {
    let files = folder::read(&args.folder)?;
    let client = ctx.desk()?.client;
    let desk = OfDesk::read(&client).await?;
    let mut plans: Vec<Plan<'_>> = files.values().map(|file| Plan::of(file, &desk)).collect();
    if let Some(plan) = plans.iter().find(|plan| plan.loses_its_text()) {
        let path = folder::path_of(&args.folder, &plan.file.slug);
        let lost =
            format!("{} has no text, and the desk's template has one: nothing was done", path.display());
        return Err(CliError::new(Kind::Usage, lost));
    }
    for plan in &mut plans {
        plan.find_draft(&client).await?;
    }
    let mut told = Vec::new();
    for plan in &plans {
        if !args.dry_run {
            plan.carry_out(&client, args).await?;
        }
        told.push(Told {
            slug: plan.file.slug.clone(),
            change: plan.change,
            did: plan.steps(args).map(str::to_owned).collect(),
        });
    }
    if args.dry_run {
        talk(DRY);
    }
    show(ctx, &told)
}

/// What is to be done about one file.
#[derive(Debug)]
struct Plan<'a> {
    file: &'a TemplateFile,
    change: Change,
    /// Whether what stands before the text differs.
    front: bool,
    /// Whether the text differs.
    content: bool,
    /// The newest version of the template, where it is a draft with this very text.
    draft: Option<String>,
}

impl<'a> Plan<'a> {
    fn of(file: &'a TemplateFile, desk: &OfDesk) -> Self {
        let (old, new) = (desk.files.get(&file.slug), desk.projects.in_file(file));
        Self {
            file,
            change: Change::of(old, &new),
            front: old.is_some_and(|old| old.front != new.front),
            content: old.map_or(!new.content.is_empty(), |old| old.content != new.content),
            draft: None,
        }
    }

    /// Looks whether somebody left the text as a draft: the same push again should not add another.
    async fn find_draft(&mut self, client: &Client) -> Result<(), CliError> {
        if !self.content || self.change == Change::New {
            return Ok(());
        }
        let page = PageQuery { limit: Some(1), offset: None };
        let newest = client.version_list(&self.file.slug, &page).await?.data.into_iter().next();
        let is_this = |version: &Version| {
            version.status == "draft" && version.content.trim_end_matches('\n') == self.file.content
        };
        self.draft = newest.filter(is_this).map(|version| version.id);
        Ok(())
    }

    fn loses_its_text(&self) -> bool {
        self.content && self.file.content.is_empty()
    }

    fn steps(&self, args: &PushArgs) -> impl Iterator<Item = &'static str> {
        let is_new = self.change == Change::New;
        let version = match (&self.draft, args.draft) {
            (Some(_), true) => "draft is there already",
            (Some(_), false) => "draft promoted",
            // The first version of a template is in use at once, whatever is asked for.
            (None, true) if !is_new => "draft added",
            (None, _) => "version added and promoted",
        };
        [(is_new, "created"), (self.front, "updated"), (self.content, version)]
            .into_iter()
            .filter_map(|(is_due, step)| is_due.then_some(step))
    }

    async fn carry_out(&self, client: &Client, args: &PushArgs) -> Result<(), CliError> {
        let slug = &self.file.slug;
        let refused = |error: ClientError| {
            let error = CliError::of_named(&error, &format!("template {slug}"), &[]);
            CliError::new(error.kind(), format!("{slug}: {}", error.message()))
        };
        if self.change == Change::New {
            client.template_create(&self.create()).await.map_err(refused)?;
        }
        if self.front {
            client.template_patch(slug, &self.patch()).await.map_err(refused)?;
        }
        if self.content {
            self.bring_text(client, args).await.map_err(refused)?;
        }
        Ok(())
    }

    /// Adds the text as a version unless it is there as a draft, and promotes it unless drafts are wanted.
    async fn bring_text(&self, client: &Client, args: &PushArgs) -> Result<(), ClientError> {
        let slug = &self.file.slug;
        let draft = if let Some(draft) = self.draft.clone() {
            Some(draft)
        } else {
            let create = VersionCreate {
                content: self.file.content.clone(),
                changelog: args.changelog.clone(),
                ..VersionCreate::default()
            };
            let version = client.version_create(slug, &create).await?;
            (version.status != "active").then_some(version.id)
        };
        match draft {
            Some(draft) if !args.draft => client.version_promote(slug, &draft).await.map(drop),
            Some(_) | None => Ok(()),
        }
    }

    fn create(&self) -> TemplateCreate {
        let front = &self.file.front;
        TemplateCreate {
            slug: self.file.slug.clone(),
            name: front.name.clone(),
            description: front.description.clone(),
            conditions: Some(front.conditions.clone()),
            specificity: Some(front.specificity),
            project_id: front.project.clone(),
        }
    }

    fn patch(&self) -> TemplatePatch {
        let front = &self.file.front;
        TemplatePatch {
            name: Some(front.name.clone()),
            description: Some(front.description.clone()),
            conditions: Some(front.conditions.clone()),
            specificity: Some(front.specificity),
            project_id: Some(front.project.clone()),
        }
    }
}

fn show(ctx: &Context, told: &[Told]) -> Result<(), CliError> {
    ctx.out.show(&told, |_| {
        let count = |change| told.iter().filter(|told| told.change == change).count();
        let (new, changed, same) = (count(Change::New), count(Change::Changed), count(Change::Same));
        talk(&format!("{new} new, {changed} changed, {same} the same"));
        told.iter().map(line).collect()
    })
}

fn line(told: &Told) -> String {
    let did = if told.did.is_empty() { String::new() } else { format!(": {}", told.did.join(", ")) };
    format!("{:<8} {}{did}\n", told.change.as_str(), clean_line(&told.slug))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::templates::folder::ProjectNames;

    fn file(slug: &str, front: &str, content: &str) -> TemplateFile {
        let path = PathBuf::from(format!("{slug}.hbs"));
        TemplateFile::parse(&path, &format!("+++\nname = \"{slug}\"\n{front}\n+++\n{content}\n")).unwrap()
    }

    fn desk(files: &[TemplateFile]) -> OfDesk {
        let files = files.iter().map(|file| (file.slug.clone(), file.clone())).collect();
        OfDesk { files, projects: ProjectNames::default() }
    }

    fn args(draft: bool) -> PushArgs {
        PushArgs { folder: PathBuf::new(), draft, changelog: None, dry_run: true }
    }

    fn steps(file: &TemplateFile, desk: &OfDesk, draft: bool) -> String {
        Plan::of(file, desk).steps(&args(draft)).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_push_does_what_differs_and_nothing_else() {
        let there = file("a", "", "Do a.");
        let desk = desk(std::slice::from_ref(&there));
        assert_eq!(steps(&there, &desk, false), "");
        assert_eq!(steps(&file("a", "specificity = 3", "Do a."), &desk, false), "updated");
        assert_eq!(steps(&file("a", "", "Do it."), &desk, false), "version added and promoted");
        assert_eq!(steps(&file("a", "", "Do it."), &desk, true), "draft added");
        let mended = file("a", "", "Do it.");
        let plan = Plan { draft: Some("0199v".to_owned()), ..Plan::of(&mended, &desk) };
        assert_eq!(plan.steps(&args(true)).collect::<Vec<_>>(), ["draft is there already"]);
        assert_eq!(plan.steps(&args(false)).collect::<Vec<_>>(), ["draft promoted"]);
        assert_eq!(steps(&file("b", "", "Do b."), &desk, true), "created, version added and promoted");
        assert_eq!(steps(&file("b", "", ""), &desk, false), "created");
        assert_eq!(
            steps(&file("a", "description = \"d\"", "Do it."), &desk, false),
            "updated, version added and promoted"
        );
    }

    #[test]
    fn a_text_is_never_taken_away() {
        let desk = desk(&[file("a", "", "Do a."), file("b", "", "")]);
        assert!(Plan::of(&file("a", "", ""), &desk).loses_its_text());
        assert!(!Plan::of(&file("b", "", ""), &desk).loses_its_text());
        assert!(!Plan::of(&file("c", "", ""), &desk).loses_its_text());
    }

    #[test]
    fn a_diff_tells_what_a_push_would_change() {
        let desk = desk(&[file("a", "", "Do a."), file("c", "", "Do c."), file("same", "", "Do.")]);
        let files = [file("a", "specificity = 3", "Do it."), file("b", "", "Do b."), file("same", "", "Do.")];
        let files = files.into_iter().map(|file| (file.slug.clone(), file)).collect();
        let found: String = differences(&files, &desk).into_values().collect();
        insta::assert_snapshot!(found, @r#"
        --- a
        +++ a.hbs
        @@ -1 +1 @@
         +++
         name = "a"
        -specificity = 10
        +specificity = 3
         +++
        -Do a.
        +Do it.
        --- /dev/null
        +++ b.hbs
        @@ -1 +1 @@
        ++++
        +name = "b"
        +specificity = 10
        ++++
        +Do b.
        "#);
    }
}
