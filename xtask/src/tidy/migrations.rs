//! Migrations are numbered without gaps, and both databases have the same ones.

use super::{Finding, Repository};

const ROOT: &str = "crates/store/migrations/";
const DATABASES: [&str; 2] = ["sqlite", "postgres"];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let [sqlite, postgres] = DATABASES.map(|database| names(repository, database));
    let mut findings = strays(repository);
    for (database, own, other) in [("sqlite", &sqlite, &postgres), ("postgres", &postgres, &sqlite)] {
        let directory = format!("{ROOT}{database}/");
        findings.extend(own.iter().enumerate().filter_map(|(index, name)| {
            let message = numbering(name, index + 1)?;
            Some(Finding::new(&format!("{directory}{name}"), 1, message))
        }));
        findings.extend(other.iter().filter(|name| !own.contains(name)).map(|name| {
            Finding::new(&format!("{directory}{name}"), 1, "missing: the other database has it")
        }));
    }
    findings
}

fn names<'a>(repository: &'a Repository, database: &str) -> Vec<&'a str> {
    let directory = format!("{ROOT}{database}/");
    let start = directory.len();
    let mut names: Vec<&str> = repository
        .below(ROOT)
        .filter(|path| path.starts_with(&directory))
        .map(|path| &path[start..])
        .collect();
    names.sort_unstable();
    names
}

/// Finds files that belong to neither database, and so would never be checked.
fn strays(repository: &Repository) -> Vec<Finding> {
    repository
        .below(ROOT)
        .filter(|path| {
            let directory = path[ROOT.len()..].split_once('/').map(|(directory, _)| directory);
            !directory.is_some_and(|directory| DATABASES.contains(&directory))
        })
        .map(|path| Finding::new(path, 1, "a migration belongs to sqlite/ or postgres/"))
        .collect()
}

/// Says what is wrong with the name of the migration that must have this number.
fn numbering(name: &str, number: usize) -> Option<String> {
    let expected = format!("{number:04}_");
    let purpose = name.strip_prefix(&expected).and_then(|rest| rest.strip_suffix(".sql"));
    let is_good = purpose.is_some_and(|purpose| !purpose.is_empty() && !purpose.contains('/'));
    (!is_good).then(|| format!("the name must be `{expected}<purpose>.sql`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::expect;

    #[track_caller]
    fn check_files(names: &[&str], expected: &[&str]) {
        let paths: Vec<String> = names.iter().map(|name| format!("{ROOT}{name}")).collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        let expected: Vec<String> = expected.iter().map(|line| format!("{ROOT}{line}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        expect(&check(&Repository::of(&files)), &expected);
    }

    #[test]
    fn equal_sets_without_gaps_are_fine() {
        check_files(&[], &[]);
        check_files(
            &["sqlite/0001_a.sql", "sqlite/0002_b.sql", "postgres/0001_a.sql", "postgres/0002_b.sql"],
            &[],
        );
    }

    #[test]
    fn gaps_and_bad_names_are_found() {
        check_files(
            &["sqlite/0001_a.sql", "sqlite/0003_b.sql", "postgres/0001_a.sql", "postgres/0003_b.sql"],
            &[
                "sqlite/0003_b.sql:1: the name must be `0002_<purpose>.sql`",
                "postgres/0003_b.sql:1: the name must be `0002_<purpose>.sql`",
            ],
        );
        check_files(
            &["sqlite/1.sql", "postgres/1.sql"],
            &[
                "sqlite/1.sql:1: the name must be `0001_<purpose>.sql`",
                "postgres/1.sql:1: the name must be `0001_<purpose>.sql`",
            ],
        );
    }

    #[test]
    fn migration_of_one_database_alone_is_found() {
        check_files(&["sqlite/0001_a.sql"], &["postgres/0001_a.sql:1: missing: the other database has it"]);
        check_files(&["0001_a.sql"], &["0001_a.sql:1: a migration belongs to sqlite/ or postgres/"]);
    }
}
