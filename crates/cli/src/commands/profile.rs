//! `xb profile`

use std::collections::BTreeMap;

use extraboard_api::client::Client;
use extraboard_api::envelope::One;
use extraboard_api::rules::{Limits, LimitsPut, ProfilePut, Rules, RulesPut};
use extraboard_core::kind::Kind;
use extraboard_core::profile::{BadNumber, Profile, ProfileName};
use extraboard_store::verbs::RulesEdit;

use crate::commands::or_none::Named;
use crate::config::{self, Key};
use crate::context::Context;
use crate::error::{CliError, FlagNames, Kind as Failure};
use crate::output::rules_page;

const FLAGS: &FlagNames = &[("name", "NAME")];

/// The two rates at which age may count; a profile has one of them.
const AGE_RATES: [&str; 2] = ["age_boost_per_day", "age_boost_per_minute"];

/// Show the rules by which tasks are ranked and handed out, or change them
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Apply(ApplyArgs),
}

/// Change the profile in force; what waits is put in its order
///
/// With NAME: that profile as it is shipped, with the numbers of --set. With --set alone: the profile in force,
/// with those numbers. With neither: the profile, limits and poll interval that the configuration mentions; limits
/// that it does not mention stay.
#[derive(Debug, clap::Args)]
struct ApplyArgs {
    /// The profile: pipeline or `depth_first`
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Set a number of the profile, for example code=120
    #[arg(long, value_name = "KEY=N", value_parser = number)]
    set: Vec<Named<i64>>,
}

fn number(text: &str) -> Result<Named<i64>, &'static str> {
    Named::read(text, "expected a name and a number, such as code=120")
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let rules = match &args.command {
        None => client.rules_get().await?,
        Some(Command::Apply(args)) => {
            let put = change(args, ctx, &client).await?;
            client.rules_put(&put).await.map_err(|error| CliError::of_request(&error, FLAGS))?
        }
    };
    ctx.out.show(&One { data: &rules }, |_| rules_page(&rules))
}

/// Returns what is asked for; nothing that makes no sense is sent.
async fn change(args: &ApplyArgs, ctx: &Context, client: &Client) -> Result<RulesPut, CliError> {
    match (&args.name, args.set.is_empty()) {
        (Some(name), _) => {
            let mut profile = ProfilePut { name: name.clone(), numbers: BTreeMap::new() };
            set(&mut profile, &args.set)?;
            Ok(RulesPut { profile: Some(profile), ..RulesPut::default() })
        }
        (None, false) => {
            let rules = client.rules_get().await?;
            let mut profile = ProfilePut::from(rules.profile);
            set(&mut profile, &args.set)?;
            // Refused if somebody else changes the rules in between.
            let if_version = Some(rules.version);
            Ok(RulesPut { profile: Some(profile), if_version, ..RulesPut::default() })
        }
        (None, true) => {
            let configured = ctx.load()?.config.rules;
            something_said(&configured.said)?;
            Ok(of_config(&configured, client.rules_get().await?))
        }
    }
}

/// Sets numbers of a profile, each of which must be one.
fn set(profile: &mut ProfilePut, numbers: &[Named<i64>]) -> Result<(), CliError> {
    let bad_name = |_| CliError::new(Failure::Usage, "NAME: expected pipeline or depth_first");
    let mut checked = Profile::shipped(profile.name.parse::<ProfileName>().map_err(bad_name)?);
    if AGE_RATES.iter().all(|rate| numbers.iter().any(|number| number.name == *rate)) {
        let both = format!("--set: expected one of {} and {}, not both", AGE_RATES[0], AGE_RATES[1]);
        return Err(CliError::new(Failure::Usage, both));
    }
    for Named { name, value } in numbers {
        checked.set(name, *value).map_err(|bad| bad_number(&bad))?;
        if AGE_RATES.contains(&name.as_str()) {
            profile.numbers.retain(|known, _| !AGE_RATES.contains(&known.as_str()));
        }
        profile.numbers.insert(name.clone(), *value);
    }
    Ok(())
}

fn bad_number(bad: &BadNumber) -> CliError {
    let error = CliError::new(Failure::Usage, format!("--set: {bad}"));
    match bad {
        BadNumber::Key(key) => match config::nearest(key, Profile::keys()) {
            Some(nearest) => error.hint(format!("did you mean {nearest}?")),
            None => error.hint(format!("there are {}", Profile::keys().collect::<Vec<_>>().join(", "))),
        },
        BadNumber::Range { .. } => error,
    }
}

fn something_said(said: &RulesEdit) -> Result<(), CliError> {
    if *said == RulesEdit::default() {
        let nothing = "the configuration says nothing about profile, limits or poll interval";
        let hint = "name a profile, or a file with --config; `xb config show` shows what is set where";
        return Err(CliError::new(Failure::Usage, nothing).hint(hint));
    }
    Ok(())
}

/// Returns the rules in force with what the configuration mentions.
fn of_config(configured: &config::Rules, rules: Rules) -> RulesPut {
    let said = &configured.said;
    RulesPut {
        profile: said.profile.as_ref().map(profile_put),
        limits: said.limits.as_ref().map(|_| merged(configured, rules.limits)),
        poll_interval_secs: said.poll_interval_secs,
        // Refused if somebody else changes the rules in between.
        if_version: Some(rules.version),
    }
}

