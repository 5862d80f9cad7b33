//! Growth of a table: a larger part of the memory comes into use, or a cell holds two entries instead
//! of one.

use std::ops::Range;
use std::thread;

use super::*;
use crate::threads::start_worker;

/// Number of clusters that a thread takes at a time: 1 MiB, which takes some milliseconds. For fewer
/// clusters no thread is started.
const GRAIN: usize = if cfg!(miri) { 4 } else { 1 << 14 };

/// Stack of a thread that moves entries, in bytes.
const STACK_BYTES: usize = 1 << 20;

impl Table {
    /// Returns true if a table with `used` entries can grow and should grow, because clusters begin
    /// to overflow. With four slots in a cluster, the limit is a load of 30 %, at which the table
    /// has lost one entry in a hundred. With eight slots it is 60 %, at which the table has lost one
    /// entry in fifty.
    #[inline(always)]
    pub fn wants_growth(&self, used: u64) -> bool {
        let geometry = self.geometry();
        let tenths = if geometry.compact { 6 } else { 3 };
        used * 10 > (geometry.clusters * CLUSTER * geometry.entries_per_cell()) as u64 * tenths
            && self.next_geometry(geometry).is_some()
    }

    /// Geometry after the next growth. Entries become compact as soon as there are enough clusters
    /// to identify positions; then twice as many fit into the same memory.
    fn next_geometry(&self, geometry: TableGeometry) -> Option<TableGeometry> {
        let fits = |inverse| CompactEntry::fits(geometry.clusters, inverse);
        if !geometry.compact && self.inverse.as_ref().is_some_and(fits) {
            Some(TableGeometry { compact: true, ..geometry })
        } else if geometry.clusters < self.memory.clusters().len() {
            Some(TableGeometry { clusters: 2 * geometry.clusters, ..geometry })
        } else {
            None
        }
    }

    /// Makes entries compact or doubles the part in use (see [`Table::wants_growth`]). `key_of` is
    /// the function from codes to keys. Does nothing if neither is possible.
    ///
    /// Reads and writes the entries once, on up to `threads` threads, the calling one included. For
    /// each GiB in use before the growth, this takes two to four seconds on one thread and a third of
    /// a second on 16 threads. The content of the table afterwards does not depend on the number of
    /// threads. If the system starts fewer threads, those do all of the work.
    ///
    /// Only the calling thread may use the table during the growth, except for reads within
    /// `with_growth_locked`. Otherwise entries, even solved ones, can get lost or be moved to clusters
    /// in which no look-up finds them, and compact entries can be mistaken for those of other
    /// positions.
    ///
    /// # Panics
    /// If `key_of` panics. The table is then empty, because entries that have moved cannot be
    /// distinguished from entries that have not.
    pub fn grow(&self, threads: usize, key_of: impl Fn(u64) -> u64 + Sync) {
        self.set_next_geometry(|from, to| self.move_entries(from, to, threads, key_of));
    }

    /// Sets the next geometry, if there is one, after `move_entries` has moved the entries to their
    /// clusters.
    fn set_next_geometry(&self, move_entries: impl FnOnce(TableGeometry, TableGeometry)) {
        self.with_growth_locked(|| {
            let from = self.geometry();
            if let Some(to) = self.next_geometry(from) {
                let unfinished = ClearOnDrop(self.used(to));
                move_entries(from, to);
                std::mem::forget(unfinished);
                self.geometry.store(to.to_bits(), Ordering::Relaxed);
            }
        });
    }

    /// Moves every entry to its cluster in the next geometry. If entries become compact, they stay in
    /// their cluster. If the number of clusters doubles, those of cluster `i` go to the clusters `2i`
    /// and `2i + 1`.
    ///
    /// In a doubling, the second half of the clusters moves first. Its entries go behind all clusters
    /// that have not moved, so the order does not matter, and several threads can share the work.
    /// Then the second half of the rest moves in the same way, and so on. The first clusters, at most
    /// [`GRAIN`], are moved last by one thread, in decreasing order.
    fn move_entries(
        &self,
        from: TableGeometry,
        to: TableGeometry,
        threads: usize,
        key_of: impl Fn(u64) -> u64 + Sync,
    ) {
        let parts = to.clusters / from.clusters;
        let move_cluster = |index| self.move_cluster(from, to, index, &key_of);
        let mut end = from.clusters;
        if parts == 1 {
            for_each_in_parallel(0..end, threads, move_cluster);
            return;
        }
        while end > GRAIN {
            let half = end.div_ceil(parts);
            for_each_in_parallel(half..end, threads, move_cluster);
            end = half;
        }
        (0..end).rev().for_each(move_cluster);
    }

