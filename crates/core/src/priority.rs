//! Priorities and their levels, on each surface.

/// How much a task matters: 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u8);

impl Priority {
    /// What a task has unless somebody says otherwise.
    pub const DEFAULT: Self = Self(50);

    /// Makes a priority of 1 to 100 points.
    pub fn new(points: i64) -> Option<Self> {
        u8::try_from(points).ok().filter(|points| (1..=100).contains(points)).map(Self)
    }

    /// Returns the points.
    pub fn points(self) -> i64 {
        self.0.into()
    }

    /// Returns the level this shows as: the highest one it reaches.
    pub fn level(self) -> Level {
        match self.0 {
            100.. => Level::Urgent,
            75..=99 => Level::High,
            50..=74 => Level::Medium,
            25..=49 => Level::Low,
            _ => Level::None,
        }
    }

    /// Returns the priority after a surface that knows only levels wrote one.
    ///
    /// Writing back the level that was read keeps the points.
    #[must_use]
    pub fn with_level(self, level: Level) -> Self {
        if self.level() == level { self } else { level.priority() }
    }
}

/// The names people use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// No priority was given.
    None,
    /// Now.
    Urgent,
    /// Soon.
    High,
    /// In its turn.
    Medium,
    /// Some day.
    Low,
}

impl Level {
    /// Every level, in the order of the numbers trackers give them.
    pub const ALL: [Self; 5] = [Self::None, Self::Urgent, Self::High, Self::Medium, Self::Low];

    /// Reads the number trackers use: 0 none, 1 urgent … 4 low.
    pub fn from_tracker(number: i64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|index| Self::ALL.get(index)).copied()
    }

    /// Returns the number trackers use.
    pub const fn tracker(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Urgent => 1,
            Self::High => 2,
            Self::Medium => 3,
            Self::Low => 4,
        }
    }

    /// Returns the points a level stands for.
    pub const fn priority(self) -> Priority {
        Priority(match self {
            Self::Urgent => 100,
            Self::High => 75,
            Self::Medium => 50,
            Self::Low => 25,
            Self::None => 10,
        })
    }

    /// Returns the points that show as this level, lowest and highest.
    pub const fn range(self) -> (i64, i64) {
        match self {
            Self::Urgent => (100, 100),
            Self::High => (75, 99),
            Self::Medium => (50, 74),
            Self::Low => (25, 49),
            Self::None => (1, 24),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_one_to_a_hundred() {
        assert_eq!(Priority::new(0), None);
        assert_eq!(Priority::new(101), None);
        assert_eq!(Priority::new(1).map(Priority::points), Some(1));
        assert_eq!(Priority::new(100).map(Priority::points), Some(100));
    }

    #[test]
    fn levels_are_those_of_trackers() {
        let shown: Vec<_> = (-1..=5)
            .map(|number| Level::from_tracker(number).map(|level| level.priority().points()))
            .collect();
        assert_eq!(shown, [None, Some(10), Some(100), Some(75), Some(50), Some(25), None]);
        for level in Level::ALL {
            assert_eq!(Level::from_tracker(level.tracker()), Some(level));
        }
    }

    #[test]
    fn every_value_shows_as_the_level_whose_range_holds_it() {
        for points in 1..=100 {
            let level = Priority::new(points).unwrap().level();
            let (low, high) = level.range();
            assert!((low..=high).contains(&points), "{points} shows as {level:?}");
        }
    }

    #[test]
    fn writing_back_an_unchanged_level_keeps_the_value() {
        let odd = Priority::new(73).unwrap();
        assert_eq!(odd.with_level(Level::Medium), odd);
        assert_eq!(odd.with_level(Level::High).points(), 75);
    }
}
