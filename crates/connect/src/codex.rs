//! Codex, which keeps its servers in TOML.
//!
//! `toml_edit` reads the text and says where things stand; the text is changed in place, because printing a
//! document again would not keep every byte of it. Whatever is changed is read again before it is returned.
//!
//! As in JSON, looks tell what was there: our table comes last, behind a blank line, and ends with a line
//! break if the text did.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Key, TableLike, Value};

use crate::change::{Change, Foreign};
use crate::entry::{ENTRY_NAME, Entry, Found, Standing};
use crate::error::{Error, Place};
use crate::newline;

#[cfg(test)]
mod tests;

const SERVERS: &str = "mcp_servers";

/// Puts the entry into a text.
pub(crate) fn connect(text: Option<&str>, entry: &Entry, foreign: Foreign) -> Result<Change, Error> {
    let Some(text) = text else { return Ok(Change::Write(table(entry, "\n") + "\n")) };
    let document = parse(text)?;
    let Some(servers) = servers(text, &document)? else {
        return Ok(Change::Write(append(text, entry)));
    };
    let new = match servers.entry() {
        None => insert(text, servers.item, entry),
        Some(there) => match standing(text, &there, Some(entry), foreign)? {
            Standing::Same => return Ok(Change::Nothing),
            Standing::Ours | Standing::Foreign => replace(text, &there, entry),
        },
    };
    let is_written = parse(&new).is_ok_and(|document| {
        let servers = self::servers(&new, &document).ok().flatten();
        let there = servers.as_ref().and_then(Servers::entry);
        there.is_some_and(|there| Standing::of(read(there.item).as_ref(), Some(entry)) == Standing::Same)
    });
    if is_written { Ok(Change::Write(new)) } else { Err(unwieldy(text, servers.start)) }
}

/// Takes the entry out of a text.
pub(crate) fn disconnect(text: &str, foreign: Foreign) -> Result<Change, Error> {
    let document = parse(text)?;
    let Some(servers) = servers(text, &document)? else { return Ok(Change::Nothing) };
    let Some(there) = servers.entry() else { return Ok(Change::Nothing) };
    standing(text, &there, None, foreign)?;
    let change = if there.is_inline { remove_inline(text, &there) } else { remove(text, &there) };
    let is_gone = match &change {
        Change::Nothing => false,
        Change::Remove => true,
        Change::Write(new) => parse(new).is_ok_and(|document| {
            self::servers(new, &document).is_ok_and(|servers| servers.is_none_or(|s| s.entry().is_none()))
        }),
    };
    if is_gone { Ok(change) } else { Err(unwieldy(text, there.start())) }
}

fn parse(text: &str) -> Result<Document<&str>, Error> {
    Document::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let problem = error.message().trim().replace('\n', ", ");
        Error::Syntax { place: Place::of(text, start), problem }
    })
}

/// The table of servers.
struct Servers<'a> {
    item: &'a Item,
    table: &'a dyn TableLike,
    start: usize,
}

/// Our entry in it.
struct There<'a> {
    key: &'a Key,
    item: &'a Item,
    /// Whether it stands between the braces of a table that is one value.
    is_inline: bool,
}

impl Servers<'_> {
    fn entry(&self) -> Option<There<'_>> {
        let (key, item) = self.table.get_key_value(ENTRY_NAME)?;
        Some(There { key, item, is_inline: self.item.is_value() })
    }
}

impl There<'_> {
    fn start(&self) -> usize {
        span(self.key.span()).start
    }

    /// Returns the lines that the entry stands on, in order; they need not be next to each other.
    fn lines(&self, text: &str) -> Vec<Range<usize>> {
        let mut statements = Vec::new();
        collect(self.key, self.item, &mut statements);
        let mut lines: Vec<Range<usize>> =
            statements.into_iter().map(|span| whole_lines(text, span)).collect();
        lines.sort_by_key(|line| line.start);
        lines
    }
}

