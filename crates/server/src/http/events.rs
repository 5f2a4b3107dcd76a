//! `GET /api/events`: what happened, as server-sent events from the stored log.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use extraboard_api::event::{EventsQuery, RESET, Reset};
use extraboard_core::clock::Span;
use extraboard_core::event::EventType;
use extraboard_core::id::{Pos, ProjectId, ProjectNumber, TaskNumber};
use extraboard_store::error::Error;
use extraboard_store::verbs::{Event, EventPage, EventsAfter, PosLast, ProjectFind, TaskGet};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::app::App;
use crate::channel::channel;
use crate::convert;
use crate::error::ApiError;
use crate::extract::{KnownBy, Params};
use crate::guard::Credential;
use crate::validate::Problems;

/// How many events are read at once.
const PAGE: i64 = 500;
/// How often a silent stream says that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a client may not read before its stream is closed: it can resume.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is asked whether the client's token is still good.
const CHECKED_EVERY: Span = Span::from_secs(1);
/// How soon a client should come back if the stream breaks off, in milliseconds.
const RETRY: u32 = 1_000;

pub(crate) async fn handle(
    State(app): State<Arc<App>>,
    KnownBy(credential): KnownBy,
    headers: HeaderMap,
    Params(query): Params<EventsQuery>,
) -> Result<Response, ApiError> {
    let mut problems = Problems::default();
    let asked = asked(&mut problems, &headers, query.after);
    let types = query.event_type.as_deref().map(|list| problems.words("type", list)).unwrap_or_default();
    let task = query.task.as_deref().and_then(|text| problems.issue_ref("task", text));
    let project = query.project.as_deref().map(|text| problems.project_ref("project", text));
    problems.check()?;
    let task = match task {
        Some(task) => Some(app.desk.read(TaskGet { task }).await?.task.number),
        None => None,
    };
    let project = match project {
        Some(project) => {
            let found = app.desk.read(ProjectFind { project: project.clone() }).await?;
            let missing = || ApiError::invalid("project", Error::NoProject(project).to_string());
            let found = found.ok_or_else(missing)?;
            Some((found.number, found.id))
        }
        None => None,
    };
    let (pieces, body) = channel();
    let reader = Reader { app, pieces, credential, filter: Filter { task, project, types } };
    let pos = reader.start(asked).await?;
    let follows = query.follow.unwrap_or(true);
    tokio::spawn(async move {
        metrics::gauge!("extraboard_event_streams").increment(1);
        if let Err(End::Failed(error)) = reader.run(pos, follows).await {
            tracing::warn!("a stream of events ended: {}", error.with_cause());
        }
        metrics::gauge!("extraboard_event_streams").decrement(1);
    });
    Ok(([(header::CONTENT_TYPE, "text/event-stream")], body).into_response())
}

/// Reads where the client wants to go on: a browser that comes back says so in a header.
fn asked(problems: &mut Problems, headers: &HeaderMap, after: Option<i64>) -> Option<Pos> {
    let (field, asked) = match headers.get("last-event-id") {
        Some(value) => ("Last-Event-ID", value.to_str().ok().and_then(|text| text.parse().ok())),
        None => ("after", Some(after?)),
    };
    let asked = asked.filter(|pos| *pos >= 0);
    if asked.is_none() {
        problems.add(field, "expected a position, 0 or greater");
    }
    asked.map(Pos)
}

/// What a client wants to hear of.
#[derive(Debug)]
struct Filter {
    task: Option<TaskNumber>,
    project: Option<(ProjectNumber, ProjectId)>,
    types: Vec<EventType>,
}

impl Filter {
    /// Tells whether an event is wanted; those of other tasks are not read at all.
    fn wants(&self, event: &Event) -> bool {
        let of_type = self.types.is_empty() || self.types.contains(&event.event_type);
        let of_project = self.project.as_ref().is_none_or(|(number, id)| {
            event.project == Some(*number) || (event.task.is_none() && event.data.contains(&id.to_string()))
        });
        of_type && of_project
    }
}

