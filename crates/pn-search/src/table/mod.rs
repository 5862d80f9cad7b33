//! The transposition table: exact codes, clusters of four cells, lock-free.
//!
//! # Layout
//!
//! The upper bits of a key choose a cluster of four 16-byte cells, one cache line. A cell holds the
//! exact code of a position, its phi and delta, and the search effort (bit layout in [`entry`]). A
//! look-up compares whole codes, so hash collisions cannot corrupt a result.
//!
//! If the key function can be inverted ([`Table::with_inverse_hash`]), entries become half as long
//! as soon as the table has enough clusters. A cell then holds two compact entries, each with
//! rounded numbers and only that part of the key that the cluster index does not determine
//! (`compact`). Look-ups remain exact.
//!
//! # Types
//!
//! * [`Table`]: the table, shared by reference between threads.
//! * [`Entry`]: phi, delta and search effort of a position.
//! * `Layout`: arrangement of entries in cells, implemented by `FullEntry` (one in a cell) and
//!   `CompactEntry` (two).
//! * `Cell`: a 128-bit atomic cell.
//! * `TableMemory`: the memory of all clusters. `TableGeometry`: the part in use and its layout.
//! * [`InverseHash`] and [`LinearMap`]: invertible keys.
//! * [`Cursor`]: part of the table that has been copied.
//!
//! # Protocol
//!
//! Every cell is read by one 128-bit load and written by one 128-bit compare-and-swap (`cell`). So
//! a reader sees a code together with numbers that were stored for this code, never a mixture. A
//! writer
//!
//! 1. reads the four cells. If a slot holds an entry with the writer's code, the writer replaces
//!    this entry. It leaves a solved entry as it is, unless the new entry is solved too and has a
//!    greater search effort;
//! 2. otherwise fills an empty slot, or replaces the entry of least priority;
//! 3. if the swap fails because another writer has changed the cell, starts again from 1.
//!
//! The swap fails only if another writer has succeeded, so some writer always makes progress. Two
//! writers of one code may both find no entry for it and fill two slots. Both entries are true
//! statements. Look-ups and later stores use the first one; the other one is replaced in time.
//!
//! All accesses are relaxed: an entry is self-contained, and nothing else is published through it.
//! Entries of one thread may become visible to other threads late or in another order. Then work
//! may be done twice, but no value is ever wrong. Memory is allocated before any thread can access
//! the table.
//!
//! # Replacement
//!
//! The replacement priority of an entry is its search effort, so entries that are cheap to compute
//! again are replaced first. The search effort of a solved entry counts twice. With a lower weight,
//! small tables lose expensive proofs; with a higher weight, they fill with cheap proofs (figures in
//! docs/research/table.md). A new entry is always stored, because the search of its parent reads it
//! next.
//!
//! # Growth
//!
//! The whole memory is reserved at once, but a table starts with a small part of it in use and
//! doubles that part when it fills ([`Table::grow`]). So a search that needs 1 MiB of a 4 GiB table
//! runs in the second-level cache, and the system need not zero unused pages. This reduces the time
//! for 6×6 by a quarter. The cluster index is the upper bits of the key, scaled to the number of
//! clusters, so doubling splits each cluster into two neighbours. Doubling runs in place, beginning
//! with the last half of the clusters. If keys can be inverted, one growth doubles the number of
//! entries in a cluster instead.
//!
//! # Copies while others write
//!
//! `Table::copy_cells` reads the table piece by piece while searches run. Every entry is a true
//! statement by itself, so the pieces may be copied at different times. Only growth moves entries. A
//! lock prevents growth while a piece is copied, but not between two pieces. Doubling moves the
//! entries of cluster `i` to the clusters `2i` and `2i + 1`, so a copy that has reached cluster `i`
//! continues at `2i` and still reads every entry. Growth need not wait for the end of the copy. If
//! it did, other entries would be replaced, and the copy would change the search.

mod cell;
mod compact;
pub mod entry;
mod growth;
mod keys;
mod layout;
#[cfg(all(loom, test))]
mod loom_tests;
mod memory;

pub use cell::is_lock_free;
pub use entry::Entry;
pub use keys::{InverseHash, LinearMap};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct TableUse {
    /// Entries that fit.
    pub capacity: u64,
    /// Entries in use.
    pub used: u64,
    /// Entries replaced by entries of other positions.
    pub replaced: u64,
}

