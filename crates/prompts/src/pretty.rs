//! Values as JSON, two spaces a level, and no more of it than asked for.

use serde_json::Value as Json;

use crate::value::Value;

/// How deep JSON is shown.
const DEPTH_MAX: usize = 32;

/// Writes a value as JSON and stops once there are more than so many bytes.
pub(crate) fn pretty(value: &Value<'_>, bytes_max: usize) -> String {
    let mut printer = Printer { text: String::new(), bytes_max };
    printer.value(value, 0);
    printer.text
}

struct Printer {
    text: String,
    bytes_max: usize,
}

impl Printer {
    fn is_full(&self) -> bool {
        self.text.len() > self.bytes_max
    }

    fn value(&mut self, value: &Value<'_>, depth: usize) {
        match value {
            Value::Nothing => self.text.push_str("null"),
            Value::Flag(flag) => self.text.push_str(if *flag { "true" } else { "false" }),
            Value::Number(number) => self.text.push_str(&number.to_string()),
            Value::Word(text) => self.string(text),
            Value::Line(text) | Value::Text { text, .. } => self.string(text),
            Value::Json { json, .. } => self.json(json, depth),
            Value::List(list) => {
                self.all(('[', ']'), (0..list.len()).map(|index| (None, list.get(index))), depth);
            }
            Value::Object(object) => {
                let fields = object.keys().iter().map(|key| (Some(*key), object.get(key)));
                self.all(('{', '}'), fields, depth);
            }
        }
    }

    fn json(&mut self, json: &Json, depth: usize) {
        let value = |json| Value::Json { json, about: "" }.plain();
        match json {
            Json::Array(list) => self.all(('[', ']'), list.iter().map(|json| (None, value(json))), depth),
            Json::Object(fields) => {
                let fields = fields.iter().map(|(key, json)| (Some(key.as_str()), value(json)));
                self.all(('{', '}'), fields, depth);
            }
            plain => self.value(&value(plain), depth),
        }
    }

    fn all<'v>(
        &mut self,
        (open, close): (char, char),
        parts: impl ExactSizeIterator<Item = (Option<&'v str>, Value<'v>)>,
        depth: usize,
    ) {
        let last = parts.len();
        self.text.push(open);
        if last > 0 && depth == DEPTH_MAX {
            self.text.push('…');
        } else {
            for (index, (key, value)) in parts.enumerate() {
                if self.is_full() {
                    return;
                }
                self.text.push_str(if index == 0 { "\n" } else { ",\n" });
                self.indent(depth + 1);
                if let Some(key) = key {
                    self.string(key);
                    self.text.push_str(": ");
                }
                self.value(&value, depth + 1);
            }
            if last > 0 {
                self.text.push('\n');
                self.indent(depth);
            }
        }
        self.text.push(close);
    }

    fn indent(&mut self, depth: usize) {
        self.text.extend(std::iter::repeat_n("  ", depth));
    }

    fn string(&mut self, text: &str) {
        // A string that is cut has no end; what is left out is said below the JSON.
        let room = self.bytes_max.saturating_sub(self.text.len()) + 1;
        let text = crate::clean::clip(text, room);
        self.text.push_str(&Json::from(text).to_string());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn printed(json: &Json) -> String {
        pretty(&Value::Json { json, about: "" }, 10_000)
    }

    #[test]
    fn json_is_as_serde_writes_it() {
        for json in [
            json!(null),
            json!([]),
            json!({}),
            json!([1, -2.5, true, null, "a\n\"b\"\u{1}"]),
            json!({"a": {"b": [{"c": {}}, []]}, "d": "é"}),
        ] {
            assert_eq!(printed(&json), serde_json::to_string_pretty(&json).unwrap());
        }
    }

    #[test]
    fn json_has_an_end_however_long_and_deep_it_is() {
        let wide: Json = (0..100_000).collect();
        assert!(printed(&wide).len() < 10_100);
        assert!(printed(&json!("x".repeat(100_000))).len() < 10_100);
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
        assert!(printed(&deep).contains("[…]"));
    }
}
