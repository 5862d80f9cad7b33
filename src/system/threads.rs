//! Threads that a search can do without.

#[cfg(feature = "cli")]
use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// What a worker of a search allocates as it begins, rounded up.
const FIRST_BYTES: usize = 4 << 20;

/// What is left for threads that are beginning, for each of which an allocator may take 64 MiB of
/// address space, and for what the search stores meanwhile.
const SPARE_BYTES: usize = 256 << 20;

/// Starts a worker on a thread of its own, if the system gives one, with so much stack.
///
/// None is started either if there is no address space for what it allocates first: an allocation that
/// fails ends the process. So much is set aside until it runs.
pub(crate) fn start_worker<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    stack_bytes: usize,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let first = set_aside(FIRST_BYTES)?;
    drop(set_aside(stack_bytes.saturating_add(SPARE_BYTES))?);
    let work = move || {
        drop(first);
        work()
    };
    Builder::new().name(name.to_owned()).stack_size(stack_bytes).spawn_scoped(scope, work).ok()
}

/// Starts a thread of a rayon pool.
///
/// # Errors
/// If the system gives none, or has no address space for what a thread begins with: one that does not get
/// it ends the process.
#[cfg(feature = "cli")]
pub(crate) fn start_in_pool(thread: rayon::ThreadBuilder) -> io::Result<()> {
    drop(set_aside(SPARE_BYTES).ok_or(io::ErrorKind::OutOfMemory)?);
    Builder::new().spawn(|| thread.run()).map(drop)
}

/// Address space; nothing is written to it.
fn set_aside(bytes: usize) -> Option<Vec<u8>> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).ok()?;
    Some(room)
}
