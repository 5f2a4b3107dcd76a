//! Prompts: what stands in them, and that they are kept as they were sent.

use extraboard_core::clock::Span;
use extraboard_core::doors::Door;
use extraboard_core::gate::Claimer;
use extraboard_core::graph::RelationType;
use extraboard_core::id::{TaskNumber, TaskRef};
use extraboard_core::project::{GoalStatus, Project};
use extraboard_core::prompt::{BLOCKERS_MAX, COMMENTS_MAX, EXCERPT_CHARS_MAX, RELATIVES_MAX};
use extraboard_core::report::{Completion, FailureClass, Report};
use extraboard_core::state::{State, Verb};
use extraboard_store::error::Error;
use extraboard_store::verbs::{
    ClaimRequest, Claimed, CommentCreate, DispatchGet, GoalCreate, GoalDelete, GoalEdit, GoalPatch,
    ProjectEdit, ProjectRef, TaskDraft, TaskPreview, TemplateEdit,
};

use super::labels::labelled;
use crate::harness::{TestStore, agent, below, holder, person};
use crate::prompting::lines_of;

/// Returns a draft of a task that is not handed out.
fn parked(draft: TaskDraft) -> TaskDraft {
    TaskDraft { state: State::Backlog, ..draft }
}

fn done_with(summary: &str) -> Report {
    Report::Complete(Completion { summary: Some(summary.to_owned()), ..Completion::default() })
}

fn prompt(claimed: &Claimed) -> &str {
    claimed.dispatch.prompt.as_deref().unwrap()
}

impl TestStore {
    /// Adds a template whose prompts tell everything.
    async fn tell_all(&self) {
        self.template("a", TemplateEdit::default()).await;
    }

    async fn say(&self, task: TaskNumber, body: &str) {
        let (ctx, body) = (self.ctx(agent("b")), body.to_owned());
        let task = TaskRef::Number(task);
        let comment = CommentCreate { ctx, task, body, author: None, author_type: None, parent: None };
        self.store.write(comment).await.unwrap();
    }

    /// Adds a goal of a project.
    async fn goal_that_is(&self, status: GoalStatus, title: &str, project: &Project) -> GoalDelete {
        let project = Some(Some(ProjectRef::Id(project.id)));
        let edit = GoalEdit { status: Some(status), project, ..GoalEdit::default() };
        let create =
            GoalCreate { ctx: self.ctx(person()), id: self.goal_id(), title: title.to_owned(), edit };
        let goal = self.store.write(create).await.unwrap();
        self.pass(Span::from_micros(1));
        GoalDelete { ctx: self.ctx(person()), goal: goal.id }
    }

    /// Lists what the prompt of a task would say, beginning with a word.
    async fn preview_lines(&self, task: TaskNumber, word: &str) -> Vec<String> {
        let prompt = self.preview(task, None).await.prompt.unwrap().unwrap();
        prompt.lines().skip(1).filter(|line| line.starts_with(word)).map(str::to_owned).collect()
    }
}

/// Returns the lines that tell of tasks with these numbers.
fn lines(word: &str, numbers: impl Iterator<Item = usize>, rest: &str) -> Vec<String> {
    numbers.map(|number| format!("{word} #{number} {rest}")).collect()
}

pub(crate) async fn a_prompt_tells_of_the_task_and_its_family(ctx: &TestStore) {
    ctx.tell_all().await;
    let whole = TaskDraft { description: Some("the whole".to_owned()), ..TaskDraft::new("parent") };
    let parent = ctx.create(parked(whole)).await.number;
    ctx.create(below(parent, "one")).await;
    ctx.report(&ctx.claim_prompted().await, done_with("did it")).await;
    let two = ctx.create(below(parent, "two")).await.number;
    ctx.create(parked(below(parent, "three"))).await;
    ctx.create(parked(below(two, "part"))).await;
    let claimed = ctx.claim_prompted().await;
    let expected = "a v1: text\n\
        task #3 two by pull\n\
        parent #1 parent backlog, the whole\n\
        sibling #2 one done, did it\n\
        sibling #4 three backlog\n\
        child #5 part backlog\n\
        session #2.1 completed, did it";
    assert_eq!(prompt(&claimed), expected);
}

