//! HTTP as bytes: one request per connection, so that nothing is tidied on the way and a lost answer is seen
//! as lost.

use std::fmt;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long an answer may take before it counts as lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// How much of a body a failing test prints.
const SHOWN_CHARS_MAX: usize = 300;

/// One request, sent as it stands.
#[derive(Clone)]
pub(crate) struct Request {
    method: String,
    path: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

/// A whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// There was no whole answer: whether the request took effect is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lost;

pub(crate) fn get(path: &str) -> Request {
    Request::new("GET", path)
}

pub(crate) fn delete(path: &str) -> Request {
    Request::new("DELETE", path)
}

pub(crate) fn post(path: &str, body: &Value) -> Request {
    Request::new("POST", path).json(body)
}

pub(crate) fn patch(path: &str, body: &Value) -> Request {
    Request::new("PATCH", path).json(body)
}

pub(crate) fn put(path: &str, body: &Value) -> Request {
    Request::new("PUT", path).json(body)
}

impl Request {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    /// Sets a header; a later value replaces an earlier one.
    pub(crate) fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(crate) fn agent(self, name: &str) -> Self {
        self.header("x-agent-id", name)
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    /// Sends these bytes and calls them JSON, whatever they are.
    pub(crate) fn raw(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        self.header("content-type", "application/json")
    }

    fn json(self, body: &Value) -> Self {
        if body.is_null() { self } else { self.raw(body.to_string()) }
    }

    /// Sends the request and reads the answer.
    pub(crate) fn send(&self, to: SocketAddr) -> Result<Reply, Lost> {
        let mut stream = TcpStream::connect(to).map_err(|_| Lost)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|_| Lost)?;
        stream.set_nodelay(true).map_err(|_| Lost)?;
        // A server that has heard enough may answer and close before everything is written.
        let _ = stream.write_all(&self.bytes(to));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let reply = Reply::parse(&answer).ok_or(Lost)?;
        let is_whole = self.method == "HEAD" || reply.is_whole();
        if is_whole { Ok(reply) } else { Err(Lost) }
    }

    /// Sends the request and reads whatever comes until the server closes: a stream has no length.
    pub(crate) fn send_and_read(&self, to: SocketAddr) -> Option<Reply> {
        let mut stream = TcpStream::connect(to).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.write_all(&self.bytes(to)).ok()?;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Reply::parse(&answer)
    }

    /// Sends the request and is gone before there can be an answer.
    pub(crate) fn send_and_leave(&self, to: SocketAddr) {
        let mut stream = TcpStream::connect(to).unwrap();
        stream.write_all(&self.bytes(to)).unwrap();
    }

    pub(super) fn bytes(&self, to: SocketAddr) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.method, self.path).into_bytes();
        let mut line = |name: &str, value: &[u8]| {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        };
        if !self.headers.iter().any(|(name, _)| name == "host") {
            line("host", to.to_string().as_bytes());
        }
        line("connection", b"close");
        line("content-length", self.body.len().to_string().as_bytes());
        for (name, value) in &self.headers {
            line(name, value);
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        for (name, value) in &self.headers {
            write!(f, " {name}={:?}", String::from_utf8_lossy(value))?;
        }
        let body: String = String::from_utf8_lossy(&self.body).chars().take(SHOWN_CHARS_MAX).collect();
        write!(f, " {body}")
    }
}

impl Reply {
    /// Reads an answer; one whose head was cut off is none.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Some(Self { status, headers, body: bytes[end + 4..].to_vec() })
    }

    /// Tells whether the body is as long as was promised.
    fn is_whole(&self) -> bool {
        let promised = self.header("content-length").map_or(Ok(0), str::parse);
        promised == Ok(self.body.len())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{} {}: {error}", self.status, self.text()))
    }

    /// Returns the body of an answer that must have this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    /// Checks that this is the refusal `code`, in the shape of every refusal, and returns it.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["code"], code, "{body}");
        assert!(body["error"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{body}");
        let known = ["error", "code", "details", "order"];
        let fields = body.as_object().expect("an error is an object");
        assert!(fields.keys().all(|field| known.contains(&field.as_str())), "{body}");
        assert_eq!(self.header("content-type"), Some("application/json"));
        body
    }
}
