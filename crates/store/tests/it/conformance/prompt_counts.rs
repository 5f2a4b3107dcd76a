//! What became of prompts: counted from the log, each event once.

use extraboard_core::clock::Span;
use extraboard_core::dispatch::PULL_LEASE;
use extraboard_core::reason::Reason;
use extraboard_core::report::{FailureClass, Report};
use extraboard_core::review::Worked;
use extraboard_core::state::Verb;
use extraboard_core::template::Version;
use extraboard_store::verbs::{Claimed, PromptsCount, TemplateEdit};

use crate::harness::{TestStore, asked, completed, failed};
use crate::prompting::at_once;

const NONE: Worked = Worked { used: 0, completed: 0, failed: 0, reworked: 0, duration: Span::ZERO };

impl TestStore {
    /// Counts the whole log and returns what became of a version's prompts.
    async fn worked(&self, version: &Version) -> Worked {
        self.sequence().await;
        while self.store.write(PromptsCount).await.unwrap() {}
        self.version_now(version).await.1.worked
    }

    /// Hands a fresh task out by templates.
    async fn hand_out(&self) -> Claimed {
        let number = self.add("t").await.number;
        let claimed = self.claim_prompted().await;
        assert_eq!(claimed.task.number, number);
        claimed
    }

    async fn in_use(&self) -> Version {
        self.template("a", TemplateEdit::default()).await
    }
}

pub(crate) async fn uses_ends_and_durations_are_counted(ctx: &TestStore) {
    let version = ctx.in_use().await;
    assert_eq!(ctx.worked(&version).await, NONE);
    let claimed = ctx.hand_out().await;
    assert_eq!(ctx.worked(&version).await, Worked { used: 1, ..NONE });
    ctx.pass(Span::from_secs(10));
    ctx.complete(&claimed).await;
    let once = Worked { used: 1, completed: 1, duration: Span::from_secs(10), ..NONE };
    assert_eq!(ctx.worked(&version).await, once);
    let claimed = ctx.hand_out().await;
    ctx.pass(Span::from_secs(5));
    ctx.complete(&claimed).await;
    for class in [FailureClass::ExecutionFailed, FailureClass::Crash, FailureClass::AttemptTimeout] {
        let claimed = ctx.hand_out().await;
        ctx.pass(Span::from_secs(1));
        ctx.fail(&claimed, class).await;
    }
    let worked = ctx.worked(&version).await;
    let expected = Worked { used: 5, completed: 2, failed: 3, reworked: 0, duration: Span::from_secs(15) };
    assert_eq!(worked, expected);
    assert_eq!(worked.completion_rate(), Some(0.4));
    assert_eq!(worked.mean_duration(), Some(Span::from_micros(7_500_000)));
}

pub(crate) async fn what_says_nothing_about_the_prompt_counts_neither_way(ctx: &TestStore) {
    let version = ctx.in_use().await;
    let reports = [
        Report::Release,
        asked(),
        failed(FailureClass::RateLimited),
        failed(FailureClass::Setup),
        failed(FailureClass::AgentUnavailable),
    ];
    for report in reports {
        let claimed = ctx.hand_out().await;
        ctx.report(&claimed, report).await;
        ctx.apply(claimed.task.number, Verb::Cancel).await;
    }
    let claimed = ctx.hand_out().await;
    ctx.apply(claimed.task.number, Verb::Cancel).await;
    ctx.report(&claimed, completed("{}")).await;
    assert_eq!(ctx.worked(&version).await, Worked { used: 6, ..NONE });
}

pub(crate) async fn what_was_made_without_a_template_is_not_counted(ctx: &TestStore) {
    let version = ctx.in_use().await;
    ctx.add("t").await;
    let claimed = ctx.claim().await;
    ctx.complete(&claimed).await;
    ctx.apply(claimed.task.number, Verb::Reopen).await;
    assert_eq!(ctx.worked(&version).await, NONE);
}

pub(crate) async fn a_lapsed_lease_is_a_failure_until_a_late_report_takes_it_back(ctx: &TestStore) {
    let version = ctx.in_use().await;
    let late = [
        (completed("{}"), Worked { completed: 1, duration: PULL_LEASE, ..NONE }),
        (failed(FailureClass::ExecutionFailed), Worked { failed: 1, ..NONE }),
        (asked(), NONE),
    ];
    let mut sum = NONE;
    for (report, expected) in late {
        let claimed = ctx.hand_out().await;
        ctx.lapse().await;
        sum.used += 1;
        assert_eq!(ctx.worked(&version).await, Worked { failed: sum.failed + 1, ..sum });
        ctx.report(&claimed, report).await;
        sum.completed += expected.completed;
        sum.failed += expected.failed;
        sum.duration = Span::from_micros(sum.duration.as_micros() + expected.duration.as_micros());
        assert_eq!(ctx.worked(&version).await, sum);
        ctx.apply(claimed.task.number, if sum.used == 1 { Verb::Reopen } else { Verb::Cancel }).await;
        sum.reworked = 1;
        ctx.delete(claimed.task.number).await;
    }
}

