//! Depth-first proof-number search with Grundy numbers (Čížek, Balko and Schmid, "DFPN with Grundy
//! Numbers"), on any number of threads.
//!
//! Every thread runs the search of [`super::worker`] from the root, and if there are several,
//! [`super::crew`] keeps them apart. One thread does exactly what it does without a crew.

use super::control::{Counters, Observer, Report, Shared};
use super::game::{Atom, Impartial};
use super::options::SearchOptions;
use super::threads::Threads;
use super::workspace::{Sum, Workspace};
use crate::search::control::{Limits, Reason};

/// Searches a position by df-pn on `threads` threads, at least one.
///
/// What earlier searches left in the workspace is used, so a search that was stopped goes on where
/// it was when it is called again. The outcome does not depend on the number of threads; the
/// counters do, and with several they differ from run to run. Recurses as deep as the longest game,
/// on stacks that are large enough for it.
///
/// When the memory is full, atoms are forgotten and their ids given out again
/// ([`Impartial::retain`]); those of the root and those whose Grundy numbers are known stay.
pub fn dfpn<G: Impartial>(
    workspace: &Workspace<'_, G>,
    root: &Sum,
    options: SearchOptions,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let mut shared = Shared::new(limits, observer, workspace.table.estimated_count());
    let threads = Threads::new(workspace, options, threads);
    let found = threads.search(root.atoms(), &mut shared, &|worker| {
        let pair = worker.solve(root.atoms(), root.nimber());
        pair.value().map(|_| pair)
    });
    shared.report(found, workspace.bytes())
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
}

/// Computes the Grundy number of a sum by df-pn on `threads` threads: of each atom, couple by
/// couple.
pub fn grundy<G: Impartial>(
    workspace: &Workspace<'_, G>,
    atoms: &[Atom],
    options: SearchOptions,
    threads: u32,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> GrundyReport {
    let mut shared = Shared::new(limits, observer, workspace.table.estimated_count());
    let sum = Sum::new(workspace.game, atoms, 0);
    let threads = Threads::new(workspace, options, threads);
    let number = threads.search(sum.atoms(), &mut shared, &|worker| {
        loop {
            let rest = worker.evaluator.reduce(sum.atoms(), 0);
            let Some(&atom) = worker.evaluator.open.first() else {
                return Some(rest);
            };
            let heap = worker.evaluator.current(atom);
            worker.solve(&[atom], heap).value()?;
        }
    });
    GrundyReport {
        grundy: number.ok_or_else(|| shared.reason()),
        counters: shared.totals(),
        memory_bytes: workspace.bytes(),
    }
}
