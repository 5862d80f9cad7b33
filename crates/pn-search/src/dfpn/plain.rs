//! df-pn over plain games.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use super::{SelectionParams, VirtualLoss, Worker};
use crate::cluster::shared_entry::SharedEntry;
use crate::numbers::{Combination, Epsilon, Pair};
use crate::parallel::run_workers;
use crate::plain::Root;
use crate::plain::evaluate::{EvaluationOptions, Evaluator};
use crate::plain::game::{Child, Game};
use crate::plain::oracle::OracleAnswer;
use crate::run::{
    Counters, Limits, Observer, Outcome, Reason, Report, RootNumbers, SearchMonitor, SharedState,
};
use crate::search_tree::SearchTree;
use crate::table::Table;
use crate::{LeafSolverOptions, Value};

/// Parameters of df-pn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DfpnOptions {
    /// Combination of the children's phi to delta.
    pub combination: Combination,
    /// The ε of the 1+ε trick.
    pub epsilon: Epsilon,
    /// Applies the 1+ε trick only at OR nodes, where the player of the root moves (thesis, equation 2.5), instead
    /// of at all nodes.
    pub epsilon_at_or_nodes: bool,
    /// Options of the leaf solver for new children.
    pub leaf_solver: LeafSolverOptions,
    /// Maximum number of unsuccessful attempts to solve children of one expansion by the leaf
    /// solver. The children are tried by delta, the least first. A child whose numbers are from the
    /// table or whose effort is too great also counts as an attempt. For each child beyond the
    /// maximum, the leaf solver is called when the search reaches the child.
    pub max_attempts: u32,
    /// Evaluates all children of a node at its first expansion, as in the thesis (section 3.5): each counts as a
    /// node, and the values that the oracle has for them are stored in the table. Otherwise the evaluation ends at
    /// the first lost child, and only the value of the node itself is stored.
    pub evaluate_all: bool,
    /// Virtual loss, on several threads.
    pub virtual_loss: VirtualLoss,
    /// Seed of a random order of the children, which decides between equally good ones. `None` for the order of
    /// generation.
    pub seed: Option<u64>,
}

impl DfpnOptions {
    /// df-pn as published (Nagai 2002; on several threads Kaneko 2010), without the 1+ε trick.
    pub const PLAIN: DfpnOptions = DfpnOptions {
        combination: Combination::SUM,
        epsilon: Epsilon::ZERO,
        epsilon_at_or_nodes: false,
        leaf_solver: LeafSolverOptions::NEVER,
        max_attempts: 0,
        evaluate_all: true,
        virtual_loss: VirtualLoss::Stored,
        seed: None,
    };

    pub(crate) fn evaluation(&self) -> EvaluationOptions {
        let &DfpnOptions { leaf_solver, max_attempts, evaluate_all, seed, .. } = self;
        EvaluationOptions { leaf_solver, max_attempts, evaluate_all, seed, open_entries: true }
    }

    pub(crate) fn params(&self) -> SelectionParams {
        let &DfpnOptions { combination, epsilon, epsilon_at_or_nodes, virtual_loss, .. } = self;
        SelectionParams { combination, epsilon, epsilon_at_or_nodes, virtual_loss }
    }
}

/// Stack of a worker, in bytes. The search recurses as deep as the longest line, some 500 bytes per
/// ply.
const STACK_BYTES: usize = 16 << 20;

/// Number of entries for which the table has space at the start of a search with several workers: 2 to 4 MiB, which
/// fit into the cores' caches.
const FIRST_ENTRIES: u64 = 1 << 15;

/// Searches a position by df-pn on one thread.
///
/// The table may contain entries of earlier proof-number searches of the same game, which are used.
/// So a search that was stopped continues if it is called again with the same table. Recurses as
/// deep as the longest line that it searches.
///
/// # Panics
/// If the game or the observer does.
pub fn dfpn<G: Game>(
    root: Root<'_, G>,
    options: DfpnOptions,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    dfpn_sharing(root, options, NonZeroUsize::MIN, limits, observer, u64::MAX).0
}

/// Searches a position by df-pn on `threads` threads: the calling thread and scoped threads. With
/// one thread this is [`dfpn`], node for node.
///
/// The outcome does not depend on the number of threads. Phi, delta and the counters do, and they
/// vary between runs. The observer is called from the calling thread. Needs [`dfpn`]'s memory for each
/// thread, and 512 KiB to 32 MiB for the shared state. If the system starts fewer threads, the
/// search uses these only.
///
/// # Panics
/// If the game or the observer does. The other threads are stopped first.
pub fn dfpn_parallel<G: Game>(
    root: Root<'_, G>,
    options: DfpnOptions,
    threads: NonZeroUsize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    dfpn_sharing(root, options, threads, limits, observer, u64::MAX).0
}