pub(crate) async fn a_large_family_is_told_of_by_its_latest_members(ctx: &TestStore) {
    ctx.tell_all().await;
    let parent = ctx.create(parked(TaskDraft::new("parent"))).await.number;
    for _ in 2..=26 {
        ctx.create(parked(below(parent, "s"))).await;
    }
    let [first, last] = [TaskNumber(2), TaskNumber(26)];
    for _ in 27..=51 {
        ctx.create(parked(below(first, "c"))).await;
    }
    assert_eq!(RELATIVES_MAX, 20);
    assert_eq!(ctx.preview_lines(first, "sibling").await, lines("sibling", 7..=26, "s backlog"));
    assert_eq!(ctx.preview_lines(first, "child").await, lines("child", 32..=51, "c backlog"));
    // The task itself takes nobody's place.
    assert_eq!(ctx.preview_lines(last, "sibling").await, lines("sibling", 6..=25, "s backlog"));
    assert_eq!(ctx.preview_lines(last, "child").await, Vec::<String>::new());
    // A claim tells the same.
    ctx.apply(first, Verb::Admit).await;
    let claimed = ctx.claim_prompted().await;
    assert_eq!(lines_of(&claimed, "sibling"), lines("sibling", 7..=26, "s backlog"));
    assert_eq!(lines_of(&claimed, "child"), lines("child", 32..=51, "c backlog"));
}

pub(crate) async fn a_prompt_tells_what_blocks_and_is_blocked(ctx: &TestStore) {
    ctx.tell_all().await;
    let [before, after, beside] =
        [ctx.add("before").await.number, ctx.add("after").await.number, ctx.add("beside").await.number];
    let task = ctx.add("t").await.number;
    ctx.block(before, task).await.unwrap();
    ctx.block(task, after).await.unwrap();
    ctx.store.write(ctx.relating(task, RelationType::Related, beside)).await.unwrap();
    ctx.apply(before, Verb::Close).await;
    ctx.apply(beside, Verb::Park).await;
    let expected = "a v1: text\ntask #4 t by pull\nblocking #2 after queued\nblocked by #1 before done";
    assert_eq!(prompt(&ctx.claim_prompted().await), expected);
}

pub(crate) async fn of_many_blockers_the_latest_are_told_of(ctx: &TestStore) {
    ctx.tell_all().await;
    let task = ctx.create(parked(TaskDraft::new("t"))).await.number;
    let mut others = Vec::new();
    for _ in 2..=51 {
        others.push(ctx.create(parked(TaskDraft::new("o"))).await.number);
    }
    // Numbers say nothing about when they were related.
    let (blockers, blocked) = others.split_at_mut(25);
    blockers.reverse();
    for (blocker, blocked) in blockers.iter().zip(&*blocked) {
        ctx.pass(Span::from_secs(1));
        ctx.block(*blocker, task).await.unwrap();
        ctx.block(task, *blocked).await.unwrap();
    }
    // What is deleted takes nobody's place: the latest three on either side.
    for gone in blockers[22..].iter().chain(&blocked[22..]) {
        ctx.delete(*gone).await;
    }
    assert_eq!(BLOCKERS_MAX, 20);
    let told = ctx.preview_lines(task, "blocked by").await;
    assert_eq!(told, lines("blocked by", (5..=24).rev(), "o backlog"));
    assert_eq!(ctx.preview_lines(task, "blocking").await, lines("blocking", 29..=48, "o backlog"));
}

