//! An order in which each draft comes after its parent and its blockers.
//!
//! Where there is none, links are given up until there is: of a cycle of parents one parent, of any other
//! cycle one blocker. Nothing here is recursive, as a file may tie all its items into one chain.

/// How many drafts may lie above another.
pub(super) const LEVELS_MAX: usize = 8;
/// How many steps of a cycle are kept to be shown.
const STEPS_KEPT: usize = 8;

/// Who needs whom, by their places in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Graph {
    pub(super) parents: Vec<Option<usize>>,
    pub(super) blockers: Vec<Vec<usize>>,
}

/// A link that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The first of this way lost its parent, the second.
    Parent { way: Way },
    /// The first of this way lost its blocker, the second.
    Blocker { way: Way },
    /// This one lay too deep and moved up.
    Level { at: usize },
}

/// A way from a draft back to itself: each step needs the next, and the last the first.
///
/// Only the beginning is kept: a hostile file has as many cycles as drafts, each as long as the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// At least one.
    pub(super) steps: Vec<usize>,
    /// How many more there are.
    pub(super) left_out: usize,
}

impl Way {
    /// Returns the second step, which is the first again where there is but one.
    pub(super) fn second(&self) -> usize {
        self.steps.get(1).or(self.steps.first()).copied().unwrap_or_default()
    }
}

/// Puts the drafts in order, giving up what stands against it.
pub(super) fn sort(graph: &mut Graph) -> (Vec<usize>, Vec<Broken>) {
    let mut broken = Vec::new();
    break_parent_cycles(graph, &mut broken);
    limit_levels(graph, &mut broken);
    let order = Walk::new(graph, &mut broken).run();
    (order, broken)
}

fn break_parent_cycles(graph: &mut Graph, broken: &mut Vec<Broken>) {
    // By which walk a draft was first reached; walks count from 1.
    let mut reached = vec![0; graph.parents.len()];
    for start in 0..graph.parents.len() {
        let mut way = Vec::new();
        let mut next = Some(start);
        while let Some(at) = next.filter(|at| reached[*at] == 0) {
            reached[at] = start + 1;
            way.push(at);
            next = graph.parents[at];
        }
        let Some(again) = next.filter(|at| reached[*at] == start + 1) else { continue };
        let mut cycle: Vec<usize> = way.into_iter().skip_while(|at| *at != again).collect();
        // What stands last in the file gives in.
        let last = (0..cycle.len()).max_by_key(|index| cycle[*index]).unwrap_or_default();
        cycle.rotate_left(last);
        graph.parents[cycle[0]] = None;
        let left_out = cycle.len().saturating_sub(STEPS_KEPT);
        cycle.truncate(STEPS_KEPT);
        broken.push(Broken::Parent { way: Way { steps: cycle, left_out } });
    }
}