/// Cells in a cluster.
pub const CLUSTER: usize = 4;

/// Bytes of a cell.
pub const CELL_BYTES: usize = 16;

/// Four cells that share a cache line.
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

/// Reason why a table cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The memory does not suffice for one cluster.
    #[error("{bytes} bytes are too little for a table: at least {} are needed", CLUSTER * CELL_BYTES)]
    TooSmall {
        /// Number of bytes requested.
        bytes: usize,
    },
    /// The system does not provide the memory.
    #[error("the system does not give {bytes} bytes for the table: {source}; ask for less memory")]
    Memory {
        /// Number of bytes requested.
        bytes: usize,
        /// Error of the system.
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

/// Result of a [`Table::store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// An empty slot was filled.
    Filled,
    /// The cluster already had an entry of this position. It was updated, or kept because it is solved.
    Updated,
    /// The entry of another position was replaced.
    Replaced,
}

/// Minimum number of clusters in use at the start (64 KiB). A table with fewer clusters uses all of
/// them.
const FIRST_CLUSTERS: usize = 1 << 10;

/// Maximum number of clusters that [`Table::estimated_count`] reads.
pub const SAMPLE_CLUSTERS: usize = 1 << 10;

/// A transposition table of fixed size, shared by reference between threads.
pub struct Table {
    memory: TableMemory,
    /// [`TableGeometry::to_bits`] of the current geometry.
    geometry: AtomicUsize,
    /// Inverse of the key function, if it is known and if compact entries identify positions when
    /// the whole memory is in use.
    inverse: Option<InverseHash>,
    /// Held while entries move ([`Table::grow`]) and while a piece is copied. Through this lock, the
    /// new geometry and the moved entries become visible to the copying thread.
    growth_lock: Mutex<()>,
}

/// Part of the memory that is in use, and its layout.
#[derive(Clone, Copy)]
struct TableGeometry {
    /// Number of clusters in use. The number of all clusters is a power of two times this number.
    clusters: usize,
    /// True if cells hold compact entries.
    compact: bool,
}

/// Bit of [`TableGeometry::to_bits`] that is set for compact entries.
const COMPACT: usize = 1 << (usize::BITS - 1);

impl TableGeometry {
    /// Entries in a cell.
    #[inline(always)]
    fn entries_per_cell(self) -> usize {
        if self.compact { CompactEntry::PER_CELL } else { FullEntry::PER_CELL }
    }

    fn to_bits(self) -> usize {
        self.clusters | if self.compact { COMPACT } else { 0 }
    }
}

/// Part of the table that has been copied by [`Table::copy_cells`]. The default is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// Index of the next cluster to copy, for the number of clusters at the time of the last piece.
    next: usize,
    /// Clusters in use at the time of the last piece; 0 before the first.
    clusters: usize,
}

impl Cursor {
    /// Returns the number of clusters that have been copied, and of all clusters at the time of the
    /// last piece.
    pub fn progress(&self) -> (u64, u64) {
        (self.next as u64, self.clusters as u64)
    }
}

/// Number of clusters in a piece of [`Table::copy_cells`]: 128 KiB, which take some ten
/// microseconds. A growth may have to wait for this time.
const COPY_CLUSTERS: usize = 1 << 11;

impl Table {
    /// Creates a table of at most `bytes` bytes and at least 99.9 % of them. A small table has as
    /// many whole clusters as fit. The memory is reserved at once and used as the table fills.
    ///
    /// # Errors
    /// [`TableError::TooSmall`] below one cluster (64 bytes), [`TableError::Memory`] if the system
    /// does not provide the memory.
    pub fn new(bytes: usize) -> Result<Self, TableError> {
        let clusters = bytes / (CLUSTER * CELL_BYTES);
        if clusters == 0 {
            return Err(TableError::TooSmall { bytes });
        }
        let doublings = (clusters / FIRST_CLUSTERS).checked_ilog2().unwrap_or(0);
        let first = clusters >> doublings;
        Ok(Table::of(TableMemory::new(first << doublings)?, first, None))
    }

    /// Creates a table for a game whose key function has the inverse `inverse`. As soon as the part
    /// in use has enough clusters, entries become compact: twice as many fit, with rounded numbers.
    /// This happens from 4 GiB on for 8x8, 16 MiB for 7x8 and 64 KiB for 6x8. A smaller table has
    /// full entries only.
    ///
    /// # Errors
    /// The errors of [`Table::new`].
    pub fn with_inverse_hash(bytes: usize, inverse: &InverseHash) -> Result<Self, TableError> {
        let table = Table::new(bytes)?;
        let fits = CompactEntry::fits(table.memory.clusters().len(), inverse);
        Ok(Table { inverse: fits.then(|| inverse.clone()), ..table })
    }

