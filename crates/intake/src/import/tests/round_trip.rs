//! What is exported is imported again as it was.

use super::*;
use crate::export::{Exported, ExportedComment, write_jsonl, write_markdown};

/// Returns a draft as the desk would export it.
fn export(draft: &Draft) -> Exported {
    Exported {
        key: draft.key.clone(),
        number: Some(7),
        title: draft.title.clone(),
        description: draft.description.clone(),
        kind: draft.kind.clone(),
        status: draft.status.as_str().to_owned(),
        priority_value: draft.priority,
        labels: draft.labels.clone(),
        parent: draft.parent.clone(),
        blocked_by: draft.blocked_by.clone(),
        related: draft.related.clone(),
        owner: draft.owner.clone(),
        needs: draft.needs.clone(),
        terms: draft.terms.clone(),
        grounds: draft.grounds.clone(),
        comments: draft.comments.iter().map(comment).collect(),
        project: Some("p".to_owned()),
        created_at: Some("2026-01-01T00:00:00Z".to_owned()),
        updated_at: None,
        completed_at: None,
    }
}

fn comment(remark: &Remark) -> ExportedComment {
    ExportedComment {
        author: remark.author.clone(),
        body: remark.body.clone(),
        created_at: Some("2026-01-01T00:00:00Z".to_owned()),
        replies: remark.replies.iter().map(comment).collect(),
    }
}

/// Makes a line without anything that would be tidied.
fn line() -> impl Strategy<Value = String> {
    "[a-zäß日👩\"\\\\#!{}\\[\\]:,]{1,12}( [a-zé/]{1,8}){0,3}"
}

fn prose() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| text.replace('\0', "x") + "x")
}

/// Makes a description in which blocks of code begin and end wherever they like.
fn code() -> impl Strategy<Value = String> {
    let pieces =
        vec!["```", "````", "~~~", "`", "sh", "# a", "> ", "\n", "\n", "\n\n", " ", "    ", "\t", "\r"];
    prop::collection::vec(prop::sample::select(pieces), 0..12).prop_map(|pieces| pieces.concat())
}

fn remarks() -> impl Strategy<Value = Vec<Remark>> {
    let leaf = (prop::option::of(line()), prose()).prop_map(|(author, body)| Remark::new(author, body));
    let thread = leaf.prop_recursive(3, 6, 2, |inner| {
        let said = (prop::option::of(line()), prose(), prop::collection::vec(inner, 0..3));
        said.prop_map(|(author, body, replies)| Remark { author, body, replies })
    });
    prop::collection::vec(thread, 0..3)
}

fn terms() -> impl Strategy<Value = Terms> {
    let doors = prop::sample::subsequence(vec!["pull", "push", "run"], 0..=3);
    let moments = prop::sample::select(vec!["2026-01-31T09:00:00Z", "2027-02-03T04:05:06.789012+01:00"]);
    let holds = (prop::option::of(moments), prop::option::of("[a-zé.]{1,8}/[a-z ]{1,8}\\.md"), any::<bool>());
    let points = (prop::option::of(-10_000i64..=10_000), prop::option::of(0i64..=100));
    (points, doors, holds).prop_map(|((boost, max_retries), doors, holds)| Terms {
        boost,
        doors: doors.into_iter().map(str::to_owned).collect(),
        max_retries,
        not_before: holds.0.map(str::to_owned),
        input_artifact: holds.1.filter(|path| !path.starts_with("../")),
        gated_by_parent: holds.2,
    })
}

