//! Changes a text where our entry stands and nowhere else.
//!
//! What was there before has to be known when the entry is taken out, and nothing but the text itself can
//! tell. So the looks of what is added depend on what was there:
//!
//! - behind a member, the entry comes last, with a comma of its own if the one before had one;
//! - in an object without members it stands on one line, directly behind the bracket if there was no line
//!   break;
//! - an object that we make around it has a line for each member, or one line with spaces inside its brackets.

use std::ops::Range;

use super::Location;
use super::scan::{Document, Kind, Member, Node, is_white};
use super::shape::{Layout, Part, Shape, render, render_member};
use crate::change::Change;
use crate::entry::Entry;
use crate::newline;

/// The step of indentation where a text shows none.
const UNIT: &str = "  ";

/// A member of an object on the way to our entry.
#[derive(Debug)]
pub(super) struct Level<'a> {
    pub(super) object: &'a Node,
    pub(super) members: &'a [Member],
    pub(super) index: usize,
}

impl<'a> Level<'a> {
    pub(super) fn member(&self) -> &'a Member {
        &self.members[self.index]
    }
}

/// Returns a file that has the entry and nothing else.
pub(super) fn new_file(shape: Shape, entry: &Entry) -> String {
    let layout = Layout::Lines { indent: String::new(), unit: UNIT.to_owned(), newline: "\n" };
    render(&Part::Made(vec![shape.member(0, entry)]), &layout) + "\n"
}

/// Adds the entry to a file of white space.
pub(super) fn fill_blank(text: &str, shape: Shape, entry: &Entry) -> String {
    text.to_owned() + &render(&Part::Made(vec![shape.member(0, entry)]), &Layout::OneLine)
}

/// Puts the entry, and what is missing around it, last into the innermost object there is.
pub(super) fn insert(text: &str, document: &Document, location: &Location<'_>, entry: &Entry) -> String {
    let member = location.shape.member(location.levels.len(), entry);
    let Kind::Object(members) = &location.inner.kind else { return text.to_owned() };
    match members.last() {
        Some(last) => insert_behind(text, document, location.inner, last, &member),
        None => insert_alone(text, document, location.inner, &member),
    }
}

fn insert_behind(
    text: &str,
    document: &Document,
    object: &Node,
    last: &Member,
    member: &(String, Part),
) -> String {
    // Comments on the last member's line are about that member, and stay with it.
    let from = last.comma.map_or(last.value.span.end, |comma| comma + 1);
    let comment = comment_behind(text, document, from, object.span.end);
    let at = comment.map_or(from, |comment| comment.end);
    let begins_line = text[trivia_start(text, document, last.key_start)..last.key_start].contains('\n');
    let layout = if begins_line {
        lines(text, document, line_indent(text, last.key_start).to_owned())
    } else if comment.is_some_and(|comment| is_line_comment(text, comment)) {
        lines_inside(text, document, object)
    } else {
        Layout::OneLine
    };
    let separator = match &layout {
        Layout::OneLine => " ".to_owned(),
        Layout::Lines { indent, newline, .. } => format!("{newline}{indent}"),
    };
    let added = separator + &render_member(member, &layout);
    match last.comma {
        Some(_) => splice(text, &[(at..at, &(added + ","))]),
        None => splice(text, &[(from..from, ","), (at..at, &added)]),
    }
}

fn insert_alone(text: &str, document: &Document, object: &Node, member: &(String, Part)) -> String {
    let (start, end) = (object.span.start + 1, object.span.end - 1);
    let comment = document.last_comment(start, end);
    let has_lines =
        text[start..end].contains('\n') || comment.is_some_and(|comment| is_line_comment(text, comment));
    let separator = match lines_inside(text, document, object) {
        Layout::Lines { indent, newline, .. } if has_lines => format!("{newline}{indent}"),
        _ if comment.is_some() => " ".to_owned(),
        _ => String::new(),
    };
    let at = comment.map_or(start, |comment| comment.end);
    splice(text, &[(at..at, &(separator + &render_member(member, &Layout::OneLine)))])
}

/// Puts the entry where another stands, laid out like that one.
pub(super) fn replace(text: &str, document: &Document, old: &Node, shape: Shape, entry: &Entry) -> String {
    let layout = if text[old.span.clone()].contains('\n') {
        lines(text, document, line_indent(text, old.span.start).to_owned())
    } else {
        Layout::OneLine
    };
    splice(text, &[(old.span.clone(), &render(&shape.part(entry), &layout))])
}

