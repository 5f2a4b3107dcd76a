//! Files as people have them.

use super::*;

/// Two issues as `gh issue list --json … --state all` prints them.
const GH: &str = r#"[
  {"number": 12, "title": "Charge twice", "body": "It happens.\n\nBlocked by #9\n", "state": "OPEN",
   "url": "https://github.com/Acme/pay/issues/12", "author": {"login": "mona"},
   "assignees": [{"login": "hubot"}], "labels": [{"name": "bug"}, {"name": "priority: high"}],
   "milestone": {"title": "v2"}, "issueType": {"name": "Bug"}, "stateReason": "",
   "comments": [{"author": {"login": "octo"}, "body": "Me too"}, {"author": null, "body": " "}],
   "parent": {"number": 3, "url": "https://github.com/acme/pay/issues/3"},
   "blockedBy": {"nodes": [{"number": 4, "url": "https://github.com/acme/api/issues/4"}], "totalCount": 2}},
  {"number": 9, "title": "Find out", "body": "", "state": "CLOSED", "stateReason": "NOT_PLANNED",
   "url": "https://github.com/acme/pay/issues/9", "labels": []},
  {"number": 3, "title": "Payments", "body": "- [ ] #12\n- [x] #9", "state": "CLOSED",
   "stateReason": "COMPLETED", "url": "https://github.com/acme/pay/issues/3"}
]"#;

