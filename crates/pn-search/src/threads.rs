//! Threads of searches: their stack sizes, and how they are started if the system provides them.
//!
//! The code states the stack size of every thread. The default size of the standard library depends
//! on the environment variable `RUST_MIN_STACK` and may be too small. clippy.toml forbids functions
//! that use the default.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::allocation::{is_available, reserve_address_space};

/// Stack size in bytes of a thread without deep recursion. It is the default of the standard
/// library.
pub const STACK_BYTES: usize = 2 << 20;

/// Memory that a worker of a search allocates when it starts, rounded up.
const FIRST_BYTES: usize = 4 << 20;

/// Address space in bytes that has to remain free when a worker is started. It is for other threads
/// that are starting, for each of which an allocator may reserve 64 MiB, and for data that the
/// search allocates in the meantime.
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

/// Address space in bytes that has to remain free when the first thread of a pool is started.
const SPARE_IN_POOL: u64 = 8 << 20;
/// Increase of [`SPARE_IN_POOL`] for each thread of the pool that was started before: all of them
/// may still be starting.
const SPARE_IN_POOL_A_THREAD: u64 = 256 << 10;

/// Runs `work` on a new thread with a stack of `stack_bytes`. Returns `None` if the system does not
/// start the thread.
///
/// Returns `None` too if the address space does not suffice for the first allocations of the
/// worker. The search can continue without this worker, whereas a failed allocation would end the
/// process. The address space for these allocations is reserved until the worker runs.
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
/// If the system does not start the thread, or has no address space for its first allocations.
pub fn start_in_pool(worker: rayon::ThreadBuilder) -> io::Result<()> {
    if !is_available(SPARE_IN_POOL + worker.index() as u64 * SPARE_IN_POOL_A_THREAD) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    thread("pool", worker.stack_size().unwrap_or(STACK_BYTES)).spawn(|| worker.run()).map(drop)
}
