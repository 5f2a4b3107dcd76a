//! Rust source taken apart just enough for the checks: code, string literals, comments, functions, test
//! modules.
//!
//! Not a parser: it knows where strings and comments begin and end, and matches braces in what is left.

use std::ops::RangeInclusive;

/// A piece of text and the line, counted from 1, on which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) line: usize,
    pub(super) text: String,
}

/// A function with its length in lines, from the line of `fn` to the closing brace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) length: usize,
}

/// One source file.
#[derive(Debug)]
pub(super) struct RustSource {
    /// The text with strings and comments blanked out, byte for byte in the same place.
    code: Vec<u8>,
    line_starts: Vec<usize>,
    strings: Vec<Piece>,
    comments: Vec<Piece>,
    test_lines: Vec<RangeInclusive<usize>>,
}

impl RustSource {
    pub(super) fn new(text: &str) -> Self {
        let mut scanner = Scanner::new(text);
        scanner.scan();
        let Scanner { code, strings, comments, .. } = scanner;
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        let mut source = Self { code, line_starts, strings, comments, test_lines: Vec::new() };
        source.test_lines = source.find_test_lines();
        source
    }

    /// Returns the contents of string literals.
    pub(super) fn strings(&self) -> &[Piece] {
        &self.strings
    }

    /// Returns comments, doc comments too, line by line.
    pub(super) fn comments(&self) -> &[Piece] {
        &self.comments
    }

    /// Tells whether a line belongs to an item under `#[cfg(test)]`.
    pub(super) fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.iter().any(|lines| lines.contains(&line))
    }

    /// Returns each identifier or keyword with the code that follows it.
    pub(super) fn words(&self) -> impl Iterator<Item = (Piece, &[u8])> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let (start, end) = next_word(&self.code, at)?;
            at = end;
            Some((self.piece(start, end), &self.code[end..]))
        })
    }

    pub(super) fn functions(&self) -> Vec<Function> {
        self.words()
            .filter(|(word, _)| word.text == "fn")
            .filter_map(|(word, rest)| {
                let start = self.code.len() - rest.len();
                // A pointer to a function has no name.
                let (name_start, name_end) = next_word(&self.code, start)?;
                let between = &self.code[start..name_start];
                if !between.iter().all(u8::is_ascii_whitespace) {
                    return None;
                }
                let last = self.line_of(body_end(&self.code, name_end)?);
                let name = self.piece(name_start, name_end).text;
                Some(Function { name, line: word.line, length: last - word.line + 1 })
            })
            .collect()
    }

    fn find_test_lines(&self) -> Vec<RangeInclusive<usize>> {
        let marker = b"#[cfg(test)]";
        let starts = (0..self.code.len()).filter(|at| self.code[*at..].starts_with(marker));
        starts
            .filter_map(|start| {
                let end = body_end(&self.code, start + marker.len())?;
                Some(self.line_of(start)..=self.line_of(end))
            })
            .collect()
    }

    fn piece(&self, start: usize, end: usize) -> Piece {
        let text = String::from_utf8_lossy(&self.code[start..end]).into_owned();
        Piece { line: self.line_of(start), text }
    }

    fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn next_word(code: &[u8], from: usize) -> Option<(usize, usize)> {
    let start = from + code[from..].iter().position(|byte| is_word_byte(*byte))?;
    let length = code[start..].iter().position(|byte| !is_word_byte(*byte));
    Some((start, length.map_or(code.len(), |length| start + length)))
}

/// Returns where the brace closes that opens next, or nothing where a semicolon comes before any brace.
fn body_end(code: &[u8], from: usize) -> Option<usize> {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (at, byte) in code.iter().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.saturating_sub(1),
            b';' if braces == 0 && brackets == 0 => return None,
            b'{' => braces += 1,
            b'}' if braces <= 1 => return Some(at),
            b'}' => braces -= 1,
            _ => {}
        }
    }
    None
}

