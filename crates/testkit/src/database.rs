//! Fresh databases for tests, on the server that `cargo xtask test` starts.
//!
//! They are never dropped: the server goes with its directory when the tests are over.

use std::{
    env,
    sync::atomic::{AtomicU32, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::postgres::{Binaries, PostgresError};

/// The variable that holds the URL of a database in which others may be created.
pub const ADMIN_URL_VARIABLE: &str = "XB_TEST_POSTGRES_URL";

/// Creates an empty database that no other test knows, and returns its URL.
///
/// # Panics
///
/// When no server was announced, or it does not create the database. A test must not pass because it was
/// skipped.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "`cargo xtask test` announces its server in the environment")]
pub fn fresh_postgres_url() -> String {
    let admin_url = env::var(ADMIN_URL_VARIABLE).unwrap_or_else(|_| {
        panic!(
            "{ADMIN_URL_VARIABLE} is not set: run the tests with `cargo xtask test`, \
             which starts a private PostgreSQL"
        )
    });
    fresh_url_on(&admin_url)
        .unwrap_or_else(|error| panic!("cannot create a database on {admin_url}: {error}"))
}

/// Creates an empty, uniquely named database on the server at `admin_url` and returns its URL.
pub fn fresh_url_on(admin_url: &str) -> Result<String, PostgresError> {
    let name = unique_name();
    Binaries::find()?.create_database(admin_url, &name)?;
    Ok(with_database(admin_url, &name))
}

/// Returns a name that no other test has, whichever process and thread it runs in, now or on an earlier run.
#[expect(clippy::disallowed_methods, reason = "process ids come again; together with the time they do not")]
fn unique_name() -> String {
    static CALL_COUNT: AtomicU32 = AtomicU32::new(0);
    let call = CALL_COUNT.fetch_add(1, Ordering::Relaxed);
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_micros());
    format!("xb_{}_{call}_{micros}", std::process::id())
}

/// Replaces the database in a URL and keeps its query.
fn with_database(url: &str, database: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let authority_start = address.find("://").map_or(0, |scheme| scheme + 3);
    let authority_end =
        address[authority_start..].find('/').map_or(address.len(), |slash| authority_start + slash);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}/{database}{query}", &address[..authority_end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_is_replaced_in_every_shape_of_url() {
        let check = |url, expected| assert_eq!(with_database(url, "new"), expected);
        check("postgres://postgres@127.0.0.1:5433/postgres", "postgres://postgres@127.0.0.1:5433/new");
        check("postgres://127.0.0.1:5433", "postgres://127.0.0.1:5433/new");
        check("postgresql://u:p@host/old?sslmode=disable", "postgresql://u:p@host/new?sslmode=disable");
    }

    #[test]
    fn names_never_repeat() {
        assert_ne!(unique_name(), unique_name());
    }
}
