//! Links between items, as the file names them, turned into ties between drafts.

use std::collections::HashMap;

use super::draft::{Draft, Elsewhere, Tie};
use super::order::Graph;
use super::{Outcome, Problem, key};

/// The most blockers an issue may be filed with.
const BLOCKERS_MAX: usize = 100;
/// The most other issues one may be related to; together with its blockers the desk takes 1,000.
const RELATED_MAX: usize = 500;
/// The most ties of one draft to what the file does not hold.
const ELSEWHERE_MAX: usize = 500;

/// What one item says about another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// It lies below the other.
    Parent,
    /// It waits for the other.
    BlockedBy,
    /// They have to do with each other.
    Related,
    /// The other waits for it. Said about the other, so it means nothing where that is not in the file.
    Blocks,
    /// The other lies below it, unless that says otherwise itself.
    Lists,
}

/// A link, by the names the file uses.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) from: String,
    pub(super) says: Says,
    pub(super) to: String,
}

/// Turns links into ties.
pub(super) struct Resolver<'a> {
    drafts: &'a mut [Draft],
    names: &'a HashMap<String, usize>,
    problems: &'a mut Vec<Problem>,
    graph: Graph,
    related: Vec<Vec<usize>>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(
        drafts: &'a mut [Draft],
        names: &'a HashMap<String, usize>,
        problems: &'a mut Vec<Problem>,
    ) -> Self {
        let count = drafts.len();
        let graph = Graph { parents: vec![None; count], blockers: vec![Vec::new(); count] };
        Self { drafts, names, problems, graph, related: vec![Vec::new(); count] }
    }

    /// Returns who lies below and waits for whom, and who is related to whom.
    pub(super) fn resolve(mut self, links: Vec<Link>) -> (Graph, Vec<Vec<usize>>) {
        let (lists, others): (Vec<_>, Vec<_>) = links.into_iter().partition(|link| link.says == Says::Lists);
        for link in others.into_iter().chain(lists) {
            self.tie(&link);
        }
        (self.graph, self.related)
    }

    fn tie(&mut self, link: &Link) {
        let from = self.names.get(&link.from).copied();
        let to = self.names.get(&link.to).copied();
        let (Some(from), Some(to)) = (from, to) else {
            if let (Some(from), Some(tie)) = (from, tie_of(link.says)) {
                self.note_absent(from, tie, &link.to);
            }
            return;
        };
        if from == to {
            self.say(from, "is tied to itself: that was left out");
            return;
        }
        match link.says {
            Says::Parent => self.lay_below(from, to),
            Says::BlockedBy => self.block(from, to),
            Says::Blocks => self.block(to, from),
            Says::Related => self.relate(from, to),
            Says::Lists => {
                self.graph.parents[to].get_or_insert(from);
            }
        }
    }

    fn lay_below(&mut self, child: usize, parent: usize) {
        let first = *self.graph.parents[child].get_or_insert(parent);
        if first != parent {
            let (first, second) = (&self.drafts[first].key, &self.drafts[parent].key);
            let message = format!("has two parents: `{first}` was kept and `{second}` left out");
            self.say(child, &message);
        }
    }

    fn block(&mut self, waiting: usize, blocker: usize) {
        if self.graph.blockers[waiting].contains(&blocker) {
            return;
        }
        if self.graph.blockers[waiting].len() == BLOCKERS_MAX {
            let key = &self.drafts[blocker].key;
            self.say(waiting, &format!("has more than {BLOCKERS_MAX} blockers: `{key}` was left out"));
            return;
        }
        self.graph.blockers[waiting].push(blocker);
    }

    fn relate(&mut self, from: usize, to: usize) {
        if self.related[from].contains(&to) {
            return;
        }
        if self.related[from].len() == RELATED_MAX {
            let key = &self.drafts[to].key;
            self.say(from, &format!("is related to more than {RELATED_MAX} others: `{key}` was left out"));
            return;
        }
        self.related[from].push(to);
    }

    fn note_absent(&mut self, from: usize, tie: Tie, name: &str) {
        if self.drafts[from].elsewhere.len() >= ELSEWHERE_MAX {
            return;
        }
        let absent = Elsewhere { tie, key: key::fit(name) };
        if absent.key.is_empty() || self.drafts[from].elsewhere.contains(&absent) {
            return;
        }
        self.drafts[from].elsewhere.push(absent);
        if self.drafts[from].elsewhere.len() == ELSEWHERE_MAX {
            self.say(
                from,
                &format!("is tied to {ELSEWHERE_MAX} others that this file does not hold; more are not kept"),
            );
        }
    }

    fn say(&mut self, about: usize, message: &str) {
        let draft = &self.drafts[about];
        let message = format!("`{}` {message}", draft.key);
        self.problems.push(Problem { line: draft.place.line, outcome: Outcome::Changed, message });
    }
}