#[test]
fn issues_of_gh_are_read() {
    insta::assert_snapshot!(show(&read_ok(Format::Github, GH, None)), @r#"
    github:acme/pay#3: Payments [done, type task]
      | - [ ] #12
      | - [x] #9
      |
      | (From https://github.com/acme/pay/issues/3)
    github:acme/pay#9: Find out [canceled, type task, below github:acme/pay#3]
      | (From https://github.com/acme/pay/issues/9)
    github:acme/pay#12: Charge twice [triage, type task, below github:acme/pay#3, 75 points]
      labels: bug, priority: high, milestone: v2
      blocked by: github:acme/pay#9
      | It happens.
      |
      | Blocked by #9
      |
      | (From https://github.com/Acme/pay/issues/12, opened by mona, assigned to hubot)
      octo: Me too
    line 2: Changed: `github:acme/pay#12`: of 2 `blockedBy` the file holds 1
    "#);
}

#[test]
fn ties_to_issues_of_other_repositories_are_kept_apart() {
    let found = read_ok(Format::Github, GH, None);
    let draft = found.drafts.iter().find(|draft| draft.key == "github:acme/pay#12").unwrap();
    assert_eq!(draft.elsewhere, [Elsewhere { tie: Tie::BlockedBy, key: "github:acme/api#4".to_owned() }]);
}

#[test]
fn issues_of_the_rest_api_are_read_without_pull_requests() {
    let text = r#"[{"url": "https://api.github.com/repos/acme/pay/issues/1", "number": 1, "title": "One",
          "html_url": "https://github.com/acme/pay/issues/1", "state": "closed", "state_reason": "duplicate",
          "user": {"login": "mona"}, "labels": ["P0", {"name": "urgent"}], "comments": 3, "body": null,
          "type": {"name": "Task"}, "milestone": null},
         {"repository_url": "https://api.github.com/repos/acme/pay", "number": 2, "title": "Two",
          "state": "open", "pull_request": {"url": "x"}},
         {"html_url": "https://github.com/acme/pay/pull/3", "number": 3, "title": "Three", "state": "open"}]
        [{"repository_url": "https://api.github.com/repos/acme/pay", "number": 4, "title": "Four",
          "state": "stalled", "parent_issue_url": "https://api.github.com/repos/acme/pay/issues/1"}]"#;
    insta::assert_snapshot!(show(&read_ok(Format::Github, text, None)), @r#"
    github:acme/pay#1: One [canceled, type task, 100 points]
      labels: P0, urgent
      | (From https://github.com/acme/pay/issues/1, opened by mona)
    github:acme/pay#4: Four [triage, type task, below github:acme/pay#1]
    line 1: Changed: comments are counted but not held (`gh … --json comments` has them): #1
    line 5: LeftOut: pull requests are not issues: #2, #3
    line 8: Changed: `github:acme/pay#4` is `stalled`: expected open or closed; it is read as open
    "#);
}

#[test]
fn an_issue_of_nowhere_needs_a_repository() {
    let text = "{\"number\": 1, \"title\": \"a\"}\n{\"number\": 2, \"title\": \"b\", \"closed\": true}\n";
    let read_in =
        |name: Option<&str>| read(Format::Github, text, &Options { namespace: name.map(str::to_owned) });
    assert_eq!(
        read_in(None).unwrap_err().to_string(),
        "line 1: #1 does not say its repository: export `url` too, or name it with --repo owner/name"
    );
    assert_eq!(
        read_in(Some("pay")).unwrap_err().to_string(),
        "`pay` is not a repository: expected owner/name"
    );
    let found = read_in(Some("Acme/Pay")).unwrap();
    assert_eq!(found.problems, []);
    let keys: Vec<_> = found.drafts.iter().map(|draft| (draft.key.as_str(), draft.status)).collect();
    assert_eq!(keys, [("github:acme/pay#1", Status::Triage), ("github:acme/pay#2", Status::Done)]);
}

#[test]
fn an_issue_of_nowhere_among_others_costs_only_itself() {
    let text = r#"[{"number": 1, "title": "a", "comments": 2},
                   {"number": 2, "title": "b", "url": "https://github.com/a/b/issues/2"},
                   {"number": 3, "title": "c", "url": "https://github.com/"}]"#;
    insta::assert_snapshot!(show(&read_ok(Format::Github, text, None)), @r"
    github:a/b#2: b [triage, type task]
      | (From https://github.com/a/b/issues/2)
    line 1: LeftOut: #1 does not say its repository: expected `url`, or --repo owner/name
    line 3: LeftOut: #3 does not say its repository: expected `url`, or --repo owner/name
    ");
}

#[test]
fn what_an_issue_of_github_blocks_and_lists_is_read_from_the_other_end() {
    let text = r#"[{"number": 1, "title": "a", "subIssues": {"nodes": [{"number": 2}], "totalCount": 1},
                    "blocking": {"nodes": [{"number": 3}, {"number": 9}], "totalCount": 2}},
                   {"number": 2, "title": "b"}, {"number": 3, "title": "c", "body": "Depends on #2"}]"#;
    let found = read_ok(Format::Github, text, Some("a/b"));
    assert_eq!(found.problems, []);
    assert_eq!(found.drafts[1].parent.as_deref(), Some("github:a/b#1"));
    assert_eq!(found.drafts[2].blocked_by, ["github:a/b#1", "github:a/b#2"]);
}

#[test]
fn what_is_no_issue_of_github_is_left_out() {
    let text = "{\"title\": \"a\"}\n{\"number\": -1}\n{\"number\": 5, \"title\": \" \"}\n[{\"number\": 6, \"title\": \"b\"}, {\"number\": 6, \"title\": \"c\"}]";
    assert_eq!(
        messages(&read_ok(Format::Github, text, Some("a/b"))),
        [
            "1: is not an issue: expected at least `number` and `title`",
            "2: is not an issue: expected at least `number` and `title`",
            "3: `github:a/b#5` has no title: expected some text",
            "4: has the key of line 4 again: `github:a/b#6`",
        ]
    );
}

#[test]
fn issues_of_beads_are_read() {
    let text = r#"{"_type":"issue","id":"bd-2","title":"Loader","description":"Load it.","design":"In C.","notes":"n","acceptance_criteria":"It loads.","status":"in_progress","priority":0,"issue_type":"feature","assignee":"ann","labels":["io"],"dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"parent-child"},{"issue_id":"bd-2","depends_on_id":"bd-3","type":"blocks"},{"issue_id":"bd-2","depends_on_id":"bd-4","type":"discovered-from"},{"issue_id":"bd-2","depends_on_id":"ann","type":"assigned-to"}],"comments":[{"id":1,"author":"bob","text":"ok"}]}
{"id":"bd-1","title":"Epic","status":"open","priority":2,"issue_type":"epic","estimated_minutes":90}
{"id":"bd-3","title":"Reader","status":"closed","priority":4,"issue_type":"task","close_reason":"Done","dependencies":[{"depends_on_id":"bd-9","type":"blocks"}]}
{"id":"bd-4","title":"Old","status":"closed","priority":9,"close_reason":"Duplicate of bd-3","dependencies":[{"depends_on_id":"bd-1","type":"tracks"},{"type":"blocks"}]}
{"id":"bd-5","title":"Later","status":"deferred","priority":null}
{"id":"bd-6","title":"Odd","status":"triaged"}
{"id":"bd-7","title":"Gone","status":"tombstone"}
{"id":"bd-8","title":"Hello","issue_type":"message"}
{"_type":"memory","key":"k","value":"v"}
{"title":"nameless"}
"#;
    insta::assert_snapshot!(show(&read_ok(Format::Beads, text, None)), @r#"
    beads:bd-1: Epic [triage, type task, 50 points]
      labels: epic
      | (From beads bd-1, estimated at 90 minutes)
    beads:bd-3: Reader [done, type task, 10 points]
      | (From beads bd-3, closed because Done)
    beads:bd-2: Loader [triage, type task, below beads:bd-1, 100 points]
      labels: io, feature
      blocked by: beads:bd-3
      related to: beads:bd-4
      | Load it.
      |
      | ## Design
      |
      | In C.
      |
      | ## Acceptance criteria
      |
      | It loads.
      |
      | ## Notes
      |
      | n
      |
      | (From beads bd-2, assigned to ann)
      bob: ok
    beads:bd-4: Old [canceled, type task]
      related to: beads:bd-1
      | (From beads bd-4, closed because Duplicate of bd-3)
    beads:bd-5: Later [backlog, type task, 100 points]
      | (From beads bd-5)
    beads:bd-6: Odd [triage, type task, 100 points]
      | (From beads bd-6)
    line 1: Changed: `bd-2` is `in_progress` there; it is read as open, as nobody holds it here
    line 1: Changed: `bd-2` depends on `ann` by `assigned-to`, which is about a person and was left out
    line 4: Changed: `bd-4` has the priority 9, which was left out: expected 0 to 4
    line 4: Changed: `bd-4` depends on `bd-1` by `tracks`, which was read as related
    line 4: Changed: `bd-4` has a dependency without `depends_on_id`, which was left out
    line 6: Changed: `bd-6` is `triaged` there; it is read as open: expected open, in_progress, blocked, deferred or closed
    line 7: LeftOut: these were deleted there: bd-7
    line 8: LeftOut: what is of the type `message` is not work: bd-8
    line 9: LeftOut: what is of the kind `memory` is not read, only issues are: line 9
    line 10: LeftOut: is not an issue: expected at least `id` and `title`
    "#);
}

#[test]
fn issues_of_beads_are_told_apart_by_a_namespace() {
    let text = r#"{"id":"bd-1","title":"a","parent":"bd-2"}{"id":"bd-2","title":"b"}"#;
    let found = read_ok(Format::Beads, text, Some("shop"));
    assert_eq!(found.drafts[1].key, "beads:shop:bd-1");
    assert_eq!(found.drafts[1].parent.as_deref(), Some("beads:shop:bd-2"));
}

#[test]
fn cycles_of_beads_are_opened_and_named() {
    let line = |id: &str, on: &str, kind: &str| {
        format!(r#"{{"id":"{id}","title":"t","dependencies":[{{"depends_on_id":"{on}","type":"{kind}"}}]}}"#)
    };
    let text = [
        line("a", "b", "blocks"),
        line("b", "a", "blocks"),
        line("c", "d", "parent-child"),
        line("d", "c", "parent-child"),
        line("e", "e", "blocks"),
    ]
    .join("\n");
    let found = read_ok(Format::Beads, &text, None);
    assert_eq!(
        messages(&found),
        [
            "2: `beads:b` would have to stand before itself (beads:b → beads:a → beads:b): that `beads:a` blocks it was left out",
            "4: `beads:d` would lie below itself (beads:d → beads:c → beads:d): its parent was left out",
            "5: `beads:e` is tied to itself: that was left out",
        ]
    );
    let order: Vec<_> = found.drafts.iter().map(|draft| draft.key.as_str()).collect();
    assert_eq!(order, ["beads:b", "beads:a", "beads:d", "beads:c", "beads:e"]);
}

#[test]
fn lines_of_our_own_are_read() {
    let text = r#"{"key":"web:1","title":"All","description":"d","type":"code","status":"todo","priorityValue":80,"labels":["a",{"name":"b"}],"parent":"p","blockedBy":[3,"web:9"],"related":["p"],"comments":["hm",{"authorName":"ann","body":"yes"}],"owner":"team","needs":["Rust"],"number":4,"createdAt":"2026-01-01T00:00:00Z","project":"x"}
{"id":"p","title":"Parent","status":"in_review","priority":1}

{"id":3,"title":"Number","status":"cancelled","priority":"low"}
{"title":"Alone"}
"#;
    insta::assert_snapshot!(show(&read_ok(Format::Jsonl, text, None)), @r#"
    jsonl:p: Parent [todo, 100 points]
    jsonl:3: Number [canceled, 25 points]
    web:1: All [todo, type code, below jsonl:p, owner team, 80 points]
      labels: a, b
      blocked by: jsonl:3
      related to: jsonl:p
      needs: rust
      | d
      ?: hm
      ann: yes
    jsonl:e6ce97d69b70474d: Alone [triage]
    line 2: Changed: `jsonl:p` is `in_review` there; it is read as todo, as nobody holds it here
    "#);
}

#[test]
fn what_does_not_fit_our_own_lines_is_named() {
    let text = r#"{"id":"a","title":"t","tilte":"x","due":1}
{"id":"b","title":"t","description":["x"],"type":"bug","status":"new","priority":7,"labels":"x","parent":{"id":1},"blockedBy":[null],"comments":[{"author":"x"}],"owner":3,"needs":[1]}
{"id":"c","title":"t","priorityValue":0,"priority":1}
{"id":"d","title":7}
{"id":"e","title":"t","parent":null,"labels":null}
["x"]
{"id":"e","title":"again"}
{"id":"f","titel"
"#;
    insta::assert_snapshot!(show(&read_ok(Format::Jsonl, text, None)), @r#"
    jsonl:a: t [triage]
    jsonl:b: t [triage]
    jsonl:c: t [triage]
    jsonl:e: t [triage]
    line 1: Changed: `jsonl:a` has fields nobody knows: `due`, `tilte`; expected key, externalKey, id, title, description, type, status, priority, priorityValue, labels, parent, blockedBy, related, comments, owner, needs, boost, doors, maxRetries, notBefore, inputArtifact, gatedByParent, signalSource, signalPayload, hypothesis
    line 2: Changed: `jsonl:b` has ["x"] for `description`, which was left out: expected a text
    line 2: Changed: `jsonl:b` has "bug" for `type`, which was left out: expected one of signal, hypothesis, plan, spec, phase, code, task, monitor
    line 2: Changed: `jsonl:b` has "new" for `status`, which was left out: expected triage, backlog, todo, done or canceled
    line 2: Changed: `jsonl:b` has 7 for `priority`, which was left out: expected 0 none, 1 urgent, 2 high, 3 medium or 4 low
    line 2: Changed: `jsonl:b` has "x" for `labels`, which was left out: expected a list of texts
    line 2: Changed: `jsonl:b` has {"author":"x"} for `comments`, which was left out: expected a list of texts or {"author", "body", "replies"}
    line 2: Changed: `jsonl:b` has 3 for `owner`, which was left out: expected a text
    line 2: Changed: `jsonl:b` has 1 for `needs`, which was left out: expected a list of texts
    line 2: Changed: `jsonl:b` has {"id":1} for `parent`, which was left out: expected a key
    line 2: Changed: `jsonl:b` has null for `blockedBy`, which was left out: expected a list of keys
    line 3: Changed: `jsonl:c` has 0 for `priorityValue`, which was left out: expected 1 to 100
    line 4: LeftOut: `jsonl:d` has no title: expected some text
    line 6: LeftOut: is not an object: expected {…}
    line 7: LeftOut: has the key of line 5 again: `jsonl:e`
    line 8: LeftOut: is not JSON: EOF while parsing an object in column 17; expected one object
    "#);
}

#[test]
fn terms_that_do_not_fit_are_named_and_let_nothing_loose() {
    let check = |fields: &str, status: Status, expected: &[&str]| {
        let text = format!(r#"{{"key":"a","title":"t","status":"todo",{fields}}}"#);
        let found = read_ok(Format::Jsonl, &text, None);
        let messages: Vec<_> =
            found.problems.iter().map(|each| each.message.trim_start_matches("`a` ")).collect();
        assert_eq!((messages.as_slice(), found.drafts[0].status), (expected, status), "{fields}");
    };
    let left_out = |value: &str, field: &str, expected: &str| {
        format!("has {value} for `{field}`, which was left out: expected {expected}")
    };
    let loose = |field: &str, value: &str, expected: &str| {
        let fields = format!(r#""{field}":{value}"#);
        check(&fields, Status::Todo, &[&left_out(value, field, expected)]);
    };
    let held = |field: &str, value: &str, expected: &str| {
        let fields = format!(r#""{field}":{value}"#);
        let triage = format!("is read as triage, as its `{field}` does not say when it may start");
        check(&fields, Status::Triage, &[&left_out(value, field, expected), &triage]);
    };
    loose("boost", "10001", "-10000 to 10000");
    loose("boost", "\"5\"", "-10000 to 10000");
    loose("maxRetries", "1.5", "0 to 100");
    loose("hypothesis", "[]", "an object of at most 65536 bytes");
    loose("signalSource", "7", "a text of at most 200 characters");
    held("notBefore", "\"tomorrow\"", "a time such as 2026-01-31T09:00:00Z");
    held("notBefore", "7", "a time such as 2026-01-31T09:00:00Z");
    held("inputArtifact", "\"../x\"", "a relative path without `..`");
    held("gatedByParent", "\"yes\"", "true or false");
    held("doors", "[]", "some of pull, push and run");
    held("doors", "\"run\"", "a list of pull, push and run");
    let message = left_out("\"walk\"", "doors", "a list of pull, push and run");
    check(r#""doors":["walk","run"]"#, Status::Todo, &[&message]);
    check(r#""gatedByParent":false,"boost":0,"notBefore":null,"doors":["run"]"#, Status::Todo, &[]);
}

#[test]
fn replies_stay_below_what_they_reply_to() {
    let text = r#"{"title":"t","comments":[{"body":"a","replies":["b",{"author":"c","replies":["d"]}]},{"body":"e","replies":7}]}"#;
    let found = read_ok(Format::Jsonl, text, None);
    let remark = |body: &str| Remark::new(None, body.to_owned());
    let first = Remark { replies: vec![remark("b"), remark("d")], ..remark("a") };
    assert_eq!(found.drafts[0].comments, [first, remark("e")]);
    let fields: Vec<_> = found.problems.iter().map(|each| each.message.contains("for `comments`")).collect();
    assert_eq!(fields, [true, true]);
}

#[test]
fn every_status_of_the_desk_is_read() {
    let check = |word: &str, expected: Status, problems: usize| {
        let found = read_ok(Format::Jsonl, &format!(r#"{{"title":"t","status":"{word}"}}"#), None);
        assert_eq!((found.drafts[0].status, found.problems.len()), (expected, problems), "{word}");
    };
    check("triage", Status::Triage, 0);
    check("backlog", Status::Backlog, 0);
    check("todo", Status::Todo, 0);
    check("in_progress", Status::Todo, 1);
    check("in_review", Status::Todo, 1);
    check("blocked", Status::Todo, 1);
    check("failed", Status::Todo, 1);
    check("done", Status::Done, 0);
    check("canceled", Status::Canceled, 0);
    check("cancelled", Status::Canceled, 0);
    check("Done", Status::Triage, 1);
}

#[test]
fn a_line_without_a_name_keeps_its_key() {
    let key = |text: &str| read_ok(Format::Jsonl, text, None).drafts[0].key.clone();
    // The beginning of what `printf '{"title":"Alone"}' | sha256sum` prints.
    assert_eq!(key("\n  {\"title\":\"Alone\"}  \r\n"), "jsonl:e6ce97d69b70474d");
    assert_ne!(key("{\"title\":\"alone\"}"), key("{\"title\":\"Alone\"}"));
    assert_eq!(key("{\"id\":\"x\",\"externalKey\":\"y\",\"title\":\"t\"}"), "y");
    let found = read_ok(Format::Jsonl, "{\"id\":7,\"title\":\"t\"}", Some("shop"));
    assert_eq!(found.drafts[0].key, "jsonl:shop:7");
}

#[test]
fn a_line_that_is_left_out_ties_nothing() {
    let text = r#"{"id":"a","title":"t"}{"id":"b","title":"t"}{"id":"a","title":"t","parent":"b"}"#;
    let found = read_ok(Format::Jsonl, text, None);
    assert_eq!(found.drafts.iter().filter(|draft| draft.parent.is_some()).count(), 0);
    assert_eq!(messages(&found), ["1: has the key of line 1 again: `jsonl:a`"]);
}

const PLAN: &str = "\
---
title: plan
---
# Plan for spring

Some prose.

- [ ] Before all headings

## Backend ##

- [ ] Fix the login #bug #area/web !high
  It fails with *quotes*.

      - [ ] this is code by the book, and still a task

  More about it:
  - a plain item
  ```sh
  - [ ] no task
  ## no heading
  ```
  - [x] Write a test
    1. [-] Twice

    Text of the test.
  The end.
- plain
* [X] Tidy up

### Database
\t- [ ] Migrate
\t\tin steps

Unindented prose.
## Frontend
- [ ] Fix the login
+ [ ] Fix the login!
- [ ]
";

#[test]
fn task_lists_are_read() {
    insta::assert_snapshot!(show(&read_ok(Format::Markdown, PLAN, Some("plan"))), @r#"
    markdown:plan:before-all-headings: Before all headings [triage]
    markdown:plan:backend/fix-the-login: Fix the login [triage, 75 points]
      labels: bug, area/web, Backend
      | It fails with *quotes*.
      |
      | More about it:
      | - a plain item
      | ```sh
      | - [ ] no task
      | ## no heading
      | ```
      | The end.
    markdown:plan:backend/fix-the-login/this-is-code-by-the-book-and-still-a-task: this is code by the book, and still a task [triage, below markdown:plan:backend/fix-the-login]
      labels: Backend
    markdown:plan:backend/fix-the-login/write-a-test: Write a test [done, below markdown:plan:backend/fix-the-login]
      labels: Backend
      | Text of the test.
    markdown:plan:backend/fix-the-login/write-a-test/twice: Twice [canceled, below markdown:plan:backend/fix-the-login/write-a-test]
      labels: Backend
    markdown:plan:backend/tidy-up: Tidy up [done]
      labels: Backend
    markdown:plan:backend/database/migrate: Migrate [triage]
      labels: Database
      | in steps
    markdown:plan:frontend/fix-the-login: Fix the login [triage]
      labels: Frontend
    line 28: LeftOut: items without a box were left out (1): expected `- [ ] title`
    line 38: LeftOut: has the key of line 37 again: `markdown:plan:frontend/fix-the-login`
    line 39: LeftOut: `markdown:plan:frontend/e3b0c44298fc1c14` has no title: expected some text
    "#);
}

#[test]
fn a_text_without_tasks_says_so() {
    let found = read_ok(Format::Markdown, "# Title\n\n* one\n* two\n", None);
    assert_eq!(
        messages(&found),
        [
            "1: no tasks were found: expected lines like `- [ ] title`",
            "3: items without a box were left out (2): expected `- [ ] title`",
        ]
    );
}

#[test]
fn code_without_an_end_is_named() {
    let found = read_ok(Format::Markdown, "- [ ] a\n  ```\n- [ ] b\n", None);
    assert_eq!(found.drafts.len(), 1);
    assert_eq!(
        messages(&found),
        ["2: the code block that begins here has no end, so the rest was read as code"]
    );
}

#[test]
fn what_is_nested_too_deep_moves_up() {
    let lines: Vec<_> = (0..10).map(|level| format!("{}- [ ] t{level}", "  ".repeat(level))).collect();
    let text = lines.join("\n");
    let found = read_ok(Format::Markdown, &text, None);
    assert_eq!(
        messages(&found),
        [
            "10: `markdown:t0/t1/t2/t3/t4/t5/t6/t7/t8/t9` lies more than 8 levels deep: it was moved up to `markdown:t0/t1/t2/t3/t4/t5/t6/t7`"
        ]
    );
}
