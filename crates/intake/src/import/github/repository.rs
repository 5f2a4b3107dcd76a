//! Repositories of GitHub: found in addresses, written in keys.

/// `owner/name` in lower case, as GitHub does not mind the case; with the host in front if that is another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository(String);

impl Repository {
    /// Reads `owner/name`, `host/owner/name` or an address.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.contains("://") {
            return Self::of_address(text).map(|(repository, _)| repository);
        }
        match text.split('/').collect::<Vec<_>>().as_slice() {
            [owner, name] => Self::new("github.com", owner, name),
            [host, owner, name] => Self::new(host, owner, name),
            _ => None,
        }
    }

    /// Reads an address of a page or of the API, and which issue it leads to, if to one.
    pub(super) fn of_address(address: &str) -> Option<(Self, Option<u64>)> {
        let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
        let parts: Vec<&str> = rest.split('/').collect();
        let (host, owner, name, rest) = match parts.as_slice() {
            [host, "api", "v3", "repos", owner, name, rest @ ..] => (*host, owner, name, rest),
            [host, "repos", owner, name, rest @ ..] if host.starts_with("api.") => {
                (host.trim_start_matches("api."), owner, name, rest)
            }
            [host, owner, name, rest @ ..] => (*host, owner, name, rest),
            _ => return None,
        };
        let number = match rest {
            ["issues" | "pull" | "pulls", number, ..] => leading_number(number),
            _ => None,
        };
        Some((Self::new(host, owner, name)?, number))
    }

    fn new(host: &str, owner: &str, name: &str) -> Option<Self> {
        let is_word = |word: &str| {
            !word.is_empty() && word.chars().all(|char| char.is_ascii_alphanumeric() || "-_.:".contains(char))
        };
        let name = name.trim_end_matches(".git");
        let host = host.trim_start_matches("www.");
        if ![host, owner, name].into_iter().all(is_word) {
            return None;
        }
        let path = format!("{owner}/{name}").to_lowercase();
        let is_public = host.eq_ignore_ascii_case("github.com");
        Some(Self(if is_public { path } else { format!("{}/{path}", host.to_lowercase()) }))
    }

    /// Returns the key of one of its issues.
    pub(super) fn key(&self, number: u64) -> String {
        format!("github:{}#{number}", self.0)
    }

    /// Reads a reference: `#12`, `owner/name#12` or an address.
    pub(super) fn reference(&self, text: &str) -> Option<String> {
        if text.contains("://") {
            return key_of_address(text);
        }
        let (place, number) = text.split_once('#')?;
        let number = number.parse().ok()?;
        if place.is_empty() { Some(self.key(number)) } else { Some(Self::parse(place)?.key(number)) }
    }
}

/// Returns the key of the issue an address leads to.
pub(super) fn key_of_address(address: &str) -> Option<String> {
    let (repository, number) = Repository::of_address(address)?;
    Some(repository.key(number?))
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_issues() {
        let check = |address: &str, expected: Option<&str>| {
            assert_eq!(key_of_address(address).as_deref(), expected, "{address}");
        };
        check("https://github.com/Acme/Pay/issues/12", Some("github:acme/pay#12"));
        check("https://github.com/acme/pay/issues/12#issuecomment-5", Some("github:acme/pay#12"));
        check("https://www.github.com/acme/pay/issues/12?x=1", Some("github:acme/pay#12"));
        check("https://api.github.com/repos/acme/pay/issues/12", Some("github:acme/pay#12"));
        check("https://git.corp/api/v3/repos/acme/pay/issues/1", Some("github:git.corp/acme/pay#1"));
        check("https://git.corp/acme/pay/issues/1", Some("github:git.corp/acme/pay#1"));
        check("https://api.acme.ghe.com/repos/a/b/issues/1", Some("github:acme.ghe.com/a/b#1"));
        check("https://github.com/acme/pay", None);
        check("https://github.com/acme/pay/issues/x", None);
        check("https://github.com/acme", None);
        check("https://github.com//pay/issues/1", None);
        check("ftp://github.com/acme/pay/issues/1", None);
        check("https://github.com/acme/pay/issues/99999999999999999999", None);
    }

    #[test]
    fn repositories_are_named_by_words_or_addresses() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(Repository::parse(text).map(|found| found.0).as_deref(), expected, "{text}");
        };
        check("Acme/pay.rs", Some("acme/pay.rs"));
        check("git.corp/acme/pay", Some("git.corp/acme/pay"));
        check("https://github.com/acme/pay.git", Some("acme/pay"));
        check("acme", None);
        check("acme/", None);
        check("acme/p ay", None);
        check("a/b/c/d", None);
    }
}
