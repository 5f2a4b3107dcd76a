//! What the database itself refuses, whoever writes.

use crate::harness::TestStore;

fn dispatch_row(task: i64, fence: i64, rest: &str) -> String {
    format!(
        "INSERT INTO dispatch (id, task, attempt, fence, holder, door, lease_micros, lease_until,
           started_at, heartbeat_at, phase, reason, closed_at)
         VALUES ('raw-{fence}', {task}, 1, {fence}, 'x', 'pull', 1, 1, 1, 1, {rest})"
    )
}

pub(crate) async fn at_most_one_dispatch_of_a_task_is_not_closed(ctx: &TestStore) {
    let task = ctx.add("t").await.number.0;
    ctx.claim().await;
    for rest in ["'open', NULL, NULL", "'ending', 'crash', NULL"] {
        let refused = ctx.database.raw(&dispatch_row(task, 2, rest)).await.unwrap_err();
        assert!(refused.to_lowercase().contains("unique"), "{refused}");
    }
    ctx.database.raw(&dispatch_row(task, 3, "'closed', 'crash', 1")).await.unwrap();
}

pub(crate) async fn two_dispatches_of_a_task_never_share_a_fence(ctx: &TestStore) {
    let task = ctx.add("t").await.number.0;
    ctx.complete(&ctx.claim().await).await;
    let refused = ctx.database.raw(&dispatch_row(task, 1, "'closed', NULL, 1")).await.unwrap_err();
    assert!(refused.to_lowercase().contains("unique"), "{refused}");
}

pub(crate) async fn values_out_of_range_are_refused(ctx: &TestStore) {
    ctx.add("t").await;
    for wrong in [
        "priority = 0",
        "priority = 101",
        "doors = 0",
        "doors = 8",
        "state = 'paused'",
        "kind = 'epic'",
        "title = ''",
        "max_retries = -1",
        "state = 'running'",
        "queued_at = NULL",
    ] {
        let refused = ctx.database.raw(&format!("UPDATE task SET {wrong}")).await;
        assert!(refused.unwrap_err().to_lowercase().contains("check"), "{wrong}");
    }
    for wrong in ["'open', 'crash', NULL", "'ending', NULL, NULL", "'closed', NULL, NULL", "'open', NULL, 1"]
    {
        let refused = ctx.database.raw(&dispatch_row(1, 1, wrong)).await;
        assert!(refused.unwrap_err().to_lowercase().contains("check"), "{wrong}");
    }
}
