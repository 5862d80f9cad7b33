//! Threads: their stacks, and those that a search can do without.
//!
//! Every thread has a stack of a stated size. The default of the standard library follows the
//! environment variable `RUST_MIN_STACK`, which may be too small; clippy.toml forbids it.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::allocation::{is_available, set_aside};

/// Stack of a thread that does nothing deeply recursive: the size that the standard library uses by
/// default.
pub const STACK_BYTES: usize = 2 << 20;

/// What a worker of a search allocates as it begins, rounded up.
const FIRST_BYTES: usize = 4 << 20;

/// What is left for threads that are beginning, for each of which an allocator may take 64 MiB of
/// address space, and for what the search stores meanwhile.
const SPARE_BYTES: usize = 256 << 20;

/// Builder of a thread with a name and a stack of `stack_bytes`.
#[allow(clippy::disallowed_methods, reason = "the stack's size is given here")]
pub fn thread(name: &str, stack_bytes: usize) -> Builder {
    Builder::new().name(name.to_owned()).stack_size(stack_bytes)
}

/// Builder of a `rayon` pool of `threads` threads with stacks of [`STACK_BYTES`]; 0 leaves the number to
/// rayon.
#[allow(clippy::disallowed_methods, reason = "the stack's size is given here")]
pub fn thread_pool(threads: usize) -> rayon::ThreadPoolBuilder {
    rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES)
}

/// Address space that has to be left when a thread of a pool is started, and more of it for each thread
/// before: all of these may still be beginning.
const SPARE_IN_POOL: u64 = 8 << 20;
const SPARE_IN_POOL_A_THREAD: u64 = 256 << 10;

/// Starts a worker on a thread of its own, if the system gives one, with a stack of `stack_bytes`.
///
/// None is started either if there is no address space for what it allocates first: the search can do
/// without the worker, but an allocation that fails ends the process. So much is set aside until it runs.
pub fn start_worker<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    stack_bytes: usize,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let first = set_aside(FIRST_BYTES)?;
    if !is_available(stack_bytes.saturating_add(SPARE_BYTES) as u64) {
        return None;
    }
    let work = move || {
        drop(first);
        work()
    };
    thread(name, stack_bytes).spawn_scoped(scope, work).ok()
}

/// Starts a thread of a rayon pool.
///
/// # Errors
/// If the system starts none, or has no address space for what a thread begins with.
pub fn start_in_pool(worker: rayon::ThreadBuilder) -> io::Result<()> {
    if !is_available(SPARE_IN_POOL + worker.index() as u64 * SPARE_IN_POOL_A_THREAD) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    thread("pool", worker.stack_size().unwrap_or(STACK_BYTES)).spawn(|| worker.run()).map(drop)
}
