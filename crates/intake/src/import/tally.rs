//! Items of which the same is to be said, once for all of them.

use super::Outcome;
use super::gather::Gather;

/// How many items a problem names.
const NAMES_SHOWN: usize = 10;

/// Counts items and remembers the first of them.
#[derive(Default)]
pub(super) struct Tally {
    line: usize,
    names: Vec<String>,
    count: usize,
}

impl Tally {
    /// Counts an item.
    pub(super) fn count(&mut self, line: usize, name: String) {
        if self.count == 0 {
            self.line = line;
        }
        if self.count < NAMES_SHOWN {
            self.names.push(name);
        }
        self.count += 1;
    }

    /// Says what is to be said, if there are such items.
    pub(super) fn say(mut self, gather: &mut Gather, outcome: Outcome, what: &str) {
        if self.count == 0 {
            return;
        }
        if self.count > NAMES_SHOWN {
            self.names.push(format!("and {} more", self.count - NAMES_SHOWN));
        }
        gather.problem(self.line, outcome, format!("{what}: {}", self.names.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(count: usize, expected: &[&str]) {
        let mut gather = Gather::default();
        let mut tally = Tally::default();
        for number in 1..=count {
            tally.count(number + 4, format!("#{number}"));
        }
        tally.say(&mut gather, Outcome::LeftOut, "too old");
        let problems = gather.finish().problems;
        assert!(problems.iter().all(|problem| problem.line == 5));
        let found: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn many_items_are_named_in_one_sentence() {
        check(0, &[]);
        check(2, &["too old: #1, #2"]);
        check(10, &["too old: #1, #2, #3, #4, #5, #6, #7, #8, #9, #10"]);
        check(12, &["too old: #1, #2, #3, #4, #5, #6, #7, #8, #9, #10, and 2 more"]);
    }
}
