//! `xb limits`

use std::num::ParseIntError;
use std::str::FromStr;

use extraboard_api::envelope::One;
use extraboard_api::rules::{Limits, LimitsPut, RulesPut};

use crate::commands::number::whole_or_none;
use crate::commands::or_none::{Named, OrNone};
use crate::context::Context;
use crate::error::{CliError, FlagNames, Kind};
use crate::output::limits_table;

const FLAGS: &FlagNames = &[
    ("limits.total", "--total"),
    ("limits.kinds", "--kind"),
    ("limits.project", "--project"),
    ("limits.agent", "--agent"),
    ("limits.agents", "--agent-named"),
    ("limits.account", "--account"),
];

/// Show how many tasks may be handed out at once, or change that
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Set(SetArgs),
}

/// Change limits; what is not named stays
#[derive(Debug, clap::Args)]
struct SetArgs {
    /// Altogether
    #[arg(long, value_name = "N|none", allow_negative_numbers = true, value_parser = whole_or_none)]
    total: Option<OrNone<i64>>,

    /// Of tasks of a kind, for example code=5 or code=none
    #[arg(long, value_name = "KIND=N|none", value_parser = kind_limit)]
    kind: Vec<Named<OrNone<i64>>>,

    /// Of each project that has no limit of its own
    #[arg(long, value_name = "N|none", allow_negative_numbers = true, value_parser = whole_or_none)]
    project: Option<OrNone<i64>>,

    /// To each agent that has no limit of its own
    #[arg(long, value_name = "N|none", allow_negative_numbers = true, value_parser = whole_or_none)]
    agent: Option<OrNone<i64>>,

    /// To a particular agent, for example ada=2; with ada=none it has no limit, with ada=default that of the
    /// others
    #[arg(long, value_name = "NAME=N|none|default", value_parser = agent_limit)]
    agent_named: Vec<Named<OwnLimit>>,

    /// On each provider account
    #[arg(long, value_name = "N|none", allow_negative_numbers = true, value_parser = whole_or_none)]
    account: Option<OrNone<i64>>,
}

/// What one agent may hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnLimit {
    /// What the others may.
    Default,
    Own(OrNone<i64>),
}

impl FromStr for OwnLimit {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        if text == "default" { Ok(Self::Default) } else { text.parse().map(Self::Own) }
    }
}

fn kind_limit(text: &str) -> Result<Named<OrNone<i64>>, &'static str> {
    Named::read(text, "expected a name and a number or none, such as code=5")
}

fn agent_limit(text: &str) -> Result<Named<OwnLimit>, &'static str> {
    Named::read(text, "expected a name and a number, none or default, such as ada=5")
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let mut rules = client.rules_get().await?;
    if let Some(Command::Set(args)) = &args.command {
        let limits = Some(changed(args, rules.limits)?);
        // Refused if somebody else changes the rules in between.
        let put = RulesPut { limits, if_version: Some(rules.version), ..RulesPut::default() };
        rules = client.rules_put(&put).await.map_err(|error| CliError::of_request(&error, FLAGS))?;
    }
    ctx.out.show(&One { data: &rules.limits }, |style| limits_table(&rules.limits).render(style))
}

fn changed(args: &SetArgs, limits: Limits) -> Result<LimitsPut, CliError> {
    let SetArgs { total, kind, project, agent, agent_named, account } = args;
    let single = [total, project, agent, account];
    if single.iter().all(|limit| limit.is_none()) && kind.is_empty() && agent_named.is_empty() {
        return Err(CliError::new(Kind::Usage, "expected at least one limit, such as --total 50"));
    }
    let mut put = LimitsPut::from(limits);
    let places = [&mut put.total, &mut put.project, &mut put.agent, &mut put.account];
    for (place, limit) in places.into_iter().zip(single) {
        if let Some(OrNone(limit)) = limit {
            *place = *limit;
        }
    }
    for Named { name, value: OrNone(limit) } in kind {
        match limit {
            Some(limit) => put.kinds.insert(name.clone(), Some(*limit)),
            None => put.kinds.remove(name),
        };
    }
    for Named { name, value } in agent_named {
        match value {
            OwnLimit::Own(OrNone(limit)) => put.agents.insert(name.clone(), *limit),
            OwnLimit::Default => put.agents.remove(name),
        };
    }
    Ok(put)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use serde_json::json;

    use super::*;
    use crate::cli::{Cli, Command as TopCommand};

    fn set_args(line: &[&str]) -> SetArgs {
        let cli = Cli::try_parse_from(["xb", "limits", "set"].iter().chain(line)).unwrap();
        let TopCommand::Limits(Args { command: Some(Command::Set(args)) }) = cli.command else {
            unreachable!("the command is limits set")
        };
        args
    }

    #[test]
    fn only_what_is_named_changes() {
        let limits: Limits = serde_json::from_value(json!({
            "total": 50, "kinds": {"code": 5, "plan": 2}, "project": 3, "agents": {"ada": 1, "bob": 2, "cleo": 3}
        }))
        .unwrap();
        let words = "--total none --kind code=7 --kind plan=none --agent-named b=ob=0 --agent-named ada=none \
             --agent-named bob=default --account 4";
        let words: Vec<&str> = words.split_whitespace().collect();
        let put = changed(&set_args(&words), limits).unwrap();
        let expected = json!({
            "kinds": {"code": 7}, "project": 3, "agents": {"ada": null, "b=ob": 0, "cleo": 3}, "account": 4
        });
        assert_eq!(serde_json::to_value(&put).unwrap(), expected);
    }

    #[test]
    fn something_must_be_named() {
        let error = changed(&set_args(&[]), Limits::default()).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
    }
}
