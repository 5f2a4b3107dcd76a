//! The operations of the issue loop: labels, signals, templates and the dashboard.

use extraboard_api::dashboard::{Activity, ActivityQuery, DashboardStats, PromptHealth};
use extraboard_api::envelope::{Many, One, PageQuery};
use extraboard_api::label::{Label, LabelCreate, LabelPatch};
use extraboard_api::review::{PromptReview, PromptReviewCreate};
use extraboard_api::signal::{Signal, SignalCreate, SignalCreated, WebhookQuery};
use extraboard_api::template::{
    PreviewQuery, Template, TemplateCreate, TemplateDetail, TemplatePatch, TemplatePreview, Version,
    VersionCreate,
};

use super::operation::{Operation, operation};
use super::operations::key;

pub(super) fn labels() -> Vec<Operation> {
    let label = |method, path, id, summary| operation("signals", method, path, id, summary);
    vec![
        label("get", "/api/labels", "listLabels", "List labels")
            .query::<PageQuery>()
            .answers::<Many<Label>>(200, "a page of labels, by name"),
        label("post", "/api/labels", "createLabel", "Create a label")
            .body::<LabelCreate>()
            .answers::<One<Label>>(201, "the new label"),
        label("patch", "/api/labels/{id}", "patchLabel", "Edit a label")
            .body::<LabelPatch>()
            .answers::<One<Label>>(200, "the label"),
        label("delete", "/api/labels/{id}", "deleteLabel", "Delete a label")
            .answers_nothing(204, "no issue has it any more"),
    ]
}

pub(super) fn signals() -> Vec<Operation> {
    let signal = |method, path, id, summary| operation("signals", method, path, id, summary);
    let webhook = |path, id, summary| {
        signal("post", path, id, summary)
            .query::<WebhookQuery>()
            .answers::<One<SignalCreated>>(200, "that delivery came before")
            .answers::<One<SignalCreated>>(201, "the signal, and its issue")
            .answers_nothing(204, "a ping")
    };
    vec![
        signal("get", "/api/signals", "listSignals", "List signals")
            .query::<PageQuery>()
            .answers::<Many<Signal>>(200, "a page of signals, the newest first"),
        key(signal("post", "/api/signals", "createSignal", "Take a signal in"))
            .body::<SignalCreate>()
            .answers::<One<SignalCreated>>(201, "the signal, and its issue"),
        webhook("/api/signals/github", "hearGithub", "Hear what GitHub says"),
        webhook("/api/signals/sentry", "hearSentry", "Hear what Sentry says"),
        webhook("/api/signals/posthog", "hearPosthog", "Hear what PostHog says"),
    ]
}

pub(super) fn templates() -> Vec<Operation> {
    let template = |method, path, id, summary| operation("templates", method, path, id, summary);
    let mut operations = vec![
        template("get", "/api/templates", "listTemplates", "List templates")
            .query::<PageQuery>()
            .answers::<Many<Template>>(200, "a page of templates, by slug"),
        template("post", "/api/templates", "createTemplate", "Create a template")
            .body::<TemplateCreate>()
            .answers::<One<Template>>(201, "the new template"),
        template("get", "/api/templates/{id}", "getTemplate", "Show a template")
            .answers::<One<TemplateDetail>>(200, "the template, and its active version"),
        template("patch", "/api/templates/{id}", "patchTemplate", "Edit a template")
            .body::<TemplatePatch>()
            .answers::<One<Template>>(200, "the template"),
        template("delete", "/api/templates/{id}", "deleteTemplate", "Delete a template")
            .answers_nothing(204, "it is gone"),
        template("get", "/api/templates/preview/{id}", "previewPrompt", "Show the prompt an issue would get")
            .query::<PreviewQuery>()
            .answers::<TemplatePreview>(200, "the prompt, and what it is made by"),
    ];
    operations.extend(versions());
    operations
}

fn versions() -> Vec<Operation> {
    let template = |method, path, id, summary| operation("templates", method, path, id, summary);
    vec![
        template("get", "/api/templates/{id}/versions", "listVersions", "List a template's versions")
            .query::<PageQuery>()
            .answers::<Many<Version>>(200, "a page of versions, the newest first"),
        template("post", "/api/templates/{id}/versions", "createVersion", "Add a version")
            .body::<VersionCreate>()
            .answers::<One<Version>>(201, "the new version"),
        template(
            "post",
            "/api/templates/{id}/versions/{version}/promote",
            "promoteVersion",
            "Make a version the active one",
        )
        .answers::<One<Version>>(200, "the version"),
        template("get", "/api/templates/{id}/reviews", "listReviews", "List a template's reviews")
            .query::<PageQuery>()
            .answers::<Many<PromptReview>>(200, "a page of reviews, the newest first"),
        template("post", "/api/prompt-reviews", "reviewPrompt", "Say what a prompt was worth")
            .body::<PromptReviewCreate>()
            .answers::<One<PromptReview>>(200, "the dispatch said so before")
            .answers::<One<PromptReview>>(201, "the new review"),
    ]
}

pub(super) fn dashboard() -> Vec<Operation> {
    let dashboard = |path, id, summary| operation("desk", "get", path, id, summary);
    vec![
        dashboard("/api/dashboard/stats", "getStats", "Count issues, goals and dispatches").answers::<One<
            DashboardStats,
        >>(
            200,
            "the counts",
        ),
        dashboard("/api/dashboard/activity", "getActivity", "Show what happened last")
            .query::<ActivityQuery>()
            .answers::<Many<Activity>>(200, "issues without a parent, the liveliest first"),
        dashboard("/api/dashboard/prompts", "getPromptHealth", "Show how prompts do")
            .answers::<Many<PromptHealth>>(200, "every template"),
    ]
}
