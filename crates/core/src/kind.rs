//! What sort of work a task is.

use crate::words::words;

words! {
    /// The sort of work; `type` on `/api`.
    pub enum Kind, "type" {
        /// Something happened that may need work.
        Signal = "signal",
        /// A guess worth testing.
        Hypothesis = "hypothesis",
        /// How to go about something.
        Plan = "plan",
        /// What is to be built.
        Spec = "spec",
        /// A part of a spec.
        Phase = "phase",
        /// Code to be written.
        Code = "code",
        /// Anything that can be done.
        Task = "task",
        /// Watching what was done.
        Monitor = "monitor",
    }
}