/// Why a stream ended.
#[derive(Debug)]
enum End {
    /// The client has gone, or does not read.
    Gone,
    /// The log could not be read.
    Failed(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Reads the log for one client.
#[derive(Debug)]
struct Reader {
    app: Arc<App>,
    pieces: mpsc::Sender<Bytes>,
    credential: Credential,
    filter: Filter,
}

impl Reader {
    /// Returns where to begin; who does not say wants what happens from now on.
    async fn start(&self, asked: Option<Pos>) -> Result<Pos, Error> {
        match asked {
            Some(pos) => Ok(pos),
            None => self.app.desk.read(PosLast).await,
        }
    }

    /// Sends what there is, and what happens, until somebody ends it.
    async fn run(&self, mut pos: Pos, follows: bool) -> Result<(), End> {
        let mut positions = self.app.desk.positions();
        // Says where the stream begins, so that a client can resume before anything happened.
        self.send(format!("retry: {RETRY}\nid: {}\n\n", pos.0)).await?;
        let mut checked = self.app.desk.now();
        loop {
            let now = self.app.desk.now();
            if now.since(checked) >= CHECKED_EVERY {
                self.credential.check(&self.app).await.map_err(|_| End::Gone)?;
                checked = now;
            }
            let page = self.page(pos).await?;
            // Also what a slow reader has not come to yet may be forgotten.
            if is_gone(pos, &page) {
                pos = page.last;
                self.send(reset(&page)).await?;
                continue;
            }
            pos = page.pos;
            let wanted: String =
                page.events.iter().filter(|event| self.filter.wants(event)).map(frame).collect();
            if !wanted.is_empty() {
                self.send(wanted).await?;
            }
            if page.has_more() {
                continue;
            }
            if !follows {
                return Ok(());
            }
            tokio::select! {
                // The desk's own positions never end before its surfaces do.
                _ = positions.wait_for(|last| *last > pos) => {}
                () = self.app.stopping() => return Ok(()),
                () = self.pieces.closed() => return Err(End::Gone),
                ended = self.keep_alive() => return ended,
            }
        }
    }

    async fn page(&self, pos: Pos) -> Result<EventPage, Error> {
        self.app.desk.read(EventsAfter { pos, limit: PAGE, task: self.filter.task }).await
    }

    /// Says now and then that the stream is there, so that nothing between takes it for dead.
    async fn keep_alive(&self) -> Result<(), End> {
        let mut beats = tokio::time::interval(KEEP_ALIVE);
        beats.tick().await;
        loop {
            beats.tick().await;
            self.send(":\n\n".to_owned()).await?;
        }
    }

    async fn send(&self, text: String) -> Result<(), End> {
        match timeout(PATIENCE, self.pieces.send(Bytes::from(text))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(End::Gone),
        }
    }
}

/// Tells whether what the client goes on from is not there: forgotten, or of another log. Before
/// the first of all is before the oldest that is kept.
fn is_gone(pos: Pos, page: &EventPage) -> bool {
    pos != Pos(0) && (pos < page.pruned || pos > page.last)
}

fn reset(page: &EventPage) -> String {
    let reset = Reset { pos: page.last.0, oldest: page.pruned.0 + 1 };
    let data = serde_json::to_string(&reset).unwrap_or_default();
    format!("id: {}\nevent: {RESET}\ndata: {data}\n\n", page.last.0)
}

fn frame(event: &Event) -> String {
    let mut text = String::new();
    let data = serde_json::to_string(&convert::event(event)).unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = write!(text, "id: {}\nevent: {}\ndata: {data}\n\n", event.pos.0, event.event_type);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_gone_if_something_after_it_is_or_it_never_was() {
        let page = EventPage { events: Vec::new(), pos: Pos(9), last: Pos(9), pruned: Pos(4) };
        let gone: Vec<_> = (0..=10).filter(|pos| is_gone(Pos(*pos), &page)).collect();
        assert_eq!(gone, [1, 2, 3, 10]);
    }
}
