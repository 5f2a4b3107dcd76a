//! Text from a file or from standard input, up to a limit.

use std::fs::File;
use std::io::{self, Read};

use crate::error::{CliError, Kind};

/// What stands for standard input.
pub(crate) const STDIN: &str = "-";

/// Reads a file, or standard input where its name is `-`.
pub(crate) fn read_text(name: &str, bytes_max: u64) -> Result<String, CliError> {
    if name == STDIN {
        return read("standard input", io::stdin().lock(), bytes_max);
    }
    let file = File::open(name)
        .map_err(|error| CliError::new(Kind::Usage, format!("cannot read {name}: {error}")))?;
    read(name, file, bytes_max)
}

fn read(name: &str, from: impl Read, bytes_max: u64) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let failed = |error: io::Error| CliError::io(&format!("cannot read {name}"), &error);
    from.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > bytes_max {
        let kib = bytes_max / 1024;
        return Err(CliError::new(Kind::Usage, format!("{name} is larger than {kib} KiB")));
    }
    String::from_utf8(bytes).map_err(|_| CliError::new(Kind::Usage, format!("{name} is not UTF-8 text")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_or_no_text_is_refused() {
        let told = |bytes: &[u8]| read("x", bytes, 1024).map_err(|error| error.message().to_owned());
        assert_eq!(told(&[b'a'; 1024]), Ok("a".repeat(1024)));
        assert_eq!(told(&[b'a'; 1025]), Err("x is larger than 1 KiB".to_owned()));
        assert_eq!(told(&[0xff]), Err("x is not UTF-8 text".to_owned()));
    }
}
