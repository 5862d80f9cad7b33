//! The coordinator of workers in other processes, for plain games.

use crate::arena::{Arena, TreeError};
use crate::cluster::message::SharedResults;
use crate::cluster::shared_entry::{self, SharedEntry};
use crate::cluster::{CoordinatorConfig, PlainTree, RemoteCoordinator, coordinate};
use crate::numbers::Combination;
use crate::plain::Root;
use crate::plain::game::Game;
use crate::run::{Observer, Report};
use crate::table::{Cursor, Table};

/// Coordinates the search with id `search`. The tree has at most `tree_bytes` bytes. `run` transports the
/// messages. When `run` returns, this function returns too; if the search is not over then, it
/// counts as interrupted.
///
/// # Errors
/// If the system does not provide the memory of the tree, or `tree_bytes` is less than 64.
///
/// # Panics
/// If the game, the observer or `run` does.
pub fn coordinate_plain<G: Game>(
    root: Root<'_, G>,
    tree_bytes: usize,
    combination: Combination,
    config: CoordinatorConfig,
    search: u64,
    observer: &mut dyn Observer,
    run: impl FnOnce(&mut dyn RemoteCoordinator),
) -> Result<Report, TreeError> {
    let table = root.table;
    let tree = PlainTree::new(root, Arena::new(tree_bytes)?, combination, config);
    let results = shared_entries(table, config.shared_work);
    let used = table.estimated_count();
    let coordinator = coordinate(tree, config, search, used, results, observer, run);
    let (reason, bytes) = (coordinator.reason(), coordinator.bytes());
    let counters = coordinator.counters();
    let mut report = coordinator.tree.report(reason, counters, 1);
    report.memory_bytes += bytes;
    Ok(report)
}

/// Returns the entries of a table that took at least `min_work` expansions.
fn shared_entries(table: &Table, min_work: u64) -> impl Iterator<Item = SharedResults> {
    let mut cursor = Cursor::default();
    std::iter::from_fn(move || {
        let mut cells = Vec::new();
        table.copy_cells(&mut cursor, 1, &mut cells).then_some(cells)
    })
    .map(move |cells| {
        let mut entries: Vec<_> = cells.into_iter().map(SharedEntry::of_cell).collect();
        entries.retain(|entry| entry.entry.work >= min_work);
        SharedResults { count: entries.len(), bytes: shared_entry::to_bytes(&entries) }
    })
}