fn limit_levels(graph: &mut Graph, broken: &mut Vec<Broken>) {
    let mut levels: Vec<Option<usize>> = vec![None; graph.parents.len()];
    for start in 0..graph.parents.len() {
        let mut way = Vec::new();
        let mut next = Some(start);
        while let Some(at) = next.filter(|at| levels[*at].is_none()) {
            way.push(at);
            next = graph.parents[at];
        }
        for at in way.into_iter().rev() {
            let level_of = |parent: usize| levels[parent].unwrap_or_default();
            if let Some(deep) = graph.parents[at].filter(|parent| level_of(*parent) >= LEVELS_MAX) {
                graph.parents[at] = graph.parents[deep];
                broken.push(Broken::Level { at });
            }
            levels[at] = Some(graph.parents[at].map_or(0, |parent| level_of(parent) + 1));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    /// On the way, at this height.
    Open(usize),
    Done,
}

/// A draft on the way, and how many of its links were followed.
struct Step {
    at: usize,
    followed: usize,
}

/// A walk through what is needed first, and the order that comes of it.
struct Walk<'a> {
    graph: &'a mut Graph,
    broken: &'a mut Vec<Broken>,
    marks: Vec<Mark>,
    steps: Vec<Step>,
    order: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a mut Graph, broken: &'a mut Vec<Broken>) -> Self {
        let count = graph.parents.len();
        Self { graph, broken, marks: vec![Mark::New; count], steps: Vec::new(), order: Vec::new() }
    }

    fn run(mut self) -> Vec<usize> {
        for start in 0..self.marks.len() {
            if self.marks[start] == Mark::New {
                self.enter(start);
            }
            while let Some(step) = self.steps.last_mut() {
                let (at, link) = (step.at, step.followed);
                step.followed += 1;
                match needed(self.graph, at, link) {
                    Need::Nothing => {}
                    Need::Draft(other) => match self.marks[other] {
                        Mark::New => self.enter(other),
                        Mark::Open(height) => self.give_up(height),
                        Mark::Done => {}
                    },
                    Need::End => {
                        self.marks[at] = Mark::Done;
                        self.order.push(at);
                        self.steps.pop();
                    }
                }
            }
        }
        self.order
    }

    fn enter(&mut self, at: usize) {
        self.marks[at] = Mark::Open(self.steps.len());
        self.steps.push(Step { at, followed: 0 });
    }

    /// Gives up the nearest blocker of the cycle that the last step closed.
    ///
    /// What lies between is a row of parents, which is short and was looked at for its parents alone, so it
    /// is simply walked again. There is such a blocker, as no cycle is of parents only any more.
    fn give_up(&mut self, bottom: usize) {
        let is_blocker = |step: &Step| step.followed >= 2;
        let cycle = &self.steps[bottom..];
        let Some(height) = cycle.iter().rposition(is_blocker) else { return };
        let places = (height..cycle.len()).chain(0..height);
        let way = Way {
            steps: places.take(STEPS_KEPT).map(|place| cycle[place].at).collect(),
            left_out: cycle.len().saturating_sub(STEPS_KEPT),
        };
        for step in self.steps.drain(bottom + height + 1..) {
            self.marks[step.at] = Mark::New;
        }
        let Some(step) = self.steps.last_mut() else { return };
        // The first link is to the parent; the one last followed is this blocker.
        step.followed -= 1;
        self.graph.blockers[step.at].remove(step.followed - 1);
        self.broken.push(Broken::Blocker { way });
    }
}

enum Need {
    Draft(usize),
    Nothing,
    End,
}

