//! The graph of tasks: relations, and the search for cycles.

use std::collections::HashMap;

use crate::clock::Timestamp;
use crate::id::{RelationId, TaskNumber};
use crate::state::State;
use crate::words::words;

/// The deepest level below a task without a parent.
pub const DEPTH_MAX: i64 = 8;
/// The most relations of one task.
pub const RELATIONS_MAX: i64 = 1_000;
/// The most children of one task.
pub const CHILDREN_MAX: i64 = 10_000;

words! {
    /// What a relation says, seen from the task it is written on.
    pub enum RelationType, "relation type" {
        /// The other one waits for this one.
        Blocks = "blocks",
        /// This one waits for the other one.
        BlockedBy = "blocked_by",
        /// They have to do with each other.
        Related = "related",
        /// This one repeats the other one.
        Duplicate = "duplicate",
    }
}

/// A relation in its one stored form: `blocked_by` is `blocks` the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Its permanent id.
    pub id: RelationId,
    /// What it says; never [`RelationType::BlockedBy`].
    pub relation_type: RelationType,
    /// The one it is said of: the blocker.
    pub from: TaskNumber,
    /// The other one: what is blocked.
    pub to: TaskNumber,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Relation {
    /// Brings a relation into its stored form.
    pub const fn new(
        id: RelationId,
        relation_type: RelationType,
        task: TaskNumber,
        other: TaskNumber,
        created_at: Timestamp,
    ) -> Self {
        match relation_type {
            RelationType::BlockedBy => {
                Self { id, relation_type: RelationType::Blocks, from: other, to: task, created_at }
            }
            relation_type => Self { id, relation_type, from: task, to: other, created_at },
        }
    }

    /// Returns what the relation says seen from a task, and the other one.
    pub fn seen_from(&self, task: TaskNumber) -> (RelationType, TaskNumber) {
        match self.relation_type {
            _ if self.from == task => (self.relation_type, self.to),
            RelationType::Blocks => (RelationType::BlockedBy, self.from),
            relation_type => (relation_type, self.from),
        }
    }
}

/// Tells whether a task in that state holds back what it blocks, unless it is deleted.
pub const fn holds_back(state: State) -> bool {
    !matches!(state, State::Done | State::Canceled)
}

/// Something that waits for something else: `then` after `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The blocker or gating parent.
    pub first: TaskNumber,
    /// What waits for it.
    pub then: TaskNumber,
}

/// Looks for the way by which an edge would close a cycle, ring by ring, so that
/// whoever knows the edges can be asked for a ring at a time.
#[derive(Debug)]
pub struct CycleSearch {
    edge: Edge,
    came_from: HashMap<TaskNumber, TaskNumber>,
    ring: Vec<TaskNumber>,
}

impl CycleSearch {
    /// Begins at what would wait.
    pub fn new(edge: Edge) -> Self {
        Self { edge, came_from: HashMap::new(), ring: vec![edge.then] }
    }

    /// Returns the tasks whose dependents are wanted next; none if there is no cycle.
    pub fn ring(&self) -> &[TaskNumber] {
        &self.ring
    }

    /// Takes what waits for the ring; returns the cycle if it is closed, from the
    /// blocker back to the blocker.
    pub fn extend(&mut self, edges: &[Edge]) -> Option<Vec<TaskNumber>> {
        if self.edge.first == self.edge.then {
            return Some(vec![self.edge.first, self.edge.then]);
        }
        let mut ring = Vec::new();
        for edge in edges {
            if edge.then != self.edge.then && !self.came_from.contains_key(&edge.then) {
                self.came_from.insert(edge.then, edge.first);
                ring.push(edge.then);
            }
            if edge.then == self.edge.first {
                return Some(self.cycle());
            }
        }
        self.ring = ring;
        None
    }

    fn cycle(&self) -> Vec<TaskNumber> {
        let mut way = vec![self.edge.first];
        let mut at = self.edge.first;
        while let Some(before) = self.came_from.get(&at) {
            way.push(*before);
            at = *before;
        }
        way.push(self.edge.first);
        way.reverse();
        way
    }
}

/// Writes a cycle as people read it.
pub fn cycle_text(cycle: &[TaskNumber]) -> String {
    cycle.iter().map(|number| format!("#{number}")).collect::<Vec<_>>().join(" → ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edge(first: i64, then: i64) -> Edge {
        Edge { first: TaskNumber(first), then: TaskNumber(then) }
    }

    fn search(edges: &[Edge], new: Edge) -> Option<Vec<TaskNumber>> {
        let mut search = CycleSearch::new(new);
        loop {
            let known: Vec<_> =
                edges.iter().filter(|edge| search.ring().contains(&edge.first)).copied().collect();
            if let Some(cycle) = search.extend(&known) {
                return Some(cycle);
            }
            if search.ring().is_empty() {
                return None;
            }
        }
    }

    #[test]
    fn a6_a_cycle_is_named_from_the_blocker_round() {
        let edges = [edge(1, 2), edge(2, 3), edge(2, 4)];
        let cycle = search(&edges, edge(3, 1)).unwrap();
        assert_eq!(cycle_text(&cycle), "#3 → #1 → #2 → #3");
        assert_eq!(search(&edges, edge(4, 3)), None);
    }

    #[test]
    fn a6_a_task_cannot_wait_for_itself() {
        assert_eq!(cycle_text(&search(&[], edge(1, 1)).unwrap()), "#1 → #1");
    }

    #[test]
    fn a5_blocked_by_is_blocks_the_other_way_round() {
        let id = RelationId::from_uuid(uuid::Uuid::nil());
        let make = |word, a, b| Relation::new(id, word, TaskNumber(a), TaskNumber(b), Timestamp::default());
        assert_eq!(make(RelationType::BlockedBy, 1, 2), make(RelationType::Blocks, 2, 1));
        let relation = make(RelationType::Blocks, 1, 2);
        assert_eq!(relation.seen_from(TaskNumber(1)), (RelationType::Blocks, TaskNumber(2)));
        assert_eq!(relation.seen_from(TaskNumber(2)), (RelationType::BlockedBy, TaskNumber(1)));
    }

    proptest! {
        /// Edges that were let in one by one never close a cycle; those refused would.
        #[test]
        fn what_is_let_in_has_no_cycle(tried in proptest::collection::vec((1i64..12, 1i64..12), 1..60)) {
            let mut edges: Vec<Edge> = Vec::new();
            for (first, then) in tried {
                let new = edge(first, then);
                let reachable = reaches(&edges, new.then, new.first);
                match search(&edges, new) {
                    None => {
                        prop_assert!(!reachable);
                        edges.push(new);
                    }
                    Some(cycle) => {
                        prop_assert!(reachable);
                        let closed: Vec<_> = edges.iter().copied().chain([new]).collect();
                        for pair in cycle.windows(2) {
                            prop_assert!(closed.contains(&edge(pair[0].0, pair[1].0)));
                        }
                    }
                }
            }
        }
    }

    fn reaches(edges: &[Edge], from: TaskNumber, to: TaskNumber) -> bool {
        let mut seen = std::collections::HashSet::from([from]);
        let mut stack = vec![from];
        while let Some(at) = stack.pop() {
            if at == to {
                return true;
            }
            let next = edges.iter().filter(|edge| edge.first == at).map(|edge| edge.then);
            stack.extend(next.filter(|then| seen.insert(*then)));
        }
        false
    }
}
