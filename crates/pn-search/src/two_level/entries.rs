//! Table entries that one worker has below a node, for another worker that is going to search there.
//!
//! Most results of a job are in entries of little search effort. If entries of a single expansion
//! were left out, the other worker would repeat most of the job (docs/research/cluster.md). So all
//! entries are sent, each as a full cell of the table, which has 16 bytes.

use ahash::AHashSet;

use crate::cluster::WireError;
use crate::cluster::shared_entry::{self, SharedEntry};
use crate::cluster::wire::{self, Kind};
use crate::plain::game::{Expansion, Game};
use crate::table::Table;

/// Returns a message with the entries of a node and of the nodes below it: at most `max` entries,
/// those nearest to the node. Other threads may store in the table meanwhile.
pub(super) fn collect<G: Game>(
    game: &G,
    table: &Table,
    search: u64,
    node: u64,
    max: usize,
) -> Vec<u8> {
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
    wire::seal(Kind::Entries, search, |bytes| bytes.extend(shared_entry::to_bytes(&found)))
}

/// Returns the entries in a message.
///
/// # Errors
/// If the message or one of its entries is invalid.
pub(super) fn read(search: u64, bytes: &[u8]) -> Result<Vec<SharedEntry>, WireError> {
    shared_entry::from_bytes(wire::open(Kind::Entries, search, bytes)?)
}