fn profile_put(profile: &Profile) -> ProfilePut {
    let numbers = profile.numbers().map(|(key, number)| (key.to_owned(), number)).collect();
    ProfilePut { name: profile.name.as_str().to_owned(), numbers }
}

/// Returns the limits in force with those that the configuration mentions.
fn merged(configured: &config::Rules, in_force: Limits) -> LimitsPut {
    let (limits, said) = (&configured.limits, &configured.said_limits);
    let mut put = LimitsPut::from(in_force);
    for (key, place, limit) in [
        (Key::LimitTotal, &mut put.total, limits.total),
        (Key::LimitProject, &mut put.project, limits.project),
        (Key::LimitAgent, &mut put.agent, limits.agent),
        (Key::LimitAccount, &mut put.account, limits.account),
    ] {
        if said.contains(&key) {
            *place = limit;
        }
    }
    for kind in Kind::ALL.iter().filter(|kind| said.contains(&Key::LimitKind(**kind))) {
        match limits.kinds.get(kind) {
            Some(limit) => put.kinds.insert(kind.as_str().to_owned(), Some(*limit)),
            None => put.kinds.remove(kind.as_str()),
        };
    }
    put.agents.extend(limits.agents.iter().map(|(name, limit)| (name.clone(), Some(*limit))));
    put
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn numbers(pairs: &[(&str, i64)]) -> Vec<Named<i64>> {
        pairs.iter().map(|(name, value)| Named { name: (*name).to_owned(), value: *value }).collect()
    }

    fn pipeline(pairs: &[(&str, i64)]) -> ProfilePut {
        let numbers = pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        ProfilePut { name: "pipeline".to_owned(), numbers }
    }

    #[test]
    fn one_rate_of_age_replaces_the_other() {
        let mut profile = pipeline(&[("age_boost_per_day", 1), ("code", 20)]);
        set(&mut profile, &numbers(&[("age_boost_per_minute", 2), ("code", 30)])).unwrap();
        assert_eq!(profile, pipeline(&[("age_boost_per_minute", 2), ("code", 30)]));
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused_here() {
        let check = |pair, expected: &str| {
            let error = set(&mut pipeline(&[]), &numbers(&[pair])).unwrap_err();
            assert_eq!(error.kind(), Failure::Usage);
            assert_eq!(error.report().unwrap().to_string(), expected);
        };
        check(("cod", 1), "xb: --set: a profile has no number \"cod\"\nhint: did you mean code?");
        check(("code", 1001), "xb: --set: code: expected -1000 to 1000, got 1001");
        let error = set(&mut ProfilePut { name: "fifo".to_owned(), ..pipeline(&[]) }, &[]).unwrap_err();
        assert_eq!(error.message(), "NAME: expected pipeline or depth_first");
    }

    #[test]
    fn two_rates_of_age_are_refused() {
        let both = numbers(&[("age_boost_per_minute", 2), ("age_boost_per_day", 2)]);
        let error = set(&mut pipeline(&[]), &both).unwrap_err();
        assert_eq!(
            error.message(),
            "--set: expected one of age_boost_per_day and age_boost_per_minute, not both"
        );
    }

    #[test]
    fn a_configuration_that_says_nothing_changes_nothing() {
        let error = something_said(&RulesEdit::default()).unwrap_err();
        assert!(error.message().contains("says nothing"), "{}", error.message());
    }

    fn check_config(variables: &[(&str, &str)], expected: &serde_json::Value) {
        let home = ("HOME".to_owned(), "/nowhere".to_owned());
        let said = variables.iter().map(|(name, value)| (format!("EXTRABOARD_{name}"), (*value).to_owned()));
        let environment = config::Environment::of(said.chain([home]));
        let loaded = config::load(&config::Flags::default(), &environment).unwrap();
        let in_force: Rules = serde_json::from_value(json!({
            "version": 3, "profile": {"name": "pipeline"}, "pollIntervalSecs": 1,
            "limits": {"total": 9, "kinds": {"code": 5, "plan": 2}, "agent": 4, "agents": {"ada": 1, "bob": null}}
        }))
        .unwrap();
        let put = of_config(&loaded.config.rules, in_force);
        assert_eq!(serde_json::to_value(put).unwrap(), *expected);
    }

    #[test]
    fn limits_that_the_configuration_does_not_mention_stay() {
        check_config(&[("POLL_INTERVAL_SECS", "5")], &json!({"pollIntervalSecs": 5, "ifVersion": 3}));
        check_config(
            &[
                ("LIMITS_TOTAL", "none"),
                ("LIMITS_KINDS_CODE", "7"),
                ("LIMITS_KINDS_PLAN", "none"),
                ("LIMITS_AGENTS", "cleo=3"),
            ],
            &json!({
                "limits": {"kinds": {"code": 7}, "agent": 4, "agents": {"ada": 1, "bob": null, "cleo": 3}},
                "ifVersion": 3
            }),
        );
    }
}
