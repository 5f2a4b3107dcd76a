//! Lenient ways to look into payloads: the first of several places that holds what is wanted.

use serde_json::Value;

/// Returns the value at a path of keys, `a.b.c`.
pub(super) fn at<'a>(payload: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(payload, |value, key| value.get(key))
}

/// Returns the first text among some paths that is not blank.
pub(super) fn text<'a>(payload: &'a Value, paths: &[&str]) -> Option<&'a str> {
    let texts = paths.iter().filter_map(|path| at(payload, path)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty())
}

/// Returns the first id among some paths: a text that is not blank, or a number.
pub(super) fn id(payload: &Value, paths: &[&str]) -> Option<String> {
    paths.iter().find_map(|path| match at(payload, path)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// Returns the first number among some paths; texts such as `"-12.5 %"` count.
pub(super) fn number(payload: &Value, paths: &[&str]) -> Option<f64> {
    let numbers = paths.iter().filter_map(|path| match at(payload, path)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().trim_end_matches('%').trim_end().parse().ok(),
        _ => None,
    });
    numbers.into_iter().find(|number| number.is_finite())
}

/// Writes a number the way people do: whole where it is, else with at most two decimals.
pub(super) fn show(number: f64) -> String {
    const PLAIN_BELOW: f64 = 1e15;
    if number.abs() >= PLAIN_BELOW {
        return format!("{number:e}");
    }
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_read_from_numbers_and_texts() {
        let check = |value: Value, expected: Option<f64>| {
            assert_eq!(number(&json!({ "n": value }), &["absent", "n"]), expected);
        };
        check(json!(12), Some(12.0));
        check(json!(-1.5), Some(-1.5));
        check(json!(u64::MAX), Some(18_446_744_073_709_551_615.0));
        check(json!("42"), Some(42.0));
        check(json!(" +12.5 % "), Some(12.5));
        check(json!("NaN"), None);
        check(json!("-inf"), None);
        check(json!("1e999"), None);
        check(json!("many"), None);
        check(json!(true), None);
        check(json!(null), None);
    }

    #[test]
    fn what_is_no_number_does_not_hide_the_next_place() {
        assert_eq!(number(&json!({"a": "NaN", "b": 3}), &["a", "b"]), Some(3.0));
    }

    #[test]
    fn numbers_are_shown_as_people_write_them() {
        let check = |number: f64, expected: &str| assert_eq!(show(number), expected);
        check(0.0, "0");
        check(-0.001, "0");
        check(100.0, "100");
        check(-12.5, "-12.5");
        check(1.0 / 3.0, "0.33");
        check(1e14, "100000000000000");
        check(1e300, "1e300");
        check(-1e15, "-1e15");
    }
}
