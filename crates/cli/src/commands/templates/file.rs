//! A template as a file, so that it is reviewed like code: what it is for, in TOML between lines of `+++`, and
//! below that its text.
//!
//! ```text
//! +++
//! name = "Triage of signals"
//! specificity = 20
//!
//! [conditions]
//! type = "signal"
//! +++
//! Look into {{issue.title}}.
//! ```

use std::fmt::Write as _;
use std::path::Path;

use extraboard_api::template::Conditions;
use extraboard_core::template::{CONTENT_BYTES_MAX, SPECIFICITY_DEFAULT, SPECIFICITY_MAX, is_slug};
use serde::Deserialize;

use crate::toml_file::{Document, Source, TomlProblem, quoted};

/// What a file of a template ends with.
pub(super) const ENDING: &str = "hbs";

const FENCE: &str = "+++";

const KEYS: [&str; 11] = [
    "name",
    "description",
    "specificity",
    "project",
    "conditions.type",
    "conditions.signalSource",
    "conditions.labels",
    "conditions.projectId",
    "conditions.hasFailedSessions",
    "conditions.hypothesisConfidence",
    "conditions.door",
];

/// What a file says about a template.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TemplateFile {
    pub(super) slug: String,
    pub(super) front: Front,
    /// The text without line breaks at its end; empty where the template has no version.
    pub(super) content: String,
}

/// What stands between the fences.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Front {
    pub(super) name: String,
    pub(super) description: Option<String>,
    #[serde(default = "usual_specificity")]
    pub(super) specificity: i64,
    /// The only project it is for, by name or uuid.
    pub(super) project: Option<String>,
    #[serde(default)]
    pub(super) conditions: Conditions,
}

const fn usual_specificity() -> i64 {
    SPECIFICITY_DEFAULT
}

impl TemplateFile {
    /// Reads and checks a file; the template's language too, so that nothing is sent that would be refused.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, TomlProblem> {
        let wrong = |line, message: String| TomlProblem { path: path.to_owned(), line, message };
        let slug = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if !is_slug(slug) {
            return Err(wrong(
                1,
                format!("`{slug}` is no slug: expected lower-case words and digits with hyphens between"),
            ));
        }
        let text = text.replace("\r\n", "\n");
        let (front, content, first_line) =
            parts(&text).map_err(|(line, message)| wrong(line, message.to_owned()))?;
        let front = Front::parse(Source { path, text: front, first_line: 2 })?;
        let content = content.trim_end_matches('\n').to_owned();
        if content.len() > CONTENT_BYTES_MAX {
            return Err(wrong(
                first_line,
                format!("the text is larger than {} KiB", CONTENT_BYTES_MAX / 1024),
            ));
        }
        if !content.is_empty() {
            extraboard_prompts::compile(&content)
                .map_err(|error| wrong(first_line + error.line.unwrap_or(1) - 1, error.message))?;
        }
        Ok(Self { slug: slug.to_owned(), front, content })
    }

    /// Returns the file's text.
    pub(super) fn render(&self) -> String {
        let mut text = self.front.render();
        text.push_str(self.content.trim_end_matches('\n'));
        if !self.content.is_empty() {
            text.push('\n');
        }
        text
    }
}

impl Front {
    fn parse(source: Source<'_>) -> Result<Self, TomlProblem> {
        let document = Document::parse(source, &KEYS)?;
        let front: Self = document.read()?;
        if front.name.trim().is_empty() {
            return Err(document.problem("name", "`name` must not be empty".to_owned()));
        }
        if !(0..=SPECIFICITY_MAX).contains(&front.specificity) {
            let message = format!("`specificity` must be from 0 to {SPECIFICITY_MAX}");
            return Err(document.problem("specificity", message));
        }
        Ok(front)
    }

    /// Returns what stands before the text, with the fences.
    fn render(&self) -> String {
        let mut text = format!("{FENCE}\nname = {}\n", quoted(&self.name));
        let mut line = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = writeln!(text, "{name} = {value}");
            }
        };
        line("description", self.description.as_deref().map(quoted));
        line("specificity", Some(self.specificity.to_string()));
        line("project", self.project.as_deref().map(quoted));
        let asked = &self.conditions;
        if *asked != Conditions::default() {
            text.push_str("\n[conditions]\n");
            let labels: Vec<String> = asked.labels.iter().map(|label| quoted(label)).collect();
            let mut line = |name: &str, value: Option<String>| {
                if let Some(value) = value {
                    let _ = writeln!(text, "{name} = {value}");
                }
            };
            line("type", asked.kind.as_deref().map(quoted));
            line("signalSource", asked.signal_source.as_deref().map(quoted));
            line("labels", (!labels.is_empty()).then(|| format!("[{}]", labels.join(", "))));
            line("projectId", asked.project_id.as_deref().map(quoted));
            line("hasFailedSessions", asked.has_failed_sessions.map(|yes| yes.to_string()));
            line("hypothesisConfidence", asked.hypothesis_confidence.map(|least| format!("{least:?}")));
            line("door", asked.door.as_deref().map(quoted));
        }
        text + FENCE + "\n"
    }
}

