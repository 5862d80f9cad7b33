//! Progress: what the thread that works writes down, and what the caller's function is told of it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use konane::{Observer, Progress};
use pyo3::prelude::*;

use crate::error::Failure;
use crate::interrupt::PATIENCE;
use crate::options::Listener;
use crate::results::{self, ProofNumber};

/// The last word of the work, which nobody has heard yet. The lock is held for a copy only.
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

    /// Takes the place of what was there.
    pub fn put(&self, value: T) {
        *self.lock() = Some(value);
    }

    /// Changes what is there, in place.
    pub fn change(&self, change: impl FnOnce(&mut Option<T>)) {
        change(&mut self.lock());
    }

    fn take(&self) -> Option<T> {
        self.lock().take()
    }
}

/// The observer of searches.
impl Observer for &Latest<Progress<'static>> {
    fn progress(&mut self, progress: &Progress) {
        self.put(progress.without_children());
    }
}

/// Tells a function what is new, not more often than it wants to be told.
pub struct Teller<'a, 'py, T> {
    listener: Option<Listener<'py>>,
    latest: &'a Latest<T>,
    begun: Instant,
    told: Option<Instant>,
}

impl<'a, 'py, T> Teller<'a, 'py, T> {
    /// Time counts from now on.
    pub fn new(listener: Option<Listener<'py>>, latest: &'a Latest<T>) -> Self {
        Teller { listener, latest, begun: Instant::now(), told: None }
    }

    /// Between two looks at what is new.
    pub fn period(&self) -> Duration {
        self.listener.as_ref().map_or(PATIENCE, |listener| listener.interval.min(PATIENCE))
    }

    /// Seconds since the beginning.
    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Tells if it is time and there is something new.
    ///
    /// # Errors
    /// What the function raises.
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

    /// Tells the end, whenever it was told last.
    ///
    /// # Errors
    /// What the function raises.
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

#[derive(IntoPyObject)]
struct ProgressFields {
    seconds: f64,
    nodes: u64,
    expansions: u64,
    pn: ProofNumber,
    dn: ProofNumber,
    best_move: Option<String>,
    table_used: u64,
    memory_bytes: u64,
    grundy_numbers: u64,
}

/// A `konane.Progress`.
///
/// # Errors
/// If the class cannot be imported.
pub fn object<'py>(
    py: Python<'py>,
    progress: &Progress,
    seconds: f64,
    best_move: Option<String>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let counters = &progress.counters;
    let fields = ProgressFields {
        seconds,
        nodes: counters.nodes,
        expansions: counters.expansions,
        pn: progress.phi.into(),
        dn: progress.delta.into(),
        best_move,
        table_used: counters.table_used,
        memory_bytes: progress.memory_bytes,
        grundy_numbers: counters.grundy_numbers,
    };
    results::make(py, "Progress", fields)
}
