//! The repository's files as text, read once.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result};

const SKIPPED: &[&str] = &[".git", "target"];
const READ: &[&str] = &["md", "rs", "sql", "toml", "txt"];

/// Every file by its path from the root; the text is empty where no check reads it.
#[derive(Debug, Default)]
pub(super) struct Repository {
    files: BTreeMap<String, String>,
}

impl Repository {
    pub(super) fn load(root: &Path) -> Result<Self> {
        let mut repository = Self::default();
        repository.load_directory(root, "")?;
        Ok(repository)
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        let files = files.iter().map(own).collect();
        Self { files }
    }

    /// Returns path and text of the files with this ending.
    pub(super) fn with_extension(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files
            .filter(move |(path, _)| extension_of(path) == Some(extension))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Returns the paths below a directory, which is named with its final slash.
    pub(super) fn below(&self, directory: &str) -> impl Iterator<Item = &str> {
        self.files.keys().filter(move |path| path.starts_with(directory)).map(String::as_str)
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Tells whether there is such a file, or a directory with files in it.
    pub(super) fn contains(&self, path: &str) -> bool {
        let directory = if path.is_empty() { String::new() } else { format!("{path}/") };
        self.files.contains_key(path) || self.below(&directory).next().is_some()
    }

    fn load_directory(&mut self, directory: &Path, prefix: &str) -> Result<()> {
        let cannot_read = |path: &Path| format!("cannot read {}", path.display());
        let entries = fs::read_dir(directory).with_context(|| cannot_read(directory))?;
        for entry in entries {
            let entry = entry.with_context(|| cannot_read(directory))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let (path, full) = (format!("{prefix}{name}"), entry.path());
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            if entry.file_type().with_context(|| cannot_read(&full))?.is_dir() {
                self.load_directory(&full, &format!("{path}/"))?;
                continue;
            }
            let is_read = extension_of(&path).is_some_and(|extension| READ.contains(&extension));
            let text = if is_read {
                fs::read_to_string(&full).with_context(|| cannot_read(&full))?
            } else {
                String::new()
            };
            self.files.insert(path, text);
        }
        Ok(())
    }
}

/// Tells whether a Rust file holds only tests.
pub(super) fn is_test_path(path: &str) -> bool {
    let directories = ["/tests/", "/benches/", "/examples/"];
    directories.iter().any(|directory| path.contains(directory)) || path.ends_with("/tests.rs")
}

fn extension_of(path: &str) -> Option<&str> {
    Path::new(path).extension()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_and_build_output_is_not() {
        let root = tempfile::tempdir().unwrap();
        for directory in ["src/deep", "target", ".git"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        for path in ["src/deep/a.rs", "logo.png", "target/b.rs", ".git/c.rs"] {
            fs::write(root.path().join(path), "text").unwrap();
        }
        let repository = Repository::load(root.path()).unwrap();
        let paths: Vec<&str> = repository.below("").collect();
        assert_eq!(paths, ["logo.png", "src/deep/a.rs"]);
        assert_eq!(repository.text("src/deep/a.rs"), Some("text"));
        assert_eq!(repository.text("logo.png"), Some(""));
    }

    #[test]
    fn directories_are_contained_but_not_parts_of_names() {
        let repository = Repository::of(&[("docs/adr/0001-a.md", "")]);
        for path in ["", "docs", "docs/adr", "docs/adr/0001-a.md"] {
            assert!(repository.contains(path), "{path}");
        }
        assert!(!repository.contains("docs/ad"));
    }
}
