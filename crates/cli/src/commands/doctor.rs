//! `xb doctor`

use extraboard_api::client::Client;
use extraboard_api::doctor::{Difference, DoctorRange, DoctorReport};
use extraboard_api::envelope::One;
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::output::{clean_line, talk};

/// How many tasks are looked at in one request.
const PAGE: i64 = 500;

/// Check that counters and places in line are what they should be
///
/// Exits with 1 if something is not and was not repaired.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Put right what is found
    #[arg(long)]
    repair: bool,
}

/// What is to be done about what is found.
#[derive(Debug, Clone, Copy)]
enum Look {
    Check,
    Repair,
}

/// What came of looking at every task.
#[derive(Debug, Default, Serialize)]
struct Examined {
    checked: i64,
    differences: Vec<Difference>,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk()?.client;
    let look = if args.repair { Look::Repair } else { Look::Check };
    let examined = examine(&client, look).await?;
    let unrepaired = examined.differences.iter().filter(|difference| !difference.repaired).count();
    ctx.out.show(&One { data: &examined }, |_| {
        let (tasks, differences) = (examined.checked, examined.differences.len());
        let one_task = if tasks == 1 { "" } else { "s" };
        talk(&format!("{tasks} task{one_task} checked, {}", counted(differences)));
        examined.differences.iter().map(line).collect()
    })?;
    if unrepaired == 0 {
        return Ok(());
    }
    let was = if unrepaired == 1 { "was" } else { "were" };
    let found = CliError::new(Kind::Failed, format!("{} {was} found and not repaired", counted(unrepaired)));
    Err(if args.repair { found } else { found.hint("repair with `xb doctor --repair`") })
}

/// Goes through all tasks, page by page.
async fn examine(client: &Client, look: Look) -> Result<Examined, CliError> {
    let mut examined = Examined::default();
    let mut after = None;
    loop {
        let range = DoctorRange { after, limit: Some(PAGE) };
        let report = match look {
            Look::Check => client.doctor_check(&range).await?,
            Look::Repair => client.doctor_repair(&range).await?,
        };
        let DoctorReport { checked, next, differences } = report;
        examined.checked += checked;
        examined.differences.extend(differences);
        match next {
            None => return Ok(examined),
            // A desk that does not get on would keep us here for ever.
            Some(_) if next <= after => {
                return Err(CliError::new(Kind::Failed, "the desk's answer leads nowhere"));
            }
            Some(_) => after = next,
        }
    }
}

fn counted(differences: usize) -> String {
    if differences == 1 { "1 difference".to_owned() } else { format!("{differences} differences") }
}

fn line(difference: &Difference) -> String {
    let what = match difference.what.as_str() {
        "openBlockers" => "number of open blockers",
        "parentOpen" => "parent still open",
        "depth" => "depth",
        "place" => "place in line",
        "dispatch" => "open dispatch",
        other => other,
    };
    let text = |value: &Value| match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) if text.is_empty() => "nothing".to_owned(),
        Value::String(text) => clean_line(text),
        other => other.to_string(),
    };
    let repaired = if difference.repaired { " (repaired)" } else { "" };
    format!(
        "#{}: {}: found {}, expected {}{repaired}\n",
        difference.number,
        clean_line(what),
        text(&difference.found),
        text(&difference.expected)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_told_in_words() {
        let check = |wire: Value, expected: &str| {
            assert_eq!(line(&serde_json::from_value(wire).unwrap()), expected);
        };
        check(
            json!({"number": 3, "what": "openBlockers", "found": "2", "expected": "1"}),
            "#3: number of open blockers: found 2, expected 1\n",
        );
        check(
            json!({"number": 4, "what": "dispatch", "found": "", "expected": "0199", "repaired": true}),
            "#4: open dispatch: found nothing, expected 0199 (repaired)\n",
        );
        check(
            json!({"number": 5, "what": "line\u{1b}", "found": null, "expected": 7}),
            "#5: line\u{fffd}: found nothing, expected 7\n",
        );
    }
}
