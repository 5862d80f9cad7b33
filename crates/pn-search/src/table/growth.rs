//! Growth: more of the memory comes into use, and more entries stand in each cluster.

use std::ops::Range;
use std::thread;

use super::*;
use crate::threads::start_worker;

/// Clusters that a thread takes at a time: 1 MiB, some milliseconds. Fewer are not worth a thread.
const GRAIN: usize = if cfg!(miri) { 4 } else { 1 << 14 };

/// Stack of a thread that moves entries.
const STACK_BYTES: usize = 1 << 20;

impl Table {
    /// Whether a table with so many entries should grow now, if there is a next shape: it is filled so
    /// far that clusters begin to overflow. Those of four places lose one entry in a hundred when three
    /// tenths are filled, and those of eight one in fifty when it is six tenths.
    #[inline(always)]
    pub fn wants_growth(&self, used: u64) -> bool {
        let shape = self.shape();
        let tenths = if shape.narrow { 6 } else { 3 };
        used * 10 > (shape.clusters * CLUSTER * shape.in_cell()) as u64 * tenths
            && self.next(shape).is_some()
    }

    /// The shape that comes after this one. Entries become narrow as soon as there are enough clusters
    /// to tell their codes, and then twice as many fit into the same memory.
    fn next(&self, shape: TableGeometry) -> Option<TableGeometry> {
        let fits = |codes| CompactEntry::fits(shape.clusters, codes);
        if !shape.narrow && self.codes.as_ref().is_some_and(fits) {
            Some(TableGeometry { narrow: true, ..shape })
        } else if shape.clusters < self.memory.clusters().len() {
            Some(TableGeometry { clusters: 2 * shape.clusters, ..shape })
        } else {
            None
        }
    }

    /// Makes the entries of a cluster narrow or doubles the part in use (see [`Table::wants_growth`]);
    /// `key_of` is the function from codes to keys. Does nothing if neither is possible.
    ///
    /// Reads and writes the entries once, on up to `threads` threads, the calling one included: two to
    /// four seconds for each GiB in use before the growth on one thread, a third of a second on 16.
    /// The content of the table afterwards does not depend on the number of threads. If the system
    /// does not start some of them, the others do their part.
    ///
    /// Only the calling thread may use the table during the growth, except for reads within
    /// `while_nothing_moves`. Otherwise entries, also solved ones, can get lost or end up where no
    /// look-up finds them, and narrow entries can be taken for those of other positions.
    ///
    /// # Panics
    /// If `key_of` does. The table is then empty, because entries that have moved and entries that have
    /// not cannot be told apart.
    pub fn grow(&self, threads: usize, key_of: impl Fn(u64) -> u64 + Sync) {
        self.take_next_shape(|from, to| self.reshape(from, to, threads, key_of));
    }

    /// Takes the next shape, if there is one, after `reshape` has moved the entries to their places.
    fn take_next_shape(&self, reshape: impl FnOnce(TableGeometry, TableGeometry)) {
        self.while_nothing_moves(|| {
            let from = self.shape();
            if let Some(to) = self.next(from) {
                let unfinished = ClearOnDrop(self.used(to));
                reshape(from, to);
                std::mem::forget(unfinished);
                self.shape.store(to.number(), Ordering::Relaxed);
            }
        });
    }

    /// Brings every entry to where the next shape has it: each cluster goes to itself or to two
    /// neighbours that are no earlier.
    ///
    /// Where it goes to two, the clusters from a half of them on go behind them all, so their order does
    /// not matter and several threads can share them; then the quarter before, and so on. Of the first
    /// few, the last one is the first to be moved.
    fn reshape(
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
            share(0..end, threads, move_cluster);
            return;
        }
        while end > GRAIN {
            let half = end.div_ceil(parts);
            share(half..end, threads, move_cluster);
            end = half;
        }
        (0..end).rev().for_each(move_cluster);
    }

    /// Brings the entries of a cluster to where the next shape has them.
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
        self.for_each_entry(from, index, |_, wide| {
            let key = key_of(wide as u64);
            let part = index_of(key, to.clusters).wrapping_sub(index * parts);
            if part >= parts {
                // Out of place: its writer had chosen the cluster before an earlier growth.
                return;
            }
            let place = match to.narrow {
                true => {
                    let name = CompactEntry::name(key, to.clusters);
                    u128::from(CompactEntry::pack(name, &Entry::unpack(wide)))
                }
                false => wide,
            };
            put(&mut contents[part], to, filled[part], place);
            filled[part] += 1;
        });
        for (Cluster(cells), contents) in targets.iter().zip(contents) {
            for (cell, content) in cells.iter().zip(contents) {
                cell.set(content);
            }
        }
    }

    /// Brings as much of the memory into use as growth would have done for so many entries, as
    /// [`Table::grow`]. An empty table that is about to be filled only takes the shape, and none of the
    /// memory is touched.
    pub fn reserve(&self, entries: u64, threads: usize, key_of: impl Fn(u64) -> u64 + Sync) {
        // A file may claim more entries than there are numbers for.
        let entries = entries.min(self.capacity());
        let is_empty = self.wants_growth(entries) && self.count().0 == 0;
        while self.wants_growth(entries) {
            if is_empty {
                // What is not in use yet is zero, and so are empty clusters of every shape.
                self.take_next_shape(|_, _| ());
            } else {
                self.grow(threads, &key_of);
            }
        }
    }
}

