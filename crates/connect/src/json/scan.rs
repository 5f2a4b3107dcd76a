//! Reads JSON, with or without comments, into a tree that knows where everything stands.
//!
//! Numbers are checked but not kept, and a string that is no valid Unicode (half a surrogate pair, which
//! JavaScript writes happily) is kept as it is spelled: the tree is for finding places, not for reading
//! values.

use std::ops::Range;

use crate::error::{Error, Place};

/// How deep objects and lists may stand in each other; `serde_json` draws the line here too.
const DEPTH_MAX: usize = 128;

/// Whether comments and trailing commas are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// They are not.
    Json,
    /// They are.
    Jsonc,
}

/// What a text says.
#[derive(Debug)]
pub(super) struct Document {
    /// None where the text is white space alone.
    pub(super) root: Option<Node>,
    /// Every comment, in order; a line's end is not part of its comment.
    pub(super) comments: Vec<Range<usize>>,
}

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    String(String),
    Bool(bool),
    /// A number or null.
    Other,
}

/// A key, its value, and the comma behind it.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_start: usize,
    pub(super) value: Node,
    pub(super) comma: Option<usize>,
}

/// Reads a text, or says where it stops being valid.
pub(super) fn scan(text: &str, dialect: Dialect) -> Result<Document, Error> {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut scanner = Scanner { text, at, dialect, comments: Vec::new() };
    scanner.trivia()?;
    if scanner.peek().is_none() && scanner.comments.is_empty() {
        return Ok(Document { root: None, comments: Vec::new() });
    }
    let root = scanner.value(0)?;
    scanner.trivia()?;
    match scanner.peek() {
        Some(_) => Err(scanner.error("expected the end of the file")),
        None => Ok(Document { root: Some(root), comments: scanner.comments }),
    }
}

/// Whether a byte is white space in JSON.
pub(super) const fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// What was read last in an object or a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Bracket,
    Value,
    Comma,
}

