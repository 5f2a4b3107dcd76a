//! A stream of server-sent events, read as it comes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use super::request::Request;

/// How long a stream may be silent before a test gives up: it says that it is there more often.
const PATIENCE: Duration = Duration::from_secs(20);

/// One frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Frame {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) data: Value,
}

impl Frame {
    pub(crate) fn pos(&self) -> i64 {
        self.id.parse().unwrap()
    }
}

/// An open stream; closed when dropped.
#[derive(Debug)]
pub(crate) struct Stream {
    reader: BufReader<TcpStream>,
    text: String,
}

impl Stream {
    /// Opens a stream that must be one.
    #[track_caller]
    pub(crate) fn open(request: &Request, to: SocketAddr) -> Self {
        let mut connection = TcpStream::connect(to).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection.write_all(&request.bytes(to)).unwrap();
        let mut reader = BufReader::new(connection);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        assert!(head.contains("text/event-stream"), "{head}");
        Self { reader, text: String::new() }
    }

    /// Waits for the next event; nothing if the stream ends or breaks off.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        loop {
            while let Some((frame, rest)) = self.text.split_once("\n\n") {
                let (frame, rest) = (parse(frame), rest.to_owned());
                self.text = rest;
                if !frame.event.is_empty() {
                    return Some(frame);
                }
            }
            let chunk = self.chunk()?;
            self.text.push_str(&chunk);
        }
    }

    fn chunk(&mut self) -> Option<String> {
        let mut size = String::new();
        self.reader.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| *size > 0)?;
        let mut bytes = vec![0; size + 2];
        self.reader.read_exact(&mut bytes).ok()?;
        String::from_utf8(bytes[..size].to_vec()).ok()
    }
}

fn parse(text: &str) -> Frame {
    let mut frame = Frame::default();
    for (field, value) in text.lines().filter_map(|line| line.split_once(": ")) {
        match field {
            "id" => value.clone_into(&mut frame.id),
            "event" => value.clone_into(&mut frame.event),
            "data" => frame.data = serde_json::from_str(value).unwrap(),
            _ => {}
        }
    }
    frame
}
