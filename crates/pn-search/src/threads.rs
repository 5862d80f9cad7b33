//! Threads of searches: stack sizes, and starting threads if the system provides them.
//!
//! Every thread has a stack of a stated size. The default of the standard library depends on the
//! environment variable `RUST_MIN_STACK`, which may be too small; clippy.toml forbids it.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::allocation::{is_available, reserve_address_space};

/// Stack of a thread without deep recursion, in bytes: the default of the standard library.
pub const STACK_BYTES: usize = 2 << 20;

/// Memory that a worker of a search allocates when it starts, rounded up.
const FIRST_BYTES: usize = 4 << 20;

/// Address space that has to remain for threads that are starting, for each of which an allocator
/// may reserve 64 MiB, and for what the search stores in the meantime.
const SPARE_BYTES: usize = 256 << 20;

/// Creates the builder of a thread with a name and a stack of `stack_bytes`.
#[allow(clippy::disallowed_methods, reason = "the stack's size is given here")]
pub fn thread(name: &str, stack_bytes: usize) -> Builder {
    Builder::new().name(name.to_owned()).stack_size(stack_bytes)
}

/// Creates the builder of a `rayon` pool of `threads` threads with stacks of [`STACK_BYTES`]. With
/// 0, rayon chooses the number.
#[allow(clippy::disallowed_methods, reason = "the stack's size is given here")]
pub fn thread_pool(threads: usize) -> rayon::ThreadPoolBuilder {
    rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES)
}

/// Address space that has to remain when a thread of a pool is started, and its increase for each
/// thread before: all of these may still be starting.
const SPARE_IN_POOL: u64 = 8 << 20;
const SPARE_IN_POOL_A_THREAD: u64 = 256 << 10;

/// Starts a worker on a thread with a stack of `stack_bytes`, if the system provides one.
///
/// Returns `None` also if there is no address space for the worker's first allocations: the search
/// can continue without the worker, but a failed allocation ends the process. This memory is
/// reserved until the worker runs.
pub fn start_worker<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    stack_bytes: usize,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let first = reserve_address_space(FIRST_BYTES)?;
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
/// If the system starts none, or has no address space for the thread's first allocations.
pub fn start_in_pool(worker: rayon::ThreadBuilder) -> io::Result<()> {
    if !is_available(SPARE_IN_POOL + worker.index() as u64 * SPARE_IN_POOL_A_THREAD) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    thread("pool", worker.stack_size().unwrap_or(STACK_BYTES)).spawn(|| worker.run()).map(drop)
}
