//! Runs the workers of a search on threads, and other work on several threads.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::Arc;

use crate::run::{Observer, SharedState, WorkerSlot};
use crate::threads::start_worker;

/// Calls `work` once for every worker. The first worker runs on the calling thread and gets the
/// observer. The others run on new threads with stacks of `stack_bytes`. Returns the results of all
/// workers, that of the calling thread first. If the system starts fewer threads, there are fewer
/// results.
///
/// # Panics
/// If `work` panics. The slot of that worker is dropped, which stops the search, and all other
/// threads end first.
pub(crate) fn run_workers<'a, T: Send>(
    state: &Arc<SharedState<'a>>,
    stack_bytes: usize,
    observer: &mut dyn Observer,
    work: impl for<'o> Fn(WorkerSlot<'a>, Option<&'o mut (dyn Observer + 'o)>) -> T + Sync,
) -> Vec<T> {
    // All slots are created before the first worker begins to search: see `WorkerSlot::all`.
    let mut slots: Vec<_> = WorkerSlot::all(state).collect();
    let first = slots.remove(0);
    std::thread::scope(|scope| {
        let work = &work;
        // If no thread is started for a worker, its slot is dropped, and so it leaves the search.
        let start = |slot| start_worker(scope, "search", stack_bytes, move || work(slot, None));
        let handles: Vec<_> = slots.into_iter().filter_map(start).collect();
        let mut results = vec![work(first, Some(observer))];
        for handle in handles {
            results.push(handle.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    })
}

/// Stack of a thread that [`for_each_share`] starts, in bytes.
const SHARE_STACK_BYTES: usize = 1 << 20;

/// Divides `items` into shares of at least `min_share` items, at most one for each of `threads` threads. Calls `work`
/// for each share: for the first one on the calling thread, for the others on new threads if the system starts them.
/// Returns the results in the order of the shares.
///
/// # Panics
/// If `work` panics.
pub(crate) fn for_each_share<I: Sync, T: Send>(
    items: &[I],
    threads: NonZeroUsize,
    min_share: usize,
    work: impl Fn(&[I]) -> T + Sync,
) -> Vec<T> {
    let mut shares = items.chunks(items.len().div_ceil(threads.get()).max(min_share));
    let own = shares.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let work = &work;
        let start = |share| {
            start_worker(scope, "share", SHARE_STACK_BYTES, move || work(share)).ok_or(share)
        };
        let started: Vec<_> = shares.map(start).collect();
        let mut results = vec![work(own)];
        results.extend(started.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(share) => work(share),
        }));
        results
    })
}
