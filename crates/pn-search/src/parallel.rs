//! Threads of a search.

use std::panic::resume_unwind;
use std::sync::Arc;

use crate::run::{Member, Observer, Team};
use crate::threads::start_worker;

/// Runs `work` for every member of a team: for the first, which gets the observer, on the calling thread,
/// and for the others on threads with stacks of `stack_bytes`. Returns the results, that of the calling
/// thread first. Where the system starts fewer threads, there are fewer results.
///
/// # Panics
/// If `work` does, once all threads have ended. The member's drop stops the search.
pub(crate) fn run_members<'a, T: Send>(
    team: &Arc<Team<'a>>,
    stack_bytes: usize,
    observer: &mut dyn Observer,
    work: impl for<'o> Fn(Member<'a>, Option<&'o mut (dyn Observer + 'o)>) -> T + Sync,
) -> Vec<T> {
    // All members join before the first begins to search: see `Member::all`.
    let mut members: Vec<_> = Member::all(team).collect();
    let first = members.remove(0);
    std::thread::scope(|scope| {
        let work = &work;
        // A member without a thread leaves the team.
        let start = |member| start_worker(scope, "search", stack_bytes, move || work(member, None));
        let handles: Vec<_> = members.into_iter().filter_map(start).collect();
        let mut results = vec![work(first, Some(observer))];
        for handle in handles {
            results.push(handle.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    })
}
