//! Depth-first proof-number search with Grundy numbers (Čížek, Balko and Schmid, "DFPN with Grundy
//! Numbers"), on any number of threads: [`crate::dfpn`] over the tree of couples and sums.

use super::game::{Atom, Impartial};
use super::group::{GroupResult, WorkerGroup};
use super::options::SearchOptions;
use super::solver_state::{SolverState, Sum};
use crate::run::{Counters, Limits, Observer, Reason, Report};

/// Searches a position by df-pn on `threads` threads (0 counts as 1).
///
/// Results of earlier searches in the solver state are used, so a repeated call continues a search that was stopped.
/// The outcome does not depend on the number of threads. The counters do, and with several threads they differ from run
/// to run. The recursion is as deep as the longest game; the threads have sufficient stacks for it.
///
/// When the memory is full, atoms are evicted, and their ids may be assigned to other atoms ([`Impartial::retain`]).
/// Atoms of the root and atoms with known Grundy numbers are kept.
///
/// If the system starts fewer threads, there are fewer workers.
///
/// # Panics
/// If the game or the observer does. The other threads are stopped first.
pub fn dfpn<G: Impartial>(
    state: &SolverState<G>,
    root: &Sum,
    options: SearchOptions,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let group = WorkerGroup { state, options, count: threads };
    let found = group.search(root.atoms(), limits, observer, |worker| {
        let (node, edge) = worker.tree.root_child(root.atoms(), root.nimber());
        let pair = worker.solve(&node, &edge);
        pair.value().map(|_| pair)
    });
    found.report(state.bytes())
}

/// Result of a search for a Grundy number.
#[derive(Clone, Copy, Debug)]
pub struct GrundyReport {
    /// The Grundy number, or the reason why it is not known.
    pub grundy: Result<u32, Reason>,
    /// Counters of the search.
    pub counters: Counters,
    /// Bytes in use at the end of the search.
    pub memory_bytes: u64,
    /// Number of threads that were started.
    pub threads: u32,
}

/// Computes the Grundy number of a sum by df-pn on `threads` threads. For each atom, the couples with nim heaps 0, 1,
/// 2, ... are solved in turn. The nimber of the first lost couple is the atom's Grundy number.
///
/// # Panics
/// In the same cases as [`dfpn`].
pub fn grundy<G: Impartial>(
    state: &SolverState<G>,
    atoms: &[Atom],
    options: SearchOptions,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> GrundyReport {
    let sum = Sum::new(state.game(), atoms, 0);
    let group = WorkerGroup { state, options, count: threads };
    let found = group.search(sum.atoms(), limits, observer, |worker| {
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
    GrundyReport { grundy: answer, counters, memory_bytes: state.bytes(), threads }
}
