//! Arguments that several functions have, each read and checked in one place.

use std::ffi::OsString;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use konane::Limits;
use konane::system::{alternatives, parse_bytes, thread_pool};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::argument::{Name, Whole, name, read_text, shown, wrong_type, wrong_value};
use crate::error::Failure;
use crate::position::PyPosition;

/// Maximum number of threads of a call.
const MAX_THREADS: u64 = 1024;

/// Minimum time between two calls of a progress function, or between two checkpoints.
const MIN_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum of a time in seconds: more than 30 million years.
const MAX_SECONDS: f64 = 1e15;

/// Bytes: a whole number, or a text such as `1GiB`.
#[derive(Clone, Copy, Debug)]
pub struct Memory<N = name::Memory>(pub u64, PhantomData<N>);

impl<'py, N: Name> FromPyObject<'_, 'py> for Memory<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        const EXPECTED: &str = "a number of bytes, or a text such as '1GiB'";
        let bytes = if value.is_instance_of::<PyString>() {
            parse_bytes(&read_text::<N>(&value, EXPECTED)?).map_err(|error| {
                let (name, value) = (N::NAME, shown(&value));
                Failure::input(format_args!("{name}: {value} is not an amount of memory: {error}"))
            })?
        } else {
            let number = value.extract::<Whole<N>>().map_err(|error| {
                let is_type = error.is_instance_of::<PyTypeError>(value.py());
                if is_type { wrong_type::<N>(&value, EXPECTED) } else { error }
            })?;
            number.within(1..=u64::MAX)?
        };
        Ok(Memory(bytes, PhantomData))
    }
}

/// A number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub NonZeroUsize);

impl Threads {
    /// One thread.
    pub const ONE: Threads = Threads(NonZeroUsize::MIN);
}

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let threads = value.extract::<Whole<name::Threads>>()?.within(1..=MAX_THREADS)?;
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

/// A time in seconds, from 0 to [`MAX_SECONDS`].
#[derive(Clone, Copy, Debug)]
pub struct Seconds<N>(pub Duration, PhantomData<N>);

impl<N> Seconds<N> {
    /// The time between two calls or files, which has a minimum.
    pub fn interval(self) -> Duration {
        self.0.max(MIN_INTERVAL)
    }
}

impl<'py, N: Name> FromPyObject<'_, 'py> for Seconds<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        const EXPECTED: &str = "a number of seconds from 0 to 1e15";
        let out_of_range = || wrong_value::<N>(shown(&value), EXPECTED);
        let seconds = value.extract::<f64>().map_err(|error| {
            if error.is_instance_of::<PyOverflowError>(value.py()) {
                out_of_range().into()
            } else if error.is_instance_of::<PyTypeError>(value.py()) {
                wrong_type::<N>(&value, EXPECTED)
            } else {
                error
            }
        })?;
        if !(0.0..=MAX_SECONDS).contains(&seconds) {
            return Err(out_of_range().into());
        }
        Ok(Seconds(Duration::from_secs_f64(seconds), PhantomData))
    }
}

/// A number of nodes, at least 1.
#[derive(Clone, Copy, Debug)]
pub struct Nodes(pub u64);

impl<'py> FromPyObject<'_, 'py> for Nodes {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Nodes(value.extract::<Whole<name::MaxNodes>>()?.within(1..=u64::MAX)?))
    }
}

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum number of nodes.
    pub nodes: Option<Nodes>,
    /// Maximum time.
    pub time: Option<Seconds<name::TimeLimit>>,
}

impl Bounds {
    /// Returns the limits of a search that begins now.
    pub fn limits(self, stop: &std::sync::atomic::AtomicBool) -> Limits<'_> {
        Limits {
            nodes: self.nodes.map(|nodes| nodes.0),
            // A time beyond what the clock can represent is no limit.
            deadline: self.time.and_then(|time| Instant::now().checked_add(time.0)),
            stop: Some(stop),
            ..Limits::default()
        }
    }
}

/// The first position of a search or a count: the start of a board such as `6x6`, or a position.
#[derive(Clone, Debug)]
pub struct Start<N = name::Board>(pub PyPosition, PhantomData<N>);

impl<'py, N: Name> FromPyObject<'_, 'py> for Start<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(position) = value.cast::<PyPosition>() {
            return Ok(Start(position.get().clone(), PhantomData));
        }
        let text = read_text::<N>(&value, "a board such as '6x6', or a konane.Position")?;
        if text.trim().contains(['/', ' ']) {
            return Err(Failure::input(format_args!(
                "{}: {} is a position without its board: write konane.Position(board, text)",
                N::NAME,
                shown(&value)
            ))
            .into());
        }
        Ok(Start(PyPosition::start(&text)?, PhantomData))
    }
}

/// A function that receives the progress of a call, and how often.
#[derive(Clone, Debug)]
pub struct Listener<'py> {
    /// The function.
    pub function: Bound<'py, PyAny>,
    /// Minimum time between two calls.
    pub interval: Duration,
}

impl<'py> Listener<'py> {
    /// Checks both.
    ///
    /// # Errors
    /// If the function cannot be called.
    pub fn new(
        function: Option<Bound<'py, PyAny>>,
        interval: Option<Seconds<name::Interval>>,
    ) -> Result<Option<Self>, Failure> {
        let Some(function) = function else { return Ok(None) };
        if !function.is_callable() {
            return Err(
                wrong_type::<name::Progress>(&function, "a function of one argument").into()
            );
        }
        let interval = interval.map_or(Duration::from_millis(100), Seconds::interval);
        Ok(Some(Listener { function, interval }))
    }
}

/// A directory or file for results: a text with which Python opens it, whatever its bytes.
pub fn path_text(path: &std::path::Path) -> OsString {
    path.as_os_str().to_owned()
}
