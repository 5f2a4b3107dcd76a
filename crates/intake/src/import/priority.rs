//! Priorities: the words and numbers of others in points of 1 to 100.

/// The points of P0 to P4, which are also the desk's own levels.
const POINTS: [i64; 5] = [100, 75, 50, 25, 10];

/// Returns the points of a number that counts down from 0, the most urgent.
pub(super) fn from_p(number: i64) -> Option<i64> {
    usize::try_from(number).ok().and_then(|index| POINTS.get(index)).copied()
}

/// Returns the points of a level as trackers number them: 0 none, 1 urgent to 4 low.
pub(super) fn from_level(level: i64) -> Option<i64> {
    match level {
        0 => Some(10),
        1..=4 => from_p(level - 1),
        _ => None,
    }
}

/// Returns the points of a word.
pub(super) fn from_word(word: &str) -> Option<i64> {
    Some(match word {
        "urgent" | "critical" | "highest" | "blocker" => 100,
        "high" | "important" | "major" => 75,
        "medium" | "normal" | "moderate" => 50,
        "low" | "minor" => 25,
        "lowest" | "trivial" | "none" => 10,
        _ => return None,
    })
}

/// Returns the word that stands for points, where there is one but the usual.
pub(crate) fn word(points: i64) -> Option<&'static str> {
    match points {
        100.. => Some("urgent"),
        75..=99 => Some("high"),
        50..=74 => None,
        25..=49 => Some("low"),
        _ => Some("none"),
    }
}

/// Returns the points a label stands for, if it is plainly about priority.
///
/// `P1`, `priority: high`, `prio/low`, `high priority`, `priority-p0`, `urgent` and `critical` are; `high`
/// alone is not, as it may be about anything.
pub(super) fn from_label(label: &str) -> Option<i64> {
    let lower = label.to_lowercase();
    let is_gap = |char: char| char.is_whitespace() || ":/-_=.".contains(char);
    let words: Vec<&str> = lower.split(is_gap).filter(|word| !word.is_empty()).collect();
    let is_about = |word: &str| matches!(word, "priority" | "prio" | "p");
    match words.as_slice() {
        ["urgent" | "critical"] => Some(100),
        [word] => from_short(word),
        [about, word] | [word, about] if is_about(about) => {
            from_word(word).or_else(|| from_short(word)).or_else(|| from_p(word.parse().ok()?))
        }
        _ => None,
    }
}

/// Reads `p0` to `p4`.
fn from_short(word: &str) -> Option<i64> {
    let digits = word.strip_prefix('p').filter(|digits| digits.len() == 1)?;
    from_p(digits.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_are_plainly_about_priority_are_read() {
        let check = |label: &str, expected: Option<i64>| assert_eq!(from_label(label), expected, "{label}");
        check("P0", Some(100));
        check("p3", Some(25));
        check("p5", None);
        check("p12", None);
        check("priority: high", Some(75));
        check("Priority/Low", Some(25));
        check("prio-critical", Some(100));
        check("high priority", Some(75));
        check("priority: P1", Some(75));
        check("priority: 2", Some(50));
        check("priority:none", Some(10));
        check("urgent", Some(100));
        check("high", None);
        check("priority", None);
        check("priority: someday", None);
        check("severity: high", None);
        check("high priority bug", None);
        check("", None);
    }

    #[test]
    fn levels_are_those_of_the_desk() {
        let points: Vec<_> = (-1..=5).map(from_level).collect();
        assert_eq!(points, [None, Some(10), Some(100), Some(75), Some(50), Some(25), None]);
        assert_eq!(from_p(-1), None);
        assert_eq!(from_p(i64::MAX), None);
    }
}