fn servers<'a>(text: &str, document: &'a Document<&str>) -> Result<Option<Servers<'a>>, Error> {
    let Some((key, item)) = document.as_table().get_key_value(SERVERS) else { return Ok(None) };
    let start = span(key.span()).start;
    let Some(table) = item.as_table_like() else {
        let (place, name) = (Place::of(text, start), format!("`{SERVERS}`"));
        return Err(Error::Shape { place, name, expected: "a table" });
    };
    Ok(Some(Servers { item, table, start }))
}

/// Adds the headers and the assignments of an item.
fn collect(key: &Key, item: &Item, statements: &mut Vec<Range<usize>>) {
    let mut collect_table = |table: &toml_edit::Table| {
        if !table.is_implicit() && !table.is_dotted() {
            statements.push(span(table.span()));
        }
        for (name, _) in table {
            if let Some((key, item)) = table.get_key_value(name) {
                collect(key, item, statements);
            }
        }
    };
    match item {
        Item::None => {}
        Item::Value(value) => statements.push(span(key.span()).start..span(value.span()).end),
        Item::Table(table) => collect_table(table),
        Item::ArrayOfTables(tables) => tables.iter().for_each(collect_table),
    }
}

fn standing(
    text: &str,
    there: &There<'_>,
    wanted: Option<&Entry>,
    foreign: Foreign,
) -> Result<Standing, Error> {
    let standing = Standing::of(read(there.item).as_ref(), wanted);
    if standing == Standing::Foreign && foreign == Foreign::Refuse {
        let lines = there.lines(text).into_iter().map(|line| &text[line]);
        let shown = lines.collect::<String>().trim_end().to_owned();
        return Err(Error::Foreign { place: Place::of(text, there.start()), text: shown });
    }
    Ok(standing)
}

/// Reads an entry; `None` where it is not one that we could have written.
fn read(item: &Item) -> Option<Found> {
    let mut found = Found { entry: Entry::default(), is_on: true };
    for (key, value) in item.as_table_like()?.iter() {
        match key {
            "command" => value.as_str()?.clone_into(&mut found.entry.command),
            "args" => {
                let items = value.as_array()?.iter();
                found.entry.args =
                    items.map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>()?;
            }
            "env" => {
                let items = value.as_table_like()?.iter();
                let pair = |(key, item): (&str, &Item)| Some((key.to_owned(), item.as_str()?.to_owned()));
                found.entry.env = items.map(pair).collect::<Option<_>>()?;
            }
            "enabled" => found.is_on = value.as_bool()?,
            _ => return None,
        }
    }
    Some(found)
}

fn insert(text: &str, servers: &Item, entry: &Entry) -> String {
    let Some(inline) = servers.as_inline_table() else { return append(text, entry) };
    let added = format!("{ENTRY_NAME} = {}", inline_table(entry));
    let (at, separator) = match values_end(inline) {
        Some(end) => (end, ", "),
        None => (span(inline.span()).start + 1, ""),
    };
    format!("{}{separator}{added}{}", &text[..at], &text[at..])
}

/// Returns where the last value of an inline table ends.
fn values_end(table: &InlineTable) -> Option<usize> {
    let end = |value: &Value| match value {
        Value::InlineTable(inner) if inner.is_dotted() => values_end(inner),
        _ => value.span().map(|span| span.end),
    };
    table.iter().filter_map(|(_, value)| end(value)).max()
}

/// Puts our table behind everything else: that is a place where a table cannot take over what follows it.
fn append(text: &str, entry: &Entry) -> String {
    let newline = newline::of(text);
    let table = table(entry, newline);
    if text.is_empty() {
        table
    } else if text.ends_with('\n') {
        format!("{text}{newline}{table}{newline}")
    } else {
        format!("{text}{newline}{newline}{table}")
    }
}

fn replace(text: &str, there: &There<'_>, entry: &Entry) -> String {
    if let Item::Value(value) = there.item {
        let value = span(value.span());
        return format!("{}{}{}", &text[..value.start], inline_table(entry), &text[value.end..]);
    }
    let (lines, newline) = (there.lines(text), newline::of(text));
    let Some(first) = lines.first().filter(|line| text[(*line).clone()].trim_start().starts_with('[')) else {
        return append(&without(text, &lines), entry);
    };
    let end = lines.last().map_or(first.end, |line| line.end);
    let line_end = if text[..end].ends_with('\n') { newline } else { "" };
    let rest = without(&text[first.start..], &shifted(&lines, first.start));
    format!("{}{}{line_end}{rest}", &text[..first.start], table(entry, newline))
}

