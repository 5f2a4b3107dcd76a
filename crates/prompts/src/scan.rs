//! The look at a template before it is parsed.
//!
//! The parser calls itself for every block within a block and every bracket within a bracket,
//! and has no limit; what could exhaust its stack, or its patience, is refused here. For that
//! the scan must see the very tags the parser sees, so it refuses what makes it hard to say
//! where a tag ends: braces, and quotes or brackets within each other, inside of a tag.

use extraboard_core::template::CONTENT_BYTES_MAX;

use crate::clean::is_line_break;
use crate::error::{Place, TemplateError};

/// How many tags a template may have.
const TAGS_MAX: usize = 2_000;
/// The longest tag, in bytes.
const TAG_BYTES_MAX: usize = 1_000;
/// How many blocks may stand within each other.
pub(crate) const BLOCKS_DEEP_MAX: usize = 20;
/// How many brackets may stand within each other in a tag.
const BRACKETS_DEEP_MAX: usize = 4;

/// Checks that the text can be given to the parser.
pub(crate) fn scan(content: &str) -> Result<(), TemplateError> {
    if content.is_empty() || content.len() > CONTENT_BYTES_MAX {
        let message = format!("expected 1 to {CONTENT_BYTES_MAX} bytes, got {}", content.len());
        return Err(TemplateError::new(message));
    }
    if let Some(at) = content.find('\0') {
        return Err(refuse(content, at, "a NUL character"));
    }
    // Some programs begin a line there and some do not.
    if let Some(at) = content.find(|char| is_line_break(char) && char != '\n' && char != '\r') {
        return Err(refuse(content, at, "a line break of a rare kind: expected plain ones"));
    }
    let (mut at, mut tags) = (0, 0);
    // One for each open block: how deep it is. An `else if` is a block within its block.
    let mut blocks: Vec<usize> = Vec::new();
    while let Some(open) = next_open(content, &mut at) {
        tags += 1;
        if tags > TAGS_MAX {
            return Err(refuse(content, open, &format!("more than {TAGS_MAX} tags")));
        }
        let rest = &content[open + 2..];
        let Some(length) = tag_length(rest) else {
            return Err(refuse(content, open, "a tag that does not end"));
        };
        at = open + 2 + length;
        if rest.starts_with('!') {
            continue;
        }
        let inner = rest[..length].strip_suffix("}}").unwrap_or(rest);
        check_tag(inner).map_err(|message| refuse(content, open, &message))?;
        count_block(&mut blocks, opening(inner));
        if blocks.iter().sum::<usize>() > BLOCKS_DEEP_MAX {
            let message = format!("blocks within each other more than {BLOCKS_DEEP_MAX} deep");
            return Err(refuse(content, open, &message));
        }
    }
    Ok(())
}

fn count_block(blocks: &mut Vec<usize>, tag: &str) {
    if tag.starts_with('#') {
        blocks.push(1);
    } else if tag.starts_with('/') {
        blocks.pop();
    } else if (tag.starts_with("else") || tag.starts_with('^'))
        && let Some(depth) = blocks.last_mut()
    {
        *depth += 1;
    }
}

/// Finds the next `{{` that a single backslash does not make plain text.
fn next_open(content: &str, at: &mut usize) -> Option<usize> {
    loop {
        let open = *at + content[*at..].find("{{")?;
        let before = &content[*at..open];
        let backslashes = before.len() - before.trim_end_matches('\\').len();
        if backslashes != 1 {
            return Some(open);
        }
        // The parser takes two more braces along, as it would for a raw block.
        *at = open + 2 + if content[open + 2..].starts_with("{{") { 2 } else { 0 };
    }
}

/// Returns how long a tag is after its `{{`, with its end.
fn tag_length(rest: &str) -> Option<usize> {
    let end = |from: usize, mark: &str| rest[from..].find(mark).map(|at| from + at + mark.len());
    let comment = rest.strip_prefix('!').map(|text| text.trim_start_matches([' ', '\t', '\n', '\r']));
    match comment.and_then(|text| text.strip_prefix("--")) {
        Some(text) => end(rest.len() - text.len(), "--}}").or_else(|| end(0, "}}")),
        None => end(0, "}}"),
    }
}

/// Returns the inside of a tag from what says its sort.
fn opening(inner: &str) -> &str {
    inner.trim_start_matches([' ', '\t', '\n', '\r', '~'])
}