/// Empties some clusters when it is dropped: when a growth panics.
struct ClearOnDrop<'t>(&'t [Cluster]);

impl Drop for ClearOnDrop<'_> {
    fn drop(&mut self) {
        self.0.iter().flat_map(|Cluster(cells)| cells).for_each(|cell| cell.set(0));
    }
}

/// Calls `each` for every index of a range, on so many threads. They share nothing but the range, and
/// their ends publish what they have written.
fn share(range: Range<usize>, threads: usize, each: impl Fn(usize) + Sync) {
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

    /// What a growth makes of a table, in other memory, cluster after cluster.
    fn grown(
        table: &Table,
        to: TableGeometry,
        key_of: impl Fn(u64) -> u64,
    ) -> Vec<[u128; CLUSTER]> {
        let from = table.shape();
        let mut grown = vec![([0; CLUSTER], 0); to.clusters];
        for index in 0..from.clusters {
            table.for_each_entry(from, index, |_, wide| {
                let key = key_of(wide as u64);
                if index_of(key, from.clusters) == index {
                    let (contents, count) = &mut grown[index_of(key, to.clusters)];
                    let entry = Entry::unpack(wide);
                    let place = match to.narrow {
                        true => {
                            CompactEntry::pack(CompactEntry::name(key, to.clusters), &entry).into()
                        }
                        false => wide,
                    };
                    put(contents, to, *count, place);
                    *count += 1;
                }
            });
        }
        grown.into_iter().map(|(contents, _)| contents).collect()
    }

    /// However many threads move the entries, and whatever number of clusters there is, every cell is
    /// what it would be if one thread wrote them to another place.
    #[test]
    fn threads_grow_a_table_as_one_does_in_other_memory() {
        // Keys are the codes' bits from the last to the first.
        let words = std::array::from_fn(|bit| 1 << (63 - bit));
        let codes = InverseHash::new((1 << 40) - 1, &words).unwrap();
        let key_of = u64::reverse_bits;
        let mut growths = 0;
        for codes in [None, Some(codes)] {
            for (threads, begin) in [(1, 5 * GRAIN), (2, 3 * GRAIN + 5), (5, 4 * GRAIN + 1)] {
                let memory = TableMemory::new(4 * begin).unwrap();
                let table = Table::of(memory, begin, codes.clone());
                let mut stored = 0..;
                while let Some(to) = table.next(table.shape()) {
                    for number in stored.by_ref().take(2 * table.shape().clusters) {
                        let code = mix(number) >> 24;
                        let (phi, delta) = (1 + number as u32 % 50, 1 + code as u32 % 60);
                        table.store(key_of(code), code, Entry { phi, delta, work: number });
                    }
                    if !table.shape().narrow {
                        // A hole, and what some store has left behind in an earlier growth's place.
                        let clusters = table.memory.clusters();
                        clusters[7].0[0].set(0);
                        clusters[begin - 1].0[CLUSTER - 1].set(clusters[1].0[0].load());
                    }
                    let expected = grown(&table, to, key_of);
                    table.grow(threads, key_of);
                    assert_eq!(table.shape().number(), to.number());
                    assert!(contents(table.used(to)) == expected, "{threads} threads, {begin}");
                    growths += 1;
                }
            }
        }
        assert_eq!(growths, 3 * 2 + 3 * 3);
    }

    /// Full entries that are narrow already, or at the places of twice as many clusters, would be read
    /// as those of other positions.
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
            let asked = AtomicUsize::new(0);
            let fails = || {
                table.grow(threads, |code| {
                    let asked = asked.fetch_add(1, Ordering::Relaxed);
                    assert!(asked < begin / 2, "the key of an entry fails");
                    code.reverse_bits()
                });
            };
            let before = table.shape().number();
            assert!(catch_unwind(AssertUnwindSafe(fails)).is_err());
            assert_eq!((table.shape().number(), table.count()), (before, (0, 0)));
            assert_eq!(store(stored[0]), Stored::Filled);
            table.grow(threads, u64::reverse_bits);
            let found = table.lookup(stored[0].reverse_bits(), stored[0]).unwrap();
            assert_eq!((found.phi, found.delta), (entry.phi, entry.delta));
            assert_eq!(table.count(), (1, 0));
        }
    }
}
