//! A queue of requests that search with the same analyst, one at a time.
//!
//! A new request sets the stop flag of the running search, and a search takes at most [`MAX_TURN`] while other
//! requests wait, so no request waits long. The analyst keeps its results, so a repeated request continues the
//! search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::reply::ApiError;
use konane::search::run::Limits;

/// Maximum time of a search while other requests wait.
const MAX_TURN: Duration = Duration::from_millis(20);

/// An analyst, created by the first request, and the requests that wait for it.
pub struct TurnQueue<A> {
    analyst: Arc<Mutex<Option<A>>>,
    create: Arc<dyn Fn() -> Result<A, ApiError> + Send + Sync>,
    state: Arc<QueueState>,
}

#[derive(Default)]
struct QueueState {
    waiting: AtomicUsize,
    /// Stop flag of the running search.
    stop: AtomicBool,
    /// True if the program is ending. Searches then end immediately.
    ending: AtomicBool,
}

/// A waiting request. Dropped when its turn begins or the client closes the connection.
struct QueuedRequest<'a>(&'a QueueState);

impl Drop for QueuedRequest<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The turn of a request, with the limits of its search.
pub struct Turn {
    state: Arc<QueueState>,
    max_time: Duration,
}

impl Turn {
    /// Returns the limits of a search that begins now and takes `time`, or less if others wait.
    pub fn limits(&self, time: Duration) -> Limits<'_> {
        let deadline = Some(Instant::now() + time.min(self.max_time));
        Limits { deadline, stop: Some(&self.state.stop), ..Limits::default() }
    }

    /// Returns the limits of a search that other requests do not interrupt.
    pub fn uninterrupted(&self) -> Limits<'_> {
        Limits { stop: Some(&self.state.ending), ..Limits::default() }
    }

    /// Returns true if other requests wait.
    pub fn is_over(&self) -> bool {
        self.state.stop.load(Ordering::Relaxed)
    }
}

impl<A: Send + 'static> TurnQueue<A> {
    /// Returns a queue. `create` is called if there is no analyst.
    pub fn new(
        analyst: Option<A>,
        create: impl Fn() -> Result<A, ApiError> + Send + Sync + 'static,
    ) -> Self {
        let (analyst, create) = (Arc::new(Mutex::new(analyst)), Arc::new(create));
        TurnQueue { analyst, create, state: Arc::default() }
    }

    /// Waits for a turn and calls `work` with the analyst on a thread that may block.
    pub async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut A, &Turn) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.state.waiting.fetch_add(1, Ordering::Relaxed);
        let queued = QueuedRequest(&self.state);
        self.state.stop.store(true, Ordering::Relaxed);
        let mut slot = Arc::clone(&self.analyst).lock_owned().await;
        drop(queued);
        let (state, create) = (Arc::clone(&self.state), Arc::clone(&self.create));
        let has_waiting = state.waiting.load(Ordering::Relaxed) > 0;
        state.stop.store(state.ending.load(Ordering::Relaxed), Ordering::Relaxed);
        let turn = Turn { state, max_time: if has_waiting { MAX_TURN } else { Duration::MAX } };
        let done = spawn_blocking(move || {
            // If `work` panics, the analyst is not put back, because its state is undefined.
            let mut analyst = slot.take().map_or_else(|| create(), Ok)?;
            let result = work(&mut analyst, &turn);
            *slot = Some(analyst);
            result
        });
        done.await.map_err(ApiError::failed)?
    }

    /// Ends the running search, and all later ones when they begin.
    pub fn stop(&self) {
        self.state.ending.store(true, Ordering::Relaxed);
        self.state.stop.store(true, Ordering::Relaxed);
    }

    /// Returns the analyst unless a request is using it.
    pub fn take(&self) -> Option<A> {
        self.analyst.try_lock().ok()?.take()
    }
}
