//! Progress of long calls. The worker thread stores it in [`Latest`]; the calling thread passes it to the caller's
//! function by [`ProgressReporter`].

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use konane::search::numbers::Number;
use konane::{Move, Observer, Progress, TableUse};
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::Failure;
use crate::interrupt::SIGNAL_INTERVAL;
use crate::options::ProgressCallback;
use crate::results;

/// Latest progress that has not been reported. The lock is held only for a copy.
#[derive(Debug)]
pub struct Latest<T>(Mutex<Option<T>>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Latest(Mutex::new(None))
    }
}

impl<T> Latest<T> {
    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the value.
    pub fn put(&self, value: T) {
        *self.lock() = Some(value);
    }

    /// Modifies the value in place.
    pub fn change(&self, change: impl FnOnce(&mut Option<T>)) {
        change(&mut self.lock());
    }

    fn take(&self) -> Option<T> {
        self.lock().take()
    }
}

/// Observer of searches of Konane.
impl Observer for &Latest<Progress<'static>> {
    fn progress(&mut self, progress: &Progress) {
        self.put(progress.without_children());
    }
}

/// Observer of searches of Sprouts. It adds the table's capacity, which their progress lacks.
pub struct SproutsObserver<'a> {
    /// Receives the progress.
    pub latest: &'a Latest<Progress<'static>>,
    /// Entries that fit into the table.
    pub table_capacity: u64,
}

impl Observer for SproutsObserver<'_> {
    fn progress(&mut self, progress: &Progress) {
        let table_capacity = self.table_capacity;
        self.latest.put(Progress { table_capacity, ..progress.without_children() });
    }
}

/// Calls a function with new progress, at most once per interval.
pub struct ProgressReporter<'a, 'py, T> {
    callback: Option<ProgressCallback<'py>>,
    latest: &'a Latest<T>,
    start: Instant,
    last_call: Option<Instant>,
}

impl<'a, 'py, T> ProgressReporter<'a, 'py, T> {
    /// Starts the clock.
    pub fn new(callback: Option<ProgressCallback<'py>>, latest: &'a Latest<T>) -> Self {
        ProgressReporter { callback, latest, start: Instant::now(), last_call: None }
    }

    /// Returns the time between two calls of `tick`.
    pub fn period(&self) -> Duration {
        let interval = self.callback.as_ref().map(|callback| callback.interval);
        interval.map_or(SIGNAL_INTERVAL, |interval| interval.min(SIGNAL_INTERVAL))
    }

    /// Returns the seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Calls the function if its interval has passed and there is new progress.
    ///
    /// # Errors
    /// If the function raises an exception.
    pub fn tick(
        &mut self,
        object: impl FnOnce(Python<'py>, &T, f64) -> Result<Bound<'py, PyAny>, Failure>,
    ) -> PyResult<()> {
        let Some(callback) = &self.callback else { return Ok(()) };
        if self.last_call.is_some_and(|time| time.elapsed() < callback.interval) {
            return Ok(());
        }
        let Some(new) = self.latest.take() else { return Ok(()) };
        self.last_call = Some(Instant::now());
        let object = object(callback.function.py(), &new, self.seconds())?;
        callback.function.call1((object,)).map(drop)
    }

    /// Calls the function with the progress at the end, regardless of its interval.
    ///
    /// # Errors
    /// If the function raises an exception.
    pub fn end(
        &mut self,
        last: T,
        object: impl FnOnce(Python<'py>, &T, f64) -> Result<Bound<'py, PyAny>, Failure>,
    ) -> PyResult<()> {
        self.latest.put(last);
        self.last_call = None;
        self.tick(object)
    }
}

/// Progress of a call for several positions.
#[derive(Serialize)]
pub struct BatchProgress {
    seconds: f64,
    done: usize,
    total: usize,
}

impl BatchProgress {
    /// Returns a function for [`ProgressReporter`] that makes a `konane.BatchProgress` from the number of positions
    /// that are done.
    pub fn object<'py>(
        total: usize,
    ) -> impl Fn(Python<'py>, &usize, f64) -> Result<Bound<'py, PyAny>, Failure> + Copy {
        move |py, &done, seconds| {
            let progress = BatchProgress { seconds, done, total };
            results::make(py, "BatchProgress", results::dict(py, &progress)?)
        }
    }
}

#[derive(Serialize)]
struct ProgressFields {
    seconds: f64,
    nodes: u64,
    expansions: u64,
    pn: Option<Number>,
    dn: Option<Number>,
    depth: Option<u32>,
    best_move: Option<Move>,
    table: TableUse,
    memory_bytes: u64,
    grundy_numbers: u64,
}

/// Makes a `konane.Progress`. α-β has a `depth` and no proof numbers.
///
/// # Errors
/// If the class cannot be imported.
pub fn object<'py>(
    py: Python<'py>,
    progress: &Progress,
    seconds: f64,
    best_move: Option<Move>,
    is_alpha_beta: bool,
) -> Result<Bound<'py, PyAny>, Failure> {
    let counters = &progress.counters;
    let fields = ProgressFields {
        seconds,
        nodes: counters.nodes,
        expansions: counters.expansions,
        pn: (!is_alpha_beta).then_some(progress.phi),
        dn: (!is_alpha_beta).then_some(progress.delta),
        depth: is_alpha_beta.then_some(progress.depth),
        best_move,
        table: progress.table(),
        memory_bytes: progress.memory_bytes,
        grundy_numbers: counters.grundy_numbers,
    };
    results::make(py, "Progress", results::dict(py, &fields)?)
}
