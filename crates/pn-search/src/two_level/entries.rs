//! What a worker knows below a node, for another that is to search there.
//!
//! Nearly all that a job has found out is in small entries: with those of one expansion left out, the
//! other worker does most of it again (docs/research/cluster.md). So everything goes, 16 bytes each, as a wide
//! cell of the table.

use ahash::AHashSet;

use crate::jobs::Finding;
use crate::jobs::remote::WireError;
use crate::jobs::remote::wire::{self, Kind};
use crate::plain::game::{Expansion, Game};
use crate::table::Table;

/// The entries of a node and of what is below it, nearest first, and at most so many. Reads the
/// table while others may store in it.
pub(super) fn collect<G: Game>(
    game: &G,
    table: &Table,
    search: u64,
    node: u64,
    most: usize,
) -> Vec<u8> {
    let lookup = |code| Some(Finding { code, entry: table.lookup(game.key(code), code)? });
    let mut scratch = G::Scratch::default();
    let mut children = Vec::new();
    let mut found: Vec<Finding> = lookup(node).into_iter().collect();
    let mut seen: AHashSet<u64> = [node].into();
    let mut next = 0;
    while let Some(&Finding { code, entry }) = found.get(next) {
        next += 1;
        if entry.value().is_some() {
            continue;
        }
        children.clear();
        let announce = |code| table.prefetch(game.key(code));
        if game.expand(code, &mut scratch, &mut children, announce) != Expansion::Open {
            continue;
        }
        for child in &children {
            if found.len() < most
                && let Some(entry) = lookup(child.code)
                && seen.insert(child.code)
            {
                found.push(entry);
            }
        }
    }
    wire::seal(Kind::Entries, search, |bytes| {
        bytes.reserve(found.len() * 16 + 8);
        found.into_iter().for_each(|finding| bytes.extend(<[u8; 16]>::from(finding)));
    })
}

/// The entries in a message.
///
/// # Errors
/// If it is none, or one of them is none.
pub(super) fn read(search: u64, bytes: &[u8]) -> Result<Vec<Finding>, WireError> {
    let (cells, rest) = wire::open(Kind::Entries, search, bytes)?.as_chunks::<16>();
    let found = cells.iter().map(|&cell| Finding::try_from(cell)).collect();
    match (found, rest) {
        (Ok(found), []) => Ok(found),
        _ => Err(WireError::Unexpected("one with sound entries")),
    }
}
