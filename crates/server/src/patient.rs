//! A connection that fails if its client does not read for long.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// How long a client may not read what is sent to it.
const PATIENCE: Duration = Duration::from_mins(1);

/// Fails writes that wait too long, so that whoever does not read holds nothing up.
#[derive(Debug)]
pub(crate) struct Patient<S> {
    stream: S,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self { stream, stalled: None }
    }

    /// Passes on how a write went, unless it has waited for too long.
    fn judge<T>(&mut self, context: &mut Context<'_>, went: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if went.is_ready() {
            self.stalled = None;
            return went;
        }
        match self.stalled.get_or_insert_with(patience).as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "what is waited for is that nothing happens")]
fn patience() -> Pin<Box<Sleep>> {
    Box::pin(tokio::time::sleep(PATIENCE))
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let went = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, went)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let went = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judge(context, went)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let went = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, went)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let went = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, went)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that reads or does not.
    struct Client {
        reads: bool,
    }

    impl AsyncWrite for Client {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            if self.reads { Poll::Ready(Ok(bytes.len())) } else { Poll::Pending }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    async fn write(stream: &mut Patient<Client>) -> io::Result<usize> {
        std::future::poll_fn(|context| Pin::new(&mut *stream).poll_write(context, b"text")).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_given_up() {
        let mut stream = Patient::new(Client { reads: true });
        assert_eq!(write(&mut stream).await.unwrap(), 4);
        stream.stream.reads = false;
        let begun = tokio::time::Instant::now();
        assert_eq!(write(&mut stream).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), PATIENCE.as_secs());
    }
}
