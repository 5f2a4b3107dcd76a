//! A small HTTP/1.1 client: one connection that is kept, one request at a time.
//!
//! Knows no more than this server's answers need: a status, and a body whose length is told. With the client of
//! the `api` crate, which is for all cases, there were a quarter fewer pairs a second, and on a machine that client
//! and server share it is the server that should be measured.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The largest answer that is read.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    server: SocketAddr,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    /// The header that says who asks.
    pub(crate) identity: (&'a str, &'a str),
    /// JSON, if anything.
    pub(crate) body: &'a str,
}

/// What was answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(server: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(server).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, server })
    }

    /// Sends a request in one piece and reads the whole answer.
    pub(crate) async fn send(&mut self, request: Request<'_>) -> Result<Answer> {
        self.stream.write_all(self.text(request).as_bytes()).await?;
        let mut bytes = Vec::with_capacity(4096);
        let head = loop {
            self.read_more(&mut bytes).await?;
            if let Some(end) = bytes.windows(HEAD_END.len()).position(|window| window == HEAD_END) {
                break Head::read(&bytes[..end])?;
            }
        };
        let all = head.bytes + head.body_bytes;
        while bytes.len() < all {
            self.read_more(&mut bytes).await?;
        }
        ensure!(bytes.len() == all, "the server sent more than its answer");
        Ok(Answer { status: head.status, body: bytes.split_off(head.bytes) })
    }

    fn text(&self, request: Request<'_>) -> String {
        let Request { method, path, identity: (name, value), body } = request;
        let head = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n{name}: {value}\r\n", self.server);
        if body.is_empty() {
            return head + "\r\n";
        }
        let length = body.len();
        format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
    }

    async fn read_more(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        ensure!(bytes.len() < ANSWER_BYTES_MAX, "the answer is too long");
        ensure!(self.stream.read_buf(bytes).await? > 0, "the server closed the connection");
        Ok(())
    }
}

/// What stands before the body.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    /// Its own length, with the empty line.
    bytes: usize,
    body_bytes: usize,
}

impl Head {
    fn read(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes)?;
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.with_context(|| format!("no answer: {first:?}"))?;
        let mut body_bytes = None;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            match name.to_ascii_lowercase().as_str() {
                "content-length" => body_bytes = Some(value.trim().parse()?),
                "transfer-encoding" => bail!("the answer comes in pieces, which are not read here"),
                "connection" => ensure!(value.trim() != "close", "the server will close the connection"),
                _ => {}
            }
        }
        let body_bytes = match (status, body_bytes) {
            (204, None) => 0,
            (_, told) => told.context("the answer does not tell its length")?,
        };
        Ok(Self { status, bytes: bytes.len() + HEAD_END.len(), body_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_tells_status_and_length() {
        let text = b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\ncache-control: no-store";
        let head = Head::read(text).unwrap();
        assert_eq!(head, Head { status: 201, bytes: text.len() + 4, body_bytes: 12 });
        assert_eq!(Head::read(b"HTTP/1.1 204 No Content").unwrap().body_bytes, 0);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let pieces = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked";
        let closing = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close";
        for text in ["", "HTTP/2 200", "HTTP/1.1 200 OK", pieces, closing] {
            assert!(Head::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
