//! Long work without the interpreter's lock, which Ctrl-C can end.
//!
//! The work runs on a thread of its own. The thread that called waits without the lock, and takes it
//! for a moment every few milliseconds: to ask Python whether a signal has come, and to tell the
//! caller's function how the work gets on. If one of these raises, the work is told to stop by its
//! flag, its end is awaited (milliseconds), and the exception goes on. So the work never waits for
//! Python, callers' functions run on the callers' own threads, and other Python threads run
//! meanwhile. Python delivers signals to its main thread only: a call from another one ends by
//! itself.
//!
//! The flag is relaxed, as nothing else is published through it; what the work has done is seen
//! because its thread is joined.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::Failure;

/// Between two looks at Python's signals.
pub const PATIENCE: Duration = Duration::from_millis(20);

/// The stack of the thread that works; only what is used of it takes memory.
pub const STACK: usize = 16 << 20;

/// Does `work` without the lock, and `tick`s with it, every `period` or more often.
///
/// # Errors
/// What a signal or `tick` has raised; a panic of the work as `InternalError`; no thread.
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
            py.detach(|| thread::park_timeout(period.min(PATIENCE)));
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
            (None, Ok(Err(panic)) | Err(panic)) => Err(Failure::internal(message(&*panic))),
        }
    })
}

/// Does short work on the calling thread, without the lock.
///
/// # Errors
/// A panic of the work, as `InternalError`.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    let result =
        py.detach(|| catch_unwind(AssertUnwindSafe(work)).map_err(|panic| message(&*panic)));
    result.map_err(Failure::internal)
}

/// [`run`] of work that tells nothing.
///
/// # Errors
/// As [`run`].
pub fn run_silent<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> Result<T, Failure> {
    run(py, PATIENCE, || Ok(()), work)
}

pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a mistake in konane: {}", text.unwrap_or("it says nothing"))
}