    /// Moves the entries of a cluster to their clusters in the next geometry.
    fn move_cluster(
        &self,
        from: TableGeometry,
        to: TableGeometry,
        index: usize,
        key_of: impl Fn(u64) -> u64,
    ) {
        let parts = to.clusters / from.clusters;
        let targets = &self.memory.clusters()[index * parts..][..parts];
        let mut contents = [[0; CLUSTER]; 2];
        let mut filled = [0; 2];
        self.for_each_entry(from, index, |_, full| {
            let key = key_of(full as u64);
            let part = index_of(key, to.clusters).wrapping_sub(index * parts);
            if part >= parts {
                // The entry is in a wrong cluster, because its writer chose the cluster before an
                // earlier growth. No look-up finds it, so it is dropped.
                return;
            }
            let packed = match to.compact {
                true => {
                    let tag = CompactEntry::tag(key, to.clusters);
                    u128::from(CompactEntry::pack(tag, &Entry::unpack(full)))
                }
                false => full,
            };
            put(&mut contents[part], to, filled[part], packed);
            filled[part] += 1;
        });
        for (Cluster(cells), contents) in targets.iter().zip(contents) {
            for (cell, content) in cells.iter().zip(contents) {
                cell.set(content);
            }
        }
    }

    /// Lets the table grow by [`Table::grow`] until it has space for `entries` entries. If the table
    /// is empty, only its geometry changes, and its memory is not touched.
    pub fn reserve(&self, entries: u64, threads: usize, key_of: impl Fn(u64) -> u64 + Sync) {
        // A file may state more entries than the capacity.
        let entries = entries.min(self.capacity());
        let is_empty = self.wants_growth(entries) && self.count().0 == 0;
        while self.wants_growth(entries) {
            if is_empty {
                // The memory of an empty table is zero, which means empty clusters in every geometry.
                self.set_next_geometry(|_, _| ());
            } else {
                self.grow(threads, &key_of);
            }
        }
    }
}

/// Empties some clusters when dropped, which happens if a growth panics.
struct ClearOnDrop<'t>(&'t [Cluster]);

impl Drop for ClearOnDrop<'_> {
    fn drop(&mut self) {
        self.0.iter().flat_map(|Cluster(cells)| cells).for_each(|cell| cell.set(0));
    }
}

