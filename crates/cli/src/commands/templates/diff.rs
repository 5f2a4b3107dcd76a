//! What differs between two texts, line by line.

use std::fmt::Write as _;

/// How many lines around a change are shown.
const AROUND: usize = 3;
/// How many comparisons are made before two texts count as wholly different.
const COMPARISONS_MAX: usize = 4_000_000;

/// One line of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Taken(&'a str),
    Added(&'a str),
}

impl<'a> Line<'a> {
    fn is_change(self) -> bool {
        !matches!(self, Self::Same(_))
    }

    const fn parts(self) -> (char, &'a str) {
        match self {
            Self::Same(text) => (' ', text),
            Self::Taken(text) => ('-', text),
            Self::Added(text) => ('+', text),
        }
    }
}

/// Returns what turns `old` into `new`, with a few lines around each change; empty if nothing does.
pub(super) fn unified(old: &str, new: &str) -> String {
    let lines = compare(old, new);
    let changes: Vec<usize> = (0..lines.len()).filter(|index| lines[*index].is_change()).collect();
    let is_near = |index: usize| changes.iter().any(|change| change.abs_diff(index) <= AROUND);
    let mut text = String::new();
    let (mut old_line, mut new_line, mut in_hunk) = (1, 1, false);
    for (index, line) in lines.iter().enumerate() {
        let near = is_near(index);
        if near && !in_hunk {
            let _ = writeln!(text, "@@ -{old_line} +{new_line} @@");
        }
        in_hunk = near;
        let (sign, content) = line.parts();
        if near {
            let _ = writeln!(text, "{sign}{content}");
        }
        old_line += usize::from(sign != '+');
        new_line += usize::from(sign != '-');
    }
    text
}

fn compare<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_middle, tail) = old_rest.split_at(old_rest.len() - end);
    let new_middle = &new_rest[..new_rest.len() - end];
    let same = |lines: &[&'a str]| lines.iter().map(|line| Line::Same(line)).collect::<Vec<_>>();
    let mut lines = same(&old[..start]);
    lines.extend(middle(old_middle, new_middle));
    lines.extend(same(tail));
    lines
}

/// Compares what is left between the common ends, by the longest common subsequence.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    if old.len().saturating_mul(new.len()) > COMPARISONS_MAX {
        let taken = old.iter().map(|line| Line::Taken(line));
        return taken.chain(new.iter().map(|line| Line::Added(line))).collect();
    }
    // The length of the longest common subsequence from each pair of places on.
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let (below, beside) = (lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
            let both = lengths[(i + 1) * width + j + 1] + 1;
            lengths[i * width + j] = if old[i] == new[j] { both } else { below.max(beside) };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::with_capacity(old.len() + new.len());
    while i < old.len() || j < new.len() {
        let has_both = i < old.len() && j < new.len();
        if has_both && old[i] == new[j] {
            lines.push(Line::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (has_both && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
            lines.push(Line::Taken(old[i]));
            i += 1;
        } else {
            lines.push(Line::Added(new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_texts_do_not_differ() {
        assert_eq!(unified("", ""), "");
        assert_eq!(unified("a\nb\n", "a\nb"), "");
    }

    #[test]
    fn changes_are_shown_with_what_is_around_them() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n";
        insta::assert_snapshot!(unified(old, new), @r"
        @@ -2 +2 @@
         2
         3
         4
        -5
        +five
         6
         7
         8
        @@ -10 +10 @@
         10
         11
         12
        +13
        ");
    }

    #[test]
    fn as_little_as_possible_changes() {
        let count =
            |old: &str, new: &str| compare(old, new).into_iter().filter(|line| line.is_change()).count();
        assert_eq!(count("a\nb\nc\nd", "a\nc\nd\ne"), 2);
        assert_eq!(count("x\na\nb", "a\nb\ny"), 2);
        assert_eq!(count("", "a\nb"), 2);
        assert_eq!(count("a\nb", ""), 2);
    }

    #[test]
    fn both_texts_can_be_read_off_the_comparison() {
        for (old, new) in [("a\nb\na\nc", "b\na\na\nd\nc"), ("a\na\na", "a"), ("", "x\ny"), ("p\nq", "q\np")]
        {
            let lines = compare(old, new);
            let without = |sign: char| {
                let parts = lines.iter().map(|line| line.parts()).filter(|part| part.0 != sign);
                parts.map(|part| part.1).collect::<Vec<_>>().join("\n")
            };
            assert_eq!((without('+'), without('-')), (old.to_owned(), new.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn any_two_texts_can_be_read_off_their_comparison(
            old in prop::collection::vec("[abc]", 0..30),
            new in prop::collection::vec("[abc]", 0..30),
        ) {
            let (old_text, new_text) = (old.join("\n"), new.join("\n"));
            let lines = compare(&old_text, &new_text);
            let without = |sign: char| {
                let parts = lines.iter().map(|line| line.parts()).filter(|part| part.0 != sign);
                parts.map(|part| part.1.to_owned()).collect::<Vec<_>>()
            };
            prop_assert_eq!((without('+'), without('-')), (old, new));
            prop_assert_eq!(unified(&old_text, &new_text).is_empty(), old_text == new_text);
        }
    }

    #[test]
    fn huge_texts_are_compared_as_wholes() {
        let text =
            |word: &str| (0..3_000).map(|number| format!("{word}{number}")).collect::<Vec<_>>().join("\n");
        let (old, new) = (text("a"), text("b"));
        let lines = compare(&old, &new);
        assert_eq!(lines.len(), 6_000);
        assert!(matches!(lines[2_999], Line::Taken("a2999")));
    }
}
