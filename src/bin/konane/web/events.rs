//! Streams of server-sent events.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use hyper::body::Frame;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::reply::Problem;
use super::search::Search;

/// Most streams at a time: they hold connections, and other requests need some, too.
pub const STREAMS: usize = 16;

/// After so long a silence a comment is sent, which finds out whether anybody still listens.
const SILENCE: Duration = Duration::from_secs(15);

/// The body of an answer, from a channel.
struct Stream {
    receiver: Receiver<Bytes>,
    _permit: OwnedSemaphorePermit,
}

impl hyper::body::Body for Stream {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.receiver.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Everything that happened in a search after the event with this number, and what happens until
/// its end. `free` counts the streams that may be opened.
pub fn stream(search: Arc<Search>, heard: u64, free: &Arc<Semaphore>) -> Result<Body, Problem> {
    let Ok(permit) = Arc::clone(free).try_acquire_owned() else {
        let text = "too many streams of events are open; close other pages";
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, text));
    };
    let (sender, receiver) = channel(1);
    tokio::spawn(async move {
        let (mut heard, mut changes) = (heard, search.history.changes());
        loop {
            // Before the look, so that nothing is missed.
            changes.mark_unchanged();
            let (text, last, ended) = search.history.since(heard);
            heard = last;
            // Nobody listens any more.
            if !text.is_empty() && sender.send(text.into()).await.is_err() || ended {
                return;
            }
            if timeout(SILENCE, changes.changed()).await.is_err()
                && sender.send(Bytes::from_static(b":\n\n")).await.is_err()
            {
                return;
            }
        }
    });
    Ok(Body::new(Stream { receiver, _permit: permit }))
}
