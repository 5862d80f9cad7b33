//! Events of a search, and streams of them as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::response::sse::{Event, Sse};
use futures_util::stream::unfold;
use serde::Serialize;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use super::reply::ApiError;

/// Maximum number of concurrent streams. Each occupies a connection; other requests need connections, too.
pub const MAX_STREAMS: usize = 16;

/// Maximum number of stored events. When it is reached, every second one is deleted.
const MAX_EVENTS: usize = 1024;

/// Time without an event after which a comment is sent. Sending fails if the client has disconnected.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Events of a search since its start.
#[derive(Debug, Default)]
pub struct EventHistory {
    /// Events with their numbers, which start at 1.
    events: Vec<(u64, Event)>,
    /// Number of the last event.
    pub last: u64,
    /// True if the last event has been added.
    pub ended: bool,
}

impl EventHistory {
    /// Adds an event.
    pub fn push(&mut self, name: &str, data: &impl Serialize) {
        if self.events.len() >= MAX_EVENTS {
            let mut odd = false;
            self.events.retain(|_| {
                odd = !odd;
                odd
            });
        }
        self.last += 1;
        let event = Event::default().id(self.last.to_string()).event(name).json_data(data);
        self.events.push((self.last, event.expect("texts and numbers")));
    }

    /// Returns the first event after the one with this number, and its number.
    fn after(&self, number: u64) -> Option<(u64, Event)> {
        self.events.get(self.events.partition_point(|&(other, _)| other <= number)).cloned()
    }
}

/// Returns a stream of the events after `last_seen` until the end of the search. `permits` limits the
/// number of streams.
pub fn stream(
    history: watch::Receiver<EventHistory>,
    last_seen: u64,
    permits: &Arc<Semaphore>,
) -> Result<impl IntoResponse + use<>, ApiError> {
    let Ok(permit) = Arc::clone(permits).try_acquire_owned() else {
        let text = "too many event streams are open; close other pages";
        return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, text));
    };
    let last_seen = last_seen.min(history.borrow().last);
    let next = async |(mut history, last_seen, permit): (watch::Receiver<EventHistory>, u64, _)| {
        let changed = history.wait_for(|history| history.last > last_seen || history.ended);
        let (number, event) = match timeout(KEEP_ALIVE, changed).await {
            // The channel is closed only after the last event.
            Ok(changed) => changed.ok()?.after(last_seen)?,
            Err(_) => (last_seen, Event::DEFAULT_KEEP_ALIVE),
        };
        Some((Ok::<_, Infallible>(event), (history, number, permit)))
    };
    Ok(Sse::new(unfold((history, last_seen, permit), next)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_stored_from_the_first_one_and_long_histories_are_thinned() {
        let mut history = EventHistory::default();
        assert!(history.after(0).is_none());
        for number in 1..=10_000 {
            history.push("progress", &[number]);
            // A stream that is read continuously misses no event.
            assert_eq!(history.after(number - 1).unwrap().0, number);
            assert!(history.after(number).is_none());
        }
        let numbers: Vec<_> = history.events.iter().map(|&(number, _)| number).collect();
        assert!((MAX_EVENTS / 2..=MAX_EVENTS).contains(&numbers.len()));
        assert!(numbers.is_sorted() && numbers[0] == 1);
        assert_eq!((numbers.last(), history.last), (Some(&10_000), 10_000));
    }
}