fn grounds() -> impl Strategy<Value = Grounds> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(Into::into),
        any::<String>().prop_map(serde_json::Value::from),
    ];
    let object = prop::collection::hash_map(any::<String>(), leaf, 0..4);
    let object = || object.clone().prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect()));
    let payload = prop_oneof![object(), prop::collection::vec(object(), 0..3).prop_map(Into::into)];
    (prop::option::of(line()), prop::option::of(payload), prop::option::of(object())).prop_map(
        |(signal_source, signal_payload, hypothesis)| Grounds { signal_source, signal_payload, hypothesis },
    )
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let statuses = vec![Status::Triage, Status::Backlog, Status::Todo, Status::Done, Status::Canceled];
    let texts = (line(), prop::option::of(prose()), prop::option::of(line()));
    let words = (
        prop::option::of(prop::sample::select(vec!["task", "code", "plan"])),
        prop::sample::select(statuses),
        prop::option::of(1i64..=100),
        prop::collection::btree_set(line(), 0..4),
        prop::collection::btree_set("[a-z+#]{1,5}", 0..3),
    );
    let ties = (any::<prop::sample::Index>(), any::<[prop::sample::Index; 2]>(), any::<[bool; 4]>());
    let one = (texts, words, remarks(), ties, terms(), grounds());
    prop::collection::vec(one, 0..9).prop_map(|all| {
        let mut drafts: Vec<Draft> = Vec::new();
        let count = all.len();
        for (place, (texts, words, comments, ties, terms, grounds)) in all.into_iter().enumerate() {
            let mut draft = Draft::new(format!("key {place}"), &texts.0, place + 1);
            (draft.description, draft.owner) = (texts.1, texts.2);
            draft.kind = words.0.map(str::to_owned);
            (draft.status, draft.priority) = (words.1, words.2);
            draft.labels = words.3.into_iter().rev().collect();
            draft.needs = words.4.into_iter().collect();
            (draft.comments, draft.terms, draft.grounds) = (comments, terms, grounds);
            let earlier = |index: &prop::sample::Index| format!("key {}", index.index(place));
            if place > 0 && ties.2[0] {
                draft.parent = Some(earlier(&ties.0));
            }
            if place > 0 && ties.2[1] {
                draft.blocked_by.push(earlier(&ties.1[0]));
            }
            let other = ties.1[1].index(count);
            if other != place && ties.2[2] {
                draft.related.push(format!("key {other}"));
            }
            drafts.push(draft);
        }
        drafts
    })
}

proptest! {
    #[test]
    fn what_is_exported_is_imported_as_it_was(drafts in drafts()) {
        let exported: Vec<Exported> = drafts.iter().map(export).collect();
        let found = read_ok(Format::Jsonl, &write_jsonl(&exported), Some("ignored"));
        prop_assert_eq!(found.problems, []);
        prop_assert_eq!(found.drafts, drafts);
    }
}

proptest! {
    #[test]
    fn titles_in_a_task_list_stay_as_they_were(issues in prop::collection::vec((line(), code()), 0..6)) {
        let exported: Vec<Exported> = issues
            .into_iter()
            .enumerate()
            .map(|(place, (title, description))| Exported {
                description: Some(description),
                ..export(&Draft::new(format!("k{place}"), &format!("{place} {title}"), 1))
            })
            .collect();
        let found = read_ok(Format::Markdown, &write_markdown(&exported), None);
        let found: Vec<_> = found.drafts.into_iter().map(|draft| draft.title).collect();
        let expected: Vec<_> = exported.into_iter().map(|issue| issue.title).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn the_order_of_an_export_does_not_matter() {
    let mut child = Draft::new("child".to_owned(), "c", 1);
    child.parent = Some("parent".to_owned());
    child.blocked_by = vec!["blocker".to_owned()];
    let rest = ["parent", "blocker"].map(|key| Draft::new(key.to_owned(), key, 1));
    let exported: Vec<Exported> = [&child].into_iter().chain(&rest).map(export).collect();
    let found = read_ok(Format::Jsonl, &write_jsonl(&exported), None);
    let keys: Vec<_> = found.drafts.iter().map(|draft| draft.key.as_str()).collect();
    assert_eq!((keys, found.problems), (vec!["parent", "blocker", "child"], vec![]));
    assert_eq!(found.drafts[2].blocked_by, ["blocker"]);
}
