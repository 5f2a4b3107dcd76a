//! Every Rust file begins with a module doc.

use super::{Finding, Repository};

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    repository
        .with_extension("rs")
        .filter(|(_, text)| !text.starts_with("//!"))
        .map(|(path, _)| Finding::new(path, 1, "begins without a module doc (`//! …`)"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::expect;

    #[test]
    fn file_without_module_doc_is_found() {
        let files = [("a.rs", "//! Good.\n"), ("b.rs", "/// Bad.\nmod c;\n"), ("c.rs", "")];
        let message = "begins without a module doc (`//! …`)";
        let expected = [format!("b.rs:1: {message}"), format!("c.rs:1: {message}")];
        expect(&check(&Repository::of(&files)), &expected.each_ref().map(String::as_str));
    }
}
