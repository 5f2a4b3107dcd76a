//! Opening a database: what is refused, and how that is said.

use std::fs;

use extraboard_store::Store;
use extraboard_store::error::Error;
use tempfile::TempDir;

use crate::harness::opening;

async fn refusal(url: &str) -> String {
    match Store::open(url, &opening("the first desk")).await {
        Ok(_) => panic!("{url} was opened"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn o2_a_second_desk_on_one_file_is_refused_before_anything_is_touched() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("desk.db");
    let url = format!("sqlite:{}", file.display());
    let first = Store::open(&url, &opening("pid 42 on http://127.0.0.1:8600")).await.unwrap();
    let before = fs::read(&file).unwrap();
    let files = || fs::read_dir(directory.path()).unwrap().count();
    let count = files();
    let second = Store::open(&url, &opening("the second desk")).await.unwrap_err();
    assert!(matches!(second, Error::InUse { .. }));
    assert!(second.to_string().contains("pid 42 on http://127.0.0.1:8600"), "{second}");
    assert_eq!((fs::read(&file).unwrap(), files()), (before, count));
    drop(first);
    Store::open(&url, &opening("the second desk")).await.unwrap();
}

#[tokio::test]
async fn a_file_is_named_by_path_or_by_url() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("desk.db").display().to_string();
    for url in [path.clone(), format!("sqlite:{path}"), format!("sqlite://{path}")] {
        let store = Store::open(&url, &opening("a desk")).await.unwrap();
        assert_eq!(store.name(), format!("sqlite:{path}"));
    }
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let directory = TempDir::new().unwrap();
    let missing = directory.path().join("missing");
    let message = refusal(&missing.join("desk.db").display().to_string()).await;
    assert!(message.contains(&format!("the directory {} does not exist", missing.display())), "{message}");
    assert!(!missing.exists());
}

#[tokio::test]
async fn a_directory_is_not_a_database() {
    let directory = TempDir::new().unwrap();
    let message = refusal(&directory.path().display().to_string()).await;
    assert!(message.contains("is a directory"), "{message}");
}

#[tokio::test]
async fn a_file_of_something_else_is_left_alone() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("notes.txt");
    let notes = "not a database, but quite a long text all the same. ".repeat(50);
    fs::write(&file, &notes).unwrap();
    let message = refusal(&file.display().to_string()).await;
    assert!(message.contains("cannot open it as SQLite"), "{message}");
    assert_eq!(fs::read_to_string(&file).unwrap(), notes);
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("other.db");
    rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE task (id)").unwrap();
    let before = fs::read(&file).unwrap();
    let message = refusal(&file.display().to_string()).await;
    assert!(message.contains("of another program"), "{message}");
    let tables = "SELECT COUNT(*) FROM sqlite_master";
    let count: i64 =
        rusqlite::Connection::open(&file).unwrap().query_row(tables, [], |row| row.get(0)).unwrap();
    assert_eq!((count, before.len() as u64), (1, fs::metadata(&file).unwrap().len()));
}

#[tokio::test]
async fn o2_another_name_of_the_same_file_is_the_same_file() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("desk.db");
    let _first = Store::open(&file.display().to_string(), &opening("the first")).await.unwrap();
    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let message = refusal(&link.display().to_string()).await;
    assert!(message.contains("the first"), "{message}");
    let hard = directory.path().join("hard.db");
    fs::hard_link(&file, &hard).unwrap();
    let message = refusal(&hard.display().to_string()).await;
    assert!(message.contains("hard links"), "{message}");
}

#[tokio::test]
async fn a_file_that_is_gone_is_noticed() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("desk.db");
    let store = Store::open(&file.display().to_string(), &opening("a desk")).await.unwrap();
    store.check().await.unwrap();
    fs::remove_file(&file).unwrap();
    assert!(store.check().await.is_err());
}

#[tokio::test]
async fn a_new_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("desk.db");
    let _store = Store::open(&file.display().to_string(), &opening("a desk")).await.unwrap();
    for entry in fs::read_dir(directory.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.path());
    }
}

#[tokio::test]
async fn an_unknown_scheme_is_refused_with_what_is_expected() {
    for url in ["mysql://me:s3cret@host/db", "http://host/", "sqlite:", "", "sqlite::memory:"] {
        let message = refusal(url).await;
        assert!(message.contains("expected"), "{message}");
        assert!(!message.contains("s3cret"), "{message}");
    }
}

/// A port that nothing listens on: it was free a moment ago and is given back unused.
fn closed_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn an_unreachable_server_is_said_to_be_so() {
    let port = closed_port();
    let message = refusal(&format!("postgres://me:s3cret@127.0.0.1:{port}/db")).await;
    assert!(message.contains("cannot connect") && message.contains("refused"), "{message}");
    assert!(message.contains(&port.to_string()), "{message}");
}

#[tokio::test]
async fn a_password_is_never_shown() {
    let port = closed_port();
    for url in [
        format!("postgres://me:s3cret@127.0.0.1:{port}/db"),
        format!("postgresql://127.0.0.1:{port}/db?user=me&password=s3cret"),
        format!("postgres://me:s3cret/x@127.0.0.1:{port}/db"),
        format!("postgres://me:s3cret?x@127.0.0.1:{port}/db"),
        "postgres://me:s3cret@127.0.0.1:notaport/db".to_owned(),
        "postgres://me:s3cret@[::1/db".to_owned(),
        format!("postgres://me:s3cret@127.0.0.1:{port}/db?sslmode=nonsense"),
    ] {
        let error = Store::open(&url, &opening("a desk")).await.unwrap_err();
        let mut text = format!("{error} {error:?}");
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        assert!(!text.contains("s3cret"), "{url}: {text}");
    }
}