    fn of(memory: TableMemory, clusters: usize, inverse: Option<InverseHash>) -> Self {
        let geometry = AtomicUsize::new(TableGeometry { clusters, compact: false }.to_bits());
        Table { memory, geometry, inverse, growth_lock: Mutex::new(()) }
    }

    /// Creates a table of two clusters, of which one is in use, for models of its growth.
    #[cfg(all(test, loom))]
    pub(crate) fn growing_from_one_cluster() -> Self {
        Table::of(TableMemory::new(2).expect("a model has memory"), 1, None)
    }

    /// Upper bound of the capacity of a table of `bytes` bytes with this inverse. It exceeds the
    /// capacity by at most 0.1 %, because [`Table::new`] rounds the size down.
    pub fn capacity_of(bytes: usize, inverse: Option<&InverseHash>) -> u64 {
        let clusters = bytes / (CLUSTER * CELL_BYTES);
        let compact = inverse.is_some_and(|inverse| CompactEntry::fits(clusters, inverse));
        (clusters * CLUSTER) as u64
            * (if compact { CompactEntry::PER_CELL } else { FullEntry::PER_CELL }) as u64
    }

    /// Maximum number of entries.
    pub fn capacity(&self) -> u64 {
        let entries_per_cell =
            if self.inverse.is_some() { CompactEntry::PER_CELL } else { FullEntry::PER_CELL };
        (self.memory.clusters().len() * CLUSTER * entries_per_cell) as u64
    }

    /// Size of the whole table in bytes.
    pub fn bytes(&self) -> usize {
        self.memory.clusters().len() * CLUSTER * CELL_BYTES
    }

    /// Size of the part in use in bytes.
    pub fn used_bytes(&self) -> usize {
        self.geometry().clusters * CLUSTER * CELL_BYTES
    }

    #[inline(always)]
    fn geometry(&self) -> TableGeometry {
        let bits = self.geometry.load(Ordering::Relaxed);
        TableGeometry { clusters: bits & !COMPACT, compact: bits & COMPACT != 0 }
    }

    /// Clusters of the part in use.
    fn used(&self, geometry: TableGeometry) -> &[Cluster] {
        &self.memory.clusters()[..geometry.clusters]
    }

    /// Cluster of a key.
    #[inline(always)]
    fn cluster(&self, key: u64, geometry: TableGeometry) -> &[Cell; CLUSTER] {
        &self.memory.clusters()[index_of(key, geometry.clusters)].0
    }

