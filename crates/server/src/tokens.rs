//! Tokens: what names a dispatch, and what names a person.
//!
//! A dispatch token is derived from the server key, so there is nothing to
//! store and nothing to leak from the database but the key itself. Admin tokens
//! are random; only their hashes are kept.

use extraboard_core::caller::Caller;
use extraboard_core::dispatch::Dispatch;
use extraboard_core::id::{DispatchId, Fence};
use extraboard_core::token::TokenScope;
use extraboard_desk::Desk;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// How dispatch tokens begin.
pub(crate) const DISPATCH_PREFIX: &str = "xbd_";

/// The key dispatch tokens are derived from, shared by all replicas.
#[derive(Clone)]
pub struct ServerKey(Vec<u8>);

impl std::fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerKey")
    }
}

impl ServerKey {
    /// Wraps the key as the database keeps it.
    pub fn new(key: &str) -> Self {
        Self(key.as_bytes().to_vec())
    }

    /// Returns the token that speaks for a dispatch.
    pub(crate) fn token(&self, dispatch: &Dispatch) -> String {
        let named = named(dispatch.id, dispatch.fence);
        let mac = self.mac(&named).finalize().into_bytes();
        format!("{DISPATCH_PREFIX}{named}_{}", hex(&mac))
    }

    /// Returns the holder a token speaks for, if it is genuine.
    pub(crate) fn holder(&self, token: &str) -> Option<Caller> {
        let (named, mac) = token.strip_prefix(DISPATCH_PREFIX)?.rsplit_once('_')?;
        self.mac(named).verify_slice(&unhex(mac)?).ok()?;
        let (dispatch, fence) = named.split_once('_')?;
        Some(Caller::Holder { dispatch: dispatch.parse().ok()?, fence: Fence(fence.parse().ok()?) })
    }

    fn mac(&self, named: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(named.as_bytes());
        mac
    }
}

fn named(dispatch: DispatchId, fence: Fence) -> String {
    format!("{dispatch}_{fence}")
}

/// Makes the secret of a new token; its beginning says what it is good for.
pub(crate) fn new_secret(scope: TokenScope, desk: &Desk) -> String {
    let prefix = match scope {
        TokenScope::Admin => "xba_",
        TokenScope::Agent => "xbt_",
        TokenScope::Node => "xbn_",
        TokenScope::Viewer => "xbv_",
    };
    format!("{prefix}{}", hex(&desk.random()))
}

/// Returns what is kept of a token: its SHA-256, which is enough for random tokens.
pub fn hash_token(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(nibble.into(), 16).expect("a nibble is a hexadecimal digit"));
        }
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dispatch_id() -> DispatchId {
        "01990000-0000-7000-8000-000000000001".parse().unwrap()
    }

    fn token(key: &ServerKey, fence: i64) -> String {
        let named = named(dispatch_id(), Fence(fence));
        format!("xbd_{named}_{}", hex(&key.mac(&named).finalize().into_bytes()))
    }

    #[test]
    fn a_token_names_its_dispatch_and_fence() {
        let key = ServerKey::new("k");
        let holder = Caller::Holder { dispatch: dispatch_id(), fence: Fence(3) };
        assert_eq!(key.holder(&token(&key, 3)), Some(holder));
    }

    #[test]
    fn a_forged_token_names_nobody() {
        let key = ServerKey::new("k");
        let genuine = token(&key, 3);
        let other_fence = genuine.replace("_3_", "_4_");
        let other_key = token(&ServerKey::new("j"), 3);
        let cut = &genuine[..genuine.len() - 2];
        for forged in ["", "xbd_", "xbd_a_b_c", "xbd_é_é", &other_fence, &other_key, cut] {
            assert_eq!(key.holder(forged), None, "{forged}");
        }
    }

    #[test]
    fn hashes_are_sha256_in_hex() {
        assert_eq!(hash_token("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