/// Returns what stands between the fences, what stands below them, and the line the latter begins on.
fn parts(text: &str) -> Result<(&str, &str, usize), (usize, &'static str)> {
    let opened = text.strip_prefix(FENCE).and_then(|rest| rest.strip_prefix('\n'));
    let rest = opened.ok_or((1, "expected a line `+++` and what the template is for, in TOML"))?;
    let mut start = 0;
    for (index, line) in rest.split_inclusive('\n').enumerate() {
        if line.trim_end_matches('\n') == FENCE {
            return Ok((&rest[..start], &rest[start + line.len()..], index + 3));
        }
        start += line.len();
    }
    Err((rest.lines().count() + 1, "expected a second line `+++`, and below it the text"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<TemplateFile, TomlProblem> {
        TemplateFile::parse(Path::new("t/signal-triage.hbs"), text)
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(parse(text).unwrap_err().to_string(), expected);
    }

    fn full() -> TemplateFile {
        TemplateFile {
            slug: "signal-triage".to_owned(),
            front: Front {
                name: "Triage \"now\"".to_owned(),
                description: Some("Of\nsignals".to_owned()),
                specificity: 20,
                project: Some("apollo".to_owned()),
                conditions: Conditions {
                    kind: Some("signal".to_owned()),
                    signal_source: Some("sentry".to_owned()),
                    labels: vec!["bug".to_owned(), "web".to_owned()],
                    project_id: Some("apollo".to_owned()),
                    has_failed_sessions: Some(true),
                    hypothesis_confidence: Some(1.0),
                    door: Some("run".to_owned()),
                },
            },
            content: "Look into {{issue.title}}.\n\n+++\n\nThen tell.".to_owned(),
        }
    }

    #[test]
    fn a_file_is_written_to_be_read() {
        insta::assert_snapshot!(full().render(), @r#"
        +++
        name = "Triage \"now\""
        description = "Of\nsignals"
        specificity = 20
        project = "apollo"

        [conditions]
        type = "signal"
        signalSource = "sentry"
        labels = ["bug", "web"]
        projectId = "apollo"
        hasFailedSessions = true
        hypothesisConfidence = 1.0
        door = "run"
        +++
        Look into {{issue.title}}.

        +++

        Then tell.
        "#);
        assert_eq!(parse(&full().render()).unwrap(), full());
    }

    proptest! {
        #[test]
        fn whatever_a_template_is_called_it_reads_back(
            name in "\\PC{0,20}[a-z]\\PC{0,20}",
            description in proptest::option::of(any::<String>()),
            label in any::<String>(),
            content in "[ -;=-_a-z\\n]{0,200}",
        ) {
            let mut file = full();
            file.front.name = name;
            file.front.description = description;
            file.front.conditions.labels = vec![label];
            file.content = content.trim_end_matches('\n').to_owned();
            prop_assert_eq!(parse(&file.render()).unwrap(), file);
        }
    }

    #[test]
    fn a_name_and_a_text_are_enough() {
        let file = parse("+++\r\nname = \"a\"\r\n+++\r\nDo it.\r\nNow.\r\n\r\n").unwrap();
        assert_eq!((file.front.specificity, file.content.as_str()), (10, "Do it.\nNow."));
        assert_eq!(file.front.conditions, Conditions::default());
        assert_eq!(parse(&file.render()).unwrap(), file);
        assert_eq!(parse("+++\nname = \"a\"\n+++\n").unwrap().content, "");
        assert_eq!(parse("+++\nname = \"a\"\n+++").unwrap().content, "");
    }

    #[test]
    fn what_is_not_well_formed_is_told_with_its_line() {
        let file = "t/signal-triage.hbs";
        check(
            "Do it.",
            &format!("{file} line 1: expected a line `+++` and what the template is for, in TOML"),
        );
        check(
            "+++\nname = \"a\"\nDo it.",
            &format!("{file} line 3: expected a second line `+++`, and below it the text"),
        );
        check(
            "+++\n\nnmae = \"a\"\n+++\nx",
            &format!("{file} line 3: unknown key `nmae`: did you mean `name`?"),
        );
        check("+++\nspecificity = 3\n+++\nx", &format!("{file} line 2: missing field `name`"));
        check("+++\nname = \" \"\n+++\nx", &format!("{file} line 2: `name` must not be empty"));
        check(
            "+++\nname = \"a\"\nspecificity = 101\n+++\nx",
            &format!("{file} line 3: `specificity` must be from 0 to 100"),
        );
        check(
            "+++\nname = \"a\"\n[conditions]\nlabel = \"a\"\n+++\nx",
            &format!("{file} line 4: unknown key `conditions.label`: did you mean `conditions.labels`?"),
        );
        let problem = TemplateFile::parse(Path::new("Signal.hbs"), "").unwrap_err().to_string();
        assert!(problem.starts_with("Signal.hbs line 1: `Signal` is no slug"), "{problem}");
    }

    #[test]
    fn what_is_no_template_is_told_with_its_line() {
        let problem = parse("+++\nname = \"a\"\n+++\nfine\n{{#if issue}}\n").unwrap_err();
        assert!((5..=6).contains(&problem.line), "{problem}");
        let problem = parse("+++\nname = \"a\"\n+++\nfine\n{{{issue.title}}}\n").unwrap_err();
        assert_eq!(problem.line, 5, "{problem}");
    }
}
