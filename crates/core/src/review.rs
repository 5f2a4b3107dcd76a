//! Reviews: what agents think of their prompts, what became of those, and when a
//! prompt needs somebody's attention.

use crate::clock::{Span, Timestamp};
use crate::comment::AuthorType;
use crate::id::{ReviewId, TaskId, VersionId};

/// The longest feedback of a review, in characters.
pub const FEEDBACK_CHARS_MAX: usize = 20_000;

/// How many reviews it takes before a version is judged.
const REVIEWS_MIN: i64 = 3;
/// How many reviews are enough to learn from, however good they are.
const REVIEWS_ENOUGH: i64 = 15;
/// Below this moving average a version does badly.
const SCORE_WANTED: Score = Score(3_500_000);
/// Below this mean of all reviews a version needs attention.
const MEAN_WANTED: Score = Score(3_000_000);
/// How much the newest review counts: three parts of ten.
const NEWEST_PARTS: i64 = 3;
const PARTS: i64 = 10;

/// A mark from 1 to 5, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(pub i64);

impl Score {
    /// Returns the score as people write it.
    #[expect(clippy::cast_precision_loss, reason = "five million and less is exact")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// What is marked about a prompt, each from 1 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// Whether it could be understood.
    pub clarity: i64,
    /// Whether all that was needed stood in it.
    pub completeness: i64,
    /// Whether what stood in it was needed.
    pub relevance: i64,
}

impl Marks {
    /// Returns their mean.
    pub fn score(&self) -> Score {
        mean(self.clarity + self.completeness + self.relevance, 3)
    }
}

/// What somebody thinks of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Its permanent id.
    pub id: ReviewId,
    /// The version the prompt was made by.
    pub version: VersionId,
    /// The task it was made for.
    pub task: TaskId,
    /// The marks.
    pub marks: Marks,
    /// What would make it better.
    pub feedback: Option<String>,
    /// Who says so: a person or an agent.
    pub author_type: AuthorType,
    /// Who that is.
    pub author: String,
    /// When it came in.
    pub created_at: Timestamp,
}

/// All reviews of a version, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reviews {
    /// How many there are.
    pub count: i64,
    /// The moving average of their scores.
    pub score: Option<Score>,
    /// The sum of all marks for clarity.
    pub clarity: i64,
    /// The sum of all marks for completeness.
    pub completeness: i64,
    /// The sum of all marks for relevance.
    pub relevance: i64,
}

impl Reviews {
    /// Takes one more review in.
    #[must_use]
    pub fn with(&self, marks: &Marks) -> Self {
        let newest = marks.score();
        let score = match self.score {
            None => newest,
            Some(old) => Score(div_round(NEWEST_PARTS * newest.0 + (PARTS - NEWEST_PARTS) * old.0, PARTS)),
        };
        Self {
            count: self.count + 1,
            score: Some(score),
            clarity: self.clarity + marks.clarity,
            completeness: self.completeness + marks.completeness,
            relevance: self.relevance + marks.relevance,
        }
    }

    /// Returns the mean of one of the sums.
    pub fn mean_of(&self, sum: i64) -> Option<Score> {
        (self.count > 0).then(|| mean(sum, self.count))
    }

    /// Returns the mean of all marks.
    pub fn composite(&self) -> Option<Score> {
        let sum = self.clarity + self.completeness + self.relevance;
        (self.count > 0).then(|| mean(sum, 3 * self.count))
    }

    /// Tells whether somebody should make a better version: at least three reviews, and
    /// either a moving average below 3.5 or fifteen reviews to learn from.
    pub fn ask_for_better(&self) -> bool {
        let does_badly = self.score.is_some_and(|score| score < SCORE_WANTED);
        self.count >= REVIEWS_MIN && (does_badly || self.count >= REVIEWS_ENOUGH)
    }
}

/// What became of the prompts made by a version, as far as it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worked {
    /// How many there were.
    pub used: i64,
    /// How many ended in work that was done.
    pub completed: i64,
    /// How many ended in a failure.
    pub failed: i64,
    /// How much of what was done had to be done again: reopened or sent back.
    pub reworked: i64,
    /// How long it took to do what was done, altogether.
    pub duration: Span,
}

