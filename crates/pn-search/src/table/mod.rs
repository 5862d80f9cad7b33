//! The transposition table: exact codes, clusters of four cells, no locks.
//!
//! # Layout
//!
//! A key chooses a cluster of four 16-byte cells, one cache line. A cell holds the position's
//! exact code and its numbers (see [`entry`]'s bit layout); a look-up compares whole codes, so it
//! never takes one position for another, whatever the keys do.
//!
//! Where keys tell their codes ([`Table::with_codes`]), entries become half as long as soon as the table
//! has enough clusters: two in a cell, each with as much of the key as the cluster does not tell, and
//! with rounded numbers (`narrow`). A look-up is exact as before.
//!
//! # Protocol
//!
//! Every cell is read by one 128-bit load and written by one 128-bit compare-and-swap
//! (`cell`), so a reader sees a code together with numbers that were stored for it, never a
//! mixture. A writer
//!
//! 1. reads the four cells. If one holds its code, it swaps that one, unless the place is solved
//!    (a solved position keeps its value; at most its work grows);
//! 2. else takes an empty place, else the victim: the place of least worth;
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
//! entry counts twice: with less, small tables lose proofs that took work; with more, they fill with
//! proofs that took none (figures in docs/research/table.md). The entry that has just been found is always
//! stored, because its parent is about to ask for it.
//!
//! # Growth
//!
//! The memory is reserved whole, but a table starts with a small part of it in use and doubles
//! that part when it fills ([`Table::grow`]). A search that needs 1 MiB of a 4 GiB table then runs
//! in the second-level cache, and the system need not zero what nobody touches: 6×6 takes three
//! quarters of the time. Doubling splits each cluster into two neighbours, because the index is the
//! key's upper bits scaled, so it runs in place, beginning with the last half of the clusters. One
//! growth, if keys tell codes, is that of the entries' number in a cluster.
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
mod compact;
pub mod entry;
mod growth;
mod keys;
mod layout;
mod memory;
#[cfg(all(loom, test))]
mod model;

pub use cell::is_lock_free;
pub use entry::Entry;
pub use keys::{InverseHash, LinearMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use cell::Cell;
use compact::CompactEntry;
use entry::FullEntry;
use layout::Layout;
use memory::TableMemory;

use crate::error::ErrorKind;

/// Use of a transposition table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableUse {
    /// Entries that fit.
    pub capacity: u64,
    /// Entries in use.
    pub used: u64,
    /// Entries dropped for others.
    pub replaced: u64,
}

/// Cells in a cluster.
pub const CLUSTER: usize = 4;

/// Bytes of a cell.
pub const CELL_BYTES: usize = 16;

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
    #[error("{bytes} bytes are too little for a table: at least {} are needed", CLUSTER * CELL_BYTES)]
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

impl TableError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            TableError::TooSmall { .. } => ErrorKind::Usage,
            TableError::Memory { .. } => ErrorKind::Resource,
        }
    }
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
    memory: TableMemory,
    /// The [`TableGeometry`].
    shape: AtomicUsize,
    /// The way back from keys to codes, if there is one and places in narrow cells would do.
    codes: Option<InverseHash>,
    /// Held while the entries move ([`Table::grow`]) and while a copy reads a piece. It publishes
    /// the shape and the entries' new places to the copy.
    moving: Mutex<()>,
}

/// What of the memory is in use, and how.
#[derive(Clone, Copy)]
struct TableGeometry {
    /// Clusters in use; the whole memory holds this times a power of two.
    clusters: usize,
    /// Whether cells are narrow.
    narrow: bool,
}

/// In the number that is a shape: whether cells are narrow.
const NARROW: usize = 1 << (usize::BITS - 1);

impl TableGeometry {
    /// Places in a cell.
    #[inline(always)]
    fn in_cell(self) -> usize {
        if self.narrow { CompactEntry::IN_CELL } else { FullEntry::IN_CELL }
    }

    fn number(self) -> usize {
        self.clusters | if self.narrow { NARROW } else { 0 }
    }
}

/// How far a copy of a table has come; a new one stands at the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// The next cluster, as clusters were numbered at the last piece.
    next: usize,
    /// Clusters that were in use at the last piece; 0 before the first.
    clusters: usize,
}

