//! Long calls without the GIL, which Ctrl-C can end, and detection of use after a fork.
//!
//! [`run`] starts a thread for the work. The calling thread waits without the GIL. It acquires the GIL for a
//! moment every few milliseconds, polls Python's signals, and calls the caller's function with the progress. If
//! one of these raises an exception, the calling thread sets the stop flag, waits until the work has ended
//! (milliseconds), and passes the exception on. So the work never waits for Python, functions of the caller
//! run on the caller's thread, and other Python threads run in the meantime. Python delivers signals to its
//! main thread only: Ctrl-C does not end a call on another thread.
//!
//! The stop flag is relaxed, because it publishes no other data. The results of the work are visible to the
//! calling thread because it joins the worker thread.
//!
//! A forked process has copies of all objects, but only one of the threads: threads that serve an object are
//! missing, and a lock that another thread held is never released. So objects with threads or locks store
//! their [`Owner`], the process that created them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::Failure;

/// Time between two polls of Python's signals.
pub const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);

/// Stack size of worker threads in bytes. Only the used part takes memory.
pub const STACK: usize = 16 << 20;

/// Runs `work` on a thread without the GIL, and calls `tick` with the GIL at least every `period`.
///
/// # Errors
/// An exception of a signal or of `tick`; a panic of `work`, as `InternalError`; a thread that cannot be
/// started.
pub fn run<T: Send>(
    py: Python<'_>,
    period: Duration,
    mut tick: impl FnMut() -> PyResult<()>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> Result<T, Failure> {
    let (stop, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let caller = thread::current();
    thread::scope(|scope| {
        let worker = konane::system::thread("konane", STACK);
        let worker = worker.spawn_scoped(scope, || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&stop)));
            ended.store(true, Ordering::Release);
            caller.unpark();
            result
        });
        let worker = worker.map_err(|error| {
            Failure::resource(format_args!("the system starts no thread: {error}"))
        })?;
        let mut raised = None;
        loop {
            py.detach(|| thread::park_timeout(period.min(SIGNAL_INTERVAL)));
            if ended.load(Ordering::Acquire) {
                break;
            }
            if raised.is_none()
                && let Err(error) = py.check_signals().and_then(|()| tick())
            {
                stop.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
        let result = py.detach(|| worker.join());
        match (raised, result) {
            (Some(error), _) => Err(error.into()),
            (None, Ok(Ok(result))) => Ok(result),
            (None, Ok(Err(panic)) | Err(panic)) => Err(Failure::internal(panic_message(&*panic))),
        }
    })
}

/// Runs short work on the calling thread, without the GIL.
///
/// # Errors
/// A panic of `work`, as `InternalError`.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    let result =
        py.detach(|| catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_message(&*panic)));
    result.map_err(Failure::internal)
}

/// [`run`] for work without progress.
///
/// # Errors
/// As [`run`].
pub fn run_without_progress<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> Result<T, Failure> {
    run(py, SIGNAL_INTERVAL, || Ok(()), work)
}

/// Returns the text of an `InternalError` for a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("bug in konane: {}", text.unwrap_or("a panic without a message"))
}

/// Process that created an object.
#[derive(Clone, Copy, Debug)]
pub struct Owner(u32);

impl Owner {
    /// Returns this process.
    pub fn current() -> Self {
        Owner(process::id())
    }

    /// Returns true if this process is the owner.
    pub fn is_current(self) -> bool {
        self.0 == process::id()
    }

    /// Rejects use in a forked process.
    ///
    /// # Errors
    /// If this process is not the owner.
    pub fn check(self, object: &str) -> Result<(), Failure> {
        if self.is_current() {
            return Ok(());
        }
        Err(Failure::input(format_args!(
            "this {object} belongs to process {}, and process {} is a fork of it: create a new {object} \
             in the forked process",
            self.0,
            process::id()
        )))
    }
}
