//! Resources: an issue as JSON, and the prompt of a dispatch in the session's hands.

use extraboard_api::client::Client;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::outside;
use crate::reply::Refusal;
use crate::session::{Session, Which};

const ISSUES: &str = "extraboard://issues/";
const DISPATCHES: &str = "extraboard://dispatches/";
const PROMPT: &str = "/prompt";
const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// Returns what can be read by pattern.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{ISSUES}{{number}}"), "issue")
            .with_title("An issue")
            .with_description(
                "A task of the desk as JSON, by its number: with its parent, children and relations.",
            )
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{DISPATCHES}{{id}}{PROMPT}"), "prompt")
            .with_title("The prompt of a dispatch")
            .with_description("The prompt of a dispatch that this session holds, as it was handed out.")
            .with_mime_type(MARKDOWN),
    ]
}

/// Returns what is in the session's hands.
pub(crate) fn list(session: &Session) -> Vec<Resource> {
    let tickets = session.tickets();
    let resources = tickets.iter().flat_map(|ticket| {
        let (id, number) = (&ticket.id, ticket.number);
        [
            Resource::new(format!("{ISSUES}{number}"), format!("issue {number}"))
                .with_title(outside::line(&ticket.title))
                .with_mime_type(JSON),
            Resource::new(format!("{DISPATCHES}{id}{PROMPT}"), format!("prompt of issue {number}"))
                .with_title(outside::line(&ticket.title))
                .with_mime_type(MARKDOWN),
        ]
    });
    resources.collect()
}

/// Reads one resource.
pub(crate) async fn read(
    session: &Session,
    client: &Client,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let (text, mime_type) = match Name::of(uri) {
        Some(Name::Issue(number)) => {
            let issue = client.issue_get(&number.to_string()).await.map_err(|error| Refusal::of(&error));
            let issue = issue.map_err(|refusal| error(&refusal, uri))?;
            let text = serde_json::to_string_pretty(&issue)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            (text, JSON)
        }
        Some(Name::Prompt(id)) => {
            let which = Which { dispatch: Some(id.to_owned()), number: None };
            let ticket = session.ticket(&which).map_err(|refusal| {
                ErrorData::resource_not_found(refusal.line(), Some(json!({"uri": uri})))
            })?;
            let prompt = ticket.client.dispatch_prompt(id).await.map_err(|error| Refusal::of(&error));
            let prompt = prompt.map_err(|refusal| error(&refusal, uri))?;
            (prompt.prompt.unwrap_or_default(), MARKDOWN)
        }
        None => {
            let sentence =
                format!("there is no resource `{uri}`: expected {ISSUES}NUMBER or {DISPATCHES}ID{PROMPT}");
            return Err(ErrorData::resource_not_found(sentence, Some(json!({"uri": uri}))));
        }
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(mime_type)]))
}

/// What a URI names.
#[derive(Debug, PartialEq, Eq)]
enum Name<'u> {
    Issue(u64),
    Prompt(&'u str),
}

impl<'u> Name<'u> {
    fn of(uri: &'u str) -> Option<Self> {
        if let Some(number) = uri.strip_prefix(ISSUES) {
            let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
            return number.parse().ok().filter(|_| is_plain).map(Self::Issue);
        }
        let id = uri.strip_prefix(DISPATCHES)?.strip_suffix(PROMPT)?;
        (!id.is_empty() && !id.contains('/')).then_some(Self::Prompt(id))
    }
}

fn error(refusal: &Refusal, uri: &str) -> ErrorData {
    let data = Some(json!({"uri": uri}));
    if refusal.is_not_found() {
        ErrorData::resource_not_found(refusal.line(), data)
    } else {
        ErrorData::internal_error(refusal.line(), data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_an_issue_or_a_prompt_and_nothing_else() {
        assert_eq!(Name::of("extraboard://issues/42"), Some(Name::Issue(42)));
        assert_eq!(Name::of("extraboard://dispatches/0199a/prompt"), Some(Name::Prompt("0199a")));
        for uri in [
            "extraboard://issues/",
            "extraboard://issues/+42",
            "extraboard://issues/42/why",
            "extraboard://issues/x",
            "extraboard://dispatches//prompt",
            "extraboard://dispatches/a/b/prompt",
            "extraboard://dispatches/a",
            "file:///etc/passwd",
        ] {
            assert_eq!(Name::of(uri), None, "{uri}");
        }
    }
}
