//! A database with a line of waiting tasks, kept at its depth.

use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use extraboard_core::caller::Caller;
use extraboard_core::clock::{Clock as _, Entropy, Span};
use extraboard_core::id::TaskNumber;
use extraboard_core::profile::{Profile, ProfileName};
use extraboard_desk::{Desk, Loops, Running, Settings};
use extraboard_server::{AskForReviews, Prompts, install_templates};
use extraboard_store::verbs::{Doctor, Render, Rerank, Reranked, RulesEdit, Seed, SeedSort, Sequence};
use extraboard_store::{Opening, Store};

use crate::clock::{Counting, RealClock};
use crate::plan::{LinePlan, TasksPlan};

/// How many tasks are added at once.
const SEED_CHUNK: i64 = 50_000;
/// How many of the tasks that were added are looked at afterwards.
const EXAMINED: i64 = 500;
/// How many more tasks wait at first: half of the smallest round, so that its middle is the depth.
const SLACK: i64 = 32;
/// What is claimed here is never given back by the end of a lease.
const LEASE: Span = Span::from_days(30);
const EVENTS_KEPT: Span = Span::from_days(30);
/// Where prompts tell agents to report. Nobody listens there.
const SERVER_URL: &str = "http://127.0.0.1:8600";

/// A line, and what will be added to it next.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) plan: LinePlan,
    profile: ProfileName,
    /// The number of the next task.
    next: i64,
    /// One source for all desks: their ids must differ.
    entropy: Arc<Counting>,
}

/// What prompts a desk makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prompting {
    /// The title of the task.
    Title,
    /// By the templates that are shipped.
    Templates,
}

/// Desks at work on one line.
#[derive(Debug)]
pub(crate) struct Desks {
    pub(crate) desks: Vec<Desk>,
    running: Vec<Running>,
}

impl Line {
    /// Describes a line that is full, or is filled before anything else.
    pub(crate) fn new(plan: &LinePlan, profile: ProfileName) -> Self {
        // Where nothing is to wait there are no rounds either.
        let slack = if plan.depth == 0 { 0 } else { SLACK };
        Self { plan: plan.clone(), profile, next: plan.depth + slack + 1, entropy: Arc::new(Counting::new()) }
    }

    /// Opens the database alone: nothing runs by itself.
    pub(crate) async fn store(&self) -> Result<Store> {
        let opening = Opening { now: RealClock.now(), note: "a benchmark".to_owned() };
        Ok(Box::pin(Store::open(&self.plan.url, &opening)).await?)
    }

    /// Opens so many desks on the database and lets them run.
    pub(crate) async fn desks(&self, replicas: usize) -> Result<Desks> {
        self.desks_with(replicas, Prompting::Title).await
    }

    /// Opens desks that make such prompts.
    pub(crate) async fn desks_with(&self, replicas: usize, prompting: Prompting) -> Result<Desks> {
        let mut opened = Desks { desks: Vec::new(), running: Vec::new() };
        for _ in 0..replicas {
            let (desk, loops) = self.desk(prompting).await?;
            opened.desks.push(desk);
            opened.running.push(loops.start());
        }
        Ok(opened)
    }

    async fn desk(&self, prompting: Prompting) -> Result<(Desk, Loops)> {
        let entropy: Arc<dyn Entropy> = self.entropy.clone();
        let rules = RulesEdit { profile: Some(Profile::shipped(self.profile)), ..RulesEdit::default() };
        let settings = Settings {
            pull_lease: LEASE,
            events_kept: EVENTS_KEPT,
            render: match prompting {
                Prompting::Title => Render::plain(|task| task.title.clone()),
                Prompting::Templates => {
                    Render::templates(Prompts::new(SERVER_URL.to_owned(), AskForReviews::Yes))
                }
            },
            rules,
        };
        let opened = Desk::new(self.store().await?, Arc::new(RealClock), entropy, settings);
        let (desk, loops) = Box::pin(opened).await?;
        if prompting == Prompting::Templates {
            install_templates(&desk).await?;
        }
        Ok((desk, loops))
    }