    /// Appends the entries of the next clusters to `cells`, as full cells, and advances the cursor.
    /// Returns false at the end of the table. Other threads may store entries during a call, and let
    /// the table grow between two calls; the module's head describes the effect. A call copies up to
    /// `pieces` pieces of `COPY_CLUSTERS` clusters. Several pieces are copied in parallel, in the
    /// current pool of `rayon`. A growth waits for the end of the call.
    pub fn copy_cells(&self, cursor: &mut Cursor, pieces: usize, cells: &mut Vec<u128>) -> bool {
        self.with_growth_locked(|| {
            let geometry = self.geometry();
            // Before the first piece, both fields of the cursor are 0.
            cursor.next *= geometry.clusters.checked_div(cursor.clusters).unwrap_or(1);
            cursor.clusters = geometry.clusters;
            let end = (cursor.next + pieces * COPY_CLUSTERS).min(geometry.clusters);
            let piece = |first: usize, cells: &mut Vec<u128>| {
                for cluster in first..end.min(first + COPY_CLUSTERS) {
                    self.for_each_entry(geometry, cluster, |_, full| cells.push(full));
                }
            };
            if pieces == 1 {
                piece(cursor.next, cells);
            } else {
                let firsts = (cursor.next..end).into_par_iter().step_by(COPY_CLUSTERS);
                let copies = firsts.map(|first| {
                    let mut cells =
                        Vec::with_capacity(COPY_CLUSTERS * CLUSTER * geometry.entries_per_cell());
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

    /// Index of a key's cluster. It changes when the table grows.
    pub fn cluster_of(&self, key: u64) -> usize {
        index_of(key, self.geometry().clusters)
    }

    /// Calls `read` while the table cannot grow. A growth waits until `read` returns.
    pub(crate) fn with_growth_locked<T>(&self, read: impl FnOnce() -> T) -> T {
        let _lock = self.growth_lock.lock().unwrap_or_else(PoisonError::into_inner);
        read()
    }

    /// Calls `each` for the entries of a cluster, with the packed entry (a compact one in the lower
    /// half) and the same entry as a full cell.
    #[inline(always)]
    fn for_each_entry(
        &self,
        geometry: TableGeometry,
        cluster: usize,
        mut each: impl FnMut(u128, u128),
    ) {
        let cells = &self.memory.clusters()[cluster].0;
        match &self.inverse {
            Some(inverse) if geometry.compact => {
                let first = CompactEntry::first_key(cluster, geometry.clusters);
                for packed in packed_entries::<CompactEntry>(cells) {
                    let key = CompactEntry::key(packed, first, geometry.clusters);
                    each(u128::from(packed), CompactEntry::unpack(packed).pack(inverse.code(key)));
                }
            }
            _ => packed_entries::<FullEntry>(cells).for_each(|packed| each(packed, packed)),
        }
    }

    /// Removes the entries for whose code and numbers `keep` returns false. Reads the whole part in
    /// use, which does not shrink. No other thread may use the table.
    pub fn retain(&self, mut keep: impl FnMut(u64, Entry) -> bool) {
        let geometry = self.geometry();
        for (index, Cluster(cells)) in self.used(geometry).iter().enumerate() {
            // An empty slot may precede filled ones: a growth that overlaps a store can leave one.
            let mut kept = [0; CLUSTER];
            let mut count = 0;
            self.for_each_entry(geometry, index, |packed, full| {
                if keep(full as u64, Entry::unpack(full)) {
                    put(&mut kept, geometry, count, packed);
                    count += 1;
                }
            });
            for (cell, kept) in cells.iter().zip(kept) {
                cell.set(kept);
            }
        }
    }

    /// Prefetches the cluster of a key, for a look-up some 100 ns later.
    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        memory::prefetch(self.cluster(key, self.geometry()));
    }

    /// Looks up the entry of `code`. `key` has to be the key of `code`. Touches one cache line.
    #[inline(always)]
    pub fn lookup(&self, key: u64, code: u64) -> Option<Entry> {
        let geometry = self.geometry();
        let cells = self.cluster(key, geometry);
        if geometry.compact {
            let found = find::<CompactEntry>(cells, CompactEntry::tag(key, geometry.clusters));
            found.map(CompactEntry::unpack)
        } else {
            find::<FullEntry>(cells, u128::from(code)).map(Entry::unpack)
        }
    }

    /// Stores an entry of `code` (see protocol and replacement in the module's head). `key` has to be
    /// the key of `code`.
    ///
    /// # Panics
    /// In debug builds, if phi or delta is greater than infinity, or both are zero.
    pub fn store(&self, key: u64, code: u64, entry: Entry) -> Stored {
        let geometry = self.geometry();
        let cells = self.cluster(key, geometry);
        if geometry.compact {
            let tag = CompactEntry::tag(key, geometry.clusters);
            store::<CompactEntry>(cells, CompactEntry::pack(tag, &entry))
        } else {
            store::<FullEntry>(cells, entry.pack(code))
        }
    }

    /// Estimates the number of entries from the first [`SAMPLE_CLUSTERS`] clusters (64 KiB). The
    /// result is exact while no more clusters are in use. Otherwise its standard error is some 3 %
    /// at the load at which tables grow.
    pub fn estimated_count(&self) -> u64 {
        let geometry = self.geometry();
        let sample = geometry.clusters.min(SAMPLE_CLUSTERS);
        let (filled, _) = count_in(&self.used(geometry)[..sample], geometry);
        filled * geometry.clusters as u64 / sample as u64
    }

    /// Counts the entries and the solved ones among them. Reads the whole part in use.
    pub fn count(&self) -> (u64, u64) {
        let geometry = self.geometry();
        count_in(self.used(geometry), geometry)
    }
}

/// Packed entries of a cluster, without empty slots.
fn packed_entries<L: Layout>(cells: &[Cell; CLUSTER]) -> impl Iterator<Item = L::Packed> {
    let contents = cells.iter().map(Cell::load);
    let slots = contents.flat_map(|cell| (0..L::PER_CELL).map(move |slot| L::get(cell, slot)));
    slots.filter(|&packed| !L::is_empty(packed))
}

/// Writes a packed entry, as passed by [`Table::for_each_entry`], into the contents of a cluster.
fn put(contents: &mut [u128; CLUSTER], geometry: TableGeometry, slot: usize, packed: u128) {
    let cell = &mut contents[slot / geometry.entries_per_cell()];
    *cell = match geometry.compact {
        true => CompactEntry::set(*cell, slot % geometry.entries_per_cell(), packed as u64),
        false => FullEntry::set(*cell, slot, packed),
    };
}

/// Counts the entries of some clusters, and the solved ones among them.
fn count_in(clusters: &[Cluster], geometry: TableGeometry) -> (u64, u64) {
    fn of<L: Layout>(clusters: &[Cluster]) -> (u64, u64) {
        let all = clusters.iter().flat_map(|cluster| packed_entries::<L>(&cluster.0));
        all.fold((0, 0), |(count, solved), packed| {
            (count + 1, solved + u64::from(L::is_solved(packed)))
        })
    }
    if geometry.compact { of::<CompactEntry>(clusters) } else { of::<FullEntry>(clusters) }
}

/// Finds the packed entry with this tag. All entries of the cluster are compared without branches,
/// because a branch predictor cannot guess which one matches. If two writers have stored the same
/// position twice, the first entry is returned.
#[inline(always)]
fn find<L: Layout>(cells: &[Cell; CLUSTER], tag: L::Packed) -> Option<L::Packed> {
    let mut found = L::get(0, 0);
    for content in Cell::load_all(cells).into_iter().rev() {
        for slot in (0..L::PER_CELL).rev() {
            let packed = L::get(content, slot);
            found = if L::is_same(packed, tag) { packed } else { found };
        }
    }
    (!L::is_empty(found)).then_some(found)
}

/// Stores a packed entry in a cluster.
#[inline(always)]
fn store<L: Layout>(cells: &[Cell; CLUSTER], new: L::Packed) -> Stored {
    'again: loop {
        let mut victim: Option<(&Cell, u128, usize, u32)> = None;
        for cell in cells {
            let content = cell.load();
            for slot in 0..L::PER_CELL {
                let packed = L::get(content, slot);
                let replace = || cell.replace(content, L::set(content, slot, new));
                if L::is_empty(packed) {
                    // Slots are filled from the front, and none is emptied while searches run, so no
                    // later slot has an entry of the position.
                    if replace().is_err() {
                        continue 'again;
                    }
                    return Stored::Filled;
                }
                if L::is_same(packed, new) {
                    let keeps_value = L::is_solved(packed) && !L::is_solved(new);
                    let is_no_gain =
                        L::is_solved(packed) && L::work_rank(packed) >= L::work_rank(new);
                    if !keeps_value && !is_no_gain && replace().is_err() {
                        continue 'again;
                    }
                    return Stored::Updated;
                }
                let priority = L::replacement_priority(packed);
                if victim.is_none_or(|(.., least)| priority < least) {
                    victim = Some((cell, content, slot, priority));
                }
            }
        }
        if let Some((cell, content, slot, _)) = victim
            && cell.replace(content, L::set(content, slot, new)).is_ok()
        {
            return Stored::Replaced;
        }
    }
}

/// Cluster index of a key: the upper bits of the key, scaled to the number of clusters.
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

    /// [`Table::retain`] reads the entries behind an empty slot, and moves them to the front.
    #[test]
    fn retain_reads_entries_behind_empty_cells() {
        let with_gap = || {
            let table = Table::new(CLUSTER * CELL_BYTES).unwrap();
            for code in [7, 8, 9] {
                table.store(0, code, Entry { phi: 3, delta: 5, work: code });
            }
            table.memory.clusters()[0].0[0].set(0);
            table
        };
        let table = with_gap();
        let mut codes = Vec::new();
        table.retain(|code, _| {
            codes.push(code);
            code == 9
        });
        assert_eq!(codes, [8, 9]);
        assert_eq!(table.count(), (1, 0));
        assert_eq!(table.memory.clusters()[0].0[0].load() as u64, 9);
        let table = with_gap();
        table.retain(|_, _| false);
        assert_eq!(table.count(), (0, 0));
    }
}
