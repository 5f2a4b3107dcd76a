//! `xb comment` and `xb comments`

use std::fmt::Write as _;

use extraboard_api::comment::{Comment, CommentCreate};
use extraboard_api::envelope::One;

use crate::context::{AgentName, Context};
use crate::error::CliError;
use crate::output::{clean_line, clean_text, talk};
use crate::task_ref::TaskRef;

/// Say something about a task
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,

    /// What to say
    #[arg(value_name = "TEXT")]
    body: String,

    /// Reply to this comment
    #[arg(long, value_name = "COMMENT")]
    reply_to: Option<String>,

    /// Say it as this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk_as(args.agent.as_ref())?.client;
    let said = CommentCreate {
        body: args.body.clone(),
        parent_id: args.reply_to.clone(),
        ..CommentCreate::default()
    };
    let created = client.comment_create(&args.id.route(), &said).await;
    let comment = created.map_err(|error| CliError::of_task(&error, &args.id))?;
    ctx.out.show(&One { data: &comment }, |_| format!("comment {} on {}", comment.id, args.id))
}

/// Show what was said about a task
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// The task
    #[arg(value_name = "ID")]
    id: TaskRef,
}

pub(crate) async fn list(args: &ListArgs, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let comments =
        client.comment_list(&args.id.route()).await.map_err(|error| CliError::of_task(&error, &args.id))?;
    ctx.out.show(&comments, |_| {
        if comments.data.is_empty() {
            talk("nothing was said");
        }
        comments.data.iter().fold(String::new(), |page, comment| page + &told(comment, 0))
    })
}

/// Returns a comment and its replies, each a step further in.
fn told(comment: &Comment, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{indent}{} {} by {} at {}",
        clean_line(&comment.kind),
        clean_line(&comment.id),
        clean_line(&comment.author_name),
        clean_line(&comment.created_at)
    );
    for line in clean_text(comment.body.trim_end()).lines() {
        let _ = writeln!(text, "{indent}  {line}");
    }
    comment.replies.iter().fold(text, |text, reply| text + &told(reply, depth + 1))
}
