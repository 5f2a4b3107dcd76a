//! What was acknowledged, in the order in which clients learnt it, and what must follow from that.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use extraboard_testkit::process::wait_until;
use serde_json::Value;

use super::client::{Client, Op};
use crate::harness::Desk;

const PROGRESS_LIMIT: Duration = Duration::from_mins(1);

/// One line of the log. A release counts from when it was sent: the next claim may be answered before it.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    Created { title: String, number: i64 },
    Claimed { number: i64, fence: i64, dispatch: String },
    ReleaseSent { number: i64, fence: i64 },
    Completed { number: i64, result: Value },
}

/// The clients' common log.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: Mutex<Vec<Entry>>,
    answer_count: AtomicU64,
    no_repeats: AtomicBool,
    over: AtomicBool,
}

/// Lets clients end when the test does, however it does.
#[derive(Debug)]
pub(crate) struct EndOnDrop<'a>(&'a Ledger);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
    }
}

/// What the log says of one task so far.
#[derive(Debug, Default)]
struct Story {
    fence: i64,
    released: bool,
    completed: bool,
}

impl Ledger {
    pub(crate) fn log(&self, entry: Entry) {
        self.entries.lock().unwrap().push(entry);
        self.answered();
    }

    pub(crate) fn answered(&self) {
        self.answer_count.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn wait_for_more(&self, calls: u64) {
        let target = self.answer_count.load(Ordering::SeqCst) + calls;
        wait_until(PROGRESS_LIMIT, "more answered calls", || {
            (self.answer_count.load(Ordering::SeqCst) >= target).then_some(())
        });
    }

    /// Tells whether a call that was not answered is to be made again.
    pub(crate) fn may_repeat(&self) -> bool {
        !self.no_repeats.load(Ordering::SeqCst)
    }

    pub(crate) fn forbid_repeats(&self) {
        self.no_repeats.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    pub(crate) fn end_on_drop(&self) -> EndOnDrop<'_> {
        EndOnDrop(self)
    }

    /// Lets clients begin again.
    pub(crate) fn reopen(&self) {
        self.no_repeats.store(false, Ordering::SeqCst);
        self.over.store(false, Ordering::SeqCst);
    }

    pub(crate) fn answer_count(&self) -> u64 {
        self.answer_count.load(Ordering::SeqCst)
    }

    /// Compares the desk with everything that was acknowledged before it is read; returns what was read.
    ///
    /// Clients may go on meanwhile: what was acknowledged stays true.
    pub(crate) fn check(&self, desk: &Desk) -> Vec<Value> {
        let entries = self.entries.lock().unwrap().clone();
        check_stories(&entries);
        let issues = desk.issues();
        check_whole(&issues);
        let found: HashMap<i64, &Value> =
            issues.iter().map(|issue| (issue["number"].as_i64().unwrap(), issue)).collect();
        for entry in &entries {
            match entry {
                Entry::Created { title, number } => {
                    let issue = found.get(number).unwrap_or_else(|| panic!("lost: {entry:?}"));
                    assert_eq!(issue["title"], title.as_str(), "{entry:?}");
                }
                Entry::Completed { number, result } => {
                    assert_eq!(found[number]["state"], "done", "{entry:?}");
                    assert_eq!(found[number]["result"], *result, "{entry:?}");
                }
                Entry::Claimed { number, fence, .. } => {
                    assert!(found[number]["attempt"].as_i64() >= Some(*fence), "{entry:?}");
                }
                Entry::ReleaseSent { .. } => {}
            }
        }
        issues
    }

    /// Checks that calls without an answer took effect as a whole or not at all; nobody works meanwhile.
    pub(crate) fn check_unanswered(&self, issues: &[Value], unanswered: &[(Client<'_>, Op)]) {
        let entries = self.entries.lock().unwrap();
        let claimed: HashSet<&str> = entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Claimed { dispatch, .. } => Some(dispatch.as_str()),
                _ => None,
            })
            .collect();
        for (client, op) in unanswered {
            let unknown = issues.iter().filter(|issue| {
                issue["dispatch"]["holder"] == format!("agent:{}", client.name)
                    && !claimed.contains(issue["dispatch"]["id"].as_str().unwrap())
            });
            let may_be_unknown = usize::from(matches!(op, Op::Claim { .. }));
            assert!(unknown.count() <= may_be_unknown, "{op:?}");
            if let Op::Complete { held, result } = op {
                let issue = issues.iter().find(|issue| issue["number"] == held.number).unwrap();
                let done = issue["state"] == "done" && issue["result"] == *result;
                let untouched = issue["state"] == "running" && issue["dispatch"]["id"] == held.dispatch;
                assert!(done || untouched, "{op:?}: {issue}");
            }
        }
    }
}

/// Checks that no task was ever in two hands: fences only grow, each claim follows the end of the one before,
/// and nothing follows a completion.
fn check_stories(entries: &[Entry]) {
    let mut stories: HashMap<i64, Story> = HashMap::new();
    for entry in entries {
        match entry {
            Entry::Created { .. } => {}
            Entry::Claimed { number, fence, .. } => {
                let story = stories.entry(*number).or_default();
                assert!(!story.completed, "claimed after it was done: {entry:?}");
                assert!(*fence > story.fence, "fence {} does not grow: {entry:?}", story.fence);
                assert!(story.fence == 0 || story.released, "in two hands: {entry:?}");
                *story = Story { fence: *fence, ..Story::default() };
            }
            Entry::ReleaseSent { number, fence } => {
                let story = stories.entry(*number).or_default();
                // Sent again after a lost answer, it may come when others hold the task.
                story.released |= story.fence == *fence;
            }
            Entry::Completed { number, .. } => {
                let story = stories.entry(*number).or_default();
                assert!(!story.completed && !story.released, "completed by two: {entry:?}");
                story.completed = true;
            }
        }
    }
}

/// Checks that every issue is there as a whole, and once.
fn check_whole(issues: &[Value]) {
    let titles: HashSet<&str> = issues.iter().map(|issue| issue["title"].as_str().unwrap()).collect();
    assert_eq!(titles.len(), issues.len(), "a task was created twice");
    for issue in issues {
        let held = !issue["dispatch"].is_null();
        let finished = !issue["result"].is_null() && !issue["completedAt"].is_null();
        let expected = match issue["state"].as_str().unwrap() {
            "queued" => (false, false),
            "running" => (true, false),
            "done" => (false, true),
            other => panic!("nobody asked for {other}: {issue}"),
        };
        assert_eq!((held, finished), expected, "{issue}");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claimed(fence: i64) -> Entry {
        Entry::Claimed { number: 1, fence, dispatch: fence.to_string() }
    }

    fn completed() -> Entry {
        Entry::Completed { number: 1, result: json!(1) }
    }

    #[test]
    fn honest_story_is_believed() {
        check_stories(&[claimed(1), Entry::ReleaseSent { number: 1, fence: 1 }, claimed(2), completed()]);
    }

    #[test]
    #[should_panic(expected = "in two hands")]
    fn two_holders_are_noticed() {
        check_stories(&[claimed(1), claimed(2)]);
    }

    #[test]
    #[should_panic(expected = "does not grow")]
    fn repeated_fence_is_noticed() {
        check_stories(&[claimed(1), Entry::ReleaseSent { number: 1, fence: 1 }, claimed(1)]);
    }

    #[test]
    #[should_panic(expected = "claimed after it was done")]
    fn claim_after_completion_is_noticed() {
        check_stories(&[claimed(1), completed(), claimed(2)]);
    }

    #[test]
    #[should_panic(expected = "created twice")]
    fn task_that_is_there_twice_is_noticed() {
        let issue = json!({"title": "a", "state": "queued", "dispatch": null, "result": null});
        check_whole(&[issue.clone(), issue]);
    }

    #[test]
    #[should_panic(expected = "left: (false, false)")]
    fn half_a_completion_is_noticed() {
        check_whole(&[json!({"title": "a", "state": "done", "dispatch": null, "result": null})]);
    }
}
