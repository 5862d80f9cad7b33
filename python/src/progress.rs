//! Progress: stored by the thread that works, passed to the caller's function by the thread that waits.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use konane::search::numbers::Number;
use konane::{Move, Observer, Progress, TableUse};
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::Failure;
use crate::interrupt::PATIENCE;
use crate::options::Listener;
use crate::results;

/// The latest progress that has not been passed on. The lock is held for a copy only.
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

    /// Stores a value and drops the previous one.
    pub fn put(&self, value: T) {
        *self.lock() = Some(value);
    }

    /// Changes the value in place.
    pub fn change(&self, change: impl FnOnce(&mut Option<T>)) {
        change(&mut self.lock());
    }

    fn take(&self) -> Option<T> {
        self.lock().take()
    }
}

/// The observer of searches of Konane.
impl Observer for &Latest<Progress<'static>> {
    fn progress(&mut self, progress: &Progress) {
        self.put(progress.without_children());
    }
}

/// The observer of searches of Sprouts, whose progress lacks the capacity of the table.
pub struct Watch<'a> {
    /// Receives the progress.
    pub latest: &'a Latest<Progress<'static>>,
    /// Entries that fit into the table.
    pub table_capacity: u64,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) {
        let table_capacity = self.table_capacity;
        self.latest.put(Progress { table_capacity, ..progress.without_children() });
    }
}

/// Calls a function with new progress, at most as often as its interval allows.
pub struct Teller<'a, 'py, T> {
    listener: Option<Listener<'py>>,
    latest: &'a Latest<T>,
    begun: Instant,
    told: Option<Instant>,
}

impl<'a, 'py, T> Teller<'a, 'py, T> {
    /// Starts the clock.
    pub fn new(listener: Option<Listener<'py>>, latest: &'a Latest<T>) -> Self {
        Teller { listener, latest, begun: Instant::now(), told: None }
    }

    /// Time between two calls of `tick`.
    pub fn period(&self) -> Duration {
        self.listener.as_ref().map_or(PATIENCE, |listener| listener.interval.min(PATIENCE))
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Calls the function if its interval has passed and there is new progress.
    ///
    /// # Errors
    /// If the function raises an exception.
    pub fn tick(
        &mut self,
        object: impl FnOnce(Python<'py>, &T, f64) -> Result<Bound<'py, PyAny>, Failure>,
    ) -> PyResult<()> {
        let Some(listener) = &self.listener else { return Ok(()) };
        if self.told.is_some_and(|told| told.elapsed() < listener.interval) {
            return Ok(());
        }
        let Some(new) = self.latest.take() else { return Ok(()) };
        self.told = Some(Instant::now());
        let object = object(listener.function.py(), &new, self.seconds())?;
        listener.function.call1((object,)).map(drop)
    }

    /// Calls the function with the progress at the end, without regard to its interval.
    ///
    /// # Errors
    /// If the function raises an exception.
    pub fn end(
        &mut self,
        last: T,
        object: impl FnOnce(Python<'py>, &T, f64) -> Result<Bound<'py, PyAny>, Failure>,
    ) -> PyResult<()> {
        self.latest.put(last);
        self.told = None;
        self.tick(object)
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

/// A `konane.Progress`. α-β has a `depth` and no proof numbers.
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