/// Takes out the entry, the last of the levels, and the objects that we made around it.
pub(super) fn remove(text: &str, document: &Document, levels: &[Level<'_>]) -> Change {
    let mut count = levels.len();
    while let Some(level) = levels[..count].last()
        && is_made_by_us(text, document, level)
    {
        count -= 1;
    }
    match levels[..count].last() {
        Some(level) => Change::Write(remove_member(text, document, level)),
        None => remove_root(text, &levels[0].object.span),
    }
}

/// Whether an object is around our entry only, and looks as we write it.
fn is_made_by_us(text: &str, document: &Document, level: &Level<'_>) -> bool {
    let (member, inside) = (level.member(), level.object.span.start + 1..level.object.span.end - 1);
    let value = &member.value.span;
    let is_alone = level.members.len() == 1
        && document.last_comment(inside.start, value.start).is_none()
        && document.last_comment(value.end, inside.end).is_none();
    let (before, after) = (&text[inside.start..member.key_start], &text[value.end..inside.end]);
    let has_lines = before.contains('\n') && text[value.clone()].contains('\n');
    is_alone && (has_lines || (before == " " && after == " "))
}

fn remove_member(text: &str, document: &Document, level: &Level<'_>) -> String {
    let member = level.member();
    let whole = trivia_start(text, document, member.key_start)..member.value.span.end;
    let before = level.index.checked_sub(1).and_then(|index| level.members[index].comma);
    let at = |comma: usize| comma..comma + 1;
    match (member.comma, before) {
        (Some(comma), _) => splice(text, &[(whole, ""), (at(comma), "")]),
        (None, Some(comma)) => splice(text, &[(at(comma), ""), (whole, "")]),
        (None, None) => splice(text, &[(whole, "")]),
    }
}

/// Takes out the root: a blank file gets one on one line, a file that we create has lines.
fn remove_root(text: &str, root: &Range<usize>) -> Change {
    let rest = splice(text, &[(root.clone(), "")]);
    let is_blank = rest.trim_start_matches('\u{feff}').bytes().all(is_white);
    match (is_blank, text[root.clone()].contains('\n')) {
        (true, true) => Change::Remove,
        (true, false) => Change::Write(rest),
        // Comments around a root have nothing to be about without it.
        (false, _) => Change::Write(splice(text, &[(root.start + 1..root.end - 1, "")])),
    }
}

/// Returns where the white space before a place begins.
fn trivia_start(text: &str, document: &Document, at: usize) -> usize {
    let white = text.as_bytes()[..at].iter().rev().take_while(|byte| is_white(**byte)).count();
    // A line comment may end with white space that is its own.
    document.last_comment(0, at).map_or(at - white, |comment| comment.end.max(at - white))
}

/// Returns the last of the comments that follow a place on its line.
fn comment_behind<'a>(
    text: &str,
    document: &'a Document,
    from: usize,
    to: usize,
) -> Option<&'a Range<usize>> {
    let (mut at, mut last) = (from, None);
    for comment in document.comments.iter().filter(|comment| (from..to).contains(&comment.start)) {
        if text[at..comment.start].contains(|char| !matches!(char, ' ' | '\t')) {
            break;
        }
        (at, last) = (comment.end, Some(comment));
    }
    last
}

fn is_line_comment(text: &str, comment: &Range<usize>) -> bool {
    text[comment.start..].starts_with("//")
}

fn lines(text: &str, document: &Document, indent: String) -> Layout {
    Layout::Lines { indent, unit: unit(text, document), newline: newline::of(text) }
}

/// Returns the layout of members that stand on lines of their own in an object.
fn lines_inside(text: &str, document: &Document, object: &Node) -> Layout {
    let indent = line_indent(text, object.span.start).to_owned() + &unit(text, document);
    lines(text, document, indent)
}

/// Returns the step of indentation: how far the root's first member stands in.
fn unit(text: &str, document: &Document) -> String {
    let Some(Node { kind: Kind::Object(members), span }) = &document.root else { return UNIT.to_owned() };
    let first = members.first().map(|member| member.key_start);
    let first = first.filter(|&start| text[span.start..start].contains('\n'));
    let indent = first.map(|start| line_indent(text, start)).filter(|indent| !indent.is_empty());
    indent.unwrap_or(UNIT).to_owned()
}

/// Returns the white space that begins the line of a place.
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |index| index + 1)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Replaces parts of a text; the parts are in order and do not overlap.
fn splice(text: &str, parts: &[(Range<usize>, &str)]) -> String {
    let (mut result, mut at) = (String::with_capacity(text.len()), 0);
    for (range, new) in parts {
        result.push_str(&text[at..range.start]);
        result.push_str(new);
        at = range.end;
    }
    result + &text[at..]
}