impl Last {
    const fn of(comma: Option<usize>) -> Self {
        match comma {
            Some(_) => Self::Comma,
            None => Self::Value,
        }
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
    comments: Vec<Range<usize>>,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn error(&self, problem: &str) -> Error {
        let found = match self.text[self.text.floor_char_boundary(self.at)..].chars().next() {
            None => "the file ends here".to_owned(),
            Some(char) => format!("found {char:?}"),
        };
        Error::Syntax { place: Place::of(self.text, self.at), problem: format!("{problem}, {found}") }
    }

    /// Passes over white space and comments.
    fn trivia(&mut self) -> Result<(), Error> {
        loop {
            while self.peek().is_some_and(is_white) {
                self.at += 1;
            }
            let rest = &self.text[self.at..];
            let length = if rest.starts_with("//") {
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            } else if let Some(inside) = rest.strip_prefix("/*") {
                inside.find("*/").ok_or_else(|| self.error("expected the comment to end with `*/`"))? + 4
            } else {
                return Ok(());
            };
            if self.dialect == Dialect::Json {
                return Err(self.error("comments are not allowed in this file"));
            }
            self.comments.push(self.at..self.at + length);
            self.at += length;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Error> {
        if depth > DEPTH_MAX {
            return Err(self.error("too many brackets inside each other"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.members(depth)?),
            Some(b'[') => Kind::Array(self.items(depth)?),
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, Error> {
        let mut members: Vec<Member> = Vec::new();
        self.at += 1;
        loop {
            self.trivia()?;
            let last = members.last().map_or(Last::Bracket, |member| Last::of(member.comma));
            if self.closes(b'}', last)? {
                return Ok(members);
            }
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a key in double quotes"));
            }
            let key_start = self.at;
            let key = self.string()?;
            self.trivia()?;
            if !self.take(b':') {
                return Err(self.error("expected `:`"));
            }
            self.trivia()?;
            let value = self.value(depth + 1)?;
            let comma = self.comma()?;
            members.push(Member { key, key_start, value, comma });
        }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, Error> {
        let (mut items, mut last) = (Vec::new(), Last::Bracket);
        self.at += 1;
        loop {
            self.trivia()?;
            if self.closes(b']', last)? {
                return Ok(items);
            }
            items.push(self.value(depth + 1)?);
            last = Last::of(self.comma()?);
        }
    }

    /// Takes the bracket that ends a list, unless something else may follow.
    fn closes(&mut self, bracket: u8, last: Last) -> Result<bool, Error> {
        if self.peek() == Some(bracket) {
            if self.dialect == Dialect::Json && last == Last::Comma {
                return Err(self.error("a comma before the closing bracket is not allowed in this file"));
            }
            self.at += 1;
            return Ok(true);
        }
        if last == Last::Value {
            return Err(self.error(&format!("expected `,` or `{}`", char::from(bracket))));
        }
        Ok(false)
    }

    fn comma(&mut self) -> Result<Option<usize>, Error> {
        self.trivia()?;
        let at = self.at;
        Ok(self.take(b',').then_some(at))
    }

    fn string(&mut self) -> Result<String, Error> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                None | Some(0..0x20) => return Err(self.error("expected the string to end with `\"`")),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let token = &self.text[start..self.at];
        Ok(serde_json::from_str(token).unwrap_or_else(|_| token.to_owned()))
    }

    fn escape(&mut self) -> Result<(), Error> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
        self.at += match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', digits @ ..] if digits.get(..4).is_some_and(is_hex) => 6,
            _ => return Err(self.error("expected a known escape")),
        };
        Ok(())
    }

    fn number(&mut self) -> Result<Kind, Error> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(Kind::Other)
    }

    fn digits(&mut self) -> Result<(), Error> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.error("expected a digit"));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn word(&mut self) -> Result<Kind, Error> {
        let words = [("true", Kind::Bool(true)), ("false", Kind::Bool(false)), ("null", Kind::Other)];
        for (word, kind) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(kind);
            }
        }
        Err(self.error("expected a value"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(dialect: Dialect, text: &str, expected: &str) {
        assert_eq!(scan(text, dialect).unwrap_err().to_string(), expected);
    }

    #[test]
    fn invalid_text_is_refused_with_its_place() {
        let check = |text: &str, expected: &str| check_error(Dialect::Jsonc, text, expected);
        check("{\n  \"a\" 1}", "line 2, column 7: expected `:`, found '1'");
        check("{\"a\": 1 \"b\": 2}", "line 1, column 9: expected `,` or `}`, found '\"'");
        check("[1 2]", "line 1, column 4: expected `,` or `]`, found '2'");
        check("{a: 1}", "line 1, column 2: expected a key in double quotes, found 'a'");
        check("{,}", "line 1, column 2: expected a key in double quotes, found ','");
        check("{\"é\": nil}", "line 1, column 7: expected a value, found 'n'");
        check("{\"a\": \"b\n\"}", "line 1, column 9: expected the string to end with `\"`, found '\\n'");
        check("[\"\\x\"]", "line 1, column 3: expected a known escape, found '\\\\'");
        check("[01]", "line 1, column 3: expected `,` or `]`, found '1'");
        check("[1.]", "line 1, column 4: expected a digit, found ']'");
        check("[-]", "line 1, column 3: expected a digit, found ']'");
        check("{} {}", "line 1, column 4: expected the end of the file, found '{'");
        check("{", "line 1, column 2: expected a key in double quotes, the file ends here");
        check("{} /* a", "line 1, column 4: expected the comment to end with `*/`, found '/'");
        check("// a", "line 1, column 5: expected a value, the file ends here");
        check("[é]", "line 1, column 2: expected a value, found 'é'");
        let deep = "[".repeat(200);
        check(&deep, "line 1, column 130: too many brackets inside each other, found '['");
    }

    #[test]
    fn plain_json_has_no_comments_and_no_trailing_commas() {
        let check = |text: &str, expected: &str| check_error(Dialect::Json, text, expected);
        check("{} // a", "line 1, column 4: comments are not allowed in this file, found '/'");
        let message = "a comma before the closing bracket is not allowed in this file";
        check("[1,]", &format!("line 1, column 4: {message}, found ']'"));
        check("{\"a\": 1,\n}", &format!("line 2, column 1: {message}, found '}}'"));
    }

    #[test]
    fn valid_text_is_read() {
        for text in ["", " \r\n", "\u{feff}{}", "[-0.5e+10, 1E9, 1e999, null, true, false]", "\"\\ud800\""] {
            scan(text, Dialect::Json).unwrap();
        }
        for text in ["{\"a\": [1, /* b */], // c\n}", "/**/{}//"] {
            scan(text, Dialect::Jsonc).unwrap();
        }
    }
}