    /// Fills the line, which is empty.
    pub(crate) async fn fill(&self) -> Result<()> {
        let is_ranked = self.plan.tasks == TasksPlan::Bare || self.profile == ProfileName::Pipeline;
        ensure!(is_ranked, "families are ranked by the profile `pipeline` alone");
        let (desk, loops) = self.desk(Prompting::Title).await?;
        // The first rules ask for a re-rank. It ends before there is anything to rank.
        while desk.write(Rerank { ctx: desk.ctx(Caller::Desk) }).await? == Reranked::More {}
        let (ours, all) = (self.tasks() - self.plan.foreign, self.tasks());
        self.seed(&desk, 1..=ours, self.sort()).await?;
        self.seed(&desk, ours + 1..=all, SeedSort::Foreign(self.plan.lanes)).await?;
        if self.profile == ProfileName::Pipeline {
            for after in [0, ours - EXAMINED, all - EXAMINED] {
                examine(&desk, after.max(0)).await?;
            }
        }
        loops.start().stop().await;
        Ok(())
    }

    /// Adds as many tasks as were taken.
    pub(crate) async fn top_up(&mut self, desk: &Desk, taken: usize) -> Result<()> {
        let first = self.next;
        self.next += i64::try_from(taken)?;
        self.seed(desk, first..=self.next - 1, self.sort()).await
    }

    /// Returns how many tasks there are, waiting or not.
    pub(crate) fn tasks(&self) -> i64 {
        self.next - 1
    }

    fn sort(&self) -> SeedSort {
        match (self.plan.tasks, self.profile) {
            (TasksPlan::Families, _) => SeedSort::Families,
            (TasksPlan::Bare, ProfileName::Pipeline) => SeedSort::Pipeline,
            (TasksPlan::Bare, ProfileName::DepthFirst) => SeedSort::DepthFirst,
        }
    }

    async fn seed(&self, desk: &Desk, numbers: std::ops::RangeInclusive<i64>, sort: SeedSort) -> Result<()> {
        let mut first = *numbers.start();
        while first <= *numbers.end() {
            let last = (first + SEED_CHUNK - 1).min(*numbers.end());
            desk.write(Seed { first, last, now: desk.now(), sort }).await?;
            first = last + 1;
        }
        Ok(())
    }
}

impl Desks {
    /// Stops the desks; their last events have positions by then.
    pub(crate) async fn stop(self) {
        drop(self.desks);
        for running in self.running {
            running.stop().await;
        }
    }
}

/// Fails unless some of the tasks stand where the desk would have put them. Depths under `depth_first` are
/// made up, for want of parents, so there the doctor would not agree.
async fn examine(desk: &Desk, after: i64) -> Result<()> {
    let checked = desk.read(Doctor { after: TaskNumber(after), limit: EXAMINED }).await?;
    match checked.differences.first() {
        Some(difference) => bail!("the line is not as the desk would have it: {difference}"),
        None => Ok(()),
    }
}

/// Gives all events their positions, so that no desk has to make up for it while it is measured.
pub(crate) async fn stamp_all(store: &Store) -> Result<()> {
    while store.write(Sequence).await?.stamped > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use extraboard_desk::Claim;

    use super::*;
    use crate::work::claimer;

    fn families(folder: &tempfile::TempDir) -> Line {
        let plan = LinePlan {
            name: "families".to_owned(),
            url: folder.path().join("families.db").display().to_string(),
            depth: 20,
            foreign: 0,
            lanes: 0,
            tasks: TasksPlan::Families,
        };
        Line::new(&plan, ProfileName::Pipeline)
    }

    #[tokio::test]
    async fn prompts_of_families_tell_of_everything() {
        let folder = tempfile::tempdir().unwrap();
        let line = families(&folder);
        line.fill().await.unwrap();
        let opened = line.desks_with(1, Prompting::Templates).await.unwrap();
        let mut prompts = Vec::new();
        for _ in 0..line.tasks() {
            let claim = Claim { caller: Caller::Agent("bench".to_owned()), claimer: claimer(), key: None };
            let claimed = opened.desks[0].claim(claim).await.unwrap().unwrap();
            prompts.push(claimed.dispatch.prompt.unwrap());
        }
        opened.stop().await;
        for part in
            ["- labels: ", "## Project: ", "## Goal: ", "## Part of #", "## Other parts", "## Comments"]
        {
            assert!(prompts.iter().all(|prompt| prompt.contains(part)), "{part}");
        }
        let failed = prompts.iter().filter(|prompt| prompt.contains("At this issue, attempt 1: failed"));
        assert_eq!(failed.count(), prompts.len() / 10);
        assert!(prompts.iter().all(|prompt| prompt.len() > 5_000));
    }
}
