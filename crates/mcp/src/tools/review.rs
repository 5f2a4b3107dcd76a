//! Rating the prompt of a task in the session's hands.

use extraboard_api::issue_ref::IssueRef;
use extraboard_api::review::PromptReviewCreate;
use serde_json::json;

use super::work::maker;
use super::{Call, params};
use crate::reply::{Refusal, Reply};

/// The poorest mark, and the best.
const MARK_MIN: i64 = 1;
const MARK_MAX: i64 = 5;

/// Sends a review as the dispatch itself, so that the desk knows one that is repeated.
///
/// Whatever the desk says to it, the task stays in the session's hands: what is not there may be the template.
pub(super) async fn review(call: &Call<'_>, params: params::Review) -> Result<Reply, Refusal> {
    check_marks(&params)?;
    let ticket = call.session.ticket(&params.which())?;
    let meta = ticket.meta.ok_or_else(|| Refusal::no_template(ticket.number))?;
    let made_by = maker(&meta);
    let create = PromptReviewCreate {
        version_id: meta.version_id,
        issue_id: IssueRef(ticket.issue_id),
        clarity: params.clarity,
        completeness: params.completeness,
        relevance: params.relevance,
        feedback: params.feedback,
        author_type: None,
        author_name: None,
    };
    let review = ticket.client.review_create(&create).await.map_err(|error| Refusal::of(&error))?;
    let text = format!(
        "You rated the prompt of #{}, made by {made_by}. The task is still in your hands: go on, and end it as \
         usual.",
        ticket.number
    );
    Ok(Reply::new(text, json!({"review": review})))
}

fn check_marks(params: &params::Review) -> Result<(), Refusal> {
    let marks =
        [("clarity", params.clarity), ("completeness", params.completeness), ("relevance", params.relevance)];
    match marks.iter().find(|(_, mark)| !(MARK_MIN..=MARK_MAX).contains(mark)) {
        Some((name, mark)) => {
            let sentence = format!("{name} is {mark}, and marks are from {MARK_MIN} to {MARK_MAX}");
            Err(Refusal::bad_parameter(sentence))
        }
        None => Ok(()),
    }
}
