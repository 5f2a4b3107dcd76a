//! Tasks: what is kept, what moves, what is refused.

use extraboard_core::capabilities::Capabilities;
use extraboard_core::clock::Span;
use extraboard_core::doors::{Door, Doors};
use extraboard_core::id::{Fence, TaskNumber, TaskRef};
use extraboard_core::kind::Kind;
use extraboard_core::label::TaskLabel;
use extraboard_core::priority::Priority;
use extraboard_core::reason::Counters;
use extraboard_core::report::{FailureClass, Report, Retryable};
use extraboard_core::state::{State, Verb};
use extraboard_core::task::Task;
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    DispatchHeartbeat, LabelRef, PriorityEdit, ProjectRef, TaskDraft, TaskEdit, TaskFilter, TaskGet,
    TaskList, Usage,
};

use crate::harness::{TestStore, completed, holder, person};

fn full_draft(ctx: &TestStore) -> TaskDraft {
    TaskDraft {
        title: "Grüße, 'quoted' \u{1f682}".to_owned(),
        description: Some("two\nlines".to_owned()),
        kind: Kind::Hypothesis,
        state: State::Queued,
        priority: Priority::new(73).unwrap(),
        boost: -3,
        doors: Doors::new([Door::Push]).unwrap(),
        needs: Capabilities::parse("rust,sql").unwrap(),
        owner: Some("ann".to_owned()),
        labels: Vec::new(),
        external_key: Some("github:acme/x#1".to_owned()),
        project: None,
        parent: None,
        gated_by_parent: true,
        artifact: Some("specs/a.md".to_owned()),
        blocked_by: Vec::new(),
        max_retries: 7,
        not_before: Some(ctx.now().plus(Span::from_mins(5))),
        signal_source: Some("pager".to_owned()),
        signal_payload: Some(r#"{"a":[1,null]}"#.to_owned()),
        hypothesis: Some(r#"{"because":"$1 ? FOR UPDATE"}"#.to_owned()),
    }
}

fn expected_of(ctx: &TestStore, draft: &TaskDraft, created: &Task) -> Task {
    let draft = draft.clone();
    Task {
        id: created.id,
        number: created.number,
        title: draft.title,
        description: draft.description,
        kind: draft.kind,
        state: draft.state,
        priority: draft.priority,
        boost: draft.boost,
        doors: draft.doors,
        needs: draft.needs,
        owner: draft.owner,
        labels: Vec::new(),
        external_key: draft.external_key,
        prompt_broken: false,
        project: None,
        project_id: None,
        parent: None,
        parent_id: None,
        depth: 0,
        gated_by_parent: draft.gated_by_parent,
        parent_open: false,
        open_blockers: 0,
        artifact: draft.artifact,
        artifact_present: false,
        max_retries: draft.max_retries,
        signal_source: draft.signal_source,
        signal_payload: draft.signal_payload,
        hypothesis: draft.hypothesis,
        agent_summary: None,
        result: None,
        commits: None,
        pull_requests: None,
        question: None,
        answer: None,
        last_error: None,
        not_before: draft.not_before,
        queued_at: Some(ctx.now()),
        fence: Fence(0),
        attempt: 0,
        dispatch: None,
        counters: Counters::default(),
        created_at: ctx.now(),
        updated_at: ctx.now(),
        started_at: None,
        completed_at: None,
        deleted_at: None,
    }
}

pub(crate) async fn every_field_of_a_task_comes_back_as_it_was_written(ctx: &TestStore) {
    let draft = full_draft(ctx);
    let created = ctx.create(draft.clone()).await;
    let expected = expected_of(ctx, &draft, &created);
    assert_eq!(created, expected);
    assert_eq!(ctx.get(created.number).await, expected);
    let by_id = ctx.store.read(TaskGet { task: TaskRef::Id(created.id) }).await.unwrap();
    assert_eq!(by_id.task, expected);

    let parent = ctx.add("parent").await;
    let project = ctx.project("payments").await;
    let label = ctx.label("bug", "red").await;
    ctx.pass(Span::from_micros(1));
    let edit = TaskEdit {
        title: Some("new".to_owned()),
        description: Some(None),
        kind: Some(Kind::Code),
        priority: Some(PriorityEdit::Points(Priority::new(1).unwrap())),
        boost: Some(9),
        doors: Some(Doors::ANY),
        needs: Some(Capabilities::default()),
        owner: Some(None),
        labels: Some(vec![LabelRef::Name("bug".to_owned())]),
        project: Some(Some(ProjectRef::Name("payments".to_owned()))),
        parent: Some(Some(TaskRef::Number(parent.number))),
        gated_by_parent: Some(false),
        artifact: Some(None),
        max_retries: Some(0),
        not_before: Some(None),
        signal_source: Some(None),
        signal_payload: Some(Some("[]".to_owned())),
        hypothesis: Some(None),
        agent_summary: Some(Some("said".to_owned())),
        commits: Some(Some(r#"[{"sha":"a1"}]"#.to_owned())),
        pull_requests: Some(Some("[]".to_owned())),
    };
    let edited = ctx.edit(created.number, edit).await;
    let expected = Task {
        title: "new".to_owned(),
        description: None,
        kind: Kind::Code,
        priority: Priority::new(1).unwrap(),
        boost: 9,
        doors: Doors::ANY,
        needs: Capabilities::default(),
        owner: None,
        labels: vec![TaskLabel { id: label.id, name: "bug".to_owned(), color: "red".to_owned() }],
        project: Some(project.number),
        project_id: Some(project.id),
        parent: Some(parent.number),
        parent_id: Some(parent.id),
        depth: 1,
        gated_by_parent: false,
        parent_open: true,
        artifact: None,
        max_retries: 0,
        not_before: None,
        signal_source: None,
        signal_payload: Some("[]".to_owned()),
        hypothesis: None,
        agent_summary: Some("said".to_owned()),
        commits: Some(r#"[{"sha":"a1"}]"#.to_owned()),
        pull_requests: Some("[]".to_owned()),
        updated_at: ctx.now(),
        ..expected
    };
    assert_eq!(edited, expected);
    assert_eq!(ctx.get(created.number).await, expected);
}

pub(crate) async fn every_field_of_a_dispatch_comes_back_as_it_was_written(ctx: &TestStore) {
    let task = ctx.add("the prompt").await;
    let opened = ctx.claim().await;
    let stored = ctx.store.read(TaskGet { task: TaskRef::Number(task.number) }).await.unwrap();
    assert_eq!((stored.task, stored.dispatch), (opened.task.clone(), Some(opened.dispatch.clone())));
    assert_eq!(opened.dispatch.prompt.as_deref(), Some("the prompt"));
    assert_eq!(opened.dispatch.holder, "agent:a");
    assert_eq!((opened.dispatch.attempt, opened.dispatch.fence), (1, Fence(1)));

    ctx.pass(Span::from_secs(5));
    let usage = Usage {
        progress: Some(r#"{"step":1}"#.to_owned()),
        cost_micros: Some(250),
        tokens_in: Some(10),
        tokens_out: None,
    };
    for _ in 0..2 {
        let heartbeat = DispatchHeartbeat {
            ctx: ctx.ctx(holder(&opened.dispatch)),
            dispatch: opened.dispatch.id,
            usage: usage.clone(),
        };
        ctx.store.write(heartbeat).await.unwrap();
    }
    let renewed = ctx.store.read(TaskGet { task: TaskRef::Number(task.number) }).await.unwrap();
    let expected = extraboard_core::dispatch::Dispatch {
        lease_until: ctx.now().plus(opened.dispatch.lease),
        heartbeat_at: ctx.now(),
        progress: usage.progress,
        cost_micros: Some(500),
        tokens_in: Some(20),
        tokens_out: None,
        ..opened.dispatch.clone()
    };
    assert_eq!(renewed.dispatch, Some(expected));

    let closed = ctx.report(&opened, completed(r#"{"ok":true}"#)).await;
    assert_eq!(ctx.heartbeat(&opened.dispatch).await.dispatch, closed.dispatch);
    assert_eq!(closed.dispatch.result.as_deref(), Some(r#"{"ok":true}"#));
    assert_eq!(closed.task.result, closed.dispatch.result);
    assert_eq!(ctx.get(task.number).await, closed.task);
}

pub(crate) async fn a_deleted_task_is_invisible_and_never_handed_out(ctx: &TestStore) {
    let [gone, kept] = [ctx.add("gone").await, ctx.add("kept").await];
    ctx.delete(gone.number).await;
    for task in [TaskRef::Id(gone.id), TaskRef::Number(gone.number)] {
        assert!(matches!(ctx.store.read(TaskGet { task }).await, Err(Error::NoTask(_))));
    }
    for verb in [Verb::Admit, Verb::Reopen, Verb::Cancel] {
        let refused = ctx.try_move(person(), gone.number, verb).await;
        assert!(matches!(refused, Err(Error::NoTask(_))), "{verb}");
    }
    let list = TaskList { filter: TaskFilter::default(), after: TaskNumber(0), offset: 0, limit: 10 };
    let page = ctx.store.read(list).await.unwrap();
    assert_eq!(page.tasks.iter().map(|view| view.task.number).collect::<Vec<_>>(), [kept.number]);
    assert_eq!(ctx.queue_titles().await, ["kept"]);
    assert_eq!(ctx.claim().await.task.number, kept.number);
    assert!(ctx.try_claim().await.is_err());
}

/// Brings a fresh task into a state by the verbs that lead there; nothing if none do yet.
pub(crate) async fn task_in(ctx: &TestStore, state: State) -> Option<Task> {
    let made_as = match state {
        // No verb of the store pushes tasks yet.
        State::Assigned => return None,
        State::Triage | State::Backlog => state,
        _ => State::Queued,
    };
    let task = ctx.create(TaskDraft { state: made_as, ..TaskDraft::new(state.as_str()) }).await;
    let hopeless = |class| Report::Fail {
        class,
        retryable: Retryable::No,
        retry_after: None,
        error: None,
        provider: None,
    };
    match state {
        State::Triage | State::Backlog | State::Queued => {}
        State::Running => drop(ctx.claim().await),
        State::Blocked => drop(ctx.report(&ctx.claim().await, hopeless(FailureClass::Setup)).await),
        State::Done => drop(ctx.complete(&ctx.claim().await).await),
        State::Failed => drop(ctx.report(&ctx.claim().await, hopeless(FailureClass::ExecutionFailed)).await),
        State::TimedOut => {
            ctx.edit(task.number, TaskEdit { max_retries: Some(0), ..TaskEdit::default() }).await;
            ctx.fail(&ctx.claim().await, FailureClass::AttemptTimeout).await;
        }
        State::Canceled => drop(ctx.apply(task.number, Verb::Cancel).await),
        // No verb asks for a review yet: the row is written by hand.
        State::Assigned | State::InReview => {
            ctx.apply(task.number, Verb::Park).await;
            let sql = format!(
                "UPDATE task SET state = 'in_review', queued_at = {} WHERE number = {}",
                ctx.now().as_micros(),
                task.number
            );
            ctx.database.raw(&sql).await.unwrap();
        }
    }
    let task = ctx.get(task.number).await;
    assert_eq!(task.state, state);
    Some(task)
}

/// The verbs that move a task by themselves; the others come with a dispatch.
const MOVES: [Verb; 8] = [
    Verb::Admit,
    Verb::Park,
    Verb::Cancel,
    Verb::Close,
    Verb::Retry,
    Verb::Reopen,
    Verb::Approve,
    Verb::SendBack,
];

pub(crate) async fn every_move_does_what_the_transition_table_says(ctx: &TestStore) {
    for state in State::ALL {
        for verb in MOVES {
            let Some(before) = task_in(ctx, *state).await else { continue };
            let moved = ctx.try_move(person(), before.number, verb).await;
            let after = ctx.get(before.number).await;
            match state.after(verb) {
                Ok(next) => {
                    assert_eq!(after.state, next, "{state} {verb}");
                    assert_eq!(moved.unwrap(), after);
                }
                Err(illegal) => {
                    assert!(
                        matches!(moved, Err(Error::NoMove { verb, from, .. }) if (verb, from) == (illegal.verb, illegal.from))
                    );
                    assert_eq!(after, before, "{state} {verb}");
                }
            }
            ctx.delete(before.number).await;
        }
    }
}

pub(crate) async fn a_verb_that_does_not_move_tasks_is_refused(ctx: &TestStore) {
    for state in [State::Queued, State::Running] {
        let before = task_in(ctx, state).await.unwrap();
        for verb in Verb::ALL.iter().filter(|verb| !MOVES.contains(verb) && **verb != Verb::Answer) {
            assert!(ctx.try_move(person(), before.number, *verb).await.is_err(), "{state} {verb}");
            assert_eq!(ctx.get(before.number).await, before, "{state} {verb}");
        }
        ctx.delete(before.number).await;
    }
}
