//! What an entry looks like in each client's JSON: writing and reading it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::scan::{Kind, Member, Node};
use crate::entry::{ENTRY_NAME, Entry, Found};

/// A way to write an entry, and the place for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Claude,
    /// Version 1, which version 2 reads as well.
    Opencode,
    /// Version 2, where a file already uses it.
    OpencodeServers,
}

/// How things that are added are laid out.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    OneLine,
    /// A line for each member; `indent` is what the line with the opening bracket begins with.
    Lines {
        indent: String,
        unit: String,
        newline: &'static str,
    },
}

impl Layout {
    fn inner(&self) -> Self {
        match self {
            Self::OneLine => Self::OneLine,
            Self::Lines { indent, unit, newline } => {
                Self::Lines { indent: format!("{indent}{unit}"), unit: unit.clone(), newline }
            }
        }
    }

    /// Returns what begins a line at this layout's level.
    fn line_start(&self) -> String {
        match self {
            Self::OneLine => String::new(),
            Self::Lines { indent, newline, .. } => format!("{newline}{indent}"),
        }
    }
}

/// A value to be written; only what entries need.
pub(super) enum Part {
    Text(String),
    Texts(Vec<String>),
    Flag(bool),
    Object(Vec<(String, Part)>),
    /// An object around our entry. On one line it has spaces inside its brackets, which tells it from an
    /// object that was there and empty: see `edit::is_made_by_us`.
    Made(Vec<(String, Part)>),
}

impl Shape {
    /// Returns the keys from the root to the object that entries stand in.
    pub(super) const fn path(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["mcpServers"],
            Self::Opencode => &["mcp"],
            Self::OpencodeServers => &["mcp", "servers"],
        }
    }

    /// Returns the entry in this shape.
    pub(super) fn part(self, entry: &Entry) -> Part {
        let mut members = Vec::new();
        let mut add = |key: &str, part| members.push((key.to_owned(), part));
        let env =
            || Part::Object(entry.env.iter().map(|(k, v)| (k.clone(), Part::Text(v.clone()))).collect());
        if self == Self::Claude {
            add("command", Part::Text(entry.command.clone()));
            add("args", Part::Texts(entry.args.clone()));
        } else {
            add("type", Part::Text("local".to_owned()));
            let words = [&entry.command].into_iter().chain(&entry.args);
            add("command", Part::Texts(words.cloned().collect()));
        }
        if self == Self::Opencode {
            // Version 2 has no such key in its own shape: there an entry is on unless it says `disabled`.
            add("enabled", Part::Flag(true));
        }
        if !entry.env.is_empty() {
            add(if self == Self::Claude { "env" } else { "environment" }, env());
        }
        Part::Object(members)
    }

    /// Returns the member to put into the object at `depth` of the path: the entry, or what is around it.
    pub(super) fn member(self, depth: usize, entry: &Entry) -> (String, Part) {
        let mut member = (ENTRY_NAME.to_owned(), self.part(entry));
        for key in self.path()[depth..].iter().rev() {
            member = ((*key).to_owned(), Part::Made(vec![member]));
        }
        member
    }

    /// Reads an entry; `None` where it is not one that we could have written.
    pub(super) fn read(self, node: &Node) -> Option<Found> {
        let Kind::Object(members) = &node.kind else { return None };
        let mut found = Found { entry: Entry::default(), is_on: true };
        let mut words = None;
        for Member { key, value, .. } in members {
            match (self, key.as_str(), &value.kind) {
                (Self::Claude, "type", Kind::String(kind)) if kind == "stdio" => {}
                (Self::Claude, "command", Kind::String(command)) => found.entry.command.clone_from(command),
                (Self::Claude, "args", Kind::Array(items)) => found.entry.args = texts(items)?,
                (Self::Claude, "env", Kind::Object(members)) => found.entry.env = map(members)?,
                (Self::Claude, ..) => return None,
                (_, "type", Kind::String(kind)) if kind == "local" => {}
                (_, "command", Kind::Array(items)) => words = Some(texts(items)?),
                (_, "enabled", Kind::Bool(is_on)) => found.is_on &= *is_on,
                (_, "disabled", Kind::Bool(is_off)) => found.is_on &= !is_off,
                (_, "environment", Kind::Object(members)) => found.entry.env = map(members)?,
                _ => return None,
            }
        }
        if let Some(mut words) = words.filter(|words| !words.is_empty()) {
            found.entry.command = words.remove(0);
            found.entry.args = words;
        }
        Some(found)
    }
}

/// Whether what stands at `mcp.servers` is opencode's map of servers, and not a server that is named so.
pub(super) fn is_server_map(node: &Node) -> bool {
    let Kind::Object(members) = &node.kind else { return false };
    let is_field = |member: &Member| match member.key.as_str() {
        "type" => matches!(member.value.kind, Kind::String(_)),
        "command" => matches!(member.value.kind, Kind::Array(_)),
        "enabled" => matches!(member.value.kind, Kind::Bool(_)),
        _ => false,
    };
    !members.iter().any(is_field)
}

fn texts(items: &[Node]) -> Option<Vec<String>> {
    items.iter().map(|item| text(item).cloned()).collect()
}

fn map(members: &[Member]) -> Option<BTreeMap<String, String>> {
    members.iter().map(|member| Some((member.key.clone(), text(&member.value)?.clone()))).collect()
}

fn text(node: &Node) -> Option<&String> {
    match &node.kind {
        Kind::String(text) => Some(text),
        _ => None,
    }
}

/// Writes a key and its value.
pub(super) fn render_member((key, part): &(String, Part), layout: &Layout) -> String {
    format!("{}: {}", quoted(key), render(part, layout))
}

/// Writes a value.
pub(super) fn render(part: &Part, layout: &Layout) -> String {
    match part {
        Part::Text(text) => quoted(text),
        Part::Texts(texts) => {
            let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
            format!("[{}]", texts.join(", "))
        }
        Part::Flag(flag) => flag.to_string(),
        Part::Object(members) => render_object(members, layout, ""),
        Part::Made(members) => render_object(members, layout, " "),
    }
}

fn render_object(members: &[(String, Part)], layout: &Layout, padding: &str) -> String {
    let inner = layout.inner();
    let (mut text, is_one_line) = ("{".to_owned(), matches!(layout, Layout::OneLine));
    for (index, member) in members.iter().enumerate() {
        let separator = match (index, is_one_line) {
            (0, true) => padding,
            (0, false) => "",
            (_, true) => ", ",
            (_, false) => ",",
        };
        let _ = write!(text, "{separator}{}{}", inner.line_start(), render_member(member, &inner));
    }
    if is_one_line {
        text.push_str(padding);
    }
    text + &layout.line_start() + "}"
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
