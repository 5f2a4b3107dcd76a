//! Clients that keep their servers in JSON: Claude Code, and opencode with comments and trailing commas.
//!
//! No crate keeps the looks of a JSON file, so the text is changed in place: [`mod@scan`] finds where things
//! stand, [`shape`] knows what an entry looks like, [`edit`] puts it in and takes it out.

mod edit;
mod scan;
mod shape;
#[cfg(test)]
mod tests;

use std::ops::Range;

use edit::Level;
use scan::{Dialect, Document, Kind, Member, Node, scan};
use shape::Shape;

use crate::change::{Change, Foreign};
use crate::entry::{ENTRY_NAME, Entry, Standing};
use crate::error::{Error, Place};

/// A client that keeps its servers in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Claude,
    Opencode,
}

impl Client {
    /// Claude Code's files are documented as plain JSON; opencode reads either of its names with comments.
    const fn dialect(self) -> Dialect {
        match self {
            Self::Claude => Dialect::Json,
            Self::Opencode => Dialect::Jsonc,
        }
    }

    /// What to write where the text does not say otherwise; version 2 of opencode reads version 1's shape
    /// too.
    const fn shape(self) -> Shape {
        match self {
            Self::Claude => Shape::Claude,
            Self::Opencode => Shape::Opencode,
        }
    }
}

/// Puts the entry into a text.
pub(crate) fn connect(
    client: Client,
    text: Option<&str>,
    entry: &Entry,
    foreign: Foreign,
) -> Result<Change, Error> {
    let Some(text) = text else {
        return Ok(Change::Write(edit::new_file(client.shape(), entry)));
    };
    let document = scan(text, client.dialect())?;
    let Some(root) = &document.root else {
        return Ok(Change::Write(edit::fill_blank(text, client.shape(), entry)));
    };
    let place = locate(client, text, root)?;
    let Some(level) = place.entry() else {
        return Ok(Change::Write(edit::insert(text, &document, &place, entry)));
    };
    let value = &level.member().value;
    match standing(place.shape, text, level, Some(entry), foreign)? {
        Standing::Same => Ok(Change::Nothing),
        Standing::Ours | Standing::Foreign => {
            Ok(Change::Write(edit::replace(text, &document, value, place.shape, entry)))
        }
    }
}

/// Takes the entry out of a text.
pub(crate) fn disconnect(client: Client, text: &str, foreign: Foreign) -> Result<Change, Error> {
    let document = scan(text, client.dialect())?;
    let Some(root) = &document.root else { return Ok(Change::Nothing) };
    let place = locate(client, text, root)?;
    let Some(level) = place.entry() else { return Ok(Change::Nothing) };
    standing(place.shape, text, level, None, foreign)?;
    Ok(edit::remove(text, &document, &place.levels))
}

fn standing(
    shape: Shape,
    text: &str,
    level: &Level<'_>,
    wanted: Option<&Entry>,
    foreign: Foreign,
) -> Result<Standing, Error> {
    let member = level.member();
    let standing = Standing::of(shape.read(&member.value).as_ref(), wanted);
    if standing == Standing::Foreign && foreign == Foreign::Refuse {
        let text_there = text[member.key_start..member.value.span.end].to_owned();
        return Err(Error::Foreign { place: Place::of(text, member.key_start), text: text_there });
    }
    Ok(standing)
}

/// Where our entry stands or belongs.
struct Location<'a> {
    shape: Shape,
    /// The members on the way to the entry, the root's first; the entry's own is last if there is an entry.
    levels: Vec<Level<'a>>,
    /// The object that the next member on the way goes into.
    inner: &'a Node,
}

impl<'a> Location<'a> {
    fn entry(&self) -> Option<&Level<'a>> {
        self.levels.get(self.shape.path().len())
    }
}

/// Finds the entry, or the object it belongs into.
fn locate<'a>(client: Client, text: &str, root: &'a Node) -> Result<Location<'a>, Error> {
    let usual = walk(client.shape(), text, root)?;
    if client == Client::Claude || !has_server_map(text, &usual)? {
        return Ok(usual);
    }
    let nested = walk(Shape::OpencodeServers, text, root)?;
    // An entry in version 1's place counts too, unless version 2's has one: that one wins there.
    let is_usual = nested.entry().is_none() && usual.entry().is_some();
    Ok(if is_usual { usual } else { nested })
}

/// Whether a file of opencode keeps its servers in `mcp.servers`, as version 2 does, and not directly in
/// `mcp`.
fn has_server_map(text: &str, usual: &Location<'_>) -> Result<bool, Error> {
    if usual.levels.is_empty() {
        return Ok(false);
    }
    let Kind::Object(members) = &usual.inner.kind else { return Ok(false) };
    let Some(index) = index_of(text, members, "servers")? else { return Ok(false) };
    Ok(shape::is_server_map(&members[index].value))
}

/// Follows a shape's path from the root as far as it goes.
fn walk<'a>(shape: Shape, text: &str, root: &'a Node) -> Result<Location<'a>, Error> {
    let (mut levels, mut inner, mut name) = (Vec::new(), root, "the file".to_owned());
    for key in shape.path().iter().copied().chain([ENTRY_NAME]) {
        let Kind::Object(members) = &inner.kind else {
            let place = Place::of(text, inner.span.start);
            return Err(Error::Shape { place, name, expected: "an object" });
        };
        let Some(index) = index_of(text, members, key)? else { break };
        levels.push(Level { object: inner, members, index });
        if levels.len() <= shape.path().len() {
            (inner, name) = (&members[index].value, format!("`{key}`"));
        }
    }
    Ok(Location { shape, levels, inner })
}

fn index_of(text: &str, members: &[Member], key: &str) -> Result<Option<usize>, Error> {
    let mut indices = (0..members.len()).filter(|&index| members[index].key == key);
    let first = indices.next();
    if let (Some(first), Some(second)) = (first, indices.next()) {
        let place = |index: usize| Place::of(text, members[index].key_start);
        return Err(Error::Duplicate { key: key.to_owned(), first: place(first), second: place(second) });
    }
    Ok(first)
}

impl Document {
    /// Returns the last comment that lies in a part of the text.
    fn last_comment(&self, from: usize, to: usize) -> Option<&Range<usize>> {
        self.comments.iter().rev().find(|range| from <= range.start && range.end <= to)
    }
}