/// Like [`dfpn_parallel`]. Also returns those entries stored by the search whose search effort is at least
/// `min_shared_work`.
pub(crate) fn dfpn_sharing<G: Game>(
    root: Root<'_, G>,
    options: DfpnOptions,
    threads: NonZeroUsize,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
    min_shared_work: u64,
) -> (Report, Vec<SharedEntry>) {
    let Root { game, code, table } = root;
    let threads = threads.get();
    // If the oracle has the root's value, it usually has the values of the root's children too. Then one
    // expansion solves the root, and further threads would be useless.
    if threads == 1 || game.oracle_value(code) != OracleAnswer::Unknown {
        let mut monitor = SearchMonitor::new(limits, observer);
        monitor.counters = initial_counters(table);
        let (pair, evaluator) = search::<G, false>(root, options, monitor, min_shared_work);
        let SearchMonitor { stopped, root: RootNumbers { best, .. }, counters, .. } =
            evaluator.monitor;
        return (report(table, pair, stopped, best, counters, 1), evaluator.shared);
    }
    reserve_first_entries(game, table, threads);
    let state = SharedState::new(threads, limits, initial_counters(table));
    let solution: Mutex<Option<(Pair, Option<u64>)>> = Mutex::new(None);
    let results = run_workers(&state, STACK_BYTES, observer, |slot, observer| {
        // Shortens the lifetime of the trait object.
        let observer = observer.map(|observer| observer as &mut dyn Observer);
        let monitor = SearchMonitor::of_worker(slot, observer);
        let (pair, mut evaluator) = search::<G, true>(root, options, monitor, min_shared_work);
        let found = (pair, evaluator.monitor.root.best);
        if pair.value().is_some() {
            state.finish();
            solution.lock().expect("no thread panics while it holds the lock").get_or_insert(found);
        }
        evaluator.monitor.finish();
        (found, evaluator.shared)
    });
    let started = results.len() as u32;
    let (found, shared): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let solution = solution.into_inner().expect("no thread panics while it holds the lock");
    // A worker that starts when the search is about to stop may not have expanded the root.
    let stopped = || found.iter().find(|(_, best)| best.is_some()).unwrap_or(&found[0]);
    let (pair, best) = solution.unwrap_or_else(|| *stopped());
    let report = report(table, pair, state.reason(), best, state.counters(), started);
    (report, shared.into_iter().flatten().collect())
}

/// Lets the table grow for the first entries of several threads, before any of them uses it.
pub(crate) fn reserve_first_entries<G: Game>(game: &G, table: &Table, threads: usize) {
    table.reserve(FIRST_ENTRIES, threads, |code| game.key(code));
}

/// Counters before the search: the root, and the entries in the table.
fn initial_counters(table: &Table) -> Counters {
    Counters { nodes: 1, table_used: table.estimated_count(), ..Counters::default() }
}

fn search<'a, G: Game, const PARALLEL: bool>(
    root: Root<'a, G>,
    options: DfpnOptions,
    monitor: SearchMonitor<'a>,
    min_shared_work: u64,
) -> (Pair, Evaluator<'a, G>) {
    let Root { game, code: root, table } = root;
    let mut evaluator = Evaluator::new(game, table, monitor, options.evaluation());
    evaluator.min_shared_work = min_shared_work;
    if evaluator.root_is_lost(root) {
        evaluator.solved(root, Value::Loss, 0);
        return (Pair::LOSS, evaluator);
    }
    let mut worker = Worker::<_, PARALLEL>::new(evaluator, options.params());
    let root = Child { code: root, phi: 1, delta: 1, effort: Child::NEVER_SOLVE };
    let pair = worker.solve(&(), &root);
    (pair, worker.tree)
}

/// Creates the report from the root's numbers. If they are open, the search was stopped.
fn report(
    table: &Table,
    Pair { phi, delta }: Pair,
    stopped: Option<Reason>,
    best: Option<u64>,
    counters: Counters,
    threads: u32,
) -> Report {
    let outcome = Outcome::of((Pair { phi, delta }).value(), stopped);
    let memory_bytes = table.bytes() as u64;
    Report { outcome, phi, delta, best, counters, memory_bytes, threads }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::graph::GraphGame;

    /// If all leaf estimates are 1000, phi and delta of every open position are at least 1000. So a
    /// stopped search must not leave smaller numbers in the table.
    #[test]
    fn a_stopped_search_leaves_valid_numbers() {
        let game = GraphGame::nim(&[12, 21, 25]);
        let estimates = vec![(1000, 1000); game.nodes() as usize];
        let game = game.with_estimates(estimates).unwrap();
        let options = DfpnOptions { epsilon: Epsilon::new(0.15), ..DfpnOptions::PLAIN };
        for nodes in [100, 300, 1000, 3000] {
            let table = Table::new(1 << 20).unwrap();
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let report = dfpn(Root::new(&game, 0, &table), options, limits, &mut ());
            assert_eq!(report.outcome.value(), None);
            assert!(report.phi >= 1000 && report.delta >= 1000, "{nodes}");
            let known = (0..game.nodes()).filter_map(|code| table.lookup(game.key(code), code));
            for entry in known.filter(|entry| entry.value().is_none()) {
                assert!(entry.phi >= 1000 && entry.delta >= 1000, "{nodes}: {entry:?}");
            }
        }
    }
}
