//! `xb claim`

use extraboard_api::claimer::NextQuery;
use extraboard_api::client::{Claim, Client, Credentials};
use extraboard_api::dispatch::{Next, Release};

use crate::commands::claimer::{FLAGS, Wants, WorksOn};
use crate::commands::of_project::{self, OfProject};
use crate::context::{AgentName, Context};
use crate::error::{CliError, Kind};
use crate::output::{clean_line, clean_text};

/// Take the first task in line
///
/// Prints the task, its dispatch and its prompt; --json also prints the token that speaks for the dispatch.
/// Says why if there is nothing to take.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Claim as this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,

    /// Answer the same open dispatch again if this key was used before
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// Wait for work if there is none, such as 30s; at most a minute
    #[arg(long, value_name = "TIME")]
    wait: Option<String>,

    #[command(flatten)]
    of_project: OfProject,

    #[command(flatten)]
    wants: Wants,

    /// What the claimer is run by
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,

    #[command(flatten)]
    works_on: WorksOn,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let desk = ctx.desk_as(args.agent.as_ref())?;
    let project = args.of_project.meant(ctx)?;
    let query = args.works_on.add_to(args.wants.query(of_project::name(project.as_ref())));
    let query = NextQuery { adapter: args.adapter.clone(), wait: args.wait.clone(), ..query.into() };
    let claimed = desk.client.claim(&query, args.key.as_deref()).await;
    let next = match claimed {
        Ok(Claim::Work(next)) => next,
        Ok(Claim::Nothing { reason, .. }) => return Err(nothing(&reason)),
        Err(error) => {
            let error = CliError::of_request(&error, FLAGS);
            return Err(of_project::explain(&desk.client, project.as_ref(), error).await);
        }
    };
    match ctx.out.show(&next, |_| page(&next)) {
        // With a key the same claim can be made again; without one nobody would ever know of it.
        Err(error) if args.key.is_none() => Err(give_back(&desk.url, &next, &error).await),
        shown => shown,
    }
}

/// Releases what was claimed and could not be told, even if whoever reads has merely closed the pipe: half an
/// answer is no claim.
async fn give_back(url: &str, next: &Next, unwritten: &CliError) -> CliError {
    let token = Credentials::Bearer(next.dispatch.token.clone());
    let released = match Client::new(url, &token) {
        Ok(holder) => holder.dispatch_release(&next.dispatch.id, &Release::default()).await.map(drop),
        Err(error) => Err(error),
    };
    let (unwritten, number) = (unwritten.message(), next.issue.number);
    let message = match released {
        Ok(()) => format!("{unwritten}; #{number} was claimed and given back"),
        Err(error) => format!(
            "{unwritten}; #{number} is claimed until its lease ends, for it could not be given back: {error}"
        ),
    };
    CliError::new(Kind::Failed, message)
}

/// Says why there is nothing to take, and where to look.
pub(crate) fn nothing(reason: &str) -> CliError {
    let in_line = "`xb queue --all` shows what is in line and what is in its way";
    let (why, hint) = match reason {
        "empty" => ("nothing is in line", None),
        "held" => (
            "what is queued is held by a blocker, its parent or an artifact",
            Some("`xb why ID` names what holds a task"),
        ),
        "not_before" => ("what is queued waits for its time", None),
        "paused" => ("the project of what is in line is paused", Some("`xb projects` shows which")),
        "limit" => ("as much as the limits allow is handed out", Some("`xb limits` shows them")),
        "rate_limited" => {
            ("the provider account refuses work for a while", Some("`xb gates` shows until when"))
        }
        "no_match" => ("what is in line is not for this claimer", Some(in_line)),
        other => (other, None),
    };
    let error = CliError::new(Kind::NotFound, format!("nothing to claim: {why}")).reason(reason);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn page(next: &Next) -> String {
    let dispatch = &next.dispatch;
    let head = format!(
        "#{} {}\n  dispatch  {}\n  attempt   {}, fence {}\n  lease     {} s\n",
        next.issue.number,
        clean_line(&next.issue.title),
        clean_line(&dispatch.id),
        dispatch.attempt,
        dispatch.fence,
        dispatch.lease_seconds
    );
    let head = match &next.meta {
        Some(meta) => format!(
            "{head}  prompt    {} version {} ({})\n",
            clean_line(&meta.template_slug),
            meta.version_number,
            clean_line(&meta.version_id)
        ),
        None => head,
    };
    match &next.prompt {
        Some(prompt) => format!("{head}\n{}\n", clean_text(prompt.trim_end())),
        None => head,
    }
}
