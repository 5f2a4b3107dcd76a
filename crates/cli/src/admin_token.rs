//! `admin.token`: the secret in the data directory that makes whoever can read it an admin of the desk.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::system::SystemEntropy;

const NAME: &str = "admin.token";
const PREFIX: &str = "xba_";
const DIGIT_COUNT: usize = 64;
/// The most that is read of the file; a token is far shorter.
const BYTES_MAX: u64 = 4096;
const READABLE_BY_OTHERS: u32 = 0o044;
/// Where the machine's name stands; the first that can be read counts.
const HOST_NAME_FILES: [&str; 2] = ["/proc/sys/kernel/hostname", "/etc/hostname"];

/// The token; Debug does not show it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct AdminToken(String);

#[derive(Debug, Error)]
pub(crate) enum AdminTokenError {
    #[error("{} can be read by other users: run `chmod 600 {}`", .0.display(), .0.display())]
    Exposed(PathBuf),
    #[error("{} holds no admin token: remove it, and the next start of a desk writes a new one", .0.display())]
    Malformed(PathBuf),
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

impl AdminToken {
    /// Reads the token; `None` if there is none, or none that this user may read.
    pub(crate) fn read(data_dir: &Path) -> Result<Option<Self>, AdminTokenError> {
        let path = data_dir.join(NAME);
        match File::open(&path) {
            Ok(file) => from_file(file, &path).map(Some),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) =>
            {
                Ok(None)
            }
            Err(source) => Err(AdminTokenError::Read { path, source }),
        }
    }

    /// Reads the token, or writes a new one.
    pub(crate) fn read_or_create(data_dir: &Path) -> Result<Self, AdminTokenError> {
        let path = data_dir.join(NAME);
        match File::open(&path) {
            Ok(file) => return from_file(file, &path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(AdminTokenError::Read { path, source }),
        }
        create(&path).map_err(|source| AdminTokenError::Write { path: path.clone(), source })?;
        // Another process may have been quicker; what stands in the file is the token.
        let file =
            File::open(&path).map_err(|source| AdminTokenError::Read { path: path.clone(), source })?;
        from_file(file, &path)
    }

    /// Returns the name of the file, unique among the machines that share a database: a file holds one token,
    /// and a new one in the same file takes the old one's place.
    ///
    /// The folder is resolved and the file is not, because a mounted secret is a link that moves with its
    /// content.
    pub(crate) fn origin(data_dir: &Path) -> String {
        let folder = fs::canonicalize(data_dir).unwrap_or_else(|_| data_dir.to_owned());
        format!("{}:{}", host_name(), folder.join(NAME).display())
    }

    /// Returns the secret itself.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken(…)")
    }
}

fn from_file(file: File, path: &Path) -> Result<AdminToken, AdminTokenError> {
    let unreadable = |source| AdminTokenError::Read { path: path.to_owned(), source };
    let mode = file.metadata().map_err(unreadable)?.permissions().mode();
    if mode & READABLE_BY_OTHERS != 0 {
        return Err(AdminTokenError::Exposed(path.to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = str::from_utf8(&bytes).ok().map(str::trim);
    match text.filter(|text| is_token(text)) {
        Some(token) => Ok(AdminToken(token.to_owned())),
        None => Err(AdminTokenError::Malformed(path.to_owned())),
    }
}

/// Returns whether this is what [`new_token`] makes: a word somebody thought of can be guessed.
fn is_token(text: &str) -> bool {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix(PREFIX)
        .is_some_and(|digits| digits.len() == DIGIT_COUNT && digits.bytes().all(is_digit))
}

fn host_name() -> String {
    let read = |path: &&str| fs::read_to_string(path).ok();
    HOST_NAME_FILES.iter().find_map(read).unwrap_or_default().trim().to_owned()
}

/// Writes a new token unless the file exists by then.
///
/// The file is linked into place only once it is whole: neither a crash nor a second process sees half a
/// token.
fn create(path: &Path) -> io::Result<()> {
    let temporary = path.with_extension(format!("token.{}.tmp", std::process::id()));
    let written = write_new(&temporary, &new_token()).and_then(|()| fs::hard_link(&temporary, path));
    let _ = fs::remove_file(&temporary);
    match written {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.exists() => Ok(()),
        other => other,
    }
}

fn write_new(path: &Path, token: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(format!("{token}\n").as_bytes())?;
    file.sync_all()
}

fn new_token() -> String {
    format!("{PREFIX}{}", SystemEntropy.hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, text: &str, mode: u32) {
        fs::write(dir.join(NAME), text).unwrap();
        fs::set_permissions(dir.join(NAME), fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_token_is_made_once_and_then_read() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(AdminToken::read(dir.path()).unwrap(), None);
        let made = AdminToken::read_or_create(dir.path()).unwrap();
        assert_eq!(AdminToken::read_or_create(dir.path()).unwrap(), made);
        assert_eq!(AdminToken::read(dir.path()).unwrap(), Some(made.clone()));
        let digits = made.expose().strip_prefix("xba_").unwrap();
        assert_eq!(digits.len(), 64);
        assert!(digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
    }

    #[test]
    fn a_new_file_is_private_and_alone() {
        let dir = tempfile::tempdir().unwrap();
        AdminToken::read_or_create(dir.path()).unwrap();
        let mode = fs::metadata(dir.path().join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn white_space_around_a_token_is_not_part_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let token = new_token();
        write(dir.path(), &format!("  {token} \n\n"), 0o600);
        assert_eq!(AdminToken::read(dir.path()).unwrap().unwrap().expose(), token);
    }

    #[test]
    fn an_exposed_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for mode in [0o644, 0o640, 0o604] {
            write(dir.path(), "mine", mode);
            let path = dir.path().join(NAME).display().to_string();
            let expected = format!("{path} can be read by other users: run `chmod 600 {path}`");
            assert_eq!(AdminToken::read(dir.path()).unwrap_err().to_string(), expected);
            assert_eq!(AdminToken::read_or_create(dir.path()).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_file_without_a_token_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let digits = "0".repeat(DIGIT_COUNT);
        let texts = [
            "\n".to_owned(),
            "hunter2\n".to_owned(),
            digits.clone(),
            format!("xba_{digits}0"),
            format!("xba_{}", &digits[1..]),
            format!("xba_{}", digits.replace('0', "G")),
            format!("xba_{digits}\nxba_{digits}\n"),
            format!("xbd_{digits}"),
        ];
        let path = dir.path().join(NAME).display().to_string();
        let expected =
            format!("{path} holds no admin token: remove it, and the next start of a desk writes a new one");
        for text in texts {
            write(dir.path(), &text, 0o600);
            assert_eq!(AdminToken::read(dir.path()).unwrap_err().to_string(), expected, "{text}");
            assert_eq!(AdminToken::read_or_create(dir.path()).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_no_token() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "", 0o600);
        fs::write(dir.path().join(NAME), [0xff; 68]).unwrap();
        assert!(matches!(AdminToken::read(dir.path()), Err(AdminTokenError::Malformed(_))));
    }

    #[test]
    fn an_origin_names_the_machine_and_the_file_by_its_real_folder() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        let real = dir.path().join("real");
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let origin = AdminToken::origin(&link);
        assert_eq!(origin, AdminToken::origin(&real));
        let file = real.canonicalize().unwrap().join(NAME);
        assert_eq!(origin, format!("{}:{}", host_name(), file.display()));
        assert!(!host_name().contains('\n'));
    }

    #[test]
    fn debug_does_not_show_it() {
        assert_eq!(format!("{:?}", AdminToken("mine".to_owned())), "AdminToken(…)");
    }
}
