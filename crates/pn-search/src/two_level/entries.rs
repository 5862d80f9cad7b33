//! Table entries for other workers: those of a coordinator from before the search ([`all`]), and those that one worker
//! has below a node, for another worker that is going to search there ([`collect`]).
//!
//! Most results of a job are in entries of little search effort. If entries of a single expansion
//! were left out, the other worker would repeat most of the job (docs/research/cluster.md). So all
//! entries are sent, each as a full cell of the table, which has 16 bytes.

use ahash::AHashSet;

use crate::cluster::message::SharedResults;
use crate::cluster::shared_entry::{self, SharedEntry};
use crate::plain::game::{Expansion, Game};
use crate::table::{Cursor, Table};

/// Returns the entries of a node and of the nodes below it: at most `max` entries, those nearest to
/// the node. Other threads may store in the table meanwhile.
pub(super) fn collect<G: Game>(game: &G, table: &Table, node: u64, max: usize) -> Vec<SharedEntry> {
    let lookup = |code| Some(SharedEntry { code, entry: table.lookup(game.key(code), code)? });
    let mut scratch = G::Scratch::default();
    let mut children = Vec::new();
    let mut found: Vec<SharedEntry> = lookup(node).into_iter().collect();
    let mut seen: AHashSet<u64> = [node].into();
    let mut next = 0;
    while let Some(&SharedEntry { code, entry }) = found.get(next) {
        next += 1;
        if entry.value().is_some() {
            continue;
        }
        children.clear();
        let prefetch = |code| table.prefetch(game.key(code));
        if game.expand(code, &mut scratch, &mut children, prefetch) != Expansion::Open {
            continue;
        }
        for child in &children {
            if found.len() < max
                && let Some(entry) = lookup(child.code)
                && seen.insert(child.code)
            {
                found.push(entry);
            }
        }
    }
    found
}

/// Returns the entries of a table that took at least `min_work` expansions.
pub(super) fn all(table: &Table, min_work: u64) -> impl Iterator<Item = SharedResults> {
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