const fn tie_of(says: Says) -> Option<Tie> {
    match says {
        Says::Parent => Some(Tie::Parent),
        Says::BlockedBy => Some(Tie::BlockedBy),
        Says::Related => Some(Tie::Related),
        Says::Blocks | Says::Lists => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Read;
    use super::super::gather::Gather;
    use super::*;

    /// Ties some drafts, called by letters, as the first of them says.
    fn tie(drafts: &str, links: &[(&str, Says, &str)]) -> Read {
        let mut gather = Gather::default();
        let link = |(from, says, to): &(&str, Says, &str)| Link {
            from: (*from).to_owned(),
            says: *says,
            to: (*to).to_owned(),
        };
        let mut links: Vec<Link> = links.iter().map(link).collect();
        for (index, key) in drafts.split(' ').enumerate() {
            let draft = Draft::new(key.to_owned(), key, index + 1);
            gather.add(draft, std::mem::take(&mut links)).unwrap();
        }
        gather.finish()
    }

    #[track_caller]
    fn check(links: &[(&str, Says, &str)], expected: &[&str], problems: &[&str]) {
        let read = tie("a b c", links);
        let mut found: Vec<String> = Vec::new();
        for draft in &read.drafts {
            let ties = [
                ("below", draft.parent.as_slice()),
                ("after", draft.blocked_by.as_slice()),
                ("with", draft.related.as_slice()),
            ];
            for (what, keys) in ties {
                found.extend(keys.iter().map(|key| format!("{} {what} {key}", draft.key)));
            }
        }
        found.sort();
        assert_eq!(found, expected);
        let said: Vec<_> = read.problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(said, problems);
    }

    #[test]
    fn a_link_said_twice_or_from_both_ends_is_one_tie() {
        use Says::{BlockedBy, Blocks, Lists, Parent, Related};
        check(&[("a", BlockedBy, "b"), ("a", BlockedBy, "b"), ("b", Blocks, "a")], &["a after b"], &[]);
        check(&[("a", Parent, "b"), ("b", Lists, "a"), ("a", Parent, "b")], &["a below b"], &[]);
        check(&[("a", Related, "b"), ("a", Related, "b")], &["a with b"], &[]);
        check(&[("a", Related, "b"), ("b", Related, "a")], &["a with b", "b with a"], &[]);
    }

    #[test]
    fn what_a_draft_says_of_its_parent_goes_before_what_others_list() {
        use Says::{Lists, Parent};
        check(&[("c", Lists, "a"), ("a", Parent, "b")], &["a below b"], &[]);
        check(&[("c", Lists, "a"), ("b", Lists, "a")], &["a below c"], &[]);
        let problem = "`a` has two parents: `b` was kept and `c` left out";
        check(&[("a", Parent, "b"), ("a", Parent, "c")], &["a below b"], &[problem]);
    }

    #[test]
    fn ties_to_what_is_not_there_are_kept_by_whom_they_concern() {
        use Says::{BlockedBy, Blocks, Lists, Parent, Related};
        let check = |links: &[(&str, Says, &str)], expected: &[Tie]| {
            let read = tie("a b", links);
            assert_eq!(read.problems, []);
            assert_eq!(read.drafts[1].elsewhere, []);
            let found = &read.drafts[0].elsewhere;
            assert!(found.iter().all(|other| other.key == "x"));
            assert_eq!(found.iter().map(|other| other.tie).collect::<Vec<_>>(), expected);
        };
        check(&[("a", Blocks, "x"), ("a", Lists, "x"), ("x", Parent, "a")], &[]);
        check(&[("a", BlockedBy, "x"), ("a", BlockedBy, "x")], &[Tie::BlockedBy]);
        check(&[("a", Parent, "x"), ("a", Related, "x")], &[Tie::Parent, Tie::Related]);
    }

    #[test]
    fn nothing_is_tied_to_itself() {
        let problem = "`a` is tied to itself: that was left out";
        check(&[("a", Says::BlockedBy, "a")], &[], &[problem]);
    }

    #[test]
    fn ties_have_their_limits() {
        let names: Vec<String> = (0..600).map(|number| format!("d{number}")).collect();
        let links =
            |says: Says| -> Vec<_> { names[1..].iter().map(|name| ("d0", says, name.as_str())).collect() };
        let read = tie(&names.join(" "), &links(Says::BlockedBy));
        let first = |read: &Read| read.drafts.iter().find(|draft| draft.key == "d0").cloned().unwrap();
        assert_eq!((first(&read).blocked_by.len(), read.problems.len()), (100, 499));
        let read = tie(&names.join(" "), &links(Says::Related));
        assert_eq!((first(&read).related.len(), read.problems.len()), (500, 99));
        let read = tie("d0", &links(Says::Related));
        assert_eq!((first(&read).elsewhere.len(), read.problems.len()), (500, 1));
    }
}
