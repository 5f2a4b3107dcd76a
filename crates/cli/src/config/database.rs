//! Where the database is, in one form, and how it may be shown.

use std::fmt;
use std::path::{Path, PathBuf};

/// A database location: `sqlite:` and an absolute path, or a `postgres://` URL as it was given.
///
/// Display and Debug leave the password out; [`Database::url`] does not.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Database {
    url: String,
}

impl Database {
    /// Reads a path, `sqlite:PATH` or a `postgres://` URL; `absolute` makes a path absolute.
    pub(crate) fn parse(text: &str, absolute: impl FnOnce(&str) -> Option<PathBuf>) -> Option<Self> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Some(Self { url: text.to_owned() });
        }
        let path = match text.strip_prefix("sqlite:") {
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None if text.contains("://") => return None,
            None => text,
        };
        // An in-memory database would forget everything with the process, which a desk must not.
        if path.is_empty() || path == ":memory:" || path.ends_with('/') {
            return None;
        }
        absolute(path).as_deref().map(Self::sqlite)
    }

    pub(crate) fn sqlite(path: &Path) -> Self {
        Self { url: format!("sqlite:{}", path.display()) }
    }

    /// Returns the whole URL, password and all.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact(&self.url))
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({self})")
    }
}

/// Replaces passwords in a URL: after the user name, and in the query.
///
/// Takes too much rather than too little: everything from the first colon to the last `@` before the query,
/// so that a password with a slash that should have been escaped does not show either.
pub(crate) fn redact(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (front, query) = match rest.split_once('?') {
        Some((front, query)) if !query.contains('@') => (front, Some(query)),
        Some(_) | None => (rest, None),
    };
    let front = match front.rsplit_once('@') {
        Some((user, place)) => match user.split_once(':') {
            Some((name, _)) => format!("{name}:***@{place}"),
            None => front.to_owned(),
        },
        None => front.to_owned(),
    };
    let query = query.map_or_else(String::new, |query| {
        let fields: Vec<String> = query.split('&').map(redact_field).collect();
        format!("?{}", fields.join("&"))
    });
    format!("{scheme}://{front}{query}")
}

fn redact_field(field: &str) -> String {
    match field.split_once('=') {
        Some((name, _)) if name.to_ascii_lowercase().contains("password") => format!("{name}=***"),
        Some(_) | None => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_do_not_show() {
        let check = |url, expected: &str| assert_eq!(redact(url), expected);
        check("postgres://u:secret@host/db", "postgres://u:***@host/db");
        check("postgres://u:se:cr@et@host:5432/db?x=1", "postgres://u:***@host:5432/db?x=1");
        check("postgres://u:se/cret@host/db", "postgres://u:***@host/db");
        check("postgres://u:se?cret@host/db", "postgres://u:***@host/db");
        check(
            "postgres://host/db?user=u&password=p&sslmode=require",
            "postgres://host/db?user=u&password=***&sslmode=require",
        );
        check("postgres://u@host/db", "postgres://u@host/db");
        check("/var/lib/x.db", "/var/lib/x.db");
    }

    #[test]
    fn debug_does_not_show_a_password_either() {
        let database = Database::parse("postgres://u:secret@host/db", |_| None).unwrap();
        assert_eq!(format!("{database:?}"), "Database(postgres://u:***@host/db)");
        assert_eq!(database.url(), "postgres://u:secret@host/db");
    }

    #[test]
    fn every_spelling_of_a_file_is_one() {
        for text in ["x.db", "sqlite:x.db", "sqlite://x.db"] {
            let database = Database::parse(text, |path| Some(Path::new("/here").join(path))).unwrap();
            assert_eq!(database.url(), "sqlite:/here/x.db", "{text}");
        }
        let database = Database::parse("sqlite:///abs/x.db", |path| Some(path.into())).unwrap();
        assert_eq!(database.url(), "sqlite:/abs/x.db");
    }

    #[test]
    fn what_is_no_database_is_refused() {
        for text in ["mysql://host/db", "sqlite:", "sqlite::memory:", "http://x", "folder/"] {
            assert_eq!(Database::parse(text, |path| Some(path.into())), None, "{text}");
        }
    }
}