impl Cursor {
    /// Clusters that have been copied, and all clusters, as far as it is known.
    pub fn progress(&self) -> (u64, u64) {
        (self.next as u64, self.clusters as u64)
    }
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
        let clusters = bytes / (CLUSTER * CELL_BYTES);
        if clusters == 0 {
            return Err(TableError::TooSmall { bytes });
        }
        let doublings = (clusters / FIRST_CLUSTERS).checked_ilog2().unwrap_or(0);
        let first = clusters >> doublings;
        Ok(Table::of(TableMemory::new(first << doublings)?, first, None))
    }

    /// The same for a game whose keys tell the codes: twice as many entries fit, with rounded numbers
    /// as soon as so much of it is in use that keys do not have too many bits (8x8 needs 4 GiB, 7x8
    /// 16 MiB, 6x8 64 KiB). Below that it is an ordinary table.
    ///
    /// # Errors
    /// As [`Table::new`].
    pub fn with_codes(bytes: usize, codes: &InverseHash) -> Result<Self, TableError> {
        let table = Table::new(bytes)?;
        let fits = CompactEntry::fits(table.memory.clusters().len(), codes);
        Ok(Table { codes: fits.then(|| codes.clone()), ..table })
    }

    fn of(memory: TableMemory, clusters: usize, codes: Option<InverseHash>) -> Self {
        let shape = AtomicUsize::new(TableGeometry { clusters, narrow: false }.number());
        Table { memory, shape, codes, moving: Mutex::new(()) }
    }

    /// A table of two clusters that begins with one, for models of its growth.
    #[cfg(all(test, loom))]
    pub(crate) fn growing_from_one_cluster() -> Self {
        Table::of(TableMemory::new(2).expect("a model has memory"), 1, None)
    }

    /// At least the number of entries that fit into a table of so many bytes, made with these codes.
    pub fn capacity_of(bytes: usize, codes: Option<&InverseHash>) -> u64 {
        let clusters = bytes / (CLUSTER * CELL_BYTES);
        let narrow = codes.is_some_and(|codes| CompactEntry::fits(clusters, codes));
        (clusters * CLUSTER) as u64
            * (if narrow { CompactEntry::IN_CELL } else { FullEntry::IN_CELL }) as u64
    }

    /// The number of entries that fit.
    pub fn capacity(&self) -> u64 {
        let in_cell = if self.codes.is_some() { CompactEntry::IN_CELL } else { FullEntry::IN_CELL };
        (self.memory.clusters().len() * CLUSTER * in_cell) as u64
    }

    /// The bytes that the entries take.
    pub fn bytes(&self) -> usize {
        self.memory.clusters().len() * CLUSTER * CELL_BYTES
    }

    /// The bytes of the part in use.
    pub fn used_bytes(&self) -> usize {
        self.shape().clusters * CLUSTER * CELL_BYTES
    }

    #[inline(always)]
    fn shape(&self) -> TableGeometry {
        let number = self.shape.load(Ordering::Relaxed);
        TableGeometry { clusters: number & !NARROW, narrow: number & NARROW != 0 }
    }

    /// The clusters in use.
    fn used(&self, shape: TableGeometry) -> &[Cluster] {
        &self.memory.clusters()[..shape.clusters]
    }

    /// The cluster of a key.
    #[inline(always)]
    fn cluster(&self, key: u64, shape: TableGeometry) -> &[Cell; CLUSTER] {
        &self.memory.clusters()[index_of(key, shape.clusters)].0
    }

    /// Appends the entries in use of the next clusters, as wide cells, and moves the cursor on. False
    /// at the end, when nothing was left to read. Others may store and grow meanwhile; see the
    /// module's head for what is copied then. More than one of the `pieces` of `COPY_CLUSTERS` are
    /// read in parallel, in the current pool of `rayon`, for which a growth waits as well.
    pub fn copy_cells(&self, cursor: &mut Cursor, pieces: usize, cells: &mut Vec<u128>) -> bool {
        self.while_nothing_moves(|| {
            let shape = self.shape();
            // 0 at the beginning, where the cursor stands at 0 in any case.
            cursor.next *= shape.clusters.checked_div(cursor.clusters).unwrap_or(1);
            cursor.clusters = shape.clusters;
            let end = (cursor.next + pieces * COPY_CLUSTERS).min(shape.clusters);
            let piece = |first: usize, cells: &mut Vec<u128>| {
                for cluster in first..end.min(first + COPY_CLUSTERS) {
                    self.for_each_entry(shape, cluster, |_, wide| cells.push(wide));
                }
            };
            if pieces == 1 {
                piece(cursor.next, cells);
            } else {
                let firsts = (cursor.next..end).into_par_iter().step_by(COPY_CLUSTERS);
                let copies = firsts.map(|first| {
                    let mut cells = Vec::with_capacity(COPY_CLUSTERS * CLUSTER * shape.in_cell());
                    piece(first, &mut cells);
                    cells
                });
                cells.extend(copies.collect::<Vec<_>>().into_iter().flatten());
            }
            let more = cursor.next < end;
            cursor.next = end;
            more
        })
    }

    /// The number of a key's cluster, as long as the table does not grow.
    pub fn cluster_of(&self, key: u64) -> usize {
        index_of(key, self.shape().clusters)
    }

    /// Reads the table while others may want to grow it, which waits as long.
    pub(crate) fn while_nothing_moves<T>(&self, read: impl FnOnce() -> T) -> T {
        let _moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        read()
    }

    /// Calls `each` with the places in use of a cluster, as they stand (narrow ones in the lower half)
    /// and as wide ones.
    #[inline(always)]
    fn for_each_entry(
        &self,
        shape: TableGeometry,
        cluster: usize,
        mut each: impl FnMut(u128, u128),
    ) {
        let cells = &self.memory.clusters()[cluster].0;
        match &self.codes {
            Some(codes) if shape.narrow => {
                let first = CompactEntry::first_key(cluster, shape.clusters);
                for place in places::<CompactEntry>(cells) {
                    let key = CompactEntry::key(place, first, shape.clusters);
                    each(u128::from(place), CompactEntry::unpack(place).pack(codes.code(key)));
                }
            }
            _ => places::<FullEntry>(cells).for_each(|place| each(place, place)),
        }
    }

    /// Drops the entries that `keep`, asked with a code and its numbers, does not want. Reads the
    /// whole part in use, which does not shrink. Only while nobody else uses the table.
    pub fn retain(&self, mut keep: impl FnMut(u64, Entry) -> bool) {
        let shape = self.shape();
        for (index, Cluster(cells)) in self.used(shape).iter().enumerate() {
            // There may be a hole in front of others: a growth beside a store can leave one.
            let mut kept = [0; CLUSTER];
            let mut count = 0;
            self.for_each_entry(shape, index, |place, wide| {
                if keep(wide as u64, Entry::unpack(wide)) {
                    put(&mut kept, shape, count, place);
                    count += 1;
                }
            });
            for (cell, kept) in cells.iter().zip(kept) {
                cell.set(kept);
            }
        }
    }

    /// Starts to fetch the cluster of a key, for a look-up some 100 ns later.
    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        memory::prefetch(self.cluster(key, self.shape()));
    }

    /// The entry of a code, which has this key. One cache line.
    #[inline(always)]
    pub fn lookup(&self, key: u64, code: u64) -> Option<Entry> {
        let shape = self.shape();
        let cells = self.cluster(key, shape);
        if shape.narrow {
            let found = find::<CompactEntry>(cells, CompactEntry::name(key, shape.clusters));
            found.map(CompactEntry::unpack)
        } else {
            find::<FullEntry>(cells, u128::from(code)).map(Entry::unpack)
        }
    }

    /// Stores an entry (see the protocol and the replacement in the module's head).
    ///
    /// # Panics
    /// In debug builds, if the numbers exceed infinity or are both zero.
    pub fn store(&self, key: u64, code: u64, entry: Entry) -> Stored {
        let shape = self.shape();
        let cells = self.cluster(key, shape);
        if shape.narrow {
            let name = CompactEntry::name(key, shape.clusters);
            store::<CompactEntry>(cells, CompactEntry::pack(name, &entry))
        } else {
            store::<FullEntry>(cells, entry.pack(code))
        }
    }

    /// The number of entries, judged by the first [`SAMPLE_CLUSTERS`] clusters: exact while no more
    /// are in use, else with a standard error of some 3 % at the filling at which tables grow.
    /// Reads 64 KiB at most.
    pub fn estimated_count(&self) -> u64 {
        let shape = self.shape();
        let sample = shape.clusters.min(SAMPLE_CLUSTERS);
        let (filled, _) = census(&self.used(shape)[..sample], shape);
        filled * shape.clusters as u64 / sample as u64
    }

    /// Counts the entries and the solved ones among them. Reads the whole part in use.
    pub fn count(&self) -> (u64, u64) {
        let shape = self.shape();
        census(self.used(shape), shape)
    }
}

