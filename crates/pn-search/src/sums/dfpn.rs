//! Depth-first proof-number search with Grundy numbers (Čížek, Balko and Schmid, "DFPN with Grundy
//! Numbers"), on any number of threads: [`crate::dfpn`] over the tree of couples and sums.

use super::game::{Atom, Impartial};
use super::options::SearchOptions;
use super::threads::{GroupResult, WorkerGroup};
use super::workspace::{SolverState, Sum};
use crate::run::{Counters, Limits, Observer, Reason, Report};

/// Searches a position by df-pn on `threads` threads, at least one.
///
/// What earlier searches left in the workspace is used, so a search that was stopped goes on where
/// it was when it is called again. The outcome does not depend on the number of threads; the
/// counters do, and with several they differ from run to run. Recurses as deep as the longest game,
/// on stacks that are large enough for it.
///
/// When the memory is full, atoms are forgotten and their ids given out again
/// ([`Impartial::retain`]); those of the root and those whose Grundy numbers are known stay.
///
/// If the system starts fewer threads, the others search without them.
///
/// # Panics
/// If the game or the observer does. The other threads are stopped first.
pub fn dfpn<G: Impartial>(
    workspace: &SolverState<'_, G>,
    root: &Sum,
    options: SearchOptions,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let threads = WorkerGroup { workspace, options, count: threads };
    let found = threads.search(root.atoms(), limits, observer, |worker| {
        let (node, edge) = worker.tree.root_child(root.atoms(), root.nimber());
        let pair = worker.solve(&node, &edge);
        pair.value().map(|_| pair)
    });
    found.report(workspace.bytes())
}

/// What a search for a Grundy number found.
#[derive(Clone, Copy, Debug)]
pub struct GrundyReport {
    /// The number, or why it is not known.
    pub grundy: Result<u32, Reason>,
    /// What was counted.
    pub counters: Counters,
    /// Bytes of everything that the search kept, at its end.
    pub memory_bytes: u64,
    /// Threads that searched.
    pub threads: u32,
}

/// Computes the Grundy number of a sum by df-pn on `threads` threads: of each atom, couple by
/// couple.
///
/// # Panics
/// As [`dfpn`].
pub fn grundy<G: Impartial>(
    workspace: &SolverState<'_, G>,
    atoms: &[Atom],
    options: SearchOptions,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> GrundyReport {
    let sum = Sum::new(workspace.game, atoms, 0);
    let threads = WorkerGroup { workspace, options, count: threads };
    let found = threads.search(sum.atoms(), limits, observer, |worker| {
        loop {
            let rest = worker.tree.reduce(sum.atoms(), 0);
            let Some(&atom) = worker.tree.open.first() else {
                return Some(rest);
            };
            let nimber = worker.tree.current(atom);
            let (node, edge) = worker.tree.root_child(&[atom], nimber);
            worker.solve(&node, &edge).value()?;
        }
    });
    let GroupResult { answer, counters, threads, .. } = found;
    GrundyReport { grundy: answer, counters, memory_bytes: workspace.bytes(), threads }
}