/// Returns one of the links of a draft: first to its parent, then to its blockers.
fn needed(graph: &Graph, at: usize, link: usize) -> Need {
    match link.checked_sub(1) {
        None => graph.parents[at].map_or(Need::Nothing, Need::Draft),
        Some(index) => graph.blockers[at].get(index).map_or(Need::End, |other| Need::Draft(*other)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sorts drafts given as `(parent, blockers)`.
    #[track_caller]
    fn check(drafts: &[(Option<usize>, &[usize])], order: &[usize], broken: &[Broken]) -> Graph {
        let mut graph = Graph {
            parents: drafts.iter().map(|(parent, _)| *parent).collect(),
            blockers: drafts.iter().map(|(_, blockers)| blockers.to_vec()).collect(),
        };
        assert_eq!(sort(&mut graph), (order.to_vec(), broken.to_vec()));
        graph
    }

    fn way(steps: &[usize]) -> Way {
        Way { steps: steps.to_vec(), left_out: 0 }
    }

    #[test]
    fn parents_and_blockers_come_first_and_the_rest_as_in_the_file() {
        check(&[], &[], &[]);
        check(&[(None, &[]), (None, &[]), (None, &[])], &[0, 1, 2], &[]);
        check(&[(Some(2), &[]), (None, &[]), (None, &[])], &[2, 0, 1], &[]);
        check(&[(None, &[3]), (None, &[]), (None, &[]), (Some(2), &[])], &[2, 3, 0, 1], &[]);
        check(&[(None, &[1, 2]), (None, &[2]), (None, &[])], &[2, 1, 0], &[]);
    }

    #[test]
    fn of_a_cycle_of_parents_the_last_in_the_file_loses_its_parent() {
        let broken = Broken::Parent { way: way(&[2, 0, 1]) };
        let graph = check(&[(Some(1), &[]), (Some(2), &[]), (Some(0), &[])], &[2, 1, 0], &[broken]);
        assert_eq!(graph.parents, [Some(1), Some(2), None]);
    }

    #[test]
    fn of_a_cycle_of_blockers_one_is_given_up() {
        let broken = Broken::Blocker { way: way(&[1, 0]) };
        let graph = check(&[(None, &[1]), (None, &[0])], &[1, 0], &[broken]);
        assert_eq!(graph.blockers, [vec![1], vec![]]);
    }

    #[test]
    fn a_parent_does_not_wait_for_what_lies_below_it() {
        let broken = Broken::Blocker { way: way(&[0, 2, 1]) };
        let graph = check(&[(None, &[2]), (Some(0), &[]), (Some(1), &[])], &[0, 1, 2], &[broken]);
        assert_eq!(graph.parents, [None, Some(0), Some(1)]);
    }

    #[test]
    fn what_lies_too_deep_moves_up() {
        let chain: Vec<(Option<usize>, &[usize])> =
            (0..11).map(|index: usize| (index.checked_sub(1), [].as_slice())).collect();
        let order: Vec<usize> = (0..11).collect();
        let broken = [Broken::Level { at: 9 }, Broken::Level { at: 10 }];
        let graph = check(&chain, &order, &broken);
        assert_eq!(graph.parents[8..], [Some(7), Some(7), Some(7)]);
    }

    #[test]
    fn a_chain_of_all_drafts_is_sorted() {
        let count = super::super::DRAFTS_MAX;
        let next = |index: usize| (index + 1 < count).then_some(index + 1);
        let blockers = (0..count).map(|index| next(index).into_iter().collect()).collect();
        let mut graph = Graph { parents: (0..count).map(next).collect(), blockers };
        let (order, broken) = sort(&mut graph);
        assert_eq!((order.len(), order[0]), (count, count - 1));
        assert_eq!(broken.len(), count - 1 - LEVELS_MAX);
    }

    #[test]
    fn as_many_long_cycles_as_drafts_are_opened() {
        let count = super::super::DRAFTS_MAX;
        let blockers = |index: usize| if index + 1 < count { vec![0, index + 1] } else { vec![0] };
        let blockers =
            (0..count).map(|index| blockers(index).into_iter().filter(|to| *to != index).collect());
        let mut graph = Graph { parents: vec![None; count], blockers: blockers.collect() };
        let (order, broken) = sort(&mut graph);
        assert_eq!((order[0], order.len(), broken.len()), (count - 1, count, count - 1));
        let Some(Broken::Blocker { way }) = broken.last() else { panic!("{:?}", broken.last()) };
        assert_eq!((way.steps[..3].to_vec(), way.left_out), (vec![count - 1, 0, 1], count - STEPS_KEPT));
    }

    fn graphs() -> impl Strategy<Value = Graph> {
        (1usize..12).prop_flat_map(|count| {
            let other = |at: usize| (0..count).prop_map(move |to| (to != at).then_some(to));
            let parents: Vec<_> = (0..count).map(other).collect();
            let blockers: Vec<_> = (0..count).map(|at| prop::collection::vec(other(at), 0..4)).collect();
            (parents, blockers).prop_map(|(parents, blockers)| {
                let unique = |mut list: Vec<usize>| {
                    list.sort_unstable();
                    list.dedup();
                    list
                };
                let blockers = blockers.into_iter().map(|list| unique(list.into_iter().flatten().collect()));
                Graph { parents, blockers: blockers.collect() }
            })
        })
    }

    proptest! {
        #[test]
        fn every_graph_is_sorted_and_loses_only_what_is_said(graph in graphs()) {
            let mut sorted = graph.clone();
            let (order, broken) = sort(&mut sorted);
            let mut places = vec![None; order.len()];
            for (place, at) in order.iter().enumerate() {
                places[*at] = Some(place);
            }
            prop_assert!(places.iter().all(Option::is_some));
            let mut lost = Vec::new();
            for at in 0..order.len() {
                let needed = sorted.parents[at].iter().chain(&sorted.blockers[at]);
                prop_assert!(needed.into_iter().all(|other| places[*other] < places[at]));
                let gone = graph.blockers[at].iter().filter(|each| !sorted.blockers[at].contains(each));
                lost.extend(gone.map(|blocker| (at, *blocker)));
            }
            let mut said = Vec::new();
            for each in &broken {
                if let Broken::Blocker { way } = each {
                    said.push((way.steps[0], way.second()));
                }
            }
            said.sort_unstable();
            prop_assert_eq!(said, lost);
        }
    }
}
