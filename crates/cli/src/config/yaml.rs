//! A YAML file becomes a table.
//!
//! Only what a configuration needs: mappings with plain names, sequences and scalars of the core schema.
//! Anchors, aliases and tags are refused, so a small file cannot make a large table; so is a second document.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput};

use super::node::{Node, Table};

/// The deepest table or list in another.
const DEPTH_MAX: usize = 16;

/// Why a text is no YAML that we take, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadYaml {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl BadYaml {
    fn new(at: &Marker, message: impl Into<String>) -> Self {
        Self { line: at.line(), message: message.into() }
    }
}

impl From<ScanError> for BadYaml {
    fn from(error: ScanError) -> Self {
        Self::new(error.marker(), error.info())
    }
}

/// Reads a whole file; an empty one is an empty table.
pub(crate) fn parse(text: &str) -> Result<Table, BadYaml> {
    let mut reader = Reader { parser: Parser::new_from_str(text) };
    let mut table = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd | Event::Nothing => {}
            Event::DocumentStart(_) if table.is_some() => {
                return Err(BadYaml::new(&span.start, "expected one document"));
            }
            Event::DocumentStart(_) => table = Some(reader.document()?),
            _ => return Err(BadYaml::new(&span.start, "expected a document")),
        }
    }
    Ok(table.unwrap_or_default())
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, BadYaml> {
        Ok(self.parser.next_event().transpose()?)
    }

    fn expect(&mut self) -> Result<(Event<'a>, Span), BadYaml> {
        let cut = || BadYaml { line: 1, message: "unexpected end".to_owned() };
        self.next()?.ok_or_else(cut)
    }

    fn document(&mut self) -> Result<Table, BadYaml> {
        let (event, span) = self.expect()?;
        match self.node(event, span, 0)? {
            Node::Table(table) => Ok(table),
            // A file of comments alone.
            Node::Other(written) if written.is_empty() => Ok(Table::new()),
            _ => Err(BadYaml::new(&span.start, "expected names and values, such as `log: {level: info}`")),
        }
    }

    /// Reads the value that begins with this event.
    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, BadYaml> {
        let at = span.start;
        if depth > DEPTH_MAX {
            return Err(BadYaml::new(&at, format!("expected at most {DEPTH_MAX} levels")));
        }
        match event {
            Event::Scalar(_, _, anchor, tag)
            | Event::SequenceStart(anchor, tag)
            | Event::MappingStart(anchor, tag)
                if anchor != 0 || tag.is_some() =>
            {
                Err(BadYaml::new(&at, "anchors and tags are not taken here"))
            }
            Event::Scalar(text, ScalarStyle::Plain, ..) => Ok(plain(&text)),
            Event::Scalar(text, ..) => Ok(Node::Text(text.into_owned())),
            Event::SequenceStart(..) => self.list(depth),
            Event::MappingStart(..) => self.table(depth),
            Event::Alias(_) => Err(BadYaml::new(&at, "aliases are not taken here: write the value out")),
            _ => Err(BadYaml::new(&at, "expected a value")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Node, BadYaml> {
        let mut items = Vec::new();
        loop {
            match self.expect()? {
                (Event::SequenceEnd, _) => return Ok(Node::List(items)),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn table(&mut self, depth: usize) -> Result<Node, BadYaml> {
        let mut table = Table::new();
        loop {
            let (event, span) = self.expect()?;
            let name = match event {
                Event::MappingEnd => return Ok(Node::Table(table)),
                Event::Scalar(name, _, 0, None) => name.into_owned(),
                _ => return Err(BadYaml::new(&span.start, "expected a plain name")),
            };
            let (event, value_span) = self.expect()?;
            let value = self.node(event, value_span, depth + 1)?;
            if table.insert(name.clone(), value).is_some() {
                return Err(BadYaml::new(&span.start, format!("`{name}` is given twice")));
            }
        }
    }
}

/// Reads a scalar without quotes by the core schema, as far as keys have a use for it.
fn plain(text: &str) -> Node {
    if let Ok(number) = text.parse() {
        return Node::Whole(number);
    }
    let is_nothing = matches!(text, "" | "~" | "null" | "Null" | "NULL");
    let is_truth = matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE");
    let is_fraction =
        text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) && text.parse::<f64>().is_ok();
    match text {
        _ if is_nothing => Node::Other(String::new()),
        _ if is_truth || is_fraction => Node::Other(text.to_owned()),
        _ => Node::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let toml: toml::Table = expected.parse().unwrap();
        assert_eq!(parse(text).unwrap(), super::super::node::of_toml(toml), "{text}");
    }

    fn check_bad(text: &str, line: usize, says: &str) {
        let bad = parse(text).unwrap_err();
        assert_eq!(bad.line, line, "{text}: {bad:?}");
        assert!(bad.message.contains(says), "{text}: {bad:?}");
    }

    #[test]
    fn a_file_says_what_the_same_in_toml_says() {
        check("", "");
        check("# nothing\n", "");
        check("---\n...\n", "");
        check("a:\n  b: 1\n  c: -2 # why\nd: [x, 'y', \"z\"]\n", "a = {b = 1, c = -2}\nd = ['x', 'y', 'z']");
        check("a: {b: {c: 1}}\nx:\n- 1\n- two\n", "a.b.c = 1\nx = [1, 'two']");
        check("a: '1'\nb: \"true\"\nc: 127.0.0.1:8600\n", "a = '1'\nb = 'true'\nc = '127.0.0.1:8600'");
        check("a: |\n  first\n  second\n", "a = \"first\\nsecond\\n\"");
        check("a: true\nb: 1.5\n", "a = true\nb = 1.5");
    }

    #[test]
    fn nothing_is_not_a_text() {
        for text in ["a:", "a: ~", "a: null"] {
            assert_eq!(parse(text).unwrap()["a"], Node::Other(String::new()), "{text}");
        }
        assert_eq!(parse("a: ''").unwrap()["a"], Node::Text(String::new()));
    }

    #[test]
    fn a_number_too_large_is_no_number() {
        assert_eq!(parse("a: 99999999999999999999").unwrap()["a"].shown(), "`99999999999999999999`");
    }

    #[test]
    fn what_is_no_configuration_is_refused_with_its_line() {
        check_bad("- a\n- b\n", 1, "expected names and values");
        check_bad("just text", 1, "expected names and values");
        check_bad("a: 1\nb: 2\na: 3\n", 3, "`a` is given twice");
        check_bad("a: 1\n---\nb: 2\n", 2, "expected one document");
        check_bad("a: [1, 2\n", 2, "");
        check_bad("a:\n\tb: 2\n", 2, "tab");
        check_bad("[a, b]: 1\n", 1, "expected a plain name");
        check_bad("a: !!str 1\n", 1, "tags are not taken");
    }

    #[test]
    fn aliases_are_refused_whatever_they_would_grow_to() {
        check_bad("a: 1\nb: &x 2\n", 2, "anchors and tags are not taken");
        check_bad("a: *x\n", 1, "");
        let laughs = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n";
        check_bad(laughs, 1, "anchors");
    }

    #[test]
    fn depth_has_a_limit() {
        let nested = |depth: usize| format!("a: {}{}", "[".repeat(depth), "]".repeat(depth));
        parse(&nested(DEPTH_MAX)).unwrap();
        for depth in [DEPTH_MAX + 1, 200, 1_000, 100_000] {
            parse(&nested(depth)).unwrap_err();
            parse(&"[".repeat(depth)).unwrap_err();
            parse(&"- ".repeat(depth)).unwrap_err();
        }
    }
}
