//! What a tool says back: to the model in words, to programs as structure, and always with the orders.

use extraboard_api::client::ClientError;
use extraboard_api::error::ErrorBody;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::held::{Order, Ticket};
use crate::outside;
use crate::session::Which;

/// What a tool did.
#[derive(Debug)]
pub(crate) struct Reply {
    text: String,
    data: Map<String, Value>,
}

impl Reply {
    /// Makes a reply of a text and an object; what is not an object stands under `data`.
    pub(crate) fn new(text: impl Into<String>, data: impl Serialize) -> Self {
        let data = match serde_json::to_value(data) {
            Ok(Value::Object(object)) => object,
            Ok(other) => Map::from_iter([("data".to_owned(), other)]),
            // Wire types always serialise; if one does not, the text still says what happened.
            Err(_) => Map::new(),
        };
        Self { text: text.into(), data }
    }
}

/// Why a tool did nothing: for the model, which is to read it and do better.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// A word for programs: the desk's, or one of ours.
    code: String,
    /// What is wrong, as the desk said it.
    sentence: String,
    /// What to do about it.
    hint: String,
    details: Option<Value>,
}

/// Puts together what the tool answers, with the orders in both forms.
pub(crate) fn result(outcome: Result<Reply, Refusal>, orders: &[Order]) -> CallToolResult {
    let is_error = outcome.is_err();
    let (mut text, mut data) = match outcome {
        Ok(reply) => (reply.text, reply.data),
        Err(refusal) => refusal.say(),
    };
    if !orders.is_empty() {
        text.push_str("\n\nOrders from the desk:");
        for order in orders {
            text.push('\n');
            text.push_str(&order.sentence());
        }
    }
    data.insert("orders".to_owned(), json!(orders));
    let content = vec![ContentBlock::text(text)];
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(Value::Object(data));
    result
}

impl Refusal {
    fn new(code: &str, sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.to_owned(), sentence: sentence.into(), hint: hint.into(), details: None }
    }

    #[cfg(test)]
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// Returns whether what was asked for does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        self.code == "not_found"
    }

    /// Says it in one line, whatever the desk quotes in its sentence and its details.
    pub(crate) fn line(&self) -> String {
        let [sentence, code, hint] = [&self.sentence, &self.code, &self.hint].map(|said| outside::line(said));
        format!("{sentence} ({code}). {hint}")
    }

    fn say(self) -> (String, Map<String, Value>) {
        let text = self.line();
        let mut data = Map::new();
        data.insert("error".to_owned(), self.sentence.into());
        data.insert("code".to_owned(), self.code.into());
        data.insert("hint".to_owned(), self.hint.into());
        if let Some(details) = self.details {
            data.insert("details".to_owned(), details);
        }
        (text, data)
    }

    /// Says what went wrong between us and the desk.
    pub(crate) fn of(error: &ClientError) -> Self {
        match error {
            ClientError::Api { body, .. } => Self::of_desk(body),
            ClientError::Unreachable { .. } => Self::new(
                "unreachable",
                error.to_string(),
                "The desk may be down (`xb up` starts it). Whether a change was made is not known: look before \
                 you repeat it; reports on a dispatch may be repeated.",
            ),
            ClientError::Unexpected { .. }
            | ClientError::BadUrl { .. }
            | ClientError::BadHeader { .. }
            | ClientError::Setup(_) => Self::new(
                "misconfigured",
                error.to_string(),
                "Tell the user: the connection to the desk is not set up rightly.",
            ),
        }
    }

    fn of_desk(body: &ErrorBody) -> Self {
        let mut refusal = Self::new(&body.code, &body.error, hint(body));
        refusal.details.clone_from(&body.details);
        refusal
    }

    pub(crate) fn bad_parameters(error: &serde_json::Error) -> Self {
        Self::new("bad_parameters", error.to_string(), "Correct the parameters and call again.")
    }

    pub(crate) fn bad_parameter(sentence: impl Into<String>) -> Self {
        Self::new("bad_parameters", sentence, "Correct the parameters and call again.")
    }

    pub(crate) fn nothing_held() -> Self {
        Self::new(
            "nothing_held",
            "this session holds no dispatch",
            "Call claim if you want a task. Nothing more can be said about one that has ended.",
        )
    }

    pub(crate) fn which_dispatch<'t>(held: impl Iterator<Item = &'t Ticket>) -> Self {
        let sentence = format!("this session holds several dispatches: {}", names(held));
        Self::new("which_dispatch", sentence, "Call again with `dispatch` or `number`.")
    }

    pub(crate) fn not_held<'t>(which: &Which, held: impl Iterator<Item = &'t Ticket>) -> Self {
        let asked = match (&which.dispatch, which.number) {
            (Some(id), Some(number)) => format!("dispatch {id} of #{number}"),
            (Some(id), None) => format!("dispatch {id}"),
            (None, number) => format!("#{}", number.unwrap_or_default()),
        };
        let sentence = format!("this session does not hold {asked}; it holds: {}", names(held));
        Self::new("not_held", sentence, "Name one that it holds, or call claim.")
    }

    pub(crate) fn no_template(number: i64) -> Self {
        let sentence = format!("no template made the prompt of #{number}, so there is nothing to review");
        Self::new("no_template", sentence, "Go on with the task, and do not call review for it again.")
    }

    pub(crate) fn too_many_held(most: usize) -> Self {
        let sentence = format!("this session holds {most} dispatches, as many as one may");
        Self::new("too_many_held", sentence, "End some of them first.")
    }

    pub(crate) fn closing() -> Self {
        Self::new("closing", "this session is ending", "Nothing more is handed to it.")
    }

    pub(crate) fn canceled() -> Self {
        Self::new("canceled", "the call was cancelled", "Nothing was claimed. Call again if you want work.")
    }

    pub(crate) fn no_session(sentence: &str) -> Self {
        Self::new(
            "no_session",
            sentence,
            "Begin an MCP session with `initialize`, and send its Mcp-Session-Id.",
        )
    }

    pub(crate) fn other_caller() -> Self {
        Self::new(
            "other_caller",
            "this session belongs to another caller",
            "Send the same Authorization and X-Agent-ID throughout, or begin a session of your own.",
        )
    }

    pub(crate) fn bad_header(name: &str) -> Self {
        let sentence = format!("the header {name} cannot be read");
        Self::new("bad_header", sentence, "Authorization is `Bearer TOKEN`, X-Agent-ID a name.")
    }
}

