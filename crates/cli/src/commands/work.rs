//! `xb work`

mod child;
mod job;

use std::pin::{Pin, pin};
use std::time::Duration;

use extraboard_api::claimer::NextQuery;
use extraboard_api::client::{Claim, ClientError};
use serde_json::json;

use self::job::{Ended, Job};
use crate::commands::claim::nothing;
use crate::commands::claimer::{FLAGS, Wants, WorksOn};
use crate::commands::of_project::{self, OfProject};
use crate::context::{AgentName, Context, Desk};
use crate::error::{CliError, Kind};
use crate::output::talk;
use crate::signals::Signals;

/// How long a claim waits for work at the desk.
const WAIT: &str = "30s";
/// The pause after a claim that could not be made.
const PAUSE: Duration = Duration::from_secs(1);

/// Let a command work on tasks, one after the other
///
/// The command gets the prompt on its standard input, and in its environment `EXTRABOARD_URL`,
/// `EXTRABOARD_TOKEN` (which speaks for the dispatch and nothing else), `EXTRABOARD_DISPATCH`,
/// `EXTRABOARD_ISSUE` (the number), `EXTRABOARD_ISSUE_ID`, `EXTRABOARD_ATTEMPT` and, where a template made the
/// prompt, `EXTRABOARD_PROMPT_VERSION`. While it runs the lease is renewed. Exit code 0 completes the task with
/// the end of what the command printed, 75 gives it back, any other fails it; a command that reported by itself
/// is believed. If the desk orders it, or this program is interrupted, the command is told to end and killed if
/// it does not.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Work on one task, then end; end at once if there is none
    #[arg(long)]
    once: bool,

    /// Work as this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,

    #[command(flatten)]
    of_project: OfProject,

    #[command(flatten)]
    wants: Wants,

    #[command(flatten)]
    works_on: WorksOn,

    /// The command, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let desk = ctx.desk_as(args.agent.as_ref())?;
    let project = args.of_project.meant(ctx)?;
    let stop = Signals::catch()?;
    let mut stop = pin!(stop.wait());
    let query = args.works_on.add_to(args.wants.query(of_project::name(project.as_ref())));
    let wait = (!args.once).then(|| WAIT.to_owned());
    // The command is started and reported for here, so its prompt must not ask it to report.
    let door = Some("run".to_owned());
    let query = NextQuery { wait, door, ..query.into() };
    loop {
        let claimed = tokio::select! {
            claimed = desk.client.claim(&query, None) => claimed,
            () = &mut stop => return Ok(()),
        };
        let next = match claimed {
            Ok(Claim::Work(next)) => next,
            Ok(Claim::Nothing { reason, .. }) if args.once => return Err(nothing(&reason)),
            Ok(Claim::Nothing { .. }) => continue,
            Err(error) if args.once || !is_passing(&error) => {
                let error = CliError::of_request(&error, FLAGS);
                return Err(of_project::explain(&desk.client, project.as_ref(), error).await);
            }
            Err(error) => {
                talk(&format!("cannot claim: {error}"));
                tokio::select! {
                    () = pause() => continue,
                    () = &mut stop => return Ok(()),
                }
            }
        };
        let ended = work(args, ctx, &desk, Job::new(&desk.url, *next)?, stop.as_mut()).await?;
        if args.once || ended == Ended::Interrupted {
            return Ok(());
        }
    }
}

/// Works on one task, and says what came of it.
async fn work(
    args: &Args,
    ctx: &Context,
    desk: &Desk,
    job: Job,
    stop: Pin<&mut impl Future<Output = ()>>,
) -> Result<Ended, CliError> {
    let number = job.number();
    talk(&format!("#{number} {}", job.title()));
    let ended = job.run(&desk.url, &args.command, ctx.out.stdout_is_free(), stop).await?;
    let told = json!({ "number": number, "ended": ended.as_str() });
    ctx.out.show_line(&told, |_| format!("#{number} {}", ended.as_str()))?;
    match ended {
        Ended::NotStarted => {
            let command = &args.command[0];
            Err(CliError::new(Kind::Usage, format!("cannot run `{command}`: #{number} was given back")))
        }
        ended => Ok(ended),
    }
}

/// Tells whether the same request may fare better later.
fn is_passing(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable { .. } => true,
        ClientError::Api { status, .. } | ClientError::Unexpected { status, .. } => {
            matches!(status, 429 | 502..=504)
        }
        ClientError::BadUrl { .. } | ClientError::BadHeader { .. } | ClientError::Setup(_) => false,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a desk that restarts needs time, and does not say when it is back"
)]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}
