//! The types of events, the story every change tells.

use crate::words::words;

words! {
    /// What happened. Listed in `docs/events.md`.
    pub enum EventType, "event type" {
        /// A task came in.
        TaskCreated = "task.created",
        /// Fields of a task changed.
        TaskEdited = "task.edited",
        /// A task joined the line's candidates.
        TaskAdmitted = "task.admitted",
        /// A task went back to the backlog.
        TaskParked = "task.parked",
        /// A task was given up.
        TaskCanceled = "task.canceled",
        /// A person finished a task themselves.
        TaskClosed = "task.closed",
        /// A task was deleted.
        TaskDeleted = "task.deleted",
        /// A failed or blocked task gets another go.
        TaskRetried = "task.retried",
        /// A finished or canceled task is open again.
        TaskReopened = "task.reopened",
        /// A person answered what an agent asked.
        TaskAnswered = "task.answered",
        /// Somebody said something about a task.
        CommentCreated = "comment.created",
        /// A person put an item of the inbox away.
        InboxDismissed = "inbox.dismissed",
        /// A task was accepted in review.
        TaskApproved = "task.approved",
        /// A task was sent back from review.
        TaskSentBack = "task.sent_back",
        /// A task's waiting time is over: it stands in line.
        TaskDue = "task.due",
        /// A task waits for a blocker, its parent or an artifact.
        TaskHeld = "task.held",
        /// Nothing holds a task back any more.
        TaskFreed = "task.freed",
        /// Two tasks were related.
        RelationCreated = "relation.created",
        /// A relation was taken back.
        RelationDeleted = "relation.deleted",
        /// An artifact is there.
        ArtifactPresent = "artifact.present",
        /// A project came in.
        ProjectCreated = "project.created",
        /// Fields of a project changed.
        ProjectEdited = "project.edited",
        /// A project was deleted.
        ProjectDeleted = "project.deleted",
        /// A goal came in.
        GoalCreated = "goal.created",
        /// Fields of a goal changed.
        GoalEdited = "goal.edited",
        /// A goal was deleted.
        GoalDeleted = "goal.deleted",
        /// A label came in.
        LabelCreated = "label.created",
        /// A label has another name or color.
        LabelEdited = "label.edited",
        /// A label was deleted.
        LabelDeleted = "label.deleted",
        /// The world said something, and a task was made of it.
        SignalReceived = "signal.received",
        /// A template came in.
        TemplateCreated = "template.created",
        /// Fields of a template changed.
        TemplateEdited = "template.edited",
        /// A template was deleted.
        TemplateDeleted = "template.deleted",
        /// A version of a template came in.
        VersionCreated = "version.created",
        /// Prompts are made by another version of a template.
        VersionPromoted = "version.promoted",
        /// Somebody said what they think of a prompt.
        ReviewCreated = "review.created",
        /// The rules changed: the profile or the limits.
        RulesChanged = "rules.changed",
        /// Waiting tasks stand where the new rules put them.
        RulesApplied = "rules.applied",
        /// A provider refused, and its account is left alone for a while.
        AccountLimited = "account.limited",
        /// An account works again.
        AccountCleared = "account.cleared",
        /// A token was made.
        TokenCreated = "token.created",
        /// A token was taken back.
        TokenRevoked = "token.revoked",
        /// The doctor put something right.
        DoctorRepaired = "doctor.repaired",
        /// A task was given up on by the desk.
        TaskDeadLettered = "task.dead_lettered",
        /// A task needs a person before it can go on.
        TaskNeedsPerson = "task.needs_person",
        /// Somebody should look at a task now.
        TaskAlert = "task.alert",
        /// A task was handed out.
        DispatchOpened = "dispatch.opened",
        /// A dispatch was told to end.
        DispatchEnding = "dispatch.ending",
        /// A dispatch ended: its outcome and reason are in the data.
        DispatchClosed = "dispatch.closed",
        /// A report came too late to change anything.
        DispatchStale = "dispatch.stale",
    }
}
