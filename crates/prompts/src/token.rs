//! Where the dispatch's token goes.
//!
//! A prompt is stored, a token is not: what is stored holds a place for it, which names the
//! dispatch, and so something nobody could know who wrote the texts in the prompt.

use extraboard_core::id::DispatchId;

/// Returns what stands in a prompt where the dispatch's token goes.
pub fn token_place(dispatch: Option<DispatchId>) -> String {
    match dispatch {
        Some(dispatch) => format!("[token of dispatch {dispatch}]"),
        None => "[token of the dispatch]".to_owned(),
    }
}

/// Puts the token where it goes.
pub fn with_token(prompt: &str, dispatch: DispatchId, token: &str) -> String {
    prompt.replace(&token_place(Some(dispatch)), token)
}
