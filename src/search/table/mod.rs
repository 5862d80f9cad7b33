//! The transposition table: exact codes, clusters of four, no locks.
//!
//! # Layout
//!
//! A key chooses a cluster of four 16-byte cells, one cache line. A cell holds the position's
//! exact code and its numbers (see [`entry`]'s bit layout); a look-up compares whole codes, so it
//! never takes one position for another, whatever the keys do.
//!
//! # Protocol
//!
//! Every cell is read by one 128-bit load and written by one 128-bit compare-and-swap
//! ([`cell`]), so a reader sees a code together with numbers that were stored for it, never a
//! mixture. A writer
//!
//! 1. reads the four cells. If one holds its code, it swaps that one, unless the cell is solved
//!    (a solved position keeps its value; at most its work grows);
//! 2. else takes an empty cell, else the victim: the cell of least worth;
//! 3. if the swap fails because somebody else wrote in between, starts again from 1.
//!
//! The swap fails only when another writer has succeeded, so some writer always makes progress.
//! Two writers of one code may both find it missing and take two cells; both entries are true
//! statements, the first one is found, and the other ages out.
//!
//! All accesses are relaxed: an entry is self-contained and nothing else is published through it.
//! Entries of one thread may become visible to others late or in another order; that costs work
//! done twice, never a wrong value. Allocation happens before any thread can reach the table.
//!
//! # Replacement
//!
//! Worth is the work that went into an entry, so what is cheap to find again goes first. A solved
//! entry counts [`SOLVED_BONUS`] encoded steps more, and the entry that has just been found is
//! always stored, because its parent is about to ask for it.

mod cell;
pub mod entry;
mod memory;
#[cfg(all(loom, test))]
mod model;

pub use cell::is_lock_free;
pub use entry::Entry;

use cell::Cell;
use memory::Memory;

/// Cells in a cluster.
pub const CLUSTER: usize = 4;

/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 16;

/// How many steps of encoded work (eight to a doubling) a solved entry is worth more.
pub const SOLVED_BONUS: u32 = 8;

/// Four cells on a cache line of their own.
#[cfg_attr(not(loom), repr(C, align(64)))]
struct Cluster([Cell; CLUSTER]);

#[cfg(loom)]
fn empty_cluster() -> Cluster {
    Cluster(std::array::from_fn(|_| Cell::new()))
}

#[cfg(all(miri, not(loom)))]
#[allow(unsafe_code)]
fn empty_cluster() -> Cluster {
    // SAFETY: all bits zero is a valid cluster.
    unsafe { std::mem::zeroed() }
}

/// Why a table cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Less than one cluster.
    #[error("{bytes} bytes are too little for a table: at least {} are needed", CLUSTER * ENTRY_BYTES)]
    TooSmall {
        /// The bytes asked for.
        bytes: usize,
    },
    /// The system refuses.
    #[error("the system does not give {bytes} bytes for the table: {source}; ask for less memory")]
    Memory {
        /// The bytes asked for.
        bytes: usize,
        /// What the system said.
        source: std::io::Error,
    },
}

/// What became of a [`Table::store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// An empty cell was filled.
    Filled,
    /// The position's own cell was updated, or left because it is solved.
    Updated,
    /// Another position was dropped.
    Replaced,
}

/// A fixed number of entries, shared by reference between threads.
pub struct Table {
    memory: Memory,
}

impl Table {
    /// A table of at most `bytes` bytes, rounded down to whole clusters. The memory is reserved at
    /// once and used as it fills.
    pub fn new(bytes: usize) -> Result<Self, TableError> {
        let clusters = bytes / (CLUSTER * ENTRY_BYTES);
        if clusters == 0 {
            return Err(TableError::TooSmall { bytes });
        }
        Ok(Table {
            memory: Memory::new(clusters)?,
        })
    }

    /// The number of entries that fit.
    pub fn capacity(&self) -> u64 {
        (self.memory.clusters().len() * CLUSTER) as u64
    }

    /// The bytes that the entries take.
    pub fn bytes(&self) -> usize {
        self.memory.clusters().len() * CLUSTER * ENTRY_BYTES
    }

    /// The cluster of a key: its upper bits, scaled to any number of clusters.
    #[inline(always)]
    fn cluster(&self, key: u64) -> &Cluster {
        let clusters = self.memory.clusters();
        &clusters[((u128::from(key) * clusters.len() as u128) >> 64) as usize]
    }

    /// Starts to fetch the cluster of a key, for a look-up some 100 ns later.
    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        memory::prefetch(self.cluster(key));
    }

    /// The entry of a code. One cache line.
    #[inline(always)]
    pub fn lookup(&self, key: u64, code: u64) -> Option<Entry> {
        for cell in &self.cluster(key).0 {
            let content = cell.load();
            if content as u64 == code && content >> 64 != 0 {
                return Some(Entry::unpack(content));
            }
        }
        None
    }

    /// Stores an entry (see the protocol and the replacement in the module's head).
    ///
    /// # Panics
    /// In debug builds, if the numbers exceed infinity or are both zero.
    pub fn store(&self, key: u64, code: u64, entry: Entry) -> Stored {
        let new = entry.pack(code);
        let cells = &self.cluster(key).0;
        'again: loop {
            let mut victim: Option<(usize, u128, u32)> = None;
            for (index, cell) in cells.iter().enumerate() {
                let content = cell.load();
                if content >> 64 == 0 {
                    // Cells fill from the front and are never emptied: the code is not here.
                    if cell.replace(content, new).is_err() {
                        continue 'again;
                    }
                    return Stored::Filled;
                }
                if content as u64 == code {
                    let keeps_value = entry::is_solved(content) && !entry::is_solved(new);
                    let wins_nothing = entry::is_solved(content)
                        && entry::work_rank(content) >= entry::work_rank(new);
                    if !keeps_value && !wins_nothing && cell.replace(content, new).is_err() {
                        continue 'again;
                    }
                    return Stored::Updated;
                }
                let bonus = if entry::is_solved(content) {
                    SOLVED_BONUS
                } else {
                    0
                };
                let worth = entry::work_rank(content) + bonus;
                if victim.is_none_or(|(_, _, least)| worth < least) {
                    victim = Some((index, content, worth));
                }
            }
            if let Some((index, content, _)) = victim
                && cells[index].replace(content, new).is_ok()
            {
                return Stored::Replaced;
            }
        }
    }

    /// Counts the entries and the solved ones among them. Reads the whole table.
    pub fn count(&self) -> (u64, u64) {
        let contents = self
            .memory
            .clusters()
            .iter()
            .flat_map(|c| &c.0)
            .map(Cell::load);
        contents
            .filter(|content| content >> 64 != 0)
            .fold((0, 0), |(all, solved), content| {
                (all + 1, solved + u64::from(entry::is_solved(content)))
            })
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("capacity", &self.capacity())
            .finish()
    }
}
