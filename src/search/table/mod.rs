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
//! (`cell`), so a reader sees a code together with numbers that were stored for it, never a
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
//!
//! # Growth
//!
//! The memory is reserved whole, but a table starts with a small part of it in use and doubles
//! that part when it fills ([`Table::grow`]). A search that needs 1 MiB of a 4 GiB table then runs
//! in the second-level cache, and the system need not zero what nobody touches: 6×6 takes three
//! quarters of the time. Doubling splits each cluster into two neighbours, because the index is the
//! key's upper bits scaled, so it runs in place, from the last cluster down.
//!
//! # Copies while others write
//!
//! `Table::copy_cells` reads the table piece by piece while searches go on. Every cell is a true
//! statement by itself, so it does not matter that the pieces are of different times. Only growth
//! moves entries: a lock keeps it and the copying of one piece apart. As a doubling sends the entries
//! of cluster `i` to the clusters `2i` and `2i + 1`, a copy that has come to cluster `i` goes on at
//! `2i` and still meets every entry; it need not delay growth, which would change what is replaced
//! and with it the search.

mod cell;
pub mod entry;
mod memory;
#[cfg(all(loom, test))]
mod model;

pub use cell::is_lock_free;
pub use entry::Entry;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cell::Cell;
use memory::Memory;

/// Cells in a cluster.
pub const CLUSTER: usize = 4;

/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 16;

/// How many steps of encoded work (eight to a doubling) a solved entry is worth more. With none,
/// small tables lose proofs that took work; with many, they fill with proofs that took none
/// (figures in docs/decisions.md).
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

/// Clusters in use at the start: 64 KiB.
const FIRST_CLUSTERS: usize = 1 << 10;

/// Clusters that [`Table::estimated_count`] reads.
pub const SAMPLE_CLUSTERS: usize = 1 << 10;

/// A fixed number of entries, shared by reference between threads.
pub struct Table {
    memory: Memory,
    /// Clusters in use; the whole memory holds this times a power of two.
    active: AtomicUsize,
    /// Held while the entries move ([`Table::grow`]) and while a copy reads a piece. It publishes
    /// `active` and the entries' new places to the copy.
    moving: Mutex<()>,
}

/// How far a copy of a table has come; a new one stands at the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// The next cluster, of `active`.
    next: usize,
    /// Clusters that were in use at the last piece; 0 before the first.
    active: usize,
}

/// Clusters that [`Table::copy_cells`] reads at once: 128 KiB, some ten microseconds, for which a
/// growth may have to wait.
const COPY_CLUSTERS: usize = 1 << 11;

impl Table {
    /// A table of at most `bytes` bytes, at least 99.9 % of it (whole clusters for small ones). The
    /// memory is reserved at once and used as it fills.
    ///
    /// # Errors
    /// [`TableError::TooSmall`] below one cluster (64 bytes), [`TableError::Memory`] if the system
    /// refuses.
    pub fn new(bytes: usize) -> Result<Self, TableError> {
        let clusters = bytes / (CLUSTER * ENTRY_BYTES);
        if clusters == 0 {
            return Err(TableError::TooSmall { bytes });
        }
        let doublings = (clusters / FIRST_CLUSTERS).checked_ilog2().unwrap_or(0);
        let first = clusters >> doublings;
        let memory = Memory::new(first << doublings)?;
        Ok(Table { memory, active: AtomicUsize::new(first), moving: Mutex::new(()) })
    }

    /// A table of two clusters that begins with one, for models of its growth.
    #[cfg(all(test, loom))]
    pub(in crate::search) fn growing_from_one_cluster() -> Self {
        let memory = Memory::new(2).expect("a model has memory");
        Table { memory, active: AtomicUsize::new(1), moving: Mutex::new(()) }
    }

    /// The number of entries that fit.
    pub fn capacity(&self) -> u64 {
        (self.memory.clusters().len() * CLUSTER) as u64
    }

    /// The bytes that the entries take.
    pub fn bytes(&self) -> usize {
        self.memory.clusters().len() * CLUSTER * ENTRY_BYTES
    }

    /// The bytes of the part in use.
    pub fn used_bytes(&self) -> usize {
        self.active.load(Ordering::Relaxed) * CLUSTER * ENTRY_BYTES
    }

    /// The cluster of a key.
    #[inline(always)]
    fn cluster(&self, key: u64) -> &Cluster {
        &self.memory.clusters()[index_of(key, self.active.load(Ordering::Relaxed))]
    }

    /// Whether a table with so many entries should grow now: three tenths of the part in use are
    /// filled, at which one cluster in a hundred overflows, and there is more memory.
    #[inline(always)]
    pub fn wants_growth(&self, used: u64) -> bool {
        let active = self.active.load(Ordering::Relaxed);
        used * 10 > (active * CLUSTER * 3) as u64 && active < self.memory.clusters().len()
    }

    /// Doubles the part in use; `key_of` is the function from codes to keys. Does nothing when the
    /// whole memory is in use. Takes the time to read and write the entries once.
    ///
    /// Only one thread should use the table meanwhile. If others do, no wrong entry results, but
    /// entries, solved ones too, can get lost or stay behind where no look-up finds them.
    pub fn grow(&self, key_of: impl Fn(u64) -> u64) {
        let _moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        let clusters = self.memory.clusters();
        let active = self.active.load(Ordering::Relaxed);
        if active == clusters.len() {
            return;
        }
        for index in (0..active).rev() {
            let contents: [u128; CLUSTER] = std::array::from_fn(|i| clusters[index].0[i].load());
            for cell in &clusters[index].0 {
                cell.set(0);
            }
            let mut filled = [0; 2];
            for content in contents.into_iter().filter(|content| content >> 64 != 0) {
                let target = index_of(key_of(content as u64), 2 * active);
                let half = target.wrapping_sub(2 * index);
                if half > 1 {
                    // Out of place: its writer had chosen the cluster before an earlier growth.
                    continue;
                }
                clusters[target].0[filled[half]].set(content);
                filled[half] += 1;
            }
        }
        self.active.store(2 * active, Ordering::Relaxed);
    }

