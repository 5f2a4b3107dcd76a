//! What every command is handed: the global flags, the environment, the time, and standard output.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use extraboard_api::client::Client;
use jiff::Timestamp;

use crate::admin_token::AdminTokenError;
use crate::config::{self, Environment, Flags, Loaded};
use crate::connect;
use crate::desk_file::DeskFile;
use crate::error::{CliError, Kind};
use crate::output::{Form, Output, Style, talk};

/// The flags that every command takes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Talk to the desk at this URL
    #[arg(long, global = true, value_name = "URL")]
    server: Option<String>,

    /// Keep or look for the desk's files in this directory
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<String>,

    /// Read the configuration from this file
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,

    /// Say more; twice for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// What a command works with.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) out: Output,
    /// When the command started.
    pub(crate) now: Timestamp,
    global: Global,
    environment: Environment,
}

/// The desk that a command talks to.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) client: Client,
    pub(crate) url: String,
    /// What a running desk left in the data directory, if it is the one at `url`.
    pub(crate) file: Option<DeskFile>,
}

impl Context {
    pub(crate) fn new(global: Global, environment: Environment, now: Timestamp) -> Self {
        let form = if global.json { Form::Json } else { Form::Text };
        let out = Output::new(form, Style::of_stdout(environment.allows_color()));
        Self { out, now, global, environment }
    }

    /// Reads the configuration with the global flags over it.
    pub(crate) fn load(&self) -> Result<Loaded, CliError> {
        self.load_with(Flags::default())
    }

    /// Reads the configuration with a command's own flags and the global ones over it.
    pub(crate) fn load_with(&self, flags: Flags) -> Result<Loaded, CliError> {
        let flags = Flags {
            config: self.global.config.clone(),
            data_dir: self.global.data_dir.clone(),
            verbose: self.global.verbose,
            ..flags
        };
        Ok(config::load(&flags, &self.environment)?)
    }

    /// Returns how log lines on standard error may look.
    pub(crate) fn log_style(&self) -> Style {
        Style::of_stderr(self.environment.allows_color())
    }

    /// Returns how to call this program so that it finds `data_dir`: that is where the token is.
    pub(crate) fn invocation(&self, data_dir: &Path) -> String {
        if self.environment.default_data_dir().is_some_and(|default| default == data_dir) {
            return "xb".to_owned();
        }
        format!("xb --data-dir {}", shell_word(&data_dir.display().to_string()))
    }

    /// Returns how to call this program again, from here, so that it finds the same data directory.
    pub(crate) fn invocation_again(&self) -> String {
        match &self.global.data_dir {
            Some(given) => format!("xb --data-dir {}", shell_word(given)),
            None => "xb".to_owned(),
        }
    }

    /// Returns the project that is meant where a command names none.
    pub(crate) fn project(&self) -> Option<&str> {
        self.environment.project()
    }

    /// Returns the version of the prompt that this program is called by a command for.
    pub(crate) fn prompt_version(&self) -> Option<&str> {
        self.environment.prompt_version()
    }

    /// Says something to whoever watches: on a terminal, or where more was asked for.
    pub(crate) fn remark(&self, text: &str) {
        if self.global.verbose > 0 || io::stderr().is_terminal() {
            talk(text);
        }
    }

    /// Returns the home directory.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.environment.home()
    }

    /// Returns the flags with which this program, called from anywhere, finds the same desk.
    pub(crate) fn flags_to_the_desk(&self) -> Vec<String> {
        let data_dir = self.global.data_dir.as_deref().map(|given| {
            let whole = std::path::absolute(given).unwrap_or_else(|_| PathBuf::from(given));
            whole.display().to_string()
        });
        let server = self.global.server.clone().map(|url| ["--server".to_owned(), url]);
        let data_dir = data_dir.map(|folder| ["--data-dir".to_owned(), folder]);
        server.into_iter().chain(data_dir).flatten().collect()
    }

    /// Returns the desk to talk to as whoever the token says.
    pub(crate) fn desk(&self) -> Result<Desk, CliError> {
        self.desk_as(None)
    }

    /// Returns the desk to talk to, as the named agent if there is a name.
    pub(crate) fn desk_as(&self, agent: Option<&AgentName>) -> Result<Desk, CliError> {
        let data_dir = self.load()?.config.data_dir;
        let file =
            DeskFile::read(&data_dir).map_err(|error| CliError::io("cannot read desk.json", &error))?;
        let names_server = self.global.server.is_some() || self.environment.server_url().is_some();
        if self.global.data_dir.is_some() && file.is_none() && !names_server {
            // Whoever names a directory means its desk, not the one at the default address.
            let none = format!("no desk is running in {}", data_dir.display());
            let start = format!("start one with `{} up`", self.invocation_again());
            return Err(CliError::new(Kind::NoDesk, none).hint(start));
        }
        let url = connect::server_url(self.global.server.as_deref(), &self.environment, file.as_ref());
        let agent = agent.map(|name| name.0.as_str());
        let credentials = connect::credentials(agent, &self.environment, &url, file.as_ref(), &data_dir)?;
        if self.global.verbose > 0 {
            talk(&format!("xb: asking {url} as {credentials:?}"));
        }
        let client = Client::new(&url, &credentials)?;
        let file = file.filter(|file| file.url == url);
        Ok(Desk { client, url, file })
    }
}

/// The name of an agent: 1 to 100 printable characters, no spaces.
#[derive(Debug, Clone)]
pub(crate) struct AgentName(String);

impl AgentName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for AgentName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_name = (1..=100).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_name {
            Ok(Self(text.to_owned()))
        } else {
            Err("expected 1 to 100 printable characters without spaces")
        }
    }
}

/// Quotes what a shell would take apart.
fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:@%,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

impl From<AdminTokenError> for CliError {
    fn from(error: AdminTokenError) -> Self {
        let kind = match error {
            AdminTokenError::Exposed(_) | AdminTokenError::Malformed(_) => Kind::Usage,
            AdminTokenError::Read { .. } | AdminTokenError::Write { .. } => Kind::Failed,
        };
        Self::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn an_invocation_names_the_data_directory_unless_it_is_the_default_one() {
        let cli = Cli::try_parse_from(["xb", "list"]).unwrap();
        let environment = Environment::of([("HOME".to_owned(), "/home/ada".to_owned())]);
        let ctx = Context::new(cli.global, environment, Timestamp::UNIX_EPOCH);
        let check = |data_dir: &str, expected: &str| {
            assert_eq!(ctx.invocation(Path::new(data_dir)), expected);
        };
        check("/home/ada/.local/share/extraboard", "xb");
        check("/srv/desk", "xb --data-dir /srv/desk");
        check("/srv/Ada's desk", r"xb --data-dir '/srv/Ada'\''s desk'");
    }

    #[test]
    fn an_invocation_for_here_names_the_data_directory_as_it_was_given() {
        let check = |words: &[&str], expected: &str| {
            let cli = Cli::try_parse_from(words).unwrap();
            let environment = Environment::of([("EXTRABOARD_DATA_DIR".to_owned(), "/srv".to_owned())]);
            let ctx = Context::new(cli.global, environment, Timestamp::UNIX_EPOCH);
            assert_eq!(ctx.invocation_again(), expected);
        };
        check(&["xb", "list"], "xb");
        check(&["xb", "list", "--data-dir", "desk"], "xb --data-dir desk");
        check(&["xb", "--data-dir", "my desk", "list"], "xb --data-dir 'my desk'");
    }
}
