//! Searches over many processes: the leader's side and a worker's side, whatever is searched. The
//! library lends both to a function for as long as it runs, so each has a thread of its own, which
//! takes requests one by one; what carries messages between them is `konane.cluster`.

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

use crate::argument::{Text, Whole, name};
use crate::error::Failure;
use crate::interrupt::{PATIENCE, STACK, message};
use crate::options::{Memory, Seconds};
use crate::owner::Owner;

pub use coordinator::{ClusterCoordinator, ClusterDelivery, ClusterStatus};
pub use worker::ClusterWorker;

/// Configuration that coordinator and workers of a search of Konane share.
fn worker_config(shared_work: u64) -> CoordinatorConfig {
    CoordinatorConfig { shared_work, ..CoordinatorConfig::REMOTE }
}

/// Search of Sprouts, the same for coordinator and workers.
fn sprouts_search(
    position: &Position,
    nimber: u32,
    memory_bytes: u64,
    threads: NonZeroUsize,
) -> ClusterSearch<'_> {
    ClusterSearch { position, nimber, options: SearchOptions::TUNED, memory_bytes, threads }
}

/// The nim heap added to a position.
fn heap(nimber: Whole<name::Nimber>) -> Result<u32, Failure> {
    Ok(nimber.within(0..=MAX_NIMBER.into())? as u32)
}

/// A thread that serves until nobody asks any more, and what it leaves.
struct Host<T> {
    state: Mutex<State<T>>,
    owner: Owner,
}

enum State<T> {
    Running(JoinHandle<Result<T, Failure>>),
    Ended(T),
    Taken,
}

impl<T: Send + 'static> Host<T> {
    /// Starts it, and waits until it says that it serves, or ends. The flag tells it that a signal
    /// came.
    ///
    /// # Errors
    /// If there is no thread, what went wrong in it before it served, or what the signal raised.
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
        let state = Mutex::new(State::Running(thread));
        let (host, is_ready) = (Host { state, owner: Owner::current() }, Mutex::new(is_ready));
        loop {
            match py.detach(|| lock(&is_ready).recv_timeout(PATIENCE)) {
                Ok(()) => return Ok(host),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = py.check_signals() {
                stop.store(true, Ordering::Relaxed);
                return Err(error.into());
            }
        }
        if let Some(left) = host.join(py)? {
            *lock(&host.state) = State::Ended(left);
        }
        Ok(host)
    }

    /// Waits until the thread has ended, and takes what it has left; nothing the second time.
    ///
    /// # Errors
    /// What went wrong in it, or what a signal raised; then it can be waited for again.
    fn join(&self, py: Python<'_>) -> Result<Option<T>, Failure> {
        while matches!(&*lock(&self.state), State::Running(thread) if !thread.is_finished()) {
            py.check_signals()?;
            py.detach(|| std::thread::sleep(Duration::from_millis(1)));
        }
        let state = std::mem::replace(&mut *lock(&self.state), State::Taken);
        match state {
            State::Running(thread) => match thread.join() {
                Ok(result) => result.map(Some),
                Err(panic) => Err(Failure::internal(message(&*panic))),
            },
            State::Ended(left) => Ok(Some(left)),
            State::Taken => Ok(None),
        }
    }
}

/// The bytes of an amount of memory, such as `1GiB`.
#[pyfunction]
pub fn memory_bytes(memory: Memory) -> u64 {
    memory.0
}

/// The seconds of a time, such as `1h30m`.
#[pyfunction]
pub fn seconds(text: Text<name::Text>) -> Result<f64, Failure> {
    parse_duration(&text).map(|time| time.as_secs_f64()).map_err(Failure::input)
}

/// The seconds of a time limit, as every function of the package reads it.
#[pyfunction]
#[pyo3(signature = (time_limit))]
pub fn time_limit(time_limit: Seconds<name::TimeLimit>) -> f64 {
    time_limit.0.as_secs_f64()
}

/// A whole number of at least 1, such as `2.5M`.
#[pyfunction]
pub fn count(text: Text<name::Text>) -> Result<u64, Failure> {
    parse_count(&text).map_err(Failure::input)
}

/// A size as text: `1.50 GiB`.
#[pyfunction]
pub fn bytes_text(bytes: u64) -> String {
    system::bytes_text(bytes)
}

/// A number of seconds as text: `2 min 5 s`.
#[pyfunction]
pub fn time_text(seconds: f64) -> String {
    system::time_text(seconds)
}

/// A number with three figures and a letter: `12.3 M`.
#[pyfunction]
pub fn short(number: f64) -> String {
    system::short(number)
}

/// A number of things: `1 job`, `2 jobs`.
#[pyfunction]
pub fn counted(count: u64, noun: &str) -> String {
    system::counted(count, noun)
}

/// Does something on the thread of the other side; a panic is its answer, and ends nothing.
fn answer<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic: Box<dyn Any + Send>| message(&*panic))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