    /// Brings as much of the memory into use as growth would have done for so many entries; for an
    /// empty table that is about to be filled, otherwise as [`Table::grow`].
    pub fn reserve(&self, entries: u64, key_of: impl Fn(u64) -> u64) {
        // A file may claim more entries than there are numbers for.
        let entries = entries.min(self.capacity());
        while self.wants_growth(entries) {
            self.grow(&key_of);
        }
    }

    /// Appends the entries in use of the next clusters, as they stand in their cells, and moves the
    /// cursor on. False at the end, when nothing was left to read. Others may store and grow
    /// meanwhile; see the module's head for what is copied then.
    pub(crate) fn copy_cells(&self, cursor: &mut Cursor, cells: &mut Vec<u128>) -> bool {
        let _moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        let active = self.active.load(Ordering::Relaxed);
        // 0 at the beginning, where the cursor stands at 0 in any case.
        cursor.next *= active.checked_div(cursor.active).unwrap_or(1);
        cursor.active = active;
        let end = (cursor.next + COPY_CLUSTERS).min(active);
        let clusters = &self.memory.clusters()[cursor.next..end];
        let contents = clusters.iter().flat_map(|cluster| &cluster.0).map(Cell::load);
        cells.extend(contents.filter(|content| content >> 64 != 0));
        let more = cursor.next < end;
        cursor.next = end;
        more
    }

    /// Drops the entries that `keep`, asked with a code and its numbers, does not want. Reads the
    /// whole part in use, which does not shrink. Only while nobody else uses the table.
    pub fn retain(&self, mut keep: impl FnMut(u64, Entry) -> bool) {
        for Cluster(cells) in &self.memory.clusters()[..self.active.load(Ordering::Relaxed)] {
            let mut kept = 0;
            for cell in cells {
                let content = cell.load();
                if content >> 64 == 0 {
                    // A growth beside a store can leave a hole in front of others.
                    continue;
                }
                cell.set(0);
                if keep(content as u64, Entry::unpack(content)) {
                    cells[kept].set(content);
                    kept += 1;
                }
            }
        }
    }

    /// Starts to fetch the cluster of a key, for a look-up some 100 ns later.
    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        memory::prefetch(self.cluster(key));
    }

    /// The entry of a code. One cache line.
    #[inline(always)]
    pub fn lookup(&self, key: u64, code: u64) -> Option<Entry> {
        // All four, without a branch for each: nothing predicts which one it is. The first one
        // counts, if two writers have made two.
        let mut found = 0;
        for content in Cell::load_all(&self.cluster(key).0).into_iter().rev() {
            found = if content as u64 == code { content } else { found };
        }
        (found >> 64 != 0).then(|| Entry::unpack(found))
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
                    // Cells fill from the front, and none is emptied meanwhile: the code is not here.
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
                let bonus = if entry::is_solved(content) { SOLVED_BONUS } else { 0 };
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

    /// The number of entries, judged by the first [`SAMPLE_CLUSTERS`] clusters: exact while no more
    /// are in use, else with a standard error of some 3 % at the filling at which tables grow.
    /// Reads 64 KiB at most.
    pub fn estimated_count(&self) -> u64 {
        let active = self.active.load(Ordering::Relaxed);
        let sample = active.min(SAMPLE_CLUSTERS);
        let contents = self.memory.clusters()[..sample].iter().flat_map(|c| &c.0).map(Cell::load);
        let filled = contents.filter(|content| content >> 64 != 0).count() as u64;
        filled * active as u64 / sample as u64
    }

    /// Counts the entries and the solved ones among them. Reads the whole part in use.
    pub fn count(&self) -> (u64, u64) {
        let clusters = &self.memory.clusters()[..self.active.load(Ordering::Relaxed)];
        let contents = clusters.iter().flat_map(|c| &c.0).map(Cell::load);
        contents.filter(|content| content >> 64 != 0).fold((0, 0), |(all, solved), content| {
            (all + 1, solved + u64::from(entry::is_solved(content)))
        })
    }
}

/// The upper bits of a key, scaled to any number of clusters.
#[inline(always)]
fn index_of(key: u64, clusters: usize) -> usize {
    ((u128::from(key) * clusters as u128) >> 64) as usize
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("capacity", &self.capacity()).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A hole in a cluster hides nothing behind it from [`Table::retain`], which closes it.
    #[test]
    fn retain_looks_behind_empty_cells() {
        let hole = || {
            let table = Table::new(CLUSTER * ENTRY_BYTES).unwrap();
            for code in [7, 8, 9] {
                table.store(0, code, Entry { phi: 3, delta: 5, work: code });
            }
            table.memory.clusters()[0].0[0].set(0);
            table
        };
        let table = hole();
        let mut asked = Vec::new();
        table.retain(|code, _| {
            asked.push(code);
            code == 9
        });
        assert_eq!(asked, [8, 9]);
        assert_eq!(table.count(), (1, 0));
        assert_eq!(table.memory.clusters()[0].0[0].load() as u64, 9);
        let table = hole();
        table.retain(|_, _| false);
        assert_eq!(table.count(), (0, 0));
    }
}
