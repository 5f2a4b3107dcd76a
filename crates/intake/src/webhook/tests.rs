//! Deliveries as the providers send them, and as nobody should.
//!
//! Signatures that stand here as text were computed by other programs: GitHub's is the example of its
//! documentation, the others come from Python's `hmac`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const SECRET: &str = "It's a Secret to Everybody";
const GITHUB_EXAMPLE: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

/// Reads a delivery with some headers.
fn deliver(
    provider: Provider,
    headers: &[(&str, &str)],
    body: &[u8],
    secret: &str,
) -> Result<Heard, WebhookError> {
    let header = |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    read(&Delivery { provider, header: &header, body }, secret)
}

/// Reads a delivery of a provider that signs properly.
fn signed(provider: Provider, headers: &[(&str, &str)], payload: &Value) -> SignalDraft {
    let body = payload.to_string();
    let signature = sign(provider, body.as_bytes());
    let name = match provider {
        Provider::Github => "X-Hub-Signature-256",
        Provider::Sentry => "Sentry-Hook-Signature",
        Provider::Posthog => "X-PostHog-Secret",
    };
    let headers = [headers, &[(name, signature.as_str())]].concat();
    match deliver(provider, &headers, body.as_bytes(), SECRET) {
        Ok(Heard::Signal(draft)) => draft,
        other => panic!("expected a signal, not {other:?}"),
    }
}

fn sign(provider: Provider, body: &[u8]) -> String {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body);
    let hex = crate::text::hex(&mac.finalize().into_bytes());
    match provider {
        Provider::Github => format!("sha256={hex}"),
        Provider::Sentry => hex,
        Provider::Posthog => SECRET.to_owned(),
    }
}

#[track_caller]
fn check_draft(draft: &SignalDraft, severity: Severity, source_id: Option<&str>, title: &str) {
    assert_eq!(
        (draft.severity, draft.source_id.as_deref(), draft.title.as_str()),
        (severity, source_id, title)
    );
}

#[test]
fn providers_are_named_by_their_words() {
    for provider in Provider::ALL {
        assert_eq!(provider.as_str().parse(), Ok(provider));
    }
    let error = "GitHub".parse::<Provider>().unwrap_err();
    assert_eq!(error.to_string(), "`GitHub` sends no webhooks here: expected github, sentry or posthog");
}

#[test]
fn the_documented_signature_of_github_is_verified_before_anything_is_parsed() {
    let check = |signature: &str, body: &[u8], secret: &str, expected: &WebhookError| {
        let heard = deliver(Provider::Github, &[("X-Hub-Signature-256", signature)], body, secret);
        assert_eq!(heard.unwrap_err(), *expected, "{signature}");
    };
    let not_json = WebhookError::NotJson("expected value at line 1 column 1".to_owned());
    let upper = GITHUB_EXAMPLE.to_uppercase().replace("SHA256", "sha256");
    let padded = format!(" {GITHUB_EXAMPLE} ");
    for genuine in [GITHUB_EXAMPLE, &upper, &padded] {
        check(genuine, b"Hello, World!", SECRET, &not_json);
    }
    let bad = &WebhookError::BadSignature;
    check(GITHUB_EXAMPLE, b"Hello, World?", SECRET, bad);
    check(GITHUB_EXAMPLE, b"Hello, World!\n", SECRET, bad);
    check(GITHUB_EXAMPLE, b"", SECRET, bad);
    check(GITHUB_EXAMPLE, b"Hello, World!", "its a secret", bad);
    check(GITHUB_EXAMPLE, b"Hello, World!", "", bad);
    check(GITHUB_EXAMPLE.trim_start_matches("sha256="), b"Hello, World!", SECRET, bad);
    check(&GITHUB_EXAMPLE[..GITHUB_EXAMPLE.len() - 2], b"Hello, World!", SECRET, bad);
    check(&GITHUB_EXAMPLE[..GITHUB_EXAMPLE.len() - 1], b"Hello, World!", SECRET, bad);
    check(&format!("{GITHUB_EXAMPLE}00"), b"Hello, World!", SECRET, bad);
    check("sha256=", b"Hello, World!", SECRET, bad);
    check("sha256=日本語", b"Hello, World!", SECRET, bad);
    check(&GITHUB_EXAMPLE.replace("sha256", "sha1"), b"Hello, World!", SECRET, bad);
}

