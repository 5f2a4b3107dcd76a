//! `xb queue`

use extraboard_api::dispatch::{Breakdown, Queue, QueueEntry, QueueQuery};

use crate::commands::claimer::{FLAGS, Wants, WorksOn};
use crate::commands::number::whole;
use crate::commands::of_project::{self, OfProject};
use crate::context::{AgentName, Context};
use crate::error::CliError;
use crate::output::{Align, Style, Table, talk};

/// List what would be handed out, in that order
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// At most this many
    #[arg(long, value_name = "N", value_parser = whole)]
    limit: Option<i64>,

    /// Leave out the first so many
    #[arg(long, value_name = "N", value_parser = whole)]
    offset: Option<i64>,

    /// What this agent would get
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentName>,

    #[command(flatten)]
    of_project: OfProject,

    #[command(flatten)]
    wants: Wants,

    #[command(flatten)]
    works_on: WorksOn,

    #[command(flatten)]
    columns: Columns,
}

/// What is told of each place in line beyond the usual.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Columns {
    /// List what is in line but not to be had now, too, and what is in its way
    #[arg(long)]
    all: bool,

    /// Show every part of the score
    #[arg(long)]
    long: bool,
}

pub(crate) async fn run(args: &Args, ctx: &Context) -> Result<(), CliError> {
    let client = ctx.desk_as(args.agent.as_ref())?.client;
    let project = args.of_project.meant(ctx)?;
    let query = QueueQuery {
        limit: args.limit,
        offset: args.offset,
        all: args.columns.all.then_some(true),
        ..QueueQuery::from(args.works_on.add_to(args.wants.query(of_project::name(project.as_ref()))))
    };
    let queue = match client.queue(&query).await {
        Ok(queue) => queue,
        Err(error) => {
            let error = CliError::of_request(&error, FLAGS);
            return Err(of_project::explain(&client, project.as_ref(), error).await);
        }
    };
    ctx.out.show(&queue, |style| {
        let more = if queue.total_capped { "+" } else { "" };
        talk(&format!("{} of {}{more} in line", queue.data.len(), queue.total));
        if queue.data.is_empty() { String::new() } else { render(&queue, &args.columns, style) }
    })
}

/// One part of the score: its heading, and where it is.
type Part = (&'static str, fn(&Breakdown) -> i64);

const USUAL_PARTS: [Part; 2] = [("PRIO", |parts| parts.priority_weight), ("AGE", |parts| parts.age_bonus)];

const ALL_PARTS: [Part; 8] = [
    ("PRIO", |parts| parts.priority_weight),
    ("BOOST", |parts| parts.boost),
    ("TYPE", |parts| parts.type_bonus),
    ("GOAL", |parts| parts.goal_bonus),
    ("AGE", |parts| parts.age_bonus),
    ("PATIENCE", |parts| parts.patience),
    ("DEPTH", |parts| parts.depth_bonus),
    ("RETRY", |parts| parts.retry_penalty),
];

/// Returns the line as a table.
pub(crate) fn render(queue: &Queue, columns: &Columns, style: Style) -> String {
    let parts: &[Part] = if columns.long { &ALL_PARTS } else { &USUAL_PARTS };
    let mut headings = vec![("ID", Align::Right), ("SCORE", Align::Right)];
    headings.extend(parts.iter().map(|(heading, _)| (*heading, Align::Right)));
    headings.push(("KIND", Align::Left));
    if columns.all {
        headings.push(("GATES", Align::Left));
    }
    headings.push(("TITLE", Align::Left));
    let mut table = Table::new(&headings);
    for entry in &queue.data {
        let mut cells = vec![format!("#{}", entry.issue.number), entry.score.to_string()];
        cells.extend(parts.iter().map(|(_, part)| part(&entry.breakdown).to_string()));
        cells.push(entry.issue.kind.clone());
        if columns.all {
            cells.push(gates(entry));
        }
        cells.push(entry.issue.title.clone());
        table.row(cells);
    }
    table.render(style)
}

/// Returns what is in the way in a word each; `xb why` says more.
fn gates(entry: &QueueEntry) -> String {
    let mut words: Vec<&str> = entry.gates.iter().map(|gate| gate.gate.as_str()).collect();
    words.dedup();
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn queue() -> Queue {
        let issue = |number: i64, kind: &str| {
            json!({
                "id": "0199", "number": number, "title": "t", "type": kind, "status": "todo", "state": "queued",
                "priority": 3, "priorityValue": 50, "maxRetries": 3, "attempt": 0,
                "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z"
            })
        };
        let gate = |gate: &str| json!({"gate": gate, "detail": "d", "until": null});
        serde_json::from_value(json!({
            "data": [
                {
                    "issue": issue(7, "code"), "score": 66, "gates": [],
                    "breakdown": {
                        "priorityWeight": 50, "boost": 5, "typeBonus": 20, "ageBonus": 1, "retryPenalty": -10
                    }
                },
                {
                    "issue": issue(12, "plan"), "score": 40, "breakdown": {"typeBonus": 40},
                    "gates": [gate("limit"), gate("limit"), gate("paused")]
                },
            ],
            "total": 2
        }))
        .unwrap()
    }

    #[test]
    fn the_usual_columns_are_few() {
        insta::assert_snapshot!(render(&queue(), &Columns::default(), Style::Plain), @r"
         ID  SCORE  PRIO  AGE  KIND  TITLE
         #7     66    50    1  code  t
        #12     40     0    0  plan  t
        ");
    }

    #[test]
    fn all_parts_and_gates_are_shown_if_asked_for() {
        let columns = Columns { all: true, long: true };
        insta::assert_snapshot!(render(&queue(), &columns, Style::Plain), @r"
         ID  SCORE  PRIO  BOOST  TYPE  GOAL  AGE  PATIENCE  DEPTH  RETRY  KIND  GATES          TITLE
         #7     66    50      5    20     0    1         0      0    -10  code  -              t
        #12     40     0      0    40     0    0         0      0      0  plan  limit, paused  t
        ");
    }
}