pub(crate) async fn earlier_attempts_are_told_of_the_tasks_own_last(ctx: &TestStore) {
    ctx.tell_all().await;
    let parent = ctx.create(parked(TaskDraft::new("parent"))).await.number;
    let task = ctx.create(parked(below(parent, "t"))).await.number;
    let sibling = ctx.create(below(parent, "sibling")).await.number;
    for _ in 0..3 {
        ctx.fail(&ctx.claim_prompted().await, FailureClass::ExecutionFailed).await;
        ctx.pass(Span::from_days(1));
    }
    ctx.apply(sibling, Verb::Park).await;
    // Its own attempts lie before and after the sibling's.
    ctx.pass(Span::from_days(-2));
    ctx.apply(task, Verb::Admit).await;
    let first = ctx.claim_prompted().await;
    let of_sibling = ["session #3.1 failed, boom", "session #3.2 failed, boom", "session #3.3 failed, boom"];
    assert_eq!(lines_of(&first, "session"), of_sibling);
    ctx.report(&first, Report::Release).await;
    ctx.report(&ctx.claim_prompted().await, done_with("half of it")).await;
    ctx.apply(task, Verb::Reopen).await;
    ctx.claim_prompted().await;
    ctx.lapse().await;
    ctx.pass(Span::from_days(1));
    let fourth = ctx.claim_prompted().await;
    let expected = [
        "session #3.2 failed, boom",
        "session #3.3 failed, boom",
        "session #2.1 released",
        "session #2.2 completed, half of it",
        "session #2.3 lease_expired",
    ];
    assert_eq!(lines_of(&fourth, "session"), expected);
    assert_eq!(lines_of(&fourth, "failed before").len(), 1);
}

pub(crate) async fn of_many_attempts_the_latest_are_told_of(ctx: &TestStore) {
    ctx.tell_all().await;
    ctx.add("t").await;
    ctx.fail(&ctx.claim_prompted().await, FailureClass::Crash).await;
    ctx.pass(Span::from_days(1));
    for _ in 2..=4 {
        ctx.report(&ctx.claim_prompted().await, Report::Release).await;
    }
    let fifth = ctx.claim_prompted().await;
    let told = ["1 failed, boom", "2 released", "3 released", "4 released"];
    assert_eq!(lines_of(&fifth, "session"), told.map(|told| format!("session #1.{told}")));
    ctx.report(&fifth, Report::Release).await;
    ctx.report(&ctx.claim_prompted().await, Report::Release).await;
    let seventh = ctx.claim_prompted().await;
    let told = [2, 3, 4, 5, 6].map(|fence| format!("session #1.{fence} released"));
    assert_eq!(lines_of(&seventh, "session"), told);
    // A preview tells of the attempt that is not over as little as a prompt does.
    assert_eq!(ctx.preview_lines(TaskNumber(1), "session").await, told);
}

pub(crate) async fn comments_are_told_of_the_latest_last(ctx: &TestStore) {
    ctx.tell_all().await;
    let task = ctx.add("t").await.number;
    let other = ctx.add("other").await.number;
    for number in 1..=25 {
        ctx.say(task, &format!("word {number}")).await;
        ctx.say(other, "to somebody else").await;
    }
    assert_eq!(COMMENTS_MAX, 20);
    let expected: Vec<_> = (6..=25).map(|number| format!("comment by agent:b: word {number}")).collect();
    assert_eq!(lines_of(&ctx.claim_prompted().await, "comment"), expected);
}

pub(crate) async fn a_question_comes_back_with_its_answer(ctx: &TestStore) {
    ctx.tell_all().await;
    let task = ctx.add("t").await.number;
    let claimed = ctx.claim_prompted().await;
    assert_eq!(prompt(&claimed), "a v1: text\ntask #1 t by pull");
    ctx.report(&claimed, Report::Ask { question: Some("left or right?".to_owned()) }).await;
    ctx.answer(task, "left").await.unwrap();
    let prompt = ctx.claim_prompted().await.dispatch.prompt.unwrap();
    let (_, told) = prompt.split_once('\n').unwrap();
    let expected = format!(
        "task #1 t by pull\n\
         session #1.1 asked, left or right?\n\
         question by {}: left or right?\n\
         answer by {}: left\n\
         asked left or right?\n\
         answered left",
        holder(&claimed.dispatch),
        person(),
    );
    assert_eq!(told, expected);
}

