//! Drafts become tasks: each once, parents and blockers first.

use std::collections::{BTreeMap, BTreeSet};

use extraboard_api::client::{Client, ClientError, Imported};
use extraboard_api::comment::CommentCreate;
use extraboard_api::envelope::PageQuery;
use extraboard_api::issue::{Issue, IssueCreate, IssuePatch, IssueQuery};
use extraboard_api::issue_ref::IssueRef;
use extraboard_api::relation::RelationCreate;
use extraboard_intake::import::{Draft, Outcome, Problem, Remark as Said, Tie};

use super::report::{Filed, LeftOut, Remark, Report};
use crate::commands::{labels, pages};
use crate::error::{CliError, Kind};

/// What begins the key of an exported task that came from nowhere else: its own id follows.
const OWN: &str = "extraboard:";
/// What stands for the id of a task that a dry run would create.
const NOT_YET: &str = "";

/// What becomes of finished items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    LeftOut,
    Imported,
}

/// How drafts are filed.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) project: Option<String>,
    /// Where unfinished tasks start, instead of where the file says.
    pub(super) status: Option<&'static str>,
    pub(super) closed: Closed,
}

/// What is filed, as far as it got.
#[derive(Debug)]
pub(super) struct Filing<'a> {
    client: &'a Client,
    plan: &'a Plan,
    /// The id of the task that has each key.
    ids: BTreeMap<String, String>,
    /// The keys of items that are finished and not wanted.
    closed: BTreeSet<String>,
    /// The ids of tasks that were related, the smaller one first.
    related: BTreeSet<[String; 2]>,
    report: Report,
}

impl<'a> Filing<'a> {
    pub(super) fn new(client: &'a Client, plan: &'a Plan) -> Self {
        let (ids, closed, related) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { client, plan, ids, closed, related, report: Report::default() }
    }

    pub(super) fn into_report(self) -> Report {
        self.report
    }

    /// Takes over what was said about the file.
    pub(super) fn note(&mut self, problems: &[Problem]) {
        for problem in problems {
            let (line, text) = (problem.line, problem.message.clone());
            match problem.outcome {
                Outcome::LeftOut => {
                    self.report.left_out.push(LeftOut { line, reason: text, refused: false });
                }
                Outcome::Changed => self.report.remarks.push(Remark { line, text }),
            }
        }
    }

    /// Says what would be done, and does nothing.
    pub(super) async fn look(&mut self, drafts: &[Draft]) -> Result<(), CliError> {
        self.report.dry_run = true;
        let mut wanted = BTreeSet::new();
        for draft in self.wanted(drafts) {
            if let Some(issue) = self.there(&draft.key).await? {
                self.known(draft, &issue);
                continue;
            }
            wanted.extend(draft.labels.iter().cloned());
            self.find_elsewhere(draft).await?;
            if self.request(draft).is_some() {
                self.ids.insert(draft.key.clone(), NOT_YET.to_owned());
                self.created(draft, None);
            }
        }
        let client = self.client;
        let known = pages::all(async |page: &PageQuery| client.label_list(page).await).await?;
        wanted.retain(|name| !known.iter().any(|label| label.name == *name));
        self.report.labels = wanted.into_iter().collect();
        Ok(())
    }

    /// Makes tasks of the drafts.
    pub(super) async fn file(&mut self, drafts: &[Draft]) -> Result<(), CliError> {
        let wanted = self.wanted(drafts);
        let mut made = BTreeSet::new();
        let mut created = Vec::new();
        for draft in wanted {
            if let Some(issue) = self.own(&draft.key).await? {
                self.known(draft, &issue);
                continue;
            }
            self.find_elsewhere(draft).await?;
            let Some(create) = self.request(draft) else { continue };
            let missing: Vec<String> =
                draft.labels.iter().filter(|label| made.insert((*label).clone())).cloned().collect();
            labels::make_missing(self.client, &missing).await?;
            match self.client.issue_import(&create).await {
                Ok((issue, Imported::Known)) => self.known(draft, &issue),
                Ok((issue, Imported::Created)) => {
                    self.ids.insert(draft.key.clone(), issue.id.clone());
                    self.created(draft, Some(issue.number));
                    self.say_and_close(draft, &issue).await?;
                    created.push(draft);
                }
                Err(error) => self.refuse(draft, &error)?,
            }
        }
        // What belongs together may stand later in the file.
        for draft in created {
            self.relate(draft).await?;
        }
        Ok(())
    }

