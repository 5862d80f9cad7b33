//! Growth: more of the memory comes into use, and more entries stand in each cluster.

use super::*;

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
    fn next(&self, shape: Shape) -> Option<Shape> {
        let fits = |codes| Narrow::fits(shape.clusters, codes);
        if !shape.narrow && self.codes.as_ref().is_some_and(fits) {
            Some(Shape { narrow: true, ..shape })
        } else if shape.clusters < self.memory.clusters().len() {
            Some(Shape { clusters: 2 * shape.clusters, ..shape })
        } else {
            None
        }
    }

    /// Makes the entries of a cluster narrow or doubles the part in use, as [`Table::wants_growth`]
    /// says when; `key_of` is the function from codes to keys. Does nothing when neither is possible.
    /// Takes the time to read and write the entries once.
    ///
    /// Only one thread may use the table meanwhile, but for what is read within
    /// `while_nothing_moves`. If others do, entries, solved ones too, can get lost or stay behind
    /// where no look-up finds them, and where entries are narrow, be taken for others.
    pub fn grow(&self, key_of: impl Fn(u64) -> u64) {
        self.take_next_shape(|from, to| self.reshape(from, to, key_of));
    }

    /// Takes the next shape, if there is one, once the entries are where it has them.
    fn take_next_shape(&self, reshape: impl FnOnce(Shape, Shape)) {
        self.while_nothing_moves(|| {
            let shape = self.shape();
            if let Some(grown) = self.next(shape) {
                reshape(shape, grown);
                self.shape.store(grown.number(), Ordering::Relaxed);
            }
        });
    }

    /// Brings every entry to where the next shape has it. Each cluster goes to itself or to two
    /// neighbours that are no earlier, so the last one is the first to be moved.
    fn reshape(&self, from: Shape, to: Shape, key_of: impl Fn(u64) -> u64) {
        let clusters = self.memory.clusters();
        let parts = to.clusters / from.clusters;
        for index in (0..from.clusters).rev() {
            let targets = &clusters[index * parts..][..parts];
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
                        let name = Narrow::name(key, to.clusters);
                        u128::from(Narrow::pack(name, &Entry::unpack(wide)))
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
    }

    /// Brings as much of the memory into use as growth would have done for so many entries, as
    /// [`Table::grow`]. An empty table that is about to be filled only takes the shape, and none of the
    /// memory is touched.
    pub fn reserve(&self, entries: u64, key_of: impl Fn(u64) -> u64) {
        // A file may claim more entries than there are numbers for.
        let entries = entries.min(self.capacity());
        let is_empty = self.wants_growth(entries) && self.count().0 == 0;
        while self.wants_growth(entries) {
            if is_empty {
                // What is not in use yet is zero, and so are empty clusters of every shape.
                self.take_next_shape(|_, _| ());
            } else {
                self.grow(&key_of);
            }
        }
    }
}