pub(crate) async fn a_prompt_tells_of_project_goal_and_labels(ctx: &TestStore) {
    ctx.tell_all().await;
    ctx.label("web", "blue").await;
    ctx.label("bug", "red").await;
    let project = ctx.project("payments").await;
    let draft = TaskDraft { project: Some(ProjectRef::Id(project.id)), ..labelled("t", &["web", "bug"]) };
    let task = ctx.create(draft).await.number;
    assert_eq!(ctx.preview_lines(task, "goal").await, Vec::<String>::new());
    let oldest = ctx.goal_that_is(GoalStatus::Achieved, "oldest", &project).await;
    assert_eq!(ctx.preview_lines(task, "goal").await, ["goal oldest achieved"]);
    // The first active one is told of, if there is any.
    let active = ctx.goal_that_is(GoalStatus::Active, "active", &project).await;
    ctx.goal_that_is(GoalStatus::Active, "newest", &project).await;
    let expected = "a v1: text\n\
        task #1 t by pull\n\
        project payments\n\
        goal active active\n\
        label bug red\n\
        label web blue";
    assert_eq!(ctx.preview(task, None).await.prompt.unwrap().as_deref(), Some(expected));
    ctx.store.write(active).await.unwrap();
    assert_eq!(ctx.preview_lines(task, "goal").await, ["goal newest active"]);
    ctx.store.write(oldest).await.unwrap();
    assert_eq!(lines_of(&ctx.claim_prompted().await, "goal"), ["goal newest active"]);
}

pub(crate) async fn the_goal_a_project_names_is_told_of(ctx: &TestStore) {
    ctx.tell_all().await;
    let [own, other] = [ctx.project("own").await, ctx.project("other").await];
    let goal = ctx.goal(&other).await;
    let draft = TaskDraft { project: Some(ProjectRef::Id(own.id)), ..TaskDraft::new("t") };
    let task = ctx.create(draft).await.number;
    assert_eq!(ctx.preview_lines(task, "goal").await, Vec::<String>::new());
    ctx.edit_project(&own, ProjectEdit { goal: Some(Some(goal.id)), ..ProjectEdit::default() }).await;
    assert_eq!(ctx.preview_lines(task, "goal").await, ["goal a goal active"]);
    let edit = GoalEdit { status: Some(GoalStatus::Achieved), ..GoalEdit::default() };
    ctx.store.write(GoalPatch { ctx: ctx.ctx(person()), goal: goal.id, edit }).await.unwrap();
    assert_eq!(ctx.preview_lines(task, "goal").await, ["goal a goal achieved"]);
}

