//! What a format's reader has found so far: drafts, the links between them, and what went wrong.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::draft::Draft;
use super::links::{Link, Resolver};
use super::order::{self, Broken, Way};
use super::{DRAFTS_MAX, ImportError, Outcome, Problem, Read, tidy};
use crate::text::short_line;

/// The longest message, in characters.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// Gathers drafts and keeps their keys apart.
#[derive(Default)]
pub(super) struct Gather {
    drafts: Vec<Draft>,
    /// Which draft a name stands for: its key, and whatever else the file calls it.
    names: HashMap<String, usize>,
    links: Vec<Link>,
    problems: Vec<Problem>,
}

impl Gather {
    /// Notes something that did not come over as it stands in the file.
    pub(super) fn problem(&mut self, line: usize, outcome: Outcome, message: String) {
        self.problems.push(Problem { line, outcome, message });
    }

    /// Takes a draft and what it says about others, unless it has no title or the key of another.
    pub(super) fn add(&mut self, mut draft: Draft, links: Vec<Link>) -> Result<(), ImportError> {
        let line = draft.place.line;
        if !tidy::tidy(&mut draft, &mut self.problems) {
            let message = format!("`{}` has no title: expected some text", draft.key);
            self.problem(line, Outcome::LeftOut, message);
            return Ok(());
        }
        if self.drafts.len() == DRAFTS_MAX {
            return Err(ImportError::TooMany);
        }
        match self.names.entry(draft.key.clone()) {
            Entry::Occupied(other) => {
                let first = self.drafts[*other.get()].place.line;
                let message = format!("has the key of line {first} again: `{}`", draft.key);
                self.problem(line, Outcome::LeftOut, message);
            }
            Entry::Vacant(entry) => {
                entry.insert(self.drafts.len());
                self.drafts.push(draft);
                self.links.extend(links);
            }
        }
        Ok(())
    }

    /// Lets links call the draft of a key by another name too.
    pub(super) fn name(&mut self, name: String, key: &str) {
        if let Some(index) = self.names.get(key).copied() {
            self.names.entry(name).or_insert(index);
        }
    }

    /// Ties the drafts together and puts them in order.
    pub(super) fn finish(mut self) -> Read {
        let resolver = Resolver::new(&mut self.drafts, &self.names, &mut self.problems);
        let (mut graph, related) = resolver.resolve(self.links);
        let (sorted, broken) = order::sort(&mut graph);
        let keys: Vec<String> = self.drafts.iter().map(|draft| draft.key.clone()).collect();
        for (index, draft) in self.drafts.iter_mut().enumerate() {
            let keys_of = |indexes: &[usize]| indexes.iter().map(|each| keys[*each].clone()).collect();
            draft.parent = graph.parents[index].map(|parent| keys[parent].clone());
            draft.blocked_by = keys_of(&graph.blockers[index]);
            draft.related = keys_of(&related[index]);
        }
        for each in &broken {
            self.problems.push(describe(each, &self.drafts, &keys));
        }
        let mut drafts: Vec<Option<Draft>> = self.drafts.into_iter().map(Some).collect();
        let drafts = sorted.into_iter().filter_map(|index| drafts[index].take()).collect();
        for problem in &mut self.problems {
            // They quote the file, which must not move the cursor of whoever reads them.
            problem.message = short_line(&problem.message, MESSAGE_CHARS_MAX);
        }
        self.problems.sort_by_key(|problem| problem.line);
        Read { drafts, problems: self.problems }
    }
}

/// Says which link was given up, and why.
fn describe(broken: &Broken, drafts: &[Draft], keys: &[String]) -> Problem {
    let (at, message) = match broken {
        Broken::Parent { way } => {
            let message = format!("would lie below itself ({}): its parent was left out", show(way, keys));
            (way.steps[0], message)
        }
        Broken::Blocker { way } => {
            let blocker = &keys[way.second()];
            let message = format!(
                "would have to stand before itself ({}): that `{blocker}` blocks it was left out",
                show(way, keys)
            );
            (way.steps[0], message)
        }
        Broken::Level { at } => {
            let parent = drafts[*at].parent.as_deref().unwrap_or_default();
            let levels = order::LEVELS_MAX;
            (*at, format!("lies more than {levels} levels deep: it was moved up to `{parent}`"))
        }
    };
    let message = format!("`{}` {message}", keys[at]);
    Problem { line: drafts[at].place.line, outcome: Outcome::Changed, message }
}

fn show(way: &Way, keys: &[String]) -> String {
    let mut steps: Vec<&str> = way.steps.iter().map(|index| keys[*index].as_str()).collect();
    if way.left_out > 0 {
        steps.push("…");
    }
    steps.push(&keys[way.steps[0]]);
    steps.join(" → ")
}
