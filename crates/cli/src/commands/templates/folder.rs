//! A folder of templates, and the templates of a desk: reading both, and telling them apart.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use extraboard_api::client::Client;
use extraboard_api::envelope::PageQuery;
use extraboard_api::template::{Conditions, Template, TemplateDetail};

use super::file::{ENDING, Front, TemplateFile};
use crate::commands::input::read_text;
use crate::commands::pages;
use crate::error::{CliError, Kind};
use crate::output::talk;

/// The largest file that is read: text and what stands before it.
const FILE_BYTES_MAX: u64 = 128 * 1024;

/// What projects are called: files name them, the desk shows their ids.
#[derive(Debug, Default)]
pub(super) struct ProjectNames(BTreeMap<String, String>);

impl ProjectNames {
    async fn read(client: &Client) -> Result<Self, CliError> {
        let projects = pages::all(async |page: &PageQuery| client.project_list(page).await).await?;
        Ok(Self(projects.into_iter().map(|project| (project.id, project.name)).collect()))
    }

    /// Returns the name of a project that is named by id; another text is a name already.
    fn name(&self, project: Option<&str>) -> Option<String> {
        project.map(|project| self.0.get(project).map_or(project, String::as_str).to_owned())
    }

    fn in_conditions(&self, conditions: &Conditions) -> Conditions {
        Conditions { project_id: self.name(conditions.project_id.as_deref()), ..conditions.clone() }
    }

    /// Returns a file whose projects are named by name.
    pub(super) fn in_file(&self, file: &TemplateFile) -> TemplateFile {
        let front = Front {
            project: self.name(file.front.project.as_deref()),
            conditions: self.in_conditions(&file.front.conditions),
            ..file.front.clone()
        };
        TemplateFile { front, ..file.clone() }
    }

    /// Returns a template of the desk as a file.
    pub(super) fn as_file(&self, detail: &TemplateDetail) -> TemplateFile {
        let template = &detail.template;
        let content = detail.active_version.as_ref().map_or("", |version| version.content.as_str());
        TemplateFile {
            slug: template.slug.clone(),
            front: Front {
                name: template.name.clone(),
                description: template.description.clone(),
                specificity: template.specificity,
                project: self.name(template.project_id.as_deref()),
                conditions: self.in_conditions(&template.conditions),
            },
            content: content.replace("\r\n", "\n").trim_end_matches('\n').to_owned(),
        }
    }
}

/// The templates of a desk.
#[derive(Debug)]
pub(super) struct OfDesk {
    pub(super) files: BTreeMap<String, TemplateFile>,
    pub(super) projects: ProjectNames,
}

impl OfDesk {
    pub(super) async fn read(client: &Client) -> Result<Self, CliError> {
        let projects = ProjectNames::read(client).await?;
        let templates: Vec<Template> =
            pages::all(async |page: &PageQuery| client.template_list(page).await).await?;
        let mut files = BTreeMap::new();
        for template in templates {
            let detail = client.template_get(&template.id).await?;
            files.insert(template.slug, projects.as_file(&detail));
        }
        Ok(Self { files, projects })
    }
}

/// Reads every template of a folder; what is wrong is told of all of them, and then nothing is done.
pub(super) fn read(folder: &Path) -> Result<BTreeMap<String, TemplateFile>, CliError> {
    let mut files = BTreeMap::new();
    let mut wrong = 0;
    for path in paths(folder)? {
        let text = read_text(&path.display().to_string(), FILE_BYTES_MAX)?;
        match TemplateFile::parse(&path, &text) {
            Ok(file) => {
                files.insert(file.slug.clone(), file);
            }
            Err(problem) => {
                wrong += 1;
                talk(&problem.to_string());
            }
        }
    }
    if wrong > 0 {
        let files = if wrong == 1 { "file is" } else { "files are" };
        return Err(CliError::new(Kind::Usage, format!("{wrong} {files} not well formed: nothing was done")));
    }
    Ok(files)
}

/// Returns the path of a template's file.
pub(super) fn path_of(folder: &Path, slug: &str) -> PathBuf {
    folder.join(format!("{slug}.{ENDING}"))
}

fn paths(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let unreadable = |error| CliError::new(Kind::Usage, format!("cannot read {}: {error}", folder.display()));
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == ENDING) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_templates_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("b.hbs", "+++\nname = \"B\"\n+++\nDo b.\n");
        write("a.hbs", "+++\nname = \"A\"\n+++\nDo a.\n");
        write("README.md", "no template");
        fs::create_dir(folder.path().join("c.hbs")).unwrap();
        let files = read(folder.path()).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["a", "b"]);
        write("d.hbs", "no template");
        write("e.hbs", "no template");
        let refused = read(folder.path()).unwrap_err();
        assert_eq!(refused.message(), "2 files are not well formed: nothing was done");
        assert!(read(&folder.path().join("none")).is_err());
    }

    #[test]
    fn projects_are_called_by_their_names() {
        let names = ProjectNames(BTreeMap::from([("0199p".to_owned(), "apollo".to_owned())]));
        assert_eq!(names.name(Some("0199p")).as_deref(), Some("apollo"));
        assert_eq!(names.name(Some("gemini")).as_deref(), Some("gemini"));
        assert_eq!(names.name(None), None);
    }
}
