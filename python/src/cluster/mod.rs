//! Coordinators and workers of searches in many processes. `konane.cluster` carries the messages between them.
//!
//! The library lends a coordinator or a worker to a function for the time that the function runs. So each runs on
//! its own thread, which executes tasks from a queue.
//!
//! * [`ClusterCoordinator`], with [`ClusterDelivery`] and [`ClusterStatus`]; [`ClusterWorker`]: Python classes.
//! * `ServiceThread`: thread of a coordinator or a worker.
//! * [`memory_bytes`], [`seconds`], [`count`], [`time_limit`]: readers of arguments of the command line.

mod coordinator;
mod fields;
mod worker;

use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use konane::search::cluster::CoordinatorConfig;
use konane::search::sums::SearchOptions;
use konane::sprouts::cluster::ClusterSearch;
use konane::sprouts::{MAX_NIMBER, Position};
use konane::system::{self, parse_count, parse_duration, thread};
use pyo3::prelude::*;

use crate::argument::{IntegerArg, StrArg, name};
use crate::error::Failure;
use crate::interrupt::{Owner, SIGNAL_INTERVAL, STACK, panic_message};
use crate::options::{MemoryArg, SecondsArg};

pub use coordinator::{ClusterCoordinator, ClusterDelivery, ClusterStatus};
pub use worker::ClusterWorker;

/// Returns the configuration of workers of a search of Konane.
fn worker_config(shared_work: u64) -> CoordinatorConfig {
    CoordinatorConfig { shared_work, ..CoordinatorConfig::REMOTE }
}

/// Returns a search of Sprouts, for its coordinator or a worker.
fn sprouts_search(
    position: &Position,
    nimber: u32,
    memory_bytes: u64,
    threads: NonZeroUsize,
    shared_work: u64,
) -> ClusterSearch<'_> {
    let options = SearchOptions::TUNED;
    ClusterSearch { position, nimber, options, memory_bytes, threads, shared_work }
}

/// Reads the size of the nim heap that is added to a position.
fn heap(nimber: IntegerArg<name::Nimber>) -> Result<u32, Failure> {
    Ok(nimber.within(0..=MAX_NIMBER.into())? as u32)
}

/// Thread that executes tasks until their queue is closed, and then returns a result.
struct ServiceThread<T> {
    state: Mutex<ServiceState<T>>,
    owner: Owner,
}

/// State of a service thread.
enum ServiceState<T> {
    Running(JoinHandle<Result<T, Failure>>),
    Ended(T),
    /// The result has been taken.
    Taken,
}

impl<T: Send + 'static> ServiceThread<T> {
    /// Starts the thread, and waits until it sends on `is_ready` or ends. `work` receives a stop flag, which is set
    /// if a signal raises an exception during this wait.
    ///
    /// # Errors
    /// If the thread cannot be started or fails before it is ready; an exception of a signal.
    fn start(
        py: Python<'_>,
        is_ready: Receiver<()>,
        work: impl FnOnce(&AtomicBool) -> Result<T, Failure> + Send + 'static,
    ) -> Result<Self, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = thread("konane", STACK);
        let thread = thread.spawn(move || work(&flag)).map_err(|error| {
            Failure::resource(format_args!("the system starts no thread: {error}"))
        })?;
        let state = Mutex::new(ServiceState::Running(thread));
        let (service, is_ready) =
            (ServiceThread { state, owner: Owner::current() }, Mutex::new(is_ready));
        loop {
            match py.detach(|| lock(&is_ready).recv_timeout(SIGNAL_INTERVAL)) {
                Ok(()) => return Ok(service),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = py.check_signals() {
                stop.store(true, Ordering::Relaxed);
                return Err(error.into());
            }
        }
        if let Some(result) = service.join(py)? {
            *lock(&service.state) = ServiceState::Ended(result);
        }
        Ok(service)
    }

    /// Waits until the thread has ended, and takes its result; `None` if it has been taken before.
    ///
    /// # Errors
    /// If the thread failed; an exception of a signal, after which `join` can be called again.
    fn join(&self, py: Python<'_>) -> Result<Option<T>, Failure> {
        while matches!(&*lock(&self.state), ServiceState::Running(thread) if !thread.is_finished())
        {
            py.check_signals()?;
            py.detach(|| std::thread::sleep(Duration::from_millis(1)));
        }
        let state = std::mem::replace(&mut *lock(&self.state), ServiceState::Taken);
        match state {
            ServiceState::Running(thread) => match thread.join() {
                Ok(result) => result.map(Some),
                Err(panic) => Err(Failure::internal(panic_message(&*panic))),
            },
            ServiceState::Ended(result) => Ok(Some(result)),
            ServiceState::Taken => Ok(None),
        }
    }
}

/// Returns the bytes of an amount of memory, such as ``"1GiB"``.
#[pyfunction]
pub fn memory_bytes(memory: MemoryArg) -> u64 {
    memory.0
}

/// Returns the seconds of a duration, such as ``"1h30m"``.
#[pyfunction]
pub fn seconds(text: StrArg<name::Text>) -> Result<f64, Failure> {
    parse_duration(&text).map(|time| time.as_secs_f64()).map_err(Failure::input)
}

/// Reads a time limit, as all functions of the package do, and returns its seconds.
#[pyfunction]
#[pyo3(signature = (time_limit))]
pub fn time_limit(time_limit: SecondsArg<name::TimeLimit>) -> f64 {
    time_limit.0.as_secs_f64()
}

/// Reads a whole number of at least 1, such as ``"2.5M"``.
#[pyfunction]
pub fn count(text: StrArg<name::Text>) -> Result<u64, Failure> {
    parse_count(&text).map_err(Failure::input)
}

/// Returns a size as text: ``1.50 GiB``.
#[pyfunction]
pub fn bytes_text(bytes: u64) -> String {
    system::bytes_text(bytes)
}

/// Returns a number of seconds as text: ``2 min 5 s``.
#[pyfunction]
pub fn time_text(seconds: f64) -> String {
    system::time_text(seconds)
}

/// Returns a number with three figures and a letter: ``12.3 M``.
#[pyfunction]
pub fn short(number: f64) -> String {
    system::short(number)
}

/// Returns a count with a noun: ``1 job``, ``2 jobs``.
#[pyfunction]
pub fn counted(count: u64, noun: &str) -> String {
    system::counted(count, noun)
}

/// Runs a task of a service thread. A panic is returned as an error, so that it does not end the thread.
fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic: Box<dyn Any + Send>| panic_message(&*panic))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
