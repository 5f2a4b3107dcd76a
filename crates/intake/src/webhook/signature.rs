//! Signatures: whether a delivery comes from somebody who knows the secret.
//!
//! All comparisons are of digests and in constant time.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::{Delivery, Provider, WebhookError};

/// Verifies a delivery's signature over its raw body.
pub(super) fn verify(delivery: &Delivery<'_>, secret: &str) -> Result<(), WebhookError> {
    let name = header_name(delivery.provider);
    let given = delivery.header(name).ok_or(WebhookError::MissingSignature(name))?;
    let is_genuine = !secret.is_empty()
        && match delivery.provider {
            Provider::Github => {
                given.strip_prefix("sha256=").is_some_and(|hex| signs(secret, delivery.body, hex))
            }
            Provider::Sentry => signs(secret, delivery.body, given),
            Provider::Posthog => is_same(secret, given),
        };
    if is_genuine { Ok(()) } else { Err(WebhookError::BadSignature) }
}

const fn header_name(provider: Provider) -> &'static str {
    match provider {
        Provider::Github => "X-Hub-Signature-256",
        Provider::Sentry => "Sentry-Hook-Signature",
        Provider::Posthog => "X-PostHog-Secret",
    }
}

fn signs(secret: &str, body: &[u8], hex: &str) -> bool {
    unhex(hex).is_some_and(|signature| mac(secret, body).verify_slice(&signature).is_ok())
}

/// Compares two secrets by their digests, so that neither content nor length shows in the time it takes.
fn is_same(secret: &str, given: &str) -> bool {
    let given = mac(secret, given.as_bytes()).finalize().into_bytes();
    mac(secret, secret.as_bytes()).verify_slice(&given).is_ok()
}

fn mac(secret: &str, message: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(message);
    mac
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? * 16 + digit(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_in_either_case_and_nothing_else_is() {
        assert_eq!(unhex("00ffAb"), Some(vec![0, 255, 171]));
        assert_eq!(unhex(""), Some(Vec::new()));
        for bad in ["0", "0g", "+1", " 1", "é", "日本"] {
            assert_eq!(unhex(bad), None, "{bad}");
        }
    }
}