fn remove(text: &str, there: &There<'_>) -> Change {
    let lines = there.lines(text);
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return Change::Nothing };
    if !text[first.clone()].trim_start().starts_with('[') {
        return Change::Write(without(text, &lines));
    }
    let (before, newline) = (&text[..first.start], newline::of(text));
    let rest = without(&text[first.start..], &shifted(&lines, first.start));
    let has_line_end = text[..last.end].ends_with('\n');
    let strip = |text: &str| text.strip_suffix(newline).unwrap_or(text).to_owned();
    let is_behind_blank_line = strip(before).ends_with('\n');
    Change::Write(match (before.is_empty(), rest.is_empty(), has_line_end) {
        // Ours alone: with a line break we created the file, without one it was there and empty.
        (true, true, true) => return Change::Remove,
        (true, ..) => rest.strip_prefix(newline).unwrap_or(&rest).to_owned(),
        (false, true, false) => strip(&strip(before)),
        (false, ..) if is_behind_blank_line => strip(before) + &rest,
        (false, ..) => before.to_owned() + &rest,
    })
}

fn remove_inline(text: &str, there: &There<'_>) -> Change {
    let Item::Value(value) = there.item else { return Change::Nothing };
    let (before, behind) = (text[..there.start()].trim_end(), &text[span(value.span()).end..]);
    Change::Write(match before.strip_suffix(',') {
        Some(before) => before.to_owned() + behind,
        None => before.to_owned() + behind.trim_start().strip_prefix(',').unwrap_or(behind),
    })
}

/// Writes the entry as a table of its own, without the last line break.
fn table(entry: &Entry, newline: &str) -> String {
    let header = format!("[{SERVERS}.{ENTRY_NAME}]");
    [header].into_iter().chain(assignments(entry)).collect::<Vec<_>>().join(newline)
}

/// Writes the entry as a value.
fn inline_table(entry: &Entry) -> String {
    format!("{{ {} }}", assignments(entry).join(", "))
}

fn assignments(entry: &Entry) -> Vec<String> {
    let args: Vec<String> = entry.args.iter().map(|argument| quoted(argument)).collect();
    let mut all =
        vec![format!("command = {}", quoted(&entry.command)), format!("args = [{}]", args.join(", "))];
    if !entry.env.is_empty() {
        let env: Vec<String> = entry.env.iter().map(|(k, v)| format!("{} = {}", key(k), quoted(v))).collect();
        all.push(format!("env = {{ {} }}", env.join(", ")));
    }
    all
}

fn key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// Writes a string: what JSON escapes TOML does too, and DEL besides.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn whole_lines(text: &str, span: Range<usize>) -> Range<usize> {
    let start = text[..span.start].rfind('\n').map_or(0, |index| index + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |index| span.end + index + 1);
    // A byte order mark is the file's, not the first line's.
    let mark = if text[start..].starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    start + mark..end
}

/// Returns a text without some of its parts, which are in order.
fn without(text: &str, parts: &[Range<usize>]) -> String {
    let (mut result, mut at) = (String::with_capacity(text.len()), 0);
    for part in parts.iter().filter(|part| !part.is_empty()) {
        result.push_str(&text[at..part.start.max(at)]);
        at = part.end.max(at);
    }
    result + &text[at..]
}

fn shifted(parts: &[Range<usize>], by: usize) -> Vec<Range<usize>> {
    parts.iter().map(|part| part.start - by..part.end - by).collect()
}

fn span(span: Option<Range<usize>>) -> Range<usize> {
    span.expect("a document that was just parsed knows where everything stands")
}

fn unwieldy(text: &str, start: usize) -> Error {
    Error::Unwieldy { place: Place::of(text, start), name: format!("`{SERVERS}`") }
}