/// Walks over the text once and sorts it into code, strings and comments.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    code: Vec<u8>,
    strings: Vec<Piece>,
    comments: Vec<Piece>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        let (strings, comments) = (Vec::new(), Vec::new());
        Self { text, at: 0, line: 1, code: text.as_bytes().to_vec(), strings, comments }
    }

    fn scan(&mut self) {
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                self.take_comment(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                self.take_comment(block_comment_length(rest));
            } else if *byte == b'"' {
                self.take_string(0, quoted_length(rest, '"'), 1);
            } else if *byte == b'\'' {
                self.blank(char_literal_length(rest).unwrap_or(1));
            } else if is_word_byte(*byte) {
                self.take_word(rest);
            } else {
                self.line += usize::from(*byte == b'\n');
                self.at += 1;
            }
        }
    }

    /// Takes an identifier, or the literal whose prefix it is.
    fn take_word(&mut self, rest: &str) {
        let length = rest.bytes().position(|byte| !is_word_byte(byte)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
        let is_raw = matches!(word, "r" | "br" | "cr") && after[hashes..].starts_with('"');
        if is_raw {
            let close = format!("\"{}", "#".repeat(hashes));
            let body = &after[hashes + 1..];
            let body_length = body.find(&close).unwrap_or(body.len());
            let total = length + hashes + 1 + body_length + close.len();
            self.take_string(length + hashes, total.min(rest.len()), close.len());
        } else if matches!(word, "b" | "c") && after.starts_with('"') {
            self.take_string(length, length + quoted_length(after, '"'), 1);
        } else if word == "b" && after.starts_with('\'') {
            self.blank(length + char_literal_length(after).unwrap_or(1));
        } else {
            self.at += length;
        }
    }

    /// Takes a string literal: its opening quote comes after `prefix` bytes, its closing is `close` bytes
    /// long.
    fn take_string(&mut self, prefix: usize, length: usize, close: usize) {
        let body = self.at + prefix + 1..(self.at + length).saturating_sub(close);
        let text = self.text.get(body).unwrap_or_default().to_owned();
        self.strings.push(Piece { line: self.line, text });
        self.blank(length);
    }

    fn take_comment(&mut self, length: usize) {
        let lines = self.text[self.at..self.at + length].split('\n').enumerate();
        let pieces = lines.map(|(index, text)| Piece { line: self.line + index, text: text.to_owned() });
        self.comments.extend(pieces);
        self.blank(length);
    }

    fn blank(&mut self, length: usize) {
        for byte in &mut self.code[self.at..self.at + length] {
            if *byte == b'\n' {
                self.line += 1;
            } else {
                *byte = b' ';
            }
        }
        self.at += length;
    }
}

fn block_comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Returns the length of a literal with escapes, from quote to quote.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return at + 1;
        }
    }
    text.len()
}

/// Returns the length of a character literal, or nothing where the quote begins a lifetime.
fn char_literal_length(text: &str) -> Option<usize> {
    let mut characters = text.chars().skip(1);
    let first = characters.next()?;
    let is_literal = first == '\\' || characters.next() == Some('\'');
    is_literal.then(|| quoted_length(text, '\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pieces: &[Piece]) -> Vec<(usize, &str)> {
        pieces.iter().map(|piece| (piece.line, piece.text.as_str())).collect()
    }

    #[test]
    fn strings_of_every_kind_are_found() {
        let source = RustSource::new(concat!(
            "let a = \"one \\\" {\";\n",
            "let b = r#\"two \" {\"#; let c = b\"three\";\n",
            "let d = br\"four\"; let r#type = c\"five\n six\"; let e = \"seven\";",
        ));
        let expected =
            [(1, "one \\\" {"), (2, "two \" {"), (2, "three"), (3, "four"), (3, "five\n six"), (4, "seven")];
        assert_eq!(texts(source.strings()), expected);
        assert!(!source.code.contains(&b'{'));
    }

    #[test]
    fn comments_are_found_line_by_line() {
        let source = RustSource::new("/// doc \"\nfn a() {} // end {\n/* b /* c */\n d */ let e = 1;");
        let expected = [(1, "/// doc \""), (2, "// end {"), (3, "/* b /* c */"), (4, " d */")];
        assert_eq!(texts(source.comments()), expected);
        assert!(source.strings().is_empty());
        assert!(source.words().any(|(word, _)| word.text == "e" && word.line == 4));
    }

    #[test]
    fn quotes_of_characters_and_lifetimes_do_not_open_strings() {
        let source = RustSource::new("fn a<'x>(b: &'x str) { let c = ['\"', '\\'', b'\"', 'é', '{']; }");
        assert!(source.strings().is_empty());
        assert_eq!(source.functions().len(), 1);
        assert_eq!(source.code.split(|byte| *byte == b'{').count(), 2);
    }

    #[test]
    fn unfinished_text_ends_the_scan() {
        for text in ["\"a", "r#\"a", "/* a", "b'", "'", "r#", "b\"", "\"\\"] {
            assert_eq!(RustSource::new(text).code.len(), text.len());
        }
    }

    #[test]
    fn functions_are_measured_from_fn_to_closing_brace() {
        let source = RustSource::new(concat!(
            "trait T { fn declared(&self, a: [u8; 2]); }\n",
            "#[attribute]\npub async fn long<T>(f: fn(u8) -> u8, b: [u8; 2])\nwhere T: Sized {\n",
            "    let s = \"}\";\n    if x { y }\n}\nfn short() {}\n",
        ));
        let measured: Vec<(String, usize, usize)> =
            source.functions().into_iter().map(|f| (f.name, f.line, f.length)).collect();
        assert_eq!(measured, [("long".to_owned(), 3, 5), ("short".to_owned(), 8, 1)]);
    }

    #[test]
    fn lines_of_test_modules_are_known() {
        let source = RustSource::new("fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}\n");
        let tests: Vec<usize> = (1..=6).filter(|line| source.is_test_line(*line)).collect();
        assert_eq!(tests, [2, 3, 4, 5]);
    }
}
