//! Looking into JSON of others: a field counts only where it holds what is wanted.

use serde_json::Value;

/// Returns the text of the first field that has some to see.
pub(super) fn text<'a>(record: &'a Value, names: &[&str]) -> Option<&'a str> {
    let texts = names.iter().filter_map(|name| record.get(name)?.as_str());
    texts.into_iter().find(|text| !text.trim().is_empty())
}

/// Returns the elements of the first field that is a list; of a page of GitHub's, its `nodes`.
pub(super) fn list<'a>(record: &'a Value, name: &str) -> &'a [Value] {
    let value = record.get(name);
    let value = value.and_then(|value| value.get("nodes")).or(value);
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the name of something that is named by a text or by the field `name`.
pub(super) fn name(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| text(value, &["name"]))
}

/// Returns a text, or a whole number written as one.
pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}