/// The places in use of a cluster.
fn places<L: Layout>(cells: &[Cell; CLUSTER]) -> impl Iterator<Item = L::Place> {
    let contents = cells.iter().map(Cell::load);
    let places = contents.flat_map(|cell| (0..L::IN_CELL).map(move |number| L::get(cell, number)));
    places.filter(|&place| !L::is_empty(place))
}

/// Writes a place, as [`Table::for_each_entry`] gives it, into the contents of a cluster.
fn put(contents: &mut [u128; CLUSTER], shape: TableGeometry, place: usize, content: u128) {
    let cell = &mut contents[place / shape.in_cell()];
    *cell = match shape.narrow {
        true => CompactEntry::set(*cell, place % shape.in_cell(), content as u64),
        false => FullEntry::set(*cell, place, content),
    };
}

/// The entries of some clusters, and the solved ones among them.
fn census(clusters: &[Cluster], shape: TableGeometry) -> (u64, u64) {
    fn of<L: Layout>(clusters: &[Cluster]) -> (u64, u64) {
        let places = clusters.iter().flat_map(|cluster| places::<L>(&cluster.0));
        places
            .fold((0, 0), |(all, solved), place| (all + 1, solved + u64::from(L::is_solved(place))))
    }
    if shape.narrow { of::<CompactEntry>(clusters) } else { of::<FullEntry>(clusters) }
}

