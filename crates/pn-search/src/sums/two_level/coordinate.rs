//! The coordinator of workers in other processes, for impartial games.

use super::contradiction::Contradiction;
use super::level::SumTree;
use super::named::{Named, append_couples, lost_couple};
use crate::cluster::message::SharedResults;
use crate::cluster::{CoordinatorConfig, RemoteCoordinator, coordinate};
use crate::run::{Observer, Report};
use crate::sums::options::SearchOptions;
use crate::sums::solver_state::{SolverState, Sum};

/// Number of results from before the search that are sent together.
const EARLIER_RESULTS: usize = 1024;

/// Coordinates the search with id `search`. All workers receive the Grundy numbers of the solver state. `run`
/// transports the messages. When `run` returns, this function returns too; a search that is not over then counts as
/// interrupted.
///
/// If two results contradict each other, the search ends without a value. The reason is
/// [`Contradiction`](crate::run::Reason::Contradiction), and the contradiction is returned with the report. The
/// observer receives all new Grundy numbers.
///
/// # Panics
/// If the game, the observer or `run` does.
pub fn coordinate_sum<G: Named>(
    state: &SolverState<'_, G>,
    root: &Sum,
    options: SearchOptions,
    config: CoordinatorConfig,
    search: u64,
    observer: &mut dyn Observer,
    run: impl FnOnce(&mut dyn RemoteCoordinator),
) -> (Report, Option<Contradiction>) {
    let tree = SumTree::new(state, root, options, false);
    let used = state.table.estimated_count();
    let mut known = state.knowledge.iter();
    let results = std::iter::from_fn(|| {
        let numbers: Vec<_> = known.by_ref().take(EARLIER_RESULTS).collect();
        let mut results = SharedResults { count: numbers.len(), bytes: Vec::new() };
        append_couples(state.game, numbers.into_iter().map(lost_couple), &mut results.bytes);
        (results.count > 0).then_some(results)
    });
    let mut coordinator = coordinate(tree, config, search, used, results, observer, run);
    let claims = coordinator.tree.take_claims();
    let contradicted_by = coordinator.contradicted_by();
    let contradiction = contradicted_by.map(|worker| Contradiction::new(claims, worker));
    let (reason, bytes) = (coordinator.reason(), coordinator.bytes());
    let counters = coordinator.counters();
    let mut report = coordinator.tree.report(reason, counters);
    report.memory_bytes += bytes;
    (report, contradiction)
}
