//! Allocation of child arrays in a range of 16-byte units.
//!
//! An [`Allocator`] fills its units from the bottom. Freed arrays are kept in one list per size.
//! When all units have been used, larger free arrays are split.

use super::memory::{ArenaMemory, ArrayId, CAPACITY, COUNT, ChildRecord, NEXT, WORK, units_of};

/// A range of 16-byte units that holds the child arrays of one tree.
#[derive(Debug)]
pub(crate) struct Allocator {
    top: u32,
    end: u32,
    /// `free[n]` is the first free array of `n` units, or 0 if there is none.
    free: Vec<ArrayId>,
    /// Number of nodes in the tree without the root.
    nodes: u64,
}

impl Allocator {
    /// Creates the allocator of the units from `bottom` (at least 1) to `end`, exclusively.
    pub fn new(bottom: u32, end: u32) -> Self {
        Allocator { top: bottom.max(1), end, free: Vec::new(), nodes: 0 }
    }

    /// Empties the allocator and sets its range.
    pub fn reset(&mut self, bottom: u32, end: u32) {
        self.top = bottom.max(1);
        self.end = end;
        self.free.fill(0);
        self.nodes = 0;
    }

    /// First unit of those that were never in use.
    pub fn top(&self) -> u32 {
        self.top
    }

    /// End of the range, exclusively.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Number of nodes in the tree without the root.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Allocates a child array of unexpanded children. Returns `None` if there is no space. The
    /// caller has to set the stamp of the array ([`ArenaMemory::set_stamp`]).
    pub fn allocate(
        &mut self,
        memory: &mut ArenaMemory,
        nodes: impl ExactSizeIterator<Item = ChildRecord>,
    ) -> Option<ArrayId> {
        let capacity = nodes.len();
        let units = units_of(capacity);
        let array = match self.free.get(units) {
            Some(&array) if array != 0 => {
                self.free[units] = memory.header(array, NEXT);
                array
            }
            _ if units <= (self.end.saturating_sub(self.top)) as usize => {
                let array = self.top;
                self.top += units as u32;
                array
            }
            _ => self.split(memory, units)?,
        };
        memory.set_header(array, CAPACITY, capacity as u32);
        memory.set_header(array, COUNT, capacity as u32);
        memory.set_header(array, WORK, 0);
        for (at, node) in nodes.enumerate() {
            memory.set_node(array, at, node, 0);
        }
        self.nodes += capacity as u64;
        Some(array)
    }

    /// Splits the smallest free array that is large enough.
    #[cold]
    fn split(&mut self, memory: &mut ArenaMemory, units: usize) -> Option<ArrayId> {
        let found = (units + 1..self.free.len()).find(|&size| self.free[size] != 0)?;
        let array = self.free[found];
        self.free[found] = memory.header(array, NEXT);
        // Even a remainder of one unit, which is too small for an array, is added to the list of its size.
        self.add_free(memory, array + units as u32, found - units);
        Some(array)
    }

    /// Sets the state for a tree of `nodes` nodes in the units up to `top`, exclusively.
    pub(super) fn restore(&mut self, top: u32, nodes: u64) {
        self.top = top;
        self.nodes = nodes;
    }

    /// Returns true if there are free arrays.
    #[cfg(test)]
    pub fn has_free_arrays(&self) -> bool {
        self.free.iter().any(|&array| array != 0)
    }

    /// Adds a child array of `units` units to its list of free arrays.
    pub(super) fn add_free(&mut self, memory: &mut ArenaMemory, array: ArrayId, units: usize) {
        if self.free.len() <= units {
            self.free.resize(units + 1, 0);
        }
        memory.set_header(array, NEXT, self.free[units]);
        self.free[units] = array;
    }

    /// Frees a child array and all arrays below it. Returns the sum of their expansions.
    pub fn free(&mut self, memory: &mut ArenaMemory, array: ArrayId) -> u64 {
        let mut work = 0;
        memory.set_header(array, NEXT, 0);
        let mut pending = array;
        while pending != 0 {
            let array = pending;
            pending = memory.header(array, NEXT);
            work += u64::from(memory.header(array, WORK));
            let count = memory.count(array);
            self.nodes -= count as u64;
            for at in 0..count {
                let child = memory.child(array, at);
                if child != 0 {
                    memory.set_header(child, NEXT, pending);
                    pending = child;
                }
            }
            let units = units_of(memory.header(array, CAPACITY) as usize);
            self.add_free(memory, array, units);
        }
        work
    }

    /// Updates the number of nodes after [`ArenaMemory::remove`] has removed a child.
    pub fn removed(&mut self) {
        self.nodes -= 1;
    }
}