fn names<'t>(held: impl Iterator<Item = &'t Ticket>) -> String {
    let names: Vec<String> = held.map(|ticket| format!("#{} ({})", ticket.number, ticket.id)).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Returns what to do about a word of the desk's.
fn hint(body: &ErrorBody) -> String {
    let hint = match body.code.as_str() {
        "bad_request" | "validation" => {
            let fields: Vec<String> =
                body.fields().iter().map(|field| format!("{}: {}", field.field, field.message)).collect();
            let fields = fields.join("; ");
            return format!("Correct the parameters and call again. {fields}").trim_end().to_owned();
        }
        "illegal_transition" => {
            let legal = body.legal().join(", ");
            let legal = if legal.is_empty() { "nothing".to_owned() } else { legal };
            return format!("Its state does not allow that; what is legal now: {legal}.");
        }
        "stale_dispatch" => {
            "The task is not yours any more: stop working on it, do not report on it again, and claim another."
        }
        "unauthorized" => {
            "Tell the user: the desk wants a token (`xb token create --scope agent` makes one)."
        }
        "forbidden" | "forbidden_host" | "cross_site" | "not_holder" | "out_of_scope" => {
            "You may not do that; do not try again. Tell the user if it is needed."
        }
        "not_found" => "Check the number or id; queue lists what waits.",
        "conflict" => "What was said first stands: go on, and do not say it again.",
        "cycle" => "Leave out the relation that closes the circle.",
        "too_many_requests" => "Wait a few seconds, then call again.",
        "internal" | "unavailable" => {
            "Whether anything was changed is not known: look before you repeat it; reports on a dispatch may be \
             repeated."
        }
        _ => "Read what the desk said, and do otherwise.",
    };
    hint.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &str, details: Value) -> Refusal {
        let body = ErrorBody {
            error: "No.".to_owned(),
            code: code.to_owned(),
            details: Some(details),
            ..ErrorBody::default()
        };
        Refusal::of(&ClientError::Api { status: 409, body })
    }

    #[test]
    fn a_refusal_says_the_desks_sentence_its_code_and_what_to_do() {
        let line = of("illegal_transition", json!({"legal": ["park", "cancel"]})).line();
        assert_eq!(
            line,
            "No. (illegal_transition). Its state does not allow that; what is legal now: park, cancel."
        );
        let line = of("validation", json!([{"field": "title", "message": "too long"}])).line();
        assert_eq!(line, "No. (validation). Correct the parameters and call again. title: too long");
    }

    #[test]
    fn orders_stand_in_the_text_and_in_the_structure() {
        let order = Order { dispatch: "d".to_owned(), number: 7, word: "continue", reason: None, held: true };
        let result = result(Ok(Reply::new("Done.", json!({"a": 1}))), &[order]);
        let text = &result.content[0].as_text().unwrap().text;
        assert_eq!(text, "Done.\n\nOrders from the desk:\n- #7 (dispatch d): order: continue");
        assert_eq!(
            result.structured_content.unwrap(),
            json!({"a": 1, "orders": [
                {"dispatch": "d", "number": 7, "order": "continue", "reason": null, "held": true}
            ]})
        );
        assert_eq!(result.is_error, Some(false));
    }
}