/// The place with this name. All are compared, without a branch for each: nothing predicts which one
/// it is. The first one counts, if two writers have made two.
#[inline(always)]
fn find<L: Layout>(cells: &[Cell; CLUSTER], name: L::Place) -> Option<L::Place> {
    let mut found = L::get(0, 0);
    for content in Cell::load_all(cells).into_iter().rev() {
        for number in (0..L::IN_CELL).rev() {
            let place = L::get(content, number);
            found = if L::is_same(place, name) { place } else { found };
        }
    }
    (!L::is_empty(found)).then_some(found)
}

/// Stores a place in a cluster.
#[inline(always)]
fn store<L: Layout>(cells: &[Cell; CLUSTER], new: L::Place) -> Stored {
    'again: loop {
        let mut victim: Option<(&Cell, u128, usize, u32)> = None;
        for cell in cells {
            let content = cell.load();
            for number in 0..L::IN_CELL {
                let place = L::get(content, number);
                let replace = || cell.replace(content, L::set(content, number, new));
                if L::is_empty(place) {
                    // Places fill from the front, and none is emptied meanwhile: the code is not here.
                    if replace().is_err() {
                        continue 'again;
                    }
                    return Stored::Filled;
                }
                if L::is_same(place, new) {
                    let keeps_value = L::is_solved(place) && !L::is_solved(new);
                    let wins_nothing =
                        L::is_solved(place) && L::work_rank(place) >= L::work_rank(new);
                    if !keeps_value && !wins_nothing && replace().is_err() {
                        continue 'again;
                    }
                    return Stored::Updated;
                }
                let worth = L::worth(place);
                if victim.is_none_or(|(.., least)| worth < least) {
                    victim = Some((cell, content, number, worth));
                }
            }
        }
        if let Some((cell, content, number, _)) = victim
            && cell.replace(content, L::set(content, number, new)).is_ok()
        {
            return Stored::Replaced;
        }
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
            let table = Table::new(CLUSTER * CELL_BYTES).unwrap();
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
