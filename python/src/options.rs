//! Arguments that several functions have, each read and checked in one place.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use konane::Limits;
use konane::system::{alternatives, parse_bytes, thread_pool};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::Failure;
use crate::position::PyPosition;
use crate::whole::Whole;

/// Most threads that a call may have.
const MOST_THREADS: usize = 1024;

/// Between two calls of a progress function at the least.
const LEAST_INTERVAL: f64 = 0.01;

fn type_error(text: &'static str) -> PyErr {
    PyTypeError::new_err(text)
}

/// Bytes: a whole number, or a text such as `1GiB`.
#[derive(Clone, Copy, Debug)]
pub struct Memory(pub u64);

impl<'py> FromPyObject<'_, 'py> for Memory {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.cast::<PyString>() {
            let bytes = parse_bytes(text.to_cow()?.as_ref());
            return Ok(Memory(bytes.map_err(|e| Failure::input(format_args!("memory: {e}")))?));
        }
        let number = value.extract::<Whole>();
        let number = number
            .map_err(|_| type_error("memory is a number of bytes or a text such as '1GiB'"))?;
        Ok(Memory(number.within("memory", 1, u64::MAX)?))
    }
}

/// A number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub NonZeroUsize);

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number =
            value.extract::<Whole>().map_err(|_| type_error("threads is a whole number"))?;
        let threads = number.within("threads", 1, MOST_THREADS as u64)?;
        Ok(Threads(NonZeroUsize::new(threads as usize).unwrap_or(NonZeroUsize::MIN)))
    }
}

/// As many threads as asked for, or as there are cores.
pub fn threads_or_cores(threads: Option<Threads>) -> NonZeroUsize {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    threads.map_or_else(cores, |threads| threads.0)
}

/// The threads of a search; one for an algorithm that has one.
///
/// # Errors
/// If several are asked for there.
pub fn search_threads(
    threads: Option<Threads>,
    algorithm: &str,
    parallel: &[&str],
) -> Result<NonZeroUsize, Failure> {
    if parallel.contains(&algorithm) {
        return Ok(threads_or_cores(threads));
    }
    match threads {
        Some(Threads(threads)) if threads > NonZeroUsize::MIN => Err(Failure::input(format_args!(
            "threads: {algorithm} searches on one thread; choose algo={} for more",
            alternatives(&parallel.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>())
        ))),
        _ => Ok(NonZeroUsize::MIN),
    }
}

/// Works on a pool of so many threads. The pool is made for this call: threads do not survive a fork
/// of the process, and a global pool would be left without any.
///
/// # Errors
/// If the system starts no threads.
pub fn on_pool<T: Send>(
    threads: NonZeroUsize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Failure> {
    let pool = thread_pool(threads.get()).build();
    let pool = pool.map_err(|error| Failure::resource(format_args!("threads: {error}")))?;
    Ok(pool.install(work))
}

/// A span of time in seconds, more than 0.
#[derive(Clone, Copy, Debug)]
pub struct Seconds(pub Duration);

impl<'py> FromPyObject<'_, 'py> for Seconds {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let seconds: f64 =
            value.extract().map_err(|_| type_error("a time is a number of seconds"))?;
        let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
        let wrong = || Failure::input(format_args!("a time of {seconds} seconds is none"));
        Ok(Seconds(time.ok_or_else(wrong)?))
    }
}

/// A number of nodes, at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Nodes(pub u64);

impl<'py> FromPyObject<'_, 'py> for Nodes {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number =
            value.extract::<Whole>().map_err(|_| type_error("max_nodes is a whole number"))?;
        Ok(Nodes(number.within("max_nodes", 1, u64::MAX)?))
    }
}

/// When a search gives up.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Nodes.
    pub nodes: Option<Nodes>,
    /// Time.
    pub time: Option<Seconds>,
}

impl Bounds {
    /// For a search that begins now.
    pub fn limits(self, stop: &std::sync::atomic::AtomicBool) -> Limits<'_> {
        Limits {
            nodes: self.nodes.map(|nodes| nodes.0),
            // A time beyond what the clock can tell is no limit.
            deadline: self.time.and_then(|time| Instant::now().checked_add(time.0)),
            stop: Some(stop),
            ..Limits::default()
        }
    }
}

/// Where a search or a count begins: a board such as `6x6`, or a position.
#[derive(Clone, Debug)]
pub struct Start(pub PyPosition);

impl<'py> FromPyObject<'_, 'py> for Start {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(position) = value.cast::<PyPosition>() {
            return Ok(Start(position.get().clone()));
        }
        let text = value.cast::<PyString>();
        let text =
            text.map_err(|_| type_error("a board is a text such as '6x6', or a Position"))?;
        let text = text.to_cow()?;
        if text.trim().contains(['/', ' ']) {
            return Err(Failure::input(format_args!(
                "{text:?} is a position without its board: write konane.Position(board, text)"
            ))
            .into());
        }
        Ok(Start(PyPosition::start(&text)?))
    }
}

/// A function that is told how work gets on, and how often.
#[derive(Clone, Debug)]
pub struct Listener<'py> {
    /// The function.
    pub function: Bound<'py, PyAny>,
    /// Between two calls at the least.
    pub interval: Duration,
}

impl<'py> Listener<'py> {
    /// Checks both.
    ///
    /// # Errors
    /// If the function cannot be called, or the time is none.
    pub fn new(
        function: Option<Bound<'py, PyAny>>,
        interval: Option<Seconds>,
    ) -> Result<Option<Self>, Failure> {
        let Some(function) = function else { return Ok(None) };
        if !function.is_callable() {
            return Err(type_error("progress is a function of one argument").into());
        }
        let least = Duration::from_secs_f64(LEAST_INTERVAL);
        let interval = interval.map_or(Duration::from_millis(100), |time| time.0.max(least));
        Ok(Some(Listener { function, interval }))
    }
}

/// A directory or file for results: a text with which Python opens it, whatever its bytes.
pub fn path_text(path: &std::path::Path) -> OsString {
    path.as_os_str().to_owned()
}
