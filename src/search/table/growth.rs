//! Growth: more of the memory comes into use, and at last more entries stand in each cluster.

use super::*;

impl Table {
    /// Whether a table with so many entries should grow now: three tenths of the part in use are
    /// filled, at which one cluster in a hundred overflows, and there is more memory; or half of all,
    /// and entries can become narrow.
    #[inline(always)]
    pub fn wants_growth(&self, used: u64) -> bool {
        let shape = self.shape();
        let places = (shape.clusters * CLUSTER) as u64;
        if shape.clusters < self.memory.clusters().len() {
            used * 10 > places * 3
        } else {
            self.codes.is_some() && !shape.narrow && used * 2 > places
        }
    }

    /// Doubles the part in use, or when the whole memory is in use the entries of a cluster; `key_of`
    /// is the function from codes to keys. Does nothing when neither is possible. Takes the time to
    /// read and write the entries once.
    ///
    /// Only one thread may use the table meanwhile, but for what is read within
    /// `while_nothing_moves`. If others do, entries, solved ones too, can get lost or stay behind
    /// where no look-up finds them, and where entries become narrow, be taken for others.
    pub fn grow(&self, key_of: impl Fn(u64) -> u64) {
        self.while_nothing_moves(|| {
            let shape = self.shape();
            let grown = if shape.clusters < self.memory.clusters().len() {
                self.split(shape.clusters, key_of);
                Shape { clusters: 2 * shape.clusters, ..shape }
            } else if self.codes.is_some() && !shape.narrow {
                self.make_narrow(shape, key_of);
                Shape { narrow: true, ..shape }
            } else {
                return;
            };
            self.shape.store(grown.number(), Ordering::Relaxed);
        });
    }

    /// Divides every cluster, of so many, into two.
    fn split(&self, active: usize, key_of: impl Fn(u64) -> u64) {
        let clusters = self.memory.clusters();
        for index in (0..active).rev() {
            let contents: [u128; CLUSTER] = std::array::from_fn(|i| clusters[index].0[i].load());
            for cell in &clusters[index].0 {
                cell.set(0);
            }
            let mut filled = [0; 2];
            for content in contents.into_iter().filter(|&content| !Wide::is_empty(content)) {
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
    }

    /// Puts the entries of every cluster into half as many of its cells.
    fn make_narrow(&self, shape: Shape, key_of: impl Fn(u64) -> u64) {
        for (index, Cluster(cells)) in self.used(shape).iter().enumerate() {
            let mut contents = [0; CLUSTER];
            let mut count = 0;
            for place in places::<Wide>(cells) {
                let key = key_of(place as u64);
                if index_of(key, shape.clusters) == index {
                    let name = Narrow::name(key, shape.clusters);
                    let narrow = Narrow::pack(name, &Entry::unpack(place));
                    put(&mut contents, Shape { narrow: true, ..shape }, count, u128::from(narrow));
                    count += 1;
                }
            }
            for (cell, content) in cells.iter().zip(contents) {
                cell.set(content);
            }
        }
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
}
