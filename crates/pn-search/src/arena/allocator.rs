//! Allocation of child arrays.
//!
//! An [`Arena`] fills its units from the bottom. Freed arrays are kept in one list per size. When all units have been
//! used, larger free arrays are split.

use super::memory::{Arena, ArrayId, CAPACITY, COUNT, NEXT, UNIT, WORK, units_of};
use crate::plain::game::Child;

impl Arena {
    /// Removes all arrays.
    pub fn clear(&mut self) {
        self.top = 1;
        self.free_arrays.fill(0);
        self.node_count = 0;
    }

    /// Number of bytes up to the last unit that was in use since the last [`Arena::clear`].
    pub fn used_bytes(&self) -> usize {
        self.top as usize * UNIT
    }

    /// Number of nodes in the tree without the root.
    pub fn node_count(&self) -> u64 {
        self.node_count
    }

    /// Allocates a child array of unexpanded children. Returns `None` if there is no space. The
    /// caller has to set the stamp of the array ([`Arena::set_stamp`]).
    pub fn allocate(&mut self, nodes: impl ExactSizeIterator<Item = Child>) -> Option<ArrayId> {
        let capacity = nodes.len();
        let units = units_of(capacity);
        let array = match self.free_arrays.get(units) {
            Some(&array) if array != 0 => {
                self.free_arrays[units] = self.header(array, NEXT);
                array
            }
            _ if units <= (self.units() - self.top) as usize => {
                let array = self.top;
                self.top += units as u32;
                array
            }
            _ => self.split(units)?,
        };
        self.set_header(array, CAPACITY, capacity as u32);
        self.set_header(array, COUNT, capacity as u32);
        self.set_header(array, WORK, 0);
        for (at, node) in nodes.enumerate() {
            self.set_node(array, at, node, 0);
        }
        self.node_count += capacity as u64;
        Some(array)
    }

    /// Splits the smallest free array that is large enough.
    #[cold]
    fn split(&mut self, units: usize) -> Option<ArrayId> {
        let found =
            (units + 1..self.free_arrays.len()).find(|&size| self.free_arrays[size] != 0)?;
        let array = self.free_arrays[found];
        self.free_arrays[found] = self.header(array, NEXT);
        // Even a remainder of one unit, which is too small for an array, is added to the list of its size.
        self.add_free(array + units as u32, found - units);
        Some(array)
    }

    /// Adds a child array of `units` units to its list of free arrays.
    fn add_free(&mut self, array: ArrayId, units: usize) {
        if self.free_arrays.len() <= units {
            self.free_arrays.resize(units + 1, 0);
        }
        self.set_header(array, NEXT, self.free_arrays[units]);
        self.free_arrays[units] = array;
    }

    /// Frees a child array and all arrays below it. Returns the sum of their expansions.
    pub fn free(&mut self, array: ArrayId) -> u64 {
        let mut work = 0;
        self.set_header(array, NEXT, 0);
        let mut pending = array;
        while pending != 0 {
            let array = pending;
            pending = self.header(array, NEXT);
            work += u64::from(self.header(array, WORK));
            let count = self.count(array);
            self.node_count -= count as u64;
            for at in 0..count {
                let child = self.child(array, at);
                if child != 0 {
                    self.set_header(child, NEXT, pending);
                    pending = child;
                }
            }
            let units = units_of(self.header(array, CAPACITY) as usize);
            self.add_free(array, units);
        }
        work
    }
}
