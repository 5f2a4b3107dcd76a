//! Which desk a command talks to, and as whom.
//!
//! The invariant: the admin token goes to the desk that `desk.json` in the data directory names, and only
//! while that desk's process runs. Whatever else listens is not told it, be it on this machine or on the port
//! of a desk that is down: there the caller is anonymous, unless `EXTRABOARD_TOKEN` says otherwise.

use std::path::Path;

use extraboard_api::client::{Credentials, same_origin};

use crate::admin_token::{AdminToken, AdminTokenError};
use crate::config::Environment;
use crate::desk_file::DeskFile;
use crate::process;

const DEFAULT_URL: &str = "http://127.0.0.1:8600";

/// Returns the desk's URL: the flag, the variable, the file of the running desk, the default.
pub(crate) fn server_url(flag: Option<&str>, environment: &Environment, desk: Option<&DeskFile>) -> String {
    flag.or(environment.server_url()).or(desk.map(|desk| desk.url.as_str())).unwrap_or(DEFAULT_URL).to_owned()
}

/// Returns what to send along: the agent's name, the token from the environment, or the admin token where it
/// may go.
pub(crate) fn credentials(
    agent: Option<&str>,
    environment: &Environment,
    url: &str,
    desk: Option<&DeskFile>,
    data_dir: &Path,
) -> Result<Credentials, AdminTokenError> {
    match (agent.map(str::to_owned), environment.token().map(str::to_owned)) {
        (Some(agent), Some(token)) => return Ok(Credentials::BearerAs { token, agent }),
        (Some(agent), None) => return Ok(Credentials::Agent(agent)),
        (None, Some(token)) => return Ok(Credentials::Bearer(token)),
        (None, None) => {}
    }
    let is_ours = desk.is_some_and(|desk| same_origin(&desk.url, url) && process::desk_runs(desk.pid));
    if !is_ours {
        return Ok(Credentials::Anonymous);
    }
    let token = AdminToken::read(data_dir)?;
    Ok(token.map_or(Credentials::Anonymous, |token| Credentials::Bearer(token.expose().to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::of(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    /// No process has this number.
    const NOBODY: u32 = u32::MAX;

    /// A desk that runs: this very process.
    fn desk(url: &str) -> DeskFile {
        DeskFile {
            pid: std::process::id(),
            url: url.to_owned(),
            metrics_url: String::new(),
            database: String::new(),
            started_at: String::new(),
            version: String::new(),
        }
    }

    #[test]
    fn the_server_is_found_in_order() {
        let none = environment(&[]);
        let named = environment(&[("EXTRABOARD_URL", "http://variable")]);
        let desk = desk("http://file");
        assert_eq!(server_url(Some("http://flag"), &named, Some(&desk)), "http://flag");
        assert_eq!(server_url(None, &named, Some(&desk)), "http://variable");
        assert_eq!(server_url(None, &none, Some(&desk)), "http://file");
        assert_eq!(server_url(None, &none, None), "http://127.0.0.1:8600");
    }

    struct Case {
        agent: Option<&'static str>,
        token: &'static str,
        url: &'static str,
        desk: Option<DeskFile>,
    }

    fn check(case: &Case, expected: &Credentials) {
        let dir = tempfile::tempdir().unwrap();
        let admin = AdminToken::read_or_create(dir.path()).unwrap();
        let environment = environment(&[("EXTRABOARD_TOKEN", case.token)]);
        let found = credentials(case.agent, &environment, case.url, case.desk.as_ref(), dir.path()).unwrap();
        let shown = match found {
            Credentials::Bearer(token) if token == admin.expose() => Credentials::Bearer("admin".to_owned()),
            other => other,
        };
        assert_eq!(shown, *expected, "{}", case.url);
    }

    #[test]
    fn the_admin_token_goes_to_the_desk_of_the_data_directory() {
        let admin = Credentials::Bearer("admin".to_owned());
        let case = |url, desk_url| Case { agent: None, token: "", url, desk: Some(desk(desk_url)) };
        check(&case("http://127.0.0.1:8600", "http://127.0.0.1:8600"), &admin);
        check(&case("http://127.0.0.1:8600/", "http://127.0.0.1:8600"), &admin);
        check(&case("http://desk.lan:8600", "http://desk.lan:8600/"), &admin);
    }

    #[test]
    fn the_admin_token_goes_nowhere_else() {
        for url in [
            "http://127.0.0.1:8601",
            "http://localhost:8600",
            "https://127.0.0.1:8600",
            "http://desk.lan:8600",
            "https://evil.org",
            "http://127.0.0.1:8600@evil.org",
        ] {
            let desk = Some(desk("http://127.0.0.1:8600"));
            check(&Case { agent: None, token: "", url, desk }, &Credentials::Anonymous);
            check(&Case { agent: None, token: "", url, desk: None }, &Credentials::Anonymous);
        }
    }

    #[test]
    fn the_admin_token_is_not_for_whoever_took_the_port_of_a_desk_that_ended() {
        let url = "http://127.0.0.1:8600";
        let ended = DeskFile { pid: NOBODY, ..desk(url) };
        for desk in [Some(ended), None] {
            check(&Case { agent: None, token: "", url, desk }, &Credentials::Anonymous);
        }
    }

    #[test]
    fn a_token_that_was_named_goes_where_it_was_sent() {
        let case = Case { agent: None, token: "mine", url: "https://desk.example.org", desk: None };
        check(&case, &Credentials::Bearer("mine".to_owned()));
    }

    #[test]
    fn an_agent_sends_its_name_and_only_a_token_that_was_named() {
        let url = "http://127.0.0.1:8600";
        let case = Case { agent: Some("ada"), token: "mine", url, desk: None };
        check(&case, &Credentials::BearerAs { token: "mine".to_owned(), agent: "ada".to_owned() });
        let case = Case { agent: Some("ada"), token: "", url, desk: Some(desk(url)) };
        check(&case, &Credentials::Agent("ada".to_owned()));
    }
}
