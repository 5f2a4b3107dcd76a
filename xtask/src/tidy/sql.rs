//! SQL stands in `crates/store` alone, and in tests.

use super::{Finding, Repository, repository::is_test_path, rust_source::RustSource};

const STORE: &str = "crates/store/";
const OBJECTS: &[&str] = &[
    "DATABASE",
    "EXTENSION",
    "FUNCTION",
    "INDEX",
    "OR",
    "ROLE",
    "SCHEMA",
    "SEQUENCE",
    "TABLE",
    "TEMP",
    "TEMPORARY",
    "TRIGGER",
    "TYPE",
    "UNIQUE",
    "VIEW",
    "VIRTUAL",
];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    repository
        .with_extension("rs")
        .filter(|(path, _)| !path.starts_with(STORE) && !is_test_path(path))
        .flat_map(|(path, text)| check_file(path, &RustSource::new(text)))
        .collect()
}

fn check_file(path: &str, source: &RustSource) -> Vec<Finding> {
    source
        .strings()
        .iter()
        .filter(|string| !source.is_test_line(string.line) && is_sql(&string.text))
        .map(|string| Finding::new(path, string.line, "SQL outside of crates/store"))
        .collect()
}

/// Tells whether a text begins like a statement; keywords are upper case, as our style has them.
fn is_sql(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    match first {
        "SELECT" | "UPDATE" | "PRAGMA" | "TRUNCATE" | "EXPLAIN" | "VACUUM" => true,
        "INSERT" => matches!(second, "INTO" | "OR"),
        // The HTTP method comes before a path.
        "DELETE" => second == "FROM",
        "CREATE" | "ALTER" | "DROP" => OBJECTS.contains(&second),
        "BEGIN" => matches!(second, "IMMEDIATE" | "EXCLUSIVE" | "TRANSACTION"),
        "WITH" => words.any(|word| word == "AS"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::expect;

    #[test]
    fn statements_are_told_from_other_text() {
        for sql in [
            "SELECT 1",
            "\n  SELECT id\n  FROM task",
            "INSERT INTO task (id) VALUES ($1)",
            "UPDATE task\nSET state = $1",
            "DELETE FROM task",
            "CREATE UNIQUE INDEX a ON b (c)",
            "ALTER TABLE task",
            "WITH ready AS (SELECT 1) SELECT 2",
            "BEGIN IMMEDIATE",
        ] {
            assert!(is_sql(sql), "{sql}");
        }
        for other in ["SELECT", "DELETE /api/issues/1", "select a task", "WITH care", "CREATE", ""] {
            assert!(!is_sql(other), "{other}");
        }
    }

    #[test]
    fn only_store_and_tests_may_hold_sql() {
        let bad = "//! A.\nfn a() { b(r\"SELECT 1\"); }\n";
        let tested = "//! A.\n#[cfg(test)]\nmod tests { const A: &str = \"SELECT 1\"; }\n";
        let files = [
            ("crates/desk/src/a.rs", bad),
            ("crates/desk/src/b.rs", tested),
            ("crates/desk/tests/it/a.rs", bad),
            ("crates/store/src/a.rs", bad),
            ("xtask/src/a.rs", "//! `SELECT 1`\n// SELECT 1\n"),
        ];
        let expected = ["crates/desk/src/a.rs:2: SQL outside of crates/store"];
        expect(&check(&Repository::of(&files)), &expected);
    }
}