pub(crate) async fn a_projects_file_may_do_without_reviews(ctx: &TestStore) {
    ctx.tell_all().await;
    let project = ctx.project("payments").await;
    let draft = TaskDraft { project: Some(ProjectRef::Id(project.id)), ..TaskDraft::new("t") };
    let task = ctx.create(draft).await.number;
    for (settings, silent) in [(r#"{"reviews":false}"#, 1), (r#"{"reviews":true}"#, 0), ("{}", 0)] {
        let settings = Some(Some(settings.to_owned()));
        ctx.edit_project(&project, ProjectEdit { settings, ..ProjectEdit::default() }).await;
        assert_eq!(ctx.preview_lines(task, "no review").await.len(), silent);
    }
}

pub(crate) async fn nothing_is_told_of_deleted_tasks(ctx: &TestStore) {
    ctx.tell_all().await;
    let parent = ctx.create(parked(TaskDraft::new("parent"))).await.number;
    let sibling = ctx.create(below(parent, "sibling")).await.number;
    ctx.fail(&ctx.claim_prompted().await, FailureClass::ExecutionFailed).await;
    let task = ctx.create(below(parent, "t")).await.number;
    let child = ctx.create(parked(below(task, "child"))).await.number;
    let [before, after] = [ctx.add("before").await.number, ctx.add("after").await.number];
    ctx.block(before, task).await.unwrap();
    ctx.block(task, after).await.unwrap();
    let told = ["parent", "sibling", "child", "blocking", "blocked by", "session", "failed before"];
    for word in told {
        assert_eq!(ctx.preview_lines(task, word).await.len(), 1, "{word}");
    }
    for gone in [parent, sibling, child, before, after] {
        ctx.delete(gone).await;
    }
    assert_eq!(prompt(&ctx.claim_prompted().await), "a v1: text\ntask #3 t by pull");
}

pub(crate) async fn long_texts_of_others_are_shortened(ctx: &TestStore) {
    ctx.tell_all().await;
    let long = "ä".repeat(EXCERPT_CHARS_MAX + 1);
    let draft = TaskDraft { description: Some(long.clone()), ..TaskDraft::new("parent") };
    let parent = ctx.create(parked(draft)).await.number;
    let task = ctx.create(below(parent, "t")).await.number;
    ctx.say(task, &long).await;
    ctx.report(&ctx.claim_prompted().await, done_with(&long)).await;
    ctx.apply(task, Verb::Reopen).await;
    let claimed = ctx.claim_prompted().await;
    for word in ["parent", "session", "comment"] {
        let line = lines_of(&claimed, word)[0];
        assert_eq!(line.chars().filter(|letter| *letter == 'ä').count(), EXCERPT_CHARS_MAX, "{word}");
        assert!(line.ends_with(" […]"), "{word}");
    }
}

pub(crate) async fn a_dispatch_keeps_its_prompt_and_version(ctx: &TestStore) {
    let version = ctx.template("a", TemplateEdit::default()).await;
    ctx.add("t").await;
    let keyed = ctx.keyed("a", "k");
    let claimed = ctx.claim_prompted_with(keyed.clone()).await.unwrap().unwrap();
    assert_eq!(prompt(&claimed), "a v1: text\ntask #1 t by pull");
    assert_eq!(claimed.dispatch.version, Some(version.id));
    let kept = ctx.store.read(DispatchGet { dispatch: claimed.dispatch.id }).await.unwrap();
    assert_eq!(kept, claimed.dispatch);
    // The same key gets the same prompt, whatever the template says by now.
    ctx.supersede(&version, "broken").await;
    let again = ctx.claim_prompted_with(ClaimRequest { dispatch: ctx.dispatch_id(), ..keyed }).await;
    let again = again.unwrap().unwrap();
    assert_eq!(again.dispatch.id, claimed.dispatch.id);
    assert_eq!(
        (&again.dispatch.prompt, again.dispatch.version),
        (&claimed.dispatch.prompt, Some(version.id))
    );
    let closed = ctx.complete(&claimed).await.dispatch;
    assert_eq!((closed.prompt, closed.version), (claimed.dispatch.prompt, Some(version.id)));
}

pub(crate) async fn a_task_asked_for_by_name_gets_the_same_prompt(ctx: &TestStore) {
    let version = ctx.template("a", TemplateEdit::default()).await;
    let task = ctx.add("t").await.number;
    let expected = ctx.preview(task, None).await.prompt.unwrap();
    let opened = ctx.start_prompted(task).await.unwrap().opened.unwrap();
    assert_eq!((opened.prompt, opened.version), (expected, Some(version.id)));
}

pub(crate) async fn a_batch_makes_the_prompts_of_its_tasks_one_by_one(ctx: &TestStore) {
    ctx.tell_all().await;
    let mut tasks = Vec::new();
    for name in ["x", "y", "z"] {
        let project = ctx.project(name).await;
        ctx.goal_that_is(GoalStatus::Active, name, &project).await;
        let parent = ctx.create(parked(TaskDraft::new(format!("parent {name}")))).await.number;
        for title in ["one", "two"] {
            let project = Some(ProjectRef::Id(project.id));
            let task = ctx.create(TaskDraft { project, ..below(parent, title) }).await.number;
            ctx.say(task, name).await;
            ctx.create(parked(below(task, "part"))).await;
            tasks.push(task);
        }
    }
    ctx.rerank().await;
    ctx.fail(&ctx.claim_prompted().await, FailureClass::ExecutionFailed).await;
    ctx.pass(Span::from_days(1));
    ctx.advance().await;
    let mut expected = Vec::new();
    for task in &tasks {
        expected.push((*task, ctx.preview(*task, None).await.prompt.unwrap()));
    }
    let answers = ctx.claim_prompted_all((0..8).map(|_| ctx.request("a")).collect()).await;
    let claimed = answers.into_iter().filter_map(|answer| answer.unwrap().ok());
    let mut made: Vec<_> = claimed.map(|claimed| (claimed.task.number, claimed.dispatch.prompt)).collect();
    made.sort_by_key(|(number, _)| *number);
    // What runs is told of as running: that is all a claim of the whole batch differs in.
    let queued = |text: Option<String>| text.map(|text| text.replace(" running", " queued"));
    let made: Vec<_> = made.into_iter().map(|(number, text)| (number, queued(text))).collect();
    assert_eq!(made, expected);
}

pub(crate) async fn a_preview_hands_nothing_out(ctx: &TestStore) {
    let task = ctx.add("t").await;
    let none = ctx.preview(task.number, None).await;
    assert_eq!((none.source, none.prompt), (None, Ok(None)));
    let first = ctx.template("a", TemplateEdit::default()).await;
    let (template, first) = ctx.version_now(&first).await;
    let draft = ctx.version(&template, "a draft").await;
    let broken = ctx.version(&template, "broken").await;
    let events = ctx.events().await;
    let preview = ctx.preview(task.number, None).await;
    assert_eq!(preview.task, task);
    assert_eq!(preview.source, Some((template.clone(), first)));
    assert_eq!(preview.prompt.unwrap().as_deref(), Some("a v1: text\ntask #1 t by pull"));
    let preview = ctx.preview(task.number, Some(&draft)).await;
    assert_eq!(preview.source, Some((template, draft)));
    assert_eq!(preview.prompt.unwrap().as_deref(), Some("a v2: a draft\ntask #1 t by pull"));
    let why = ctx.preview(task.number, Some(&broken)).await.prompt.unwrap_err();
    assert_eq!(why, "nothing can be written for t");
    assert_eq!((ctx.get(task.number).await, ctx.events().await), (task, events));
}

pub(crate) async fn a_preview_is_of_the_door_that_is_named(ctx: &TestStore) {
    ctx.tell_all().await;
    let task = ctx.add("t").await;
    let render = || ctx.scribe.clone();
    for door in Door::ALL {
        let named = TaskRef::Id(task.id);
        let preview = TaskPreview { task: named, door: *door, version: None, render: render() };
        let prompt = Box::pin(ctx.store.read(preview)).await.unwrap().prompt.unwrap();
        assert_eq!(prompt, Some(format!("a v1: text\ntask #1 t by {door}")));
    }
    let request = ClaimRequest { claimer: Claimer::anyone("agent:a", Door::Run), ..ctx.request("a") };
    let claimed = ctx.claim_prompted_with(request).await.unwrap().unwrap();
    assert_eq!(prompt(&claimed), "a v1: text\ntask #1 t by run");
    ctx.delete(task.number).await;
    let (task, version) = (TaskRef::Id(task.id), None);
    let gone = TaskPreview { task, door: Door::Pull, version, render: render() };
    let gone = Box::pin(ctx.store.read(gone)).await.unwrap_err();
    assert!(matches!(gone, Error::NoTask(_)), "{gone}");
}