/// Calls `each` for every index of a range, on up to `threads` threads. Relaxed accesses suffice,
/// because the threads share only the counter of the range, and joining a thread publishes its
/// writes.
fn for_each_in_parallel(range: Range<usize>, threads: usize, each: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(range.start);
    let work = || {
        loop {
            let first = next.fetch_add(GRAIN, Ordering::Relaxed);
            if first >= range.end {
                return;
            }
            (first..range.end.min(first + GRAIN)).for_each(&each);
        }
    };
    let threads = threads.min(range.len() / GRAIN);
    thread::scope(|scope| {
        for _ in 1..threads {
            start_worker(scope, "growth", STACK_BYTES, work);
        }
        work();
    });
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::split_mix::mix;

    fn contents(clusters: &[Cluster]) -> Vec<[u128; CLUSTER]> {
        clusters.iter().map(|Cluster(cells)| Cell::load_all(cells)).collect()
    }

    /// Contents of the clusters after a growth, computed cluster by cluster in separate memory.
    fn grown(
        table: &Table,
        to: TableGeometry,
        key_of: impl Fn(u64) -> u64,
    ) -> Vec<[u128; CLUSTER]> {
        let from = table.geometry();
        let mut grown = vec![([0; CLUSTER], 0); to.clusters];
        for index in 0..from.clusters {
            table.for_each_entry(from, index, |_, full| {
                let key = key_of(full as u64);
                if index_of(key, from.clusters) == index {
                    let (contents, count) = &mut grown[index_of(key, to.clusters)];
                    let entry = Entry::unpack(full);
                    let packed = match to.compact {
                        true => {
                            CompactEntry::pack(CompactEntry::tag(key, to.clusters), &entry).into()
                        }
                        false => full,
                    };
                    put(contents, to, *count, packed);
                    *count += 1;
                }
            });
        }
        grown.into_iter().map(|(contents, _)| contents).collect()
    }

    /// Growth has the same result as a simple reference implementation on one thread in separate
    /// memory, for any number of threads and clusters.
    #[test]
    fn growth_on_threads_equals_the_reference_implementation() {
        // Keys are the codes' bits in reverse order.
        let words = std::array::from_fn(|bit| 1 << (63 - bit));
        let codes = InverseHash::new((1 << 40) - 1, &words).unwrap();
        let key_of = u64::reverse_bits;
        let mut growths = 0;
        for codes in [None, Some(codes)] {
            for (threads, begin) in [(1, 5 * GRAIN), (2, 3 * GRAIN + 5), (5, 4 * GRAIN + 1)] {
                let memory = TableMemory::new(4 * begin).unwrap();
                let table = Table::of(memory, begin, codes.clone());
                let mut stored = 0..;
                while let Some(to) = table.next_geometry(table.geometry()) {
                    for number in stored.by_ref().take(2 * table.geometry().clusters) {
                        let code = mix(number) >> 24;
                        let (phi, delta) = (1 + number as u32 % 50, 1 + code as u32 % 60);
                        table.store(key_of(code), code, Entry { phi, delta, work: number });
                    }
                    if !table.geometry().compact {
                        // Stores that overlap a growth can leave an empty slot in front of filled
                        // ones, and an entry in a wrong cluster.
                        let clusters = table.memory.clusters();
                        clusters[7].0[0].set(0);
                        clusters[begin - 1].0[CLUSTER - 1].set(clusters[1].0[0].load());
                    }
                    let expected = grown(&table, to, key_of);
                    table.grow(threads, key_of);
                    assert_eq!(table.geometry().to_bits(), to.to_bits());
                    assert!(contents(table.used(to)) == expected, "{threads} threads, {begin}");
                    growths += 1;
                }
            }
        }
        assert_eq!(growths, 3 * 2 + 3 * 3);
    }

    /// Without clearing, entries that are already compact or that have moved in a doubling would be
    /// read as those of other positions.
    #[test]
    fn a_panic_in_a_growth_leaves_an_empty_table_that_can_be_used() {
        let words = std::array::from_fn(|bit| 1 << (63 - bit));
        let codes = InverseHash::new((1 << 40) - 1, &words).unwrap();
        for (codes, threads) in [(None, 1), (None, 3), (Some(codes.clone()), 1), (Some(codes), 3)] {
            let begin = 4 * GRAIN;
            let table = Table::of(TableMemory::new(2 * begin).unwrap(), begin, codes);
            let entry = Entry { phi: 3, delta: 5, work: 7 };
            let stored: Vec<u64> = (0..begin as u64).map(|number| mix(number) >> 24).collect();
            let store = |code: u64| table.store(code.reverse_bits(), code, entry);
            for &code in &stored {
                store(code);
            }
            let calls = AtomicUsize::new(0);
            let fails = || {
                table.grow(threads, |code| {
                    let calls = calls.fetch_add(1, Ordering::Relaxed);
                    assert!(calls < begin / 2, "the key of an entry fails");
                    code.reverse_bits()
                });
            };
            let before = table.geometry().to_bits();
            assert!(catch_unwind(AssertUnwindSafe(fails)).is_err());
            assert_eq!((table.geometry().to_bits(), table.count()), (before, (0, 0)));
            assert_eq!(store(stored[0]), Stored::Filled);
            table.grow(threads, u64::reverse_bits);
            let found = table.lookup(stored[0].reverse_bits(), stored[0]).unwrap();
            assert_eq!((found.phi, found.delta), (entry.phi, entry.delta));
            assert_eq!(table.count(), (1, 0));
        }
    }
}
