//! Arguments that several functions have in common. Each is read and checked in one place.
//!
//! * [`MemoryArg`], [`ThreadCountArg`], [`SecondsArg`], [`NodesArg`], [`StartArg`]: values of arguments.
//! * [`LimitArgs`]: limits of a search. [`ProgressCallback`]: function that receives the progress.

use std::ffi::OsString;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use konane::system::{alternatives, parse_bytes, parse_duration, thread_pool};
use konane::{Limits, SolveOptions};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::argument::{ArgumentName, IntegerArg, name, read_text, shown, wrong_type, wrong_value};
use crate::error::Failure;
use crate::position::PyPosition;

/// Maximum number of threads of a call.
const MAX_THREADS: u64 = 1024;

/// Minimum time between two calls of a progress function, or between two checkpoints.
const MIN_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum of a time in seconds: more than 30 million years.
const MAX_SECONDS: f64 = 1e15;

/// Number of bytes: an integer, or a text such as `1GiB`.
#[derive(Clone, Copy, Debug)]
pub struct MemoryArg<N = name::Memory>(pub u64, PhantomData<N>);

impl<'py, N: ArgumentName> FromPyObject<'_, 'py> for MemoryArg<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        const EXPECTED: &str = "a number of bytes, or a text such as '1GiB'";
        let bytes = if value.is_instance_of::<PyString>() {
            parse_bytes(&read_text::<N>(&value, EXPECTED)?).map_err(|error| {
                let (name, value) = (N::NAME, shown(&value));
                Failure::input(format_args!("{name}: {value} is not an amount of memory: {error}"))
            })?
        } else {
            let number = value.extract::<IntegerArg<N>>().map_err(|error| {
                let is_type = error.is_instance_of::<PyTypeError>(value.py());
                if is_type { wrong_type::<N>(&value, EXPECTED) } else { error }
            })?;
            number.within(1..=u64::MAX)?
        };
        Ok(MemoryArg(bytes, PhantomData))
    }
}

/// Returns the amount of memory that was given, or else that of [`SolveOptions::default`].
pub fn memory_or_default(memory: Option<MemoryArg>) -> u64 {
    memory.map_or(SolveOptions::default().memory_bytes, |memory| memory.0)
}

/// Number of threads.
#[derive(Clone, Copy, Debug)]
pub struct ThreadCountArg(pub NonZeroUsize);

impl ThreadCountArg {
    /// One thread.
    pub const ONE: ThreadCountArg = ThreadCountArg(NonZeroUsize::MIN);
}

impl<'py> FromPyObject<'_, 'py> for ThreadCountArg {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let threads = value.extract::<IntegerArg<name::Threads>>()?.within(1..=MAX_THREADS)?;
        Ok(ThreadCountArg(NonZeroUsize::new(threads as usize).unwrap_or(NonZeroUsize::MIN)))
    }
}

/// Returns the number of threads that was given, or else the number of cores.
pub fn threads_or_cores(threads: Option<ThreadCountArg>) -> NonZeroUsize {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    threads.map_or_else(cores, |threads| threads.0)
}

/// Returns the number of threads of a search. Algorithms that are not in `parallel` use one thread.
///
/// # Errors
/// If several threads were given for an algorithm that uses one.
pub fn search_threads(
    threads: Option<ThreadCountArg>,
    algorithm: &str,
    parallel: &[&str],
) -> Result<NonZeroUsize, Failure> {
    if parallel.contains(&algorithm) {
        return Ok(threads_or_cores(threads));
    }
    match threads {
        Some(ThreadCountArg(threads)) if threads > NonZeroUsize::MIN => {
            Err(Failure::input(format_args!(
                "threads: {algorithm} searches on one thread; choose algo={} for more",
                alternatives(&parallel.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>())
            )))
        }
        _ => Ok(NonZeroUsize::MIN),
    }
}

