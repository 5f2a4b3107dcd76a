//! An agent that works by HTTP.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::clock::now;
use crate::http::{Answer, Connection, Request};

const NAME_HEADER: &str = "x-agent-id";

/// An agent, known by its name, with a connection of its own.
#[derive(Debug)]
pub(crate) struct Agent {
    connection: Connection,
    name: String,
}

/// How an agent asks for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// It wants to be told if there is none.
    Once,
    /// It waits for half a minute if there is none.
    Waits,
}

/// Work in an agent's hands.
#[derive(Debug)]
pub(crate) struct Handed {
    /// When the whole answer had been read.
    pub(crate) at: Instant,
    pub(crate) number: i64,
    dispatch: String,
    token: String,
}

impl Agent {
    pub(crate) async fn connect(server: SocketAddr, name: String) -> Result<Self> {
        Ok(Self { connection: Connection::open(server).await?, name })
    }

    /// Asks for work; returns nothing where there is none.
    pub(crate) async fn next(&mut self, asks: Asks) -> Result<Option<Handed>> {
        let path = match asks {
            Asks::Once => "/api/dispatch/next",
            Asks::Waits => "/api/dispatch/next?wait=30s",
        };
        let identity = (NAME_HEADER, self.name.as_str());
        let answer = self.connection.send(Request { method: "GET", path, identity, body: "" }).await?;
        let at = now();
        if answer.status == 204 {
            return Ok(None);
        }
        let Next { issue, prompt, dispatch } = read(&answer, 200)?;
        ensure!(!prompt.is_empty(), "the prompt is empty");
        Ok(Some(Handed { at, number: issue.number, dispatch: dispatch.id, token: dispatch.token }))
    }

    /// Reports that the work is done, as its holder.
    pub(crate) async fn complete(&mut self, handed: &Handed) -> Result<()> {
        let path = format!("/api/dispatches/{}/complete", handed.dispatch);
        let token = format!("Bearer {}", handed.token);
        let request =
            Request { method: "POST", path: &path, identity: ("authorization", &token), body: "{}" };
        let answer = self.connection.send(request).await?;
        read::<serde::de::IgnoredAny>(&answer, 200).map(drop)
    }

    /// Adds a task that is ready; returns its number.
    pub(crate) async fn create(&mut self, title: &str) -> Result<i64> {
        let body = json!({ "title": title, "type": "task", "status": "todo", "priority": 3 }).to_string();
        let identity = (NAME_HEADER, self.name.as_str());
        let request = Request { method: "POST", path: "/api/issues", identity, body: &body };
        let answer = self.connection.send(request).await?;
        read::<Created>(&answer, 201).map(|created| created.data.number)
    }
}

/// What is read of an answer that hands out work.
#[derive(Deserialize)]
struct Next {
    issue: Issue,
    prompt: String,
    dispatch: Ticket,
}

#[derive(Deserialize)]
struct Issue {
    number: i64,
}

#[derive(Deserialize)]
struct Ticket {
    id: String,
    token: String,
}

#[derive(Deserialize)]
struct Created {
    data: Issue,
}

fn read<T: DeserializeOwned>(answer: &Answer, expected: u16) -> Result<T> {
    if answer.status != expected {
        bail!("answered {}: {}", answer.status, String::from_utf8_lossy(&answer.body));
    }
    serde_json::from_slice(&answer.body).context("cannot read an answer")
}