impl Worked {
    /// Returns the share that was done, of all that was done or failed.
    pub fn completion_rate(&self) -> Option<f64> {
        share(self.completed, self.completed + self.failed)
    }

    /// Returns the share that had to be done again, of all that was done.
    pub fn rework_rate(&self) -> Option<f64> {
        share(self.reworked, self.completed)
    }

    /// Returns how long it took to do what was done, in the mean.
    pub fn mean_duration(&self) -> Option<Span> {
        (self.completed > 0).then(|| Span::from_micros(self.duration.as_micros() / self.completed))
    }
}

/// Tells whether a version needs somebody's attention: its marks are low, or less than
/// half of its prompts end in work that is done.
pub fn needs_attention(reviews: &Reviews, worked: &Worked) -> bool {
    let low = reviews.composite().is_some_and(|score| score < MEAN_WANTED);
    low || worked.completion_rate().is_some_and(|rate| rate < 0.5)
}

fn mean(sum: i64, count: i64) -> Score {
    Score(div_round(sum * 1_000_000, count))
}

/// Divides numbers that are not negative and rounds to the nearest.
const fn div_round(value: i64, by: i64) -> i64 {
    (value + by / 2) / by
}

#[expect(clippy::cast_precision_loss, reason = "a share for people, of counts far below 2^52")]
fn share(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(clarity: i64, completeness: i64, relevance: i64) -> Marks {
        Marks { clarity, completeness, relevance }
    }

    fn after(all: &[Marks]) -> Reviews {
        all.iter().fold(Reviews::default(), |reviews, marks| reviews.with(marks))
    }

    #[test]
    fn t13_the_moving_average_takes_three_parts_of_the_newest() {
        assert_eq!(after(&[marks(4, 4, 4)]).score, Some(Score(4_000_000)));
        // 0.3 × 2 + 0.7 × 4
        assert_eq!(after(&[marks(4, 4, 4), marks(2, 2, 2)]).score, Some(Score(3_400_000)));
        // 0.3 × 5 + 0.7 × 11/3
        assert_eq!(after(&[marks(5, 3, 3), marks(5, 5, 5)]).score, Some(Score(4_066_667)));
    }

    #[test]
    fn t14_three_low_reviews_ask_for_better_and_two_do_not() {
        let low = marks(2, 2, 2);
        assert!(!after(&[low, low]).ask_for_better());
        assert!(after(&[low, low, low]).ask_for_better());
        assert!(!after(&[marks(5, 5, 5); 3]).ask_for_better());
        assert!(!after(&[marks(5, 5, 5); 14]).ask_for_better());
        assert!(after(&[marks(5, 5, 5); 15]).ask_for_better());
    }

    #[test]
    fn means_are_of_all_reviews() {
        let reviews = after(&[marks(5, 3, 1), marks(4, 2, 1)]);
        assert_eq!(reviews.mean_of(reviews.clarity), Some(Score(4_500_000)));
        assert_eq!(reviews.composite(), Some(Score(2_666_667)));
        assert_eq!(Reviews::default().composite(), None);
    }

    #[test]
    fn low_marks_or_much_failure_need_attention() {
        let worked = |completed, failed| Worked { completed, failed, ..Worked::default() };
        let none = Reviews::default();
        assert!(!needs_attention(&none, &Worked::default()));
        assert!(!needs_attention(&none, &worked(1, 1)));
        assert!(needs_attention(&none, &worked(1, 2)));
        assert!(needs_attention(&after(&[marks(3, 3, 2)]), &worked(9, 0)));
        assert!(!needs_attention(&after(&[marks(3, 3, 3)]), &worked(9, 0)));
    }

    #[test]
    fn rates_are_of_what_was_counted() {
        let worked = Worked { used: 10, completed: 4, failed: 1, reworked: 1, duration: Span::from_secs(8) };
        assert_eq!(worked.completion_rate(), Some(0.8));
        assert_eq!(worked.rework_rate(), Some(0.25));
        assert_eq!(worked.mean_duration(), Some(Span::from_secs(2)));
        assert_eq!(Worked::default().completion_rate(), None);
    }
}
