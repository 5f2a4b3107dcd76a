//! The stream of events.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::{Method, Response};

use super::transport::send;
use super::{Client, ClientError};
use crate::event::{Event, EventsQuery, RESET, Reset};

/// As long as anybody listens.
const STREAM_TIMEOUT: Duration = Duration::from_hours(365 * 24);

/// What a stream of events tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// Something happened.
    Event(Box<Event>),
    /// Events were missed; it goes on from here.
    Reset(Reset),
}

/// Events as they come.
#[derive(Debug)]
pub struct EventStream {
    response: Response,
    frames: Frames,
    told: VecDeque<(Option<i64>, Told)>,
    pos: Option<i64>,
}

impl Client {
    /// Reads events, and goes on with what happens unless the query says otherwise.
    pub async fn events(&self, query: &EventsQuery) -> Result<EventStream, ClientError> {
        let request = self.request(Method::GET, &["events"]).query(query);
        let request = request.header("accept", "text/event-stream").timeout(STREAM_TIMEOUT);
        let response = send(request).await?;
        Ok(EventStream { response, frames: Frames::default(), told: VecDeque::new(), pos: None })
    }
}

impl EventStream {
    /// Waits for what is told next; nothing if the desk ended the stream.
    pub async fn next(&mut self) -> Result<Option<Told>, ClientError> {
        loop {
            if let Some((pos, told)) = self.told.pop_front() {
                self.pos = pos.or(self.pos);
                return Ok(Some(told));
            }
            let url = self.response.url().to_string();
            let broken = |source| ClientError::Unreachable { url, source };
            let Some(chunk) = self.response.chunk().await.map_err(broken)? else { return Ok(None) };
            for frame in self.frames.feed(&chunk) {
                match self.read(&frame)? {
                    Some(told) => self.told.push_back((frame.pos(), told)),
                    // The greeting says where the stream begins.
                    None if self.told.is_empty() => self.pos = frame.pos().or(self.pos),
                    None => {}
                }
            }
        }
    }

    /// Returns how far the reader has come: what to ask for after the stream broke off.
    pub const fn pos(&self) -> Option<i64> {
        self.pos
    }

    fn read(&self, frame: &Frame) -> Result<Option<Told>, ClientError> {
        let unexpected = |_| ClientError::Unexpected {
            url: self.response.url().to_string(),
            status: self.response.status().as_u16(),
            excerpt: frame.data.chars().take(200).collect(),
        };
        if frame.data.is_empty() {
            return Ok(None);
        }
        if frame.event == RESET {
            return serde_json::from_str(&frame.data)
                .map(|reset| Some(Told::Reset(reset)))
                .map_err(unexpected);
        }
        let event = serde_json::from_str(&frame.data).map_err(unexpected)?;
        Ok(Some(Told::Event(Box::new(event))))
    }
}

/// One frame of a stream: what it is called and what it says.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Frame {
    id: String,
    event: String,
    data: String,
}

/// Puts frames together from whatever pieces arrive.
#[derive(Debug, Default)]
struct Frames {
    line: Vec<u8>,
    frame: Frame,
}

impl Frames {
    fn feed(&mut self, bytes: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = String::from_utf8_lossy(&line);
            match line.trim_end_matches('\r') {
                "" => frames.push(std::mem::take(&mut self.frame)),
                line => self.frame.read(line),
            }
        }
        frames
    }
}

impl Frame {
    fn pos(&self) -> Option<i64> {
        self.id.parse().ok()
    }

    /// Reads a field; comments and what is not known are left out.
    fn read(&mut self, line: &str) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => value.clone_into(&mut self.id),
            "event" => value.clone_into(&mut self.event),
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_put_together_from_any_pieces() {
        let text =
            "retry: 1000\n\nid: 1\nevent: task.created\ndata: {\"a\":1}\n\n: \n\ndata: x\r\ndata: y\r\n\r\n";
        let frame = |id: &str, event: &str, data: &str| Frame {
            id: id.to_owned(),
            event: event.to_owned(),
            data: data.to_owned(),
        };
        let expected = [
            frame("", "", ""),
            frame("1", "task.created", r#"{"a":1}"#),
            frame("", "", ""),
            frame("", "", "x\ny"),
        ];
        for size in [1, 2, 7, text.len()] {
            let mut frames = Frames::default();
            let read: Vec<_> = text.as_bytes().chunks(size).flat_map(|piece| frames.feed(piece)).collect();
            assert_eq!(read, expected, "in pieces of {size}");
        }
    }
}