fn check_tag(inner: &str) -> Result<(), String> {
    let start = opening(inner);
    if start.starts_with(['{', '&']) {
        return Err("a value that is not to be cleaned: write it with two braces".to_owned());
    }
    if start.starts_with('*') || start.starts_with("#*") {
        return Err("a decorator or an inline partial: there are none".to_owned());
    }
    if inner.len() > TAG_BYTES_MAX {
        return Err(format!("a tag of more than {TAG_BYTES_MAX} bytes"));
    }
    if inner.contains(['{', '}', '\\']) {
        return Err("a brace or a backslash inside of a tag".to_owned());
    }
    check_quotes(inner)?;
    check_brackets(inner)
}

/// Checks that quotes and square brackets come in pairs with none of them in between.
fn check_quotes(inner: &str) -> Result<(), String> {
    const MARKS: [char; 4] = ['"', '\'', '[', ']'];
    let mut marks = inner.chars().filter(|char| MARKS.contains(char));
    while let Some(open) = marks.next() {
        let close = if open == '[' { ']' } else { open };
        if open == ']' || marks.next() != Some(close) {
            return Err("quotes or square brackets that are not in pairs, or within each other".to_owned());
        }
    }
    Ok(())
}

fn check_brackets(inner: &str) -> Result<(), String> {
    let mut depth = 0_usize;
    for char in inner.chars() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > BRACKETS_DEEP_MAX {
            return Err(format!("brackets within each other more than {BRACKETS_DEEP_MAX} deep"));
        }
    }
    Ok(())
}

fn refuse(content: &str, at: usize, what: &str) -> TemplateError {
    TemplateError::at(format!("found {what}"), Some(Place::of(content, at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(content: &str, expected: &str) {
        let error = scan(content).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn what_is_fine_passes() {
        for content in [
            "plain",
            "a {{b}} {{#if c}}d{{else}}e{{/if}} {\"f\": {{g}}}",
            r"\{{{ plain }}} \{{{{x}}}} and \\{{tag}}",
            "{{! a comment with { and \" }} {{!-- {{#if x}} --}}",
            r#"{{lookup a "b c"}} {{a.[b c]}} {{eq 'x' "y"}}"#,
        ] {
            assert_eq!(scan(content), Ok(()), "{content}");
        }
    }

    #[test]
    fn what_prints_raw_is_refused() {
        for content in
            ["{{{x}}}", "{{&x}}", "{{~{x}~}}", "{{ & x}}", "{{{{raw}}}}x{{{{/raw}}}}", "a\\\\{{{x}}}"]
        {
            refused(content, "not to be cleaned");
        }
        refused("{{*inline}}", "decorator");
        refused("{{#*inline \"x\"}}{{/inline}}", "decorator");
    }

    #[test]
    fn what_would_exhaust_the_parser_is_refused() {
        refused(&"{{#if x}}".repeat(21), "more than 20 deep");
        refused(&"{{ ~ #if x}}".repeat(9_000)[..65_000], "more than 20 deep");
        refused(&format!("{{{{#if x}}}}{}", "{{else if y}}".repeat(1_900)), "more than 20 deep");
        refused("{{a (b (c (d (e (f)))))}}", "more than 4 deep");
        refused(&format!("{{{{{}}}}}", "a".repeat(1_001)), "more than 1000 bytes");
        refused(&"{{a}}".repeat(2_001), "more than 2000 tags");
        refused(&"a".repeat(CONTENT_BYTES_MAX + 1), "bytes");
        refused("", "1 to");
        refused("a\0", "NUL");
        for rare in ['\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'] {
            refused(&format!("a{rare}```sh"), "line 1, column 2: found a line break of a rare kind");
        }
        assert_eq!(scan("a\r\nb\rc"), Ok(()));
    }

    #[test]
    fn the_end_of_a_tag_cannot_be_hidden() {
        for content in [
            "{{#if \"}}{{/if}}\"}}",
            "{{#if [}}{{/if}}]}}",
            "{{#if '\"' \"'\"}}",
            "{{a \"\\\"}}",
            "{{a [\"]\"]}}",
        ] {
            assert!(scan(content).is_err(), "{content}");
        }
    }

    #[test]
    fn the_end_of_a_comment_is_where_the_parser_sees_it() {
        let hidden = "{{!--}}{{/if}}--}}";
        refused(&format!("{{{{#if x}}}}{hidden}").repeat(21), "more than 20 deep");
        refused(&"{{#if x}}{{! -- {{/if}} --}}".repeat(21), "more than 20 deep");
        refused(&r"{{#if x}}\{{/if}}".repeat(21), "more than 20 deep");
    }

    #[test]
    fn a_refusal_names_the_place() {
        let error = scan("one\ntwä {{{x}}}").unwrap_err();
        assert_eq!((error.line, error.column), (Some(2), Some(5)));
    }
}