pub(crate) async fn a_stale_report_counts_nothing(ctx: &TestStore) {
    let version = ctx.in_use().await;
    let old = ctx.hand_out().await;
    ctx.lapse().await;
    ctx.pass(Span::from_days(1));
    let new = ctx.claim_prompted().await;
    ctx.report(&old, completed("{}")).await;
    assert_eq!(ctx.worked(&version).await, Worked { used: 2, failed: 1, ..NONE });
    ctx.complete(&new).await;
    ctx.report(&new, completed("{}")).await;
    let expected = Worked { used: 2, completed: 1, failed: 1, ..NONE };
    assert_eq!(ctx.worked(&version).await, expected);
}

pub(crate) async fn what_has_to_be_done_again_is_counted_as_rework(ctx: &TestStore) {
    let version = ctx.in_use().await;
    let claimed = ctx.hand_out().await;
    ctx.complete(&claimed).await;
    ctx.apply(claimed.task.number, Verb::Reopen).await;
    let once = Worked { used: 1, completed: 1, reworked: 1, ..NONE };
    assert_eq!(ctx.worked(&version).await, once);
    // What was given up was not done, so it is not done again.
    ctx.apply(claimed.task.number, Verb::Cancel).await;
    ctx.apply(claimed.task.number, Verb::Reopen).await;
    assert_eq!(ctx.worked(&version).await, once);
    ctx.complete(&ctx.claim_prompted().await).await;
    // No verb asks for a review yet: the row is written by hand.
    let in_review = format!("UPDATE task SET state = 'in_review' WHERE number = {}", claimed.task.number);
    ctx.database.raw(&in_review).await.unwrap();
    ctx.apply(claimed.task.number, Verb::SendBack).await;
    let twice = Worked { used: 2, completed: 2, reworked: 2, ..NONE };
    assert_eq!(ctx.worked(&version).await, twice);
    assert_eq!(twice.rework_rate(), Some(1.0));
}

pub(crate) async fn rework_counts_against_the_version_whose_work_it_was(ctx: &TestStore) {
    let first = ctx.in_use().await;
    let claimed = ctx.hand_out().await;
    ctx.complete(&claimed).await;
    ctx.pass(Span::from_secs(1));
    ctx.apply(claimed.task.number, Verb::Reopen).await;
    let second = ctx.supersede(&first, "new").await;
    ctx.pass(Span::from_secs(1));
    ctx.complete(&ctx.claim_prompted().await).await;
    // Nobody counted before the work was done a second time.
    assert_eq!(ctx.worked(&first).await, Worked { used: 1, completed: 1, reworked: 1, ..NONE });
    assert_eq!(ctx.worked(&second).await, Worked { used: 1, completed: 1, ..NONE });
}

pub(crate) async fn versions_are_counted_apart(ctx: &TestStore) {
    let first = ctx.in_use().await;
    let old = ctx.hand_out().await;
    let second = ctx.supersede(&first, "new").await;
    let new = ctx.hand_out().await;
    ctx.complete(&new).await;
    ctx.terminate(&old.dispatch, Reason::HardCapExceeded).await;
    ctx.report(&old, completed("{}")).await;
    assert_eq!(ctx.worked(&first).await, Worked { used: 1, failed: 1, ..NONE });
    assert_eq!(ctx.worked(&second).await, Worked { used: 1, completed: 1, ..NONE });
}

pub(crate) async fn each_event_is_counted_once_however_often_it_is_looked_at(ctx: &TestStore) {
    let version = ctx.in_use().await;
    for round in 1..=5 {
        for _ in 0..4 {
            let claimed = ctx.hand_out().await;
            ctx.complete(&claimed).await;
        }
        // What has no position yet is not looked at.
        ctx.store.write(PromptsCount).await.unwrap();
        ctx.sequence().await;
        for more in at_once(ctx, vec![PromptsCount; 8]).await {
            assert!(!more.unwrap());
        }
        let expected = Worked { used: 4 * round, completed: 4 * round, ..NONE };
        assert_eq!(ctx.worked(&version).await, expected, "round {round}");
    }
}

pub(crate) async fn a_long_log_is_counted_in_turns(ctx: &TestStore) {
    let version = ctx.in_use().await;
    ctx.complete(&ctx.hand_out().await).await;
    // Positions nothing of interest stands at.
    ctx.sequence().await;
    ctx.database.raw("UPDATE sequencer SET last_pos = last_pos + 2500").await.unwrap();
    ctx.complete(&ctx.hand_out().await).await;
    ctx.sequence().await;
    assert!(ctx.store.write(PromptsCount).await.unwrap());
    assert_eq!(ctx.version_now(&version).await.1.worked.used, 1);
    assert!(!ctx.store.write(PromptsCount).await.unwrap());
    assert_eq!(ctx.worked(&version).await, Worked { used: 2, completed: 2, ..NONE });
}