    /// Returns the drafts that tasks are to be made of; the others are told.
    fn wanted<'d>(&mut self, drafts: &'d [Draft]) -> Vec<&'d Draft> {
        let is_out = |draft: &&Draft| draft.status.is_closed() && self.plan.closed == Closed::LeftOut;
        let (out, wanted): (Vec<&Draft>, Vec<&Draft>) = drafts.iter().partition(is_out);
        for draft in out {
            self.closed.insert(draft.key.clone());
            let reason = format!("{} is {}: --closed imports it", draft.key, draft.status.as_str());
            self.report.left_out.push(LeftOut { line: draft.place.line, reason, refused: false });
        }
        wanted
    }

    /// Returns what to send, or nothing where what the draft needs was left out itself; either is told.
    fn request(&mut self, draft: &Draft) -> Option<IssueCreate> {
        let needed = draft.parent.iter().chain(&draft.blocked_by);
        let lost = needed.clone().find(|key| !self.ids.contains_key(*key) && !self.closed.contains(*key));
        if let Some(lost) = lost {
            let reason = format!("{} needs {lost}, which was left out", draft.key);
            self.report.left_out.push(LeftOut { line: draft.place.line, reason, refused: false });
            return None;
        }
        if let Some(parent) = draft.parent.as_ref().filter(|key| !self.ids.contains_key(*key)) {
            let text = format!("{} stands alone: its parent {parent} was left out", draft.key);
            self.report.remarks.push(Remark { line: draft.place.line, text });
        }
        let reference = |key: &String| self.ids.get(key).map(|id| IssueRef::from(id.as_str()));
        let elsewhere = |tie| draft.elsewhere.iter().filter(move |other| other.tie == tie);
        let mut parent = draft.parent.iter().chain(elsewhere(Tie::Parent).map(|other| &other.key));
        let blockers = draft.blocked_by.iter().chain(elsewhere(Tie::BlockedBy).map(|other| &other.key));
        let blocked_by: Vec<IssueRef> = blockers.filter_map(reference).collect();
        // What is finished waits for somebody to say so, which happens at once; nobody may take it before.
        let start = if draft.status.is_closed() { "triage" } else { draft.status.as_str() };
        let status = self.plan.status.filter(|_| !draft.status.is_closed()).unwrap_or(start);
        let parent_id = parent.find_map(reference);
        let is_loose = status == "todo" && parent_id.is_none() && is_gated_elsewhere(draft);
        if is_loose {
            let text = format!("{} is filed in triage: the parent it waits for is not there", draft.key);
            self.report.remarks.push(Remark { line: draft.place.line, text });
        }
        Some(IssueCreate {
            title: draft.title.clone(),
            kind: draft.kind.clone().unwrap_or_else(|| "task".to_owned()),
            description: draft.description.clone(),
            status: Some(if is_loose { "triage" } else { status }.to_owned()),
            priority_value: draft.priority,
            project_id: self.plan.project.clone(),
            parent_id,
            needs: (!draft.needs.is_empty()).then(|| draft.needs.clone()),
            owner: draft.owner.clone(),
            blocked_by: (!blocked_by.is_empty()).then_some(blocked_by),
            label_ids: (!draft.labels.is_empty()).then(|| draft.labels.clone()),
            external_key: Some(draft.key.clone()),
            ..terms_and_grounds(draft)
        })
    }

    /// Looks for what a draft is tied to and the file does not hold.
    async fn find_elsewhere(&mut self, draft: &Draft) -> Result<(), CliError> {
        for other in &draft.elsewhere {
            if self.ids.contains_key(&other.key) {
                continue;
            }
            if let Some(issue) = self.there(&other.key).await? {
                self.ids.insert(other.key.clone(), issue.id);
                continue;
            }
            let tie = match other.tie {
                Tie::Parent => "lies below",
                Tie::BlockedBy => "waits for",
                Tie::Related => "has to do with",
            };
            let text = format!("{} {tie} {}, which is neither in the file nor here", draft.key, other.key);
            self.report.remarks.push(Remark { line: draft.place.line, text });
        }
        Ok(())
    }

    /// Adds what was said about an item, and closes its task if the item is finished.
    async fn say_and_close(&mut self, draft: &Draft, issue: &Issue) -> Result<(), CliError> {
        let first = draft.comments.iter().rev().map(|remark| (remark, None));
        let mut unsaid: Vec<(&Said, Option<String>)> = first.collect();
        while let Some((remark, parent_id)) = unsaid.pop() {
            let said = CommentCreate {
                body: remark.body.clone(),
                author_name: remark.author.clone(),
                author_type: Some("human".to_owned()),
                parent_id: parent_id.clone(),
            };
            let parent_id = match self.client.comment_create(&issue.id, &said).await {
                Ok(comment) => Some(comment.id),
                Err(error) => {
                    self.remark_refusal(draft, "a comment", &error)?;
                    // What was said to it is then said to what it replied to itself.
                    parent_id
                }
            };
            unsaid.extend(remark.replies.iter().rev().map(|reply| (reply, parent_id.clone())));
        }
        if draft.status.is_closed() {
            let patch =
                IssuePatch { status: Some(draft.status.as_str().to_owned()), ..IssuePatch::default() };
            if let Err(error) = self.client.issue_patch(&issue.id, &patch).await {
                self.remark_refusal(draft, "its end", &error)?;
            }
        }
        Ok(())
    }

    async fn relate(&mut self, draft: &Draft) -> Result<(), CliError> {
        let Some(id) = self.ids.get(&draft.key).cloned() else { return Ok(()) };
        let elsewhere = draft.elsewhere.iter().filter(|other| other.tie == Tie::Related);
        for key in draft.related.iter().chain(elsewhere.map(|other| &other.key)) {
            let Some(other) = self.ids.get(key) else { continue };
            let mut pair = [id.clone(), other.clone()];
            pair.sort_unstable();
            // The other one may have said it first.
            if !self.related.insert(pair) {
                continue;
            }
            let relation = RelationCreate {
                kind: "related".to_owned(),
                related_issue_id: IssueRef::from(other.as_str()),
            };
            if let Err(error) = self.client.relation_create(&id, &relation).await {
                self.remark_refusal(draft, "a relation", &error)?;
            }
        }
        Ok(())
    }

    /// Returns the task that a key names, if there is one.
    async fn there(&self, key: &str) -> Result<Option<Issue>, CliError> {
        if let Some(own) = self.own(key).await? {
            return Ok(Some(own));
        }
        let query =
            IssueQuery { external_key: Some(key.to_owned()), limit: Some(1), ..IssueQuery::default() };
        Ok(self.client.issue_list(&query).await?.data.into_iter().next())
    }

    /// Returns the task that was exported from this very desk.
    async fn own(&self, key: &str) -> Result<Option<Issue>, CliError> {
        let Some(id) = key.strip_prefix(OWN).filter(|id| uuid::Uuid::try_parse(id).is_ok()) else {
            return Ok(None);
        };
        match self.client.issue_get(id).await {
            Ok(detail) => Ok(Some(detail.issue)),
            Err(ClientError::Api { status: 404, .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn known(&mut self, draft: &Draft, issue: &Issue) {
        self.ids.insert(draft.key.clone(), issue.id.clone());
        let (key, title) = (draft.key.clone(), issue.title.clone());
        self.report.known.push(Filed { key, number: Some(issue.number), title });
    }

    fn created(&mut self, draft: &Draft, number: Option<i64>) {
        let (key, title) = (draft.key.clone(), draft.title.clone());
        self.report.created.push(Filed { key, number, title });
    }

    /// Tells what the desk would not have, and goes on; without a desk nothing goes on.
    fn refuse(&mut self, draft: &Draft, error: &ClientError) -> Result<(), CliError> {
        let error = refusal(error)?;
        let reason = format!("{}: {}", draft.key, error.message());
        self.report.left_out.push(LeftOut { line: draft.place.line, reason, refused: true });
        Ok(())
    }

    fn remark_refusal(&mut self, draft: &Draft, what: &str, error: &ClientError) -> Result<(), CliError> {
        let error = refusal(error)?;
        let text = format!("{} came without {what}: {}", draft.key, error.message());
        self.report.remarks.push(Remark { line: draft.place.line, text });
        Ok(())
    }
}

/// Tells whether a task waits for a parent that the file does not hold.
fn is_gated_elsewhere(draft: &Draft) -> bool {
    draft.terms.gated_by_parent && draft.elsewhere.iter().any(|other| other.tie == Tie::Parent)
}

/// Returns a request that says when a task is handed out and what it was made of, and nothing else.
fn terms_and_grounds(draft: &Draft) -> IssueCreate {
    let (terms, grounds) = (draft.terms.clone(), draft.grounds.clone());
    IssueCreate {
        boost: terms.boost,
        doors: (!terms.doors.is_empty()).then_some(terms.doors),
        max_retries: terms.max_retries,
        not_before: terms.not_before,
        input_artifact: terms.input_artifact,
        gated_by_parent: terms.gated_by_parent.then_some(true),
        signal_source: grounds.signal_source,
        signal_payload: grounds.signal_payload,
        hypothesis: grounds.hypothesis,
        ..IssueCreate::default()
    }
}

/// Tells what the desk says about one thing from what would befall everything else too.
fn refusal(error: &ClientError) -> Result<CliError, CliError> {
    let told = CliError::of_request(error, &[]);
    match told.kind() {
        Kind::Usage | Kind::NotFound | Kind::Conflict => Ok(told),
        Kind::Failed | Kind::NoDesk | Kind::BrokenPipe => Err(told),
    }
}

#[cfg(test)]
mod tests {
    use extraboard_api::client::Credentials;
    use extraboard_intake::import::{Format, Options, read};
    use serde_json::{Value, json};

    use super::*;

    fn plan(closed: Closed) -> Plan {
        Plan { project: Some("apollo".to_owned()), status: None, closed }
    }

    fn drafts(lines: &[Value]) -> Vec<Draft> {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        read(Format::Jsonl, &lines.join("\n"), &Options::default()).unwrap().drafts
    }

    /// Returns what would be sent for each line, as if each got its key as its id.
    fn requests(plan: &Plan, lines: &[Value]) -> (Vec<Value>, Report) {
        let drafts = drafts(lines);
        let client = Client::new("http://127.0.0.1:1", &Credentials::Anonymous).unwrap();
        let mut filing = Filing::new(&client, plan);
        let mut sent = Vec::new();
        for draft in filing.wanted(&drafts) {
            if let Some(create) = filing.request(draft) {
                filing.ids.insert(draft.key.clone(), draft.key.clone());
                sent.push(serde_json::to_value(create).unwrap());
            }
        }
        (sent, filing.into_report())
    }

    #[test]
    fn a_draft_becomes_a_request() {
        let lines = [
            json!({"key": "a", "title": "A", "type": "plan", "status": "todo"}),
            json!({"key": "b", "title": "B", "parent": "a", "blockedBy": ["a"], "labels": ["bug"],
                   "priorityValue": 80, "needs": ["rust"], "owner": "ann", "description": "D"}),
        ];
        let (sent, report) = requests(&plan(Closed::LeftOut), &lines);
        let expected = [
            json!({"title": "A", "type": "plan", "status": "todo", "projectId": "apollo", "externalKey": "a"}),
            json!({
                "title": "B", "type": "task", "status": "triage", "projectId": "apollo", "externalKey": "b",
                "parentId": "a", "blockedBy": ["a"], "labelIds": ["bug"], "priorityValue": 80,
                "needs": ["rust"], "owner": "ann", "description": "D"
            }),
        ];
        assert_eq!(sent, expected);
        assert!(report.left_out.is_empty() && report.remarks.is_empty());
    }

    #[test]
    fn terms_and_grounds_are_sent() {
        let sent_as_read = json!({
            "boost": -7, "doors": ["run"], "maxRetries": 0, "notBefore": "2027-01-01T00:00:00Z",
            "inputArtifact": "out/plan.md", "gatedByParent": true, "signalSource": "sentry",
            "signalPayload": [1], "hypothesis": {"confidence": 0.5}
        });
        let mut line = sent_as_read.clone();
        line["title"] = json!("A");
        let (sent, _) = requests(&plan(Closed::LeftOut), &[line]);
        for (field, value) in sent_as_read.as_object().unwrap() {
            assert_eq!(&sent[0][field], value, "{field}");
        }
    }

    #[test]
    fn what_waits_for_a_parent_that_is_not_there_is_looked_at_first() {
        let check = |parent: &Value, gated: bool, expected: &str| {
            let lines = [
                json!({"key": "a", "title": "A", "status": "done"}),
                json!({"key": "b", "title": "B"}),
                json!({"key": "c", "title": "C", "status": "todo", "parent": parent, "gatedByParent": gated}),
            ];
            let (sent, _) = requests(&plan(Closed::LeftOut), &lines);
            assert_eq!(sent[1]["status"], expected, "{parent}");
        };
        check(&json!("gone"), true, "triage");
        check(&json!("gone"), false, "todo");
        check(&json!("a"), true, "todo");
        check(&json!("b"), true, "todo");
        check(&Value::Null, true, "todo");
    }

    #[test]
    fn a_status_that_is_named_is_that_of_all_that_is_open() {
        let plan = Plan { status: Some("backlog"), ..plan(Closed::Imported) };
        let lines = [json!({"key": "a", "title": "A", "status": "done"}), json!({"key": "b", "title": "B"})];
        let (sent, _) = requests(&plan, &lines);
        assert_eq!([&sent[0]["status"], &sent[1]["status"]], ["triage", "backlog"]);
    }

    #[test]
    fn what_is_finished_is_left_out_and_no_longer_waited_for() {
        let lines = [
            json!({"key": "a", "title": "A", "status": "done"}),
            json!({"key": "b", "title": "B", "status": "canceled", "parent": "a"}),
            json!({"key": "c", "title": "C", "parent": "a", "blockedBy": ["b"]}),
        ];
        let (sent, report) = requests(&plan(Closed::LeftOut), &lines);
        assert_eq!(sent.len(), 1);
        assert_eq!((&sent[0]["parentId"], &sent[0]["blockedBy"]), (&Value::Null, &Value::Null));
        let reasons: Vec<&str> = report.left_out.iter().map(|left| left.reason.as_str()).collect();
        assert_eq!(reasons, ["a is done: --closed imports it", "b is canceled: --closed imports it"]);
        assert_eq!(report.remarks[0].text, "c stands alone: its parent a was left out");

        let (sent, report) = requests(&plan(Closed::Imported), &lines);
        assert_eq!((sent.len(), report.left_out.len()), (3, 0));
        assert_eq!(sent[2]["parentId"], "a");
    }

    #[test]
    fn what_needs_something_that_the_desk_refused_is_left_out_too() {
        let lines = [json!({"key": "a", "title": "A"}), json!({"key": "b", "title": "B", "parent": "a"})];
        let drafts = drafts(&lines);
        let client = Client::new("http://127.0.0.1:1", &Credentials::Anonymous).unwrap();
        let plan = plan(Closed::LeftOut);
        let mut filing = Filing::new(&client, &plan);
        assert!(filing.request(&drafts[1]).is_none());
        let report = filing.into_report();
        assert_eq!(report.left_out[0].reason, "b needs a, which was left out");
        assert_eq!(report.left_out[0].line, 2);
    }
}