#[test]
fn an_empty_secret_verifies_nothing() {
    // What HMAC-SHA256 makes of `{}` with an empty key.
    let signature = "22f8eea909400af98adf3681a9f31923ef6b7fcba4abb553d92823a3e9d5c25e";
    for (provider, name) in
        [(Provider::Sentry, "Sentry-Hook-Signature"), (Provider::Posthog, "X-PostHog-Secret")]
    {
        let heard = deliver(provider, &[(name, signature)], b"{}", "");
        assert_eq!(heard, Err(WebhookError::BadSignature));
    }
}

#[test]
fn a_delivery_without_a_signature_is_told_which_header_is_missing() {
    for (provider, name) in [
        (Provider::Github, "X-Hub-Signature-256"),
        (Provider::Sentry, "Sentry-Hook-Signature"),
        (Provider::Posthog, "X-PostHog-Secret"),
    ] {
        let expected = Err(WebhookError::MissingSignature(name));
        assert_eq!(deliver(provider, &[], b"not even json", SECRET), expected);
        assert_eq!(deliver(provider, &[(name, "  ")], b"{}", SECRET), expected);
    }
}

#[test]
fn a_signature_of_sentry_made_elsewhere_is_verified() {
    let body = br#"{"action":"created","data":{"issue":{"id":"1170820242","title":"ReferenceError: heck is not defined","level":"error","count":"1"}}}"#;
    let signature = "1b423b79a719f3cbdc862d0dc9475f0c62dbda65ef2de3e6a3178c99e20ff8b5";
    let headers =
        [("Sentry-Hook-Signature", signature), ("Sentry-Hook-Resource", "issue"), ("Request-ID", "7c2f")];
    let heard = deliver(Provider::Sentry, &headers, body, "client-secret").unwrap();
    insta::assert_debug_snapshot!(heard, @r#"
    Signal(
        SignalDraft {
            source: "sentry",
            source_id: Some(
                "1170820242",
            ),
            signal_type: "issue.created",
            severity: High,
            title: "Sentry: ReferenceError: heck is not defined (1 events)",
            payload: Object {
                "action": String("created"),
                "data": Object {
                    "issue": Object {
                        "count": String("1"),
                        "id": String("1170820242"),
                        "level": String("error"),
                        "title": String("ReferenceError: heck is not defined"),
                    },
                },
            },
            delivery: "sentry:7c2f",
        },
    )
    "#);
}

#[test]
fn secrets_and_bodies_may_hold_any_characters() {
    let body = r#"{"repository":{"full_name":"日本/語"},"sender":{"login":"ünï"}}"#;
    let signature = "sha256=5d01c8b128a8da175d886fdf1ef6530dc85261d3feb41accbb7ceab8337781bc";
    let headers = [("X-Hub-Signature-256", signature), ("X-GitHub-Event", "push")];
    let heard = deliver(Provider::Github, &headers, body.as_bytes(), "geheïm-🔑").unwrap();
    let Heard::Signal(draft) = heard else { panic!("{heard:?}") };
    check_draft(&draft, Severity::Low, Some("push"), "GitHub: push on 日本/語 by ünï");
}

#[test]
fn the_secret_of_posthog_must_be_the_same() {
    let name = "X-PostHog-Secret";
    for wrong in ["It's a Secret to Everybod", "It's a Secret to Everybody!", "x"] {
        let heard = deliver(Provider::Posthog, &[(name, wrong)], b"{}", SECRET);
        assert_eq!(heard, Err(WebhookError::BadSignature), "{wrong}");
    }
    assert!(deliver(Provider::Posthog, &[(name, SECRET)], b"{}", SECRET).is_ok());
}

#[test]
fn bodies_that_are_no_objects_are_refused() {
    let read = |body: &[u8]| {
        let signature = sign(Provider::Sentry, body);
        deliver(Provider::Sentry, &[("Sentry-Hook-Signature", &signature)], body, SECRET).unwrap_err()
    };
    assert_eq!(read(b"[]"), WebhookError::NotAnObject);
    assert_eq!(read(b"null"), WebhookError::NotAnObject);
    assert!(matches!(read(b"{"), WebhookError::NotJson(_)));
    assert!(matches!(read(b"\xff\xfe"), WebhookError::NotJson(_)));
    assert!(matches!(read("[".repeat(100_000).as_bytes()), WebhookError::NotJson(_)));
    let form = read(b"payload=%7B%7D").to_string();
    assert!(form.ends_with("set the content type to application/json)"), "{form}");
}

#[test]
fn a_ping_of_github_must_be_signed_too() {
    let signature = sign(Provider::Github, b"{}");
    let headers = [("X-Hub-Signature-256", signature.as_str()), ("X-GitHub-Event", "ping")];
    assert_eq!(deliver(Provider::Github, &headers, b"{}", SECRET), Ok(Heard::Ping));
    let heard = deliver(Provider::Github, &headers, b"{ }", SECRET);
    assert_eq!(heard, Err(WebhookError::BadSignature));
}

#[test]
fn installing_an_integration_of_sentry_is_no_signal() {
    let signature = sign(Provider::Sentry, b"{}");
    let headers = [("Sentry-Hook-Signature", signature.as_str()), ("Sentry-Hook-Resource", "installation")];
    assert_eq!(deliver(Provider::Sentry, &headers, b"{}", SECRET), Ok(Heard::Ping));
}

#[test]
fn events_of_github_have_their_severities() {
    let check = |event: &str, severity: Severity| {
        let draft = signed(Provider::Github, &[("X-GitHub-Event", event)], &json!({}));
        assert_eq!((draft.signal_type.as_str(), draft.severity), (event, severity));
    };
    check("security_advisory", Severity::Critical);
    check("code_scanning_alert", Severity::Critical);
    check("dependabot_alert", Severity::High);
    check("issues", Severity::Medium);
    check("pull_request", Severity::Low);
    check("push", Severity::Low);
    check("issue_comment", Severity::Low);
    check("workflow_run", Severity::Medium);
}

#[test]
fn github_says_what_happened_where_and_by_whom() {
    let event = [("X-GitHub-Event", "issues")];
    let payload = json!({
        "action": "opened", "repository": {"full_name": "acme/pay"}, "sender": {"login": "mona"},
    });
    let draft = signed(Provider::Github, &event, &payload);
    check_draft(&draft, Severity::Medium, Some("issues.opened"), "GitHub: issues on acme/pay by mona");
    assert_eq!((draft.source.as_str(), &draft.payload), ("github", &payload));
    let draft = signed(Provider::Github, &event, &json!({"action": 7, "repository": "?", "sender": null}));
    let title = "GitHub: issues on an unknown repository by somebody";
    check_draft(&draft, Severity::Medium, Some("issues"), title);
    let draft = signed(Provider::Github, &[], &json!({"organization": {"login": "acme"}}));
    check_draft(&draft, Severity::Medium, Some("unknown"), "GitHub: unknown on acme by somebody");
}

#[test]
fn deliveries_are_told_apart_by_their_ids_else_by_their_bodies() {
    let digest = "af74525475fb04c2280426e81bfd0342b4ba34bf4d55fbb8f762779508f8285c";
    let check = |provider: Provider, headers: &[(&str, &str)], expected: &str| {
        let draft = signed(provider, headers, &json!({"metric": "signups"}));
        assert_eq!(draft.delivery, expected);
    };
    check(Provider::Github, &[("X-GitHub-Delivery", "72d3162e-cc78")], "github:72d3162e-cc78");
    check(Provider::Github, &[], &format!("github:sha256:{digest}"));
    check(Provider::Github, &[("X-GitHub-Delivery", " ")], &format!("github:sha256:{digest}"));
    check(Provider::Github, &[("X-GitHub-Delivery", "a b")], &format!("github:sha256:{digest}"));
    let long = "x".repeat(201);
    check(Provider::Sentry, &[("Request-ID", &long)], &format!("sentry:sha256:{digest}"));
    check(Provider::Sentry, &[("Request-ID", "r1")], "sentry:r1");
    check(Provider::Posthog, &[("Request-ID", "r1")], &format!("posthog:sha256:{digest}"));
}

#[test]
fn errors_of_sentry_are_as_bad_as_their_level_and_count() {
    let check = |level: Value, count: Value, severity: Severity, title: &str| {
        let issue = json!({"id": 5, "title": "Boom", "level": level, "count": count});
        let draft = signed(Provider::Sentry, &[], &json!({"data": {"issue": issue}}));
        check_draft(&draft, severity, Some("5"), title);
    };
    check(json!("fatal"), json!(1), Severity::Critical, "Sentry: Boom (1 events)");
    check(json!("error"), json!("100"), Severity::Critical, "Sentry: Boom (100 events)");
    check(json!("error"), json!(99), Severity::High, "Sentry: Boom (99 events)");
    check(json!("warning"), json!(1e300), Severity::Medium, "Sentry: Boom (1e300 events)");
    check(json!("info"), json!("many"), Severity::Low, "Sentry: Boom (1 events)");
    check(json!(null), json!(null), Severity::Low, "Sentry: Boom (1 events)");
    check(json!(null), json!(500), Severity::Low, "Sentry: Boom (500 events)");
    check(json!("disaster"), json!(500), Severity::Low, "Sentry: Boom (500 events)");
    check(json!(3), json!(u64::MAX), Severity::Low, "Sentry: Boom (1.8446744073709552e19 events)");
}

#[test]
fn every_resource_of_sentry_is_understood() {
    let check = |resource: &str, payload: Value, signal_type: &str, severity, id, title: &str| {
        let draft = signed(Provider::Sentry, &[("Sentry-Hook-Resource", resource)], &payload);
        assert_eq!(draft.signal_type, signal_type);
        check_draft(&draft, severity, id, title);
    };
    let event = json!({"title": "Heck", "level": "warning", "issue_id": "11"});
    let alert = json!({"action": "triggered", "data": {"event": event, "triggered_rule": "r"}});
    check(
        "event_alert",
        alert,
        "event_alert.triggered",
        Severity::Medium,
        Some("11"),
        "Sentry: Heck (1 events)",
    );
    let error = json!({"title": "Oh", "level": "error", "issue_id": 12});
    let error = json!({"action": "created", "data": {"error": error}});
    check("error", error, "error.created", Severity::High, Some("12"), "Sentry: Oh (1 events)");
    let metric = |action: &str| {
        let data = json!({"description_title": "Too many errors", "metric_alert": {"id": "9"}});
        json!({"action": action, "data": data})
    };
    let title = "Sentry: Too many errors (1 events)";
    check("metric_alert", metric("critical"), "metric_alert.critical", Severity::Critical, Some("9"), title);
    check("metric_alert", metric("warning"), "metric_alert.warning", Severity::Medium, Some("9"), title);
    check("metric_alert", metric("resolved"), "metric_alert.resolved", Severity::Low, Some("9"), title);
    check("seer", json!({}), "seer", Severity::Low, None, "Sentry: Unknown error (1 events)");
}

#[test]
fn a_delivery_of_sentry_that_says_nothing_is_still_a_signal() {
    let draft = signed(Provider::Sentry, &[], &json!({"data": []}));
    assert_eq!(draft.signal_type, "event");
    check_draft(&draft, Severity::Low, None, "Sentry: Unknown error (1 events)");
}

#[test]
fn changes_of_posthog_are_as_bad_as_they_are_large() {
    let check = |value: Value, severity: Severity, moved: &str| {
        let payload = json!({"event": {"name": "signups"}, "value": value, "timeframe": "last 24h"});
        let draft = signed(Provider::Posthog, &[], &payload);
        check_draft(&draft, severity, None, &format!("PostHog: signups {moved} (last 24h)"));
    };
    check(json!(50), Severity::Critical, "50%");
    check(json!(-50), Severity::Critical, "-50%");
    check(json!(49.99), Severity::High, "49.99%");
    check(json!(-25), Severity::High, "-25%");
    check(json!(10), Severity::Medium, "10%");
    check(json!(9.5), Severity::Low, "9.5%");
    check(json!("-31.5%"), Severity::High, "-31.5%");
    check(json!("NaN"), Severity::Low, "changed");
    check(json!(1e308), Severity::Critical, "1e308%");
    check(json!(null), Severity::Low, "changed");
}

#[test]
fn alerts_of_posthog_are_named_after_their_insight() {
    let payload = json!({
        "alert_name": "Signups low", "insight_name": "Signups", "alert_id": "a1",
        "breaches": ["The value is 3"],
    });
    let draft = signed(Provider::Posthog, &[], &payload);
    assert_eq!(draft.signal_type, "metric_change");
    check_draft(&draft, Severity::Low, Some("a1"), "PostHog: Signups changed (recent)");
    let draft = signed(Provider::Posthog, &[], &json!({}));
    check_draft(&draft, Severity::Low, None, "PostHog: an unknown metric changed (recent)");
}

#[test]
fn titles_of_deliveries_are_one_line_of_at_most_500_characters() {
    let login = format!("a\r\nb\u{0}c\u{202E}{}", "x".repeat(1_000));
    let draft =
        signed(Provider::Github, &[], &json!({"sender": {"login": login}, "action": "y".repeat(900)}));
    assert_eq!(draft.title.chars().count(), 500);
    assert!(draft.title.contains(" by a b c xx"), "{}", draft.title);
    assert_eq!(draft.source_id.unwrap().chars().count(), 200);
}

/// Makes JSON of any shape that uses the names the providers use.
fn payloads() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "data",
        "issue",
        "event",
        "error",
        "title",
        "count",
        "level",
        "action",
        "repository",
        "full_name",
        "sender",
        "login",
        "value",
        "metric",
        "timeframe",
        "message",
        "id",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ -]?[0-9]{0,400}%?".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..300), which in 0usize..3) {
        let provider = Provider::ALL[which];
        let signature = sign(provider, &body);
        let headers = [
            ("X-Hub-Signature-256", signature.as_str()),
            ("Sentry-Hook-Signature", &signature),
            ("X-PostHog-Secret", &signature),
        ];
        let heard = deliver(provider, &headers, &body, SECRET);
        prop_assert!(!matches!(heard, Err(WebhookError::BadSignature | WebhookError::MissingSignature(_))));
        prop_assert!(deliver(provider, &headers, &body, "another").is_err());
    }

    #[test]
    fn every_object_becomes_a_signal_with_a_decent_title(
        payload in payloads(), event in "[ -~]{0,20}", which in 0usize..3,
    ) {
        let payload = json!({"data": payload, "event": payload, "value": payload, "sender": payload});
        let headers = [("X-GitHub-Event", event.as_str()), ("Sentry-Hook-Resource", &event)];
        let draft = signed(Provider::ALL[which], &headers, &payload);
        prop_assert!(!draft.signal_type.is_empty());
        prop_assert!((1..=500).contains(&draft.title.chars().count()));
        prop_assert!(!draft.title.chars().any(char::is_control));
        prop_assert!(draft.source_id.is_none_or(|id| (1..=200).contains(&id.chars().count())));
    }
}
