//! Typed ids: no two of them can be confused in a signature.

use uuid::Uuid;

use crate::clock::{Entropy, Timestamp};

macro_rules! uuid_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Makes an id that sorts by time: a version 7 uuid.
            pub fn new(now: Timestamp, entropy: &dyn Entropy) -> Self {
                let mut random = [0; 10];
                entropy.fill(&mut random);
                Self(uuid::Builder::from_unix_timestamp_millis(now.as_millis(), &random).into_uuid())
            }

            /// Wraps a uuid that was read.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

uuid_id! {
    /// A task's permanent id.
    TaskId
}
uuid_id! {
    /// A dispatch's permanent id.
    DispatchId
}

uuid_id! {
    /// A relation's permanent id.
    RelationId
}
uuid_id! {
    /// A project's permanent id.
    ProjectId
}
uuid_id! {
    /// A goal's permanent id.
    GoalId
}
uuid_id! {
    /// An artifact's permanent id.
    ArtifactId
}
uuid_id! {
    /// A label's permanent id.
    LabelId
}
uuid_id! {
    /// A signal's permanent id.
    SignalId
}
uuid_id! {
    /// A template's permanent id.
    TemplateId
}
uuid_id! {
    /// The permanent id of a version of a template.
    VersionId
}
uuid_id! {
    /// A review's permanent id.
    ReviewId
}

macro_rules! number_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id! {
    /// A task's short number, the 42 of #42.
    TaskNumber
}
number_id! {
    /// How often a task has been handed out, ever. Only grows, so of two
    /// dispatches of one task the one with the larger fence is the newer.
    Fence
}
number_id! {
    /// A project's short number.
    ProjectNumber
}
number_id! {
    /// A comment.
    CommentId
}
number_id! {
    /// An item of the inbox.
    InboxId
}
number_id! {
    /// A lane of the line.
    LaneId
}
number_id! {
    /// An event's public position. Readers that saw `pos` have seen all before it.
    Pos
}

/// How a caller names a task: by its uuid or by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskRef {
    /// By permanent id.
    Id(TaskId),
    /// By short number.
    Number(TaskNumber),
}

impl std::str::FromStr for TaskRef {
    type Err = BadTaskRef;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = text.parse().ok().filter(|number| *number > 0);
            return number.map(|number| Self::Number(TaskNumber(number))).ok_or(BadTaskRef);
        }
        text.parse().map(Self::Id).map_err(|_| BadTaskRef)
    }
}

impl std::fmt::Display for TaskRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Number(number) => write!(f, "#{number}"),
        }
    }
}

/// Text that names no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an issue's uuid or number")]
pub struct BadTaskRef;

#[cfg(test)]
mod tests {
    use super::*;

    struct Zeros;

    impl Entropy for Zeros {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    #[test]
    fn ids_sort_by_the_time_they_were_made() {
        let early = TaskId::new(Timestamp::from_micros(1_000_000), &Zeros);
        let late = TaskId::new(Timestamp::from_micros(2_000_000), &Zeros);
        assert!(early < late);
        assert!(early.to_string() < late.to_string());
    }

    #[test]
    fn a_task_is_named_by_number_or_uuid() {
        assert_eq!("42".parse(), Ok(TaskRef::Number(TaskNumber(42))));
        assert!("01890000-0000-7000-8000-000000000000".parse::<TaskRef>().is_ok());
        for bad in ["", "0", "-1", "+1", "abc", "99999999999999999999", "4 2"] {
            assert_eq!(bad.parse::<TaskRef>(), Err(BadTaskRef), "{bad}");
        }
    }
}