/// Runs `work` on a pool of `threads` threads. The pool is created for this call: a fork of the process does
/// not copy threads, so a global pool would have none in the forked process.
///
/// # Errors
/// If the system cannot start the threads.
pub fn on_pool<T: Send>(
    threads: NonZeroUsize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Failure> {
    let pool = thread_pool(threads.get()).build();
    let pool = pool.map_err(|error| Failure::resource(format_args!("threads: {error}")))?;
    Ok(pool.install(work))
}

/// Time: a number of seconds from 0 to [`MAX_SECONDS`], or a text such as `1m30s`.
#[derive(Clone, Copy, Debug)]
pub struct SecondsArg<N>(pub Duration, PhantomData<N>);

impl<N> From<Duration> for SecondsArg<N> {
    fn from(time: Duration) -> Self {
        SecondsArg(time, PhantomData)
    }
}

impl<N> SecondsArg<N> {
    /// Returns the time between two calls or files, at least [`MIN_INTERVAL`].
    pub fn interval(self) -> Duration {
        self.0.max(MIN_INTERVAL)
    }
}

impl<'py, N: ArgumentName> FromPyObject<'_, 'py> for SecondsArg<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        const EXPECTED: &str = "a number of seconds from 0 to 1e15, or a text such as '1m30s'";
        if value.is_instance_of::<PyString>() {
            let time = parse_duration(&read_text::<N>(&value, EXPECTED)?).map_err(|error| {
                let (name, value) = (N::NAME, shown(&value));
                Failure::input(format_args!("{name}: {value} is not a time: {error}"))
            })?;
            return Ok(SecondsArg(time, PhantomData));
        }
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
        Ok(SecondsArg(Duration::from_secs_f64(seconds), PhantomData))
    }
}

/// Number of nodes, at least 1.
#[derive(Clone, Copy, Debug)]
pub struct NodesArg(pub u64);

impl<'py> FromPyObject<'_, 'py> for NodesArg {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(NodesArg(value.extract::<IntegerArg<name::MaxNodes>>()?.within(1..=u64::MAX)?))
    }
}

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct LimitArgs {
    /// Maximum number of nodes.
    pub nodes: Option<NodesArg>,
    /// Maximum time.
    pub time: Option<SecondsArg<name::TimeLimit>>,
}

impl LimitArgs {
    /// Returns the limits of a search that starts now.
    pub fn to_limits(self, stop: &std::sync::atomic::AtomicBool) -> Limits<'_> {
        Limits {
            nodes: self.nodes.map(|nodes| nodes.0),
            // A time that the clock cannot represent is no limit.
            deadline: self.time.and_then(|time| Instant::now().checked_add(time.0)),
            stop: Some(stop),
            ..Limits::default()
        }
    }
}

/// First position of a search or a count: a position, or a board such as `6x6` for its start.
#[derive(Clone, Debug)]
pub struct StartArg<N = name::Board>(pub PyPosition, PhantomData<N>);

impl<N> StartArg<N> {
    /// Returns the position.
    pub fn into_position(self) -> PyPosition {
        self.0
    }
}

impl<'py, N: ArgumentName> FromPyObject<'_, 'py> for StartArg<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(position) = value.cast::<PyPosition>() {
            return Ok(StartArg(position.get().clone(), PhantomData));
        }
        let text = read_text::<N>(&value, "a board such as '6x6', or a konane.Position")?;
        if text.contains('/') || text.ends_with(" b") || text.ends_with(" w") {
            return Err(Failure::input(format_args!(
                "{}: {} is a position without its board: write konane.Position(board, text)",
                N::NAME,
                shown(&value)
            ))
            .into());
        }
        Ok(StartArg(PyPosition::start(&text)?, PhantomData))
    }
}

/// Function that receives the progress of a call.
#[derive(Clone, Debug)]
pub struct ProgressCallback<'py> {
    /// The function.
    pub function: Bound<'py, PyAny>,
    /// Minimum time between two calls.
    pub interval: Duration,
}

impl<'py> ProgressCallback<'py> {
    /// Checks the arguments `progress` and `interval`.
    ///
    /// # Errors
    /// If `function` is not callable.
    pub fn new(
        function: Option<Bound<'py, PyAny>>,
        interval: Option<SecondsArg<name::Interval>>,
    ) -> Result<Option<Self>, Failure> {
        let Some(function) = function else { return Ok(None) };
        if !function.is_callable() {
            return Err(
                wrong_type::<name::Progress>(&function, "a function of one argument").into()
            );
        }
        let interval = interval.map_or(Duration::from_millis(100), SecondsArg::interval);
        Ok(Some(ProgressCallback { function, interval }))
    }
}

/// Returns a path as a text that Python can open, also if it is not UTF-8.
pub fn path_text(path: &std::path::Path) -> OsString {
    path.as_os_str().to_owned()
}
