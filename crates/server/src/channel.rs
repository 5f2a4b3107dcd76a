//! A body that somebody writes piece by piece.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use http_body::Frame;
use tokio::sync::mpsc;

/// How many pieces may wait for the client.
const PIECES_MAX: usize = 16;

/// Makes a body, and where its pieces go.
pub(crate) fn channel() -> (mpsc::Sender<Bytes>, Body) {
    let (pieces, written) = mpsc::channel(PIECES_MAX);
    (pieces, Body::new(Written(written)))
}

struct Written(mpsc::Receiver<Bytes>);

impl HttpBody for Written {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}
