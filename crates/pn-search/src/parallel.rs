//! Workers of a search on threads.

use std::panic::resume_unwind;
use std::sync::Arc;

use crate::run::{Observer, SharedState, WorkerSlot};
use crate::threads::start_worker;

/// Runs `work` for every worker: for the first one, which gets the observer, on the calling thread,
/// and for the others on threads with stacks of `stack_bytes`. Returns the results, that of the
/// calling thread first. If the system starts fewer threads, there are fewer results.
///
/// # Panics
/// If `work` does, after all threads have ended. Dropping its slot stops the search.
pub(crate) fn run_workers<'a, T: Send>(
    state: &Arc<SharedState<'a>>,
    stack_bytes: usize,
    observer: &mut dyn Observer,
    work: impl for<'o> Fn(WorkerSlot<'a>, Option<&'o mut (dyn Observer + 'o)>) -> T + Sync,
) -> Vec<T> {
    // All workers join before the first begins to search: see `WorkerSlot::all`.
    let mut slots: Vec<_> = WorkerSlot::all(state).collect();
    let first = slots.remove(0);
    std::thread::scope(|scope| {
        let work = &work;
        // A worker without a thread leaves the search.
        let start = |slot| start_worker(scope, "search", stack_bytes, move || work(slot, None));
        let handles: Vec<_> = slots.into_iter().filter_map(start).collect();
        let mut results = vec![work(first, Some(observer))];
        for handle in handles {
            results.push(handle.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    })
}
