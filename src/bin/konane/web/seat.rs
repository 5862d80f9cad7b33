//! Whose turn it is to search with an analyst.
//!
//! Requests come one after the other, and none waits long: whoever comes sets the stop flag of
//! whoever searches, and while others wait, a search takes [`SLICE`] at most. What was found until
//! then is kept in the analyst, so that who asks again gets further.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex as Queue;
use tokio::task::spawn_blocking;

use super::reply::Problem;
use konane::search::run::Limits;

/// What a search may take while others wait.
const SLICE: Duration = Duration::from_millis(20);

/// An analyst, made when it is first asked for, and those who wait for it.
pub struct Seat<A> {
    analyst: Arc<Queue<Option<A>>>,
    calls: Arc<Calls>,
}

#[derive(Default)]
struct Calls {
    waiting: AtomicUsize,
    /// Ends the search of whoever has the analyst.
    stop: AtomicBool,
    /// There will be no turn any more.
    ending: AtomicBool,
}

/// One of those who wait, until it is dropped: with its request, if the client goes away.
struct Waiting<'a>(&'a Calls);

impl<'a> Waiting<'a> {
    fn new(calls: &'a Calls) -> Self {
        calls.waiting.fetch_add(1, Ordering::Relaxed);
        calls.stop.store(true, Ordering::Relaxed);
        Waiting(calls)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whoever has the analyst, and how long it may search.
pub struct Turn {
    calls: Arc<Calls>,
    most: Duration,
}

impl Turn {
    /// The limits of a search that begins now and takes as long as this, or less if others wait.
    pub fn limits(&self, time: Duration) -> Limits<'_> {
        let deadline = Some(Instant::now() + time.min(self.most));
        Limits { deadline, stop: Some(&self.calls.stop), ..Limits::default() }
    }

    /// Whether others wait.
    pub fn is_over(&self) -> bool {
        self.calls.stop.load(Ordering::Relaxed)
    }
}

impl<A> Default for Seat<A> {
    fn default() -> Self {
        Seat { analyst: Arc::default(), calls: Arc::default() }
    }
}

impl<A: Send + 'static> Seat<A> {
    /// With an analyst.
    pub fn of(analyst: A) -> Self {
        Seat { analyst: Arc::new(Queue::new(Some(analyst))), calls: Arc::default() }
    }

    /// Does some work with the analyst, on a thread where it may take its time.
    pub async fn with<T: Send + 'static>(
        &self,
        make: impl FnOnce() -> Result<A, Problem> + Send + 'static,
        work: impl FnOnce(&mut A, &Turn) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let waiting = Waiting::new(&self.calls);
        let mut seat = Arc::clone(&self.analyst).lock_owned().await;
        drop(waiting);
        let calls = Arc::clone(&self.calls);
        let crowded = calls.waiting.load(Ordering::Relaxed) > 0;
        calls.stop.store(calls.ending.load(Ordering::Relaxed), Ordering::Relaxed);
        let turn = Turn { calls, most: if crowded { SLICE } else { Duration::MAX } };
        let done = spawn_blocking(move || {
            // Not put back if the work panics: nobody knows then what it is worth.
            let mut analyst = seat.take().map_or_else(make, Ok)?;
            let result = work(&mut analyst, &turn);
            *seat = Some(analyst);
            result
        });
        done.await.map_err(Problem::failed)?
    }

    /// Ends the search, and all that come.
    pub fn stop(&self) {
        self.calls.ending.store(true, Ordering::Relaxed);
        self.calls.stop.store(true, Ordering::Relaxed);
    }

    /// The analyst, unless somebody has it.
    pub fn take(&self) -> Option<A> {
        self.analyst.try_lock().ok()?.take()
    }
}
