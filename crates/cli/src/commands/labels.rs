//! `xb labels`

use std::collections::BTreeSet;

use extraboard_api::client::{Client, ClientError};
use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::issue::Issue;
use extraboard_api::label::{Label, LabelCreate, LabelPatch};

use crate::commands::number::whole;
use crate::commands::pages;
use crate::context::Context;
use crate::error::{CliError, FlagNames, Kind};
use crate::output::{Align, Style, Table, clean_line, talk};

const FLAGS: &FlagNames =
    &[("name", "NAME"), ("color", "--color"), ("limit", "--limit"), ("offset", "--offset")];

/// The color of a label that nobody gave one: a gray that can be read on light and dark.
pub(crate) const COLOR: &str = "#6b7280";

/// List labels, or work with one
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// At most this many, 1 to 200; 50 if not given
    #[arg(long, value_name = "N", value_parser = whole)]
    limit: Option<i64>,

    /// Leave out the first so many
    #[arg(long, value_name = "N", value_parser = whole)]
    offset: Option<i64>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Add a label
    Add {
        /// What it is called
        #[arg(value_name = "NAME")]
        name: String,

        /// What it looks like
        #[arg(long, value_name = "COLOR", default_value = COLOR)]
        color: String,
    },
    Edit(EditArgs),
    /// Delete a label and take it off every task
    Delete {
        /// The label, by name or uuid
        #[arg(value_name = "LABEL")]
        label: String,
    },
}

/// Edit a label
#[derive(Debug, clap::Args)]
struct EditArgs {
    /// The label, by name or uuid
    #[arg(value_name = "LABEL")]
    label: String,

    /// Call it this
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Let it look like this
    #[arg(long, value_name = "COLOR")]
    color: Option<String>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    match &args.command {
        None => list(args, ctx).await,
        Some(Command::Add { name, color }) => add(name, color, ctx).await,
        Some(Command::Edit(args)) => edit(args, ctx).await,
        Some(Command::Delete { label }) => delete(label, ctx).await,
    }
}

async fn list(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let listed = client.label_list(&PageQuery { limit: args.limit, offset: args.offset }).await;
    let list = listed.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&list, |style| {
        talk(&format!("{} of {} labels", list.data.len(), list.total));
        if list.data.is_empty() { String::new() } else { label_table(&list, style) }
    })
}

async fn add(name: &str, color: &str, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let create = LabelCreate { name: name.to_owned(), color: color.to_owned() };
    let added = client.label_create(&create).await;
    let label = added.map_err(|error| CliError::of_request(&error, FLAGS))?;
    ctx.out.show(&One { data: &label }, |_| format!("added label {}", clean_line(&label.name)))
}

async fn edit(args: &EditArgs, ctx: &Context) -> Result<(), CliError> {
    let patch = LabelPatch { name: args.name.clone(), color: args.color.clone() };
    if patch == LabelPatch::default() {
        return Err(CliError::new(Kind::Usage, "expected at least one change, such as --color red"));
    }
    let client = ctx.desk()?.client;
    let patched = client.label_patch(&args.label, &patch).await;
    let label = patched.map_err(|error| named(&error, &args.label))?;
    ctx.out.show(&One { data: &label }, |_| {
        format!("label {} is {}", clean_line(&label.name), clean_line(&label.color))
    })
}

async fn delete(label: &str, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    client.label_delete(label).await.map_err(|error| named(&error, label))?;
    let deleted = serde_json::json!({"deleted": label});
    ctx.out.show(&deleted, |_| format!("deleted label {}", clean_line(label)))
}

/// Makes the labels that are not there yet, and says so.
pub(crate) async fn make_missing(client: &Client, wanted: &[String]) -> Result<(), CliError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let known = pages::all(async |page: &PageQuery| client.label_list(page).await).await?;
    for name in missing(&known, wanted) {
        let create = LabelCreate { name: name.to_owned(), color: COLOR.to_owned() };
        match client.label_create(&create).await {
            Ok(_) => talk(&format!("added label {name}")),
            // Somebody else was faster.
            Err(ClientError::Api { status: 409, .. }) => {}
            Err(error) => return Err(CliError::of_request(&error, &[("name", "--label")])),
        }
    }
    Ok(())
}

/// Returns the whole new set of an issue's labels, by name.
pub(crate) fn changed(issue: &Issue, added: &[String], taken: &[String]) -> Vec<String> {
    let stays =
        issue.labels.iter().filter(|label| !taken.contains(&label.name) && !taken.contains(&label.id));
    let names: BTreeSet<&str> =
        stays.map(|label| label.name.as_str()).chain(added.iter().map(String::as_str)).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Returns what is neither the name nor the id of a label, each once.
fn missing<'a>(known: &[Label], wanted: &'a [String]) -> BTreeSet<&'a str> {
    let is_known = |name: &str| known.iter().any(|label| label.name == name || label.id == name);
    wanted.iter().map(String::as_str).filter(|name| !is_known(name)).collect()
}

fn named(error: &ClientError, label: &str) -> CliError {
    CliError::of_named(error, &format!("label {label}"), FLAGS)
}

fn label_table(list: &Many<Label>, style: Style) -> String {
    let mut table = Table::new(&[("LABEL", Align::Left), ("COLOR", Align::Left), ("CREATED", Align::Left)]);
    for label in &list.data {
        table.row([label.name.clone(), label.color.clone(), label.created_at.clone()]);
    }
    table.render(style)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn only_what_no_label_is_called_is_missing() {
        let label = |id: &str, name: &str| Label {
            id: id.to_owned(),
            name: name.to_owned(),
            color: COLOR.to_owned(),
            created_at: String::new(),
        };
        let known = [label("0199a", "bug"), label("0199b", "web")];
        let wanted = words("web api 0199a Bug api");
        assert_eq!(missing(&known, &wanted).into_iter().collect::<Vec<_>>(), ["Bug", "api"]);
    }

    #[test]
    fn labels_are_added_to_and_taken_from_those_that_are_there() {
        let issue: Issue = serde_json::from_value(json!({
            "id": "0199", "number": 7, "title": "t", "type": "task", "status": "todo", "state": "queued",
            "priority": 3, "priorityValue": 50, "maxRetries": 3, "attempt": 0,
            "labels": [
                {"id": "0199a", "name": "bug", "color": "red"}, {"id": "0199b", "name": "web", "color": "red"}
            ],
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"
        }))
        .unwrap();
        let check = |added: &str, taken: &str, expected: &str| {
            assert_eq!(changed(&issue, &words(added), &words(taken)), words(expected));
        };
        check("api bug", "", "api bug web");
        check("", "web nothing", "bug");
        check("api", "0199a", "api web");
        check("", "bug web", "");
    }
}
