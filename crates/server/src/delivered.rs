//! An answer that hands out work: whatever is not written is given back.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use extraboard_desk::Delivery;
use extraboard_store::error::Error;
use http_body::{Frame, SizeHint};
use serde::Serialize;

use crate::error::ApiError;

/// Answers with JSON that hands out work.
pub(crate) fn json<T: Serialize>(answer: &T, delivery: Delivery) -> Result<Response, ApiError> {
    let bytes = serde_json::to_vec(answer).map_err(|error| Error::Broken(error.to_string()))?;
    let body = Undelivered { bytes: Some(Bytes::from(bytes)), delivery: Some(delivery) };
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], Body::new(body)).into_response())
}

/// A body that is not written yet. If the connection ends before it is asked for, the
/// delivery is dropped with it.
struct Undelivered {
    bytes: Option<Bytes>,
    delivery: Option<Delivery>,
}

impl HttpBody for Undelivered {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(delivery) = self.delivery.take() {
            delivery.take();
        }
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
