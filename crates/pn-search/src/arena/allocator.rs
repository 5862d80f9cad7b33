//! A part of the memory with a tree of its own.
//!
//! An [`Allocator`] of the memory is filled from the bottom; blocks that are given back wait in a list
//! for each size. When the allocator is full, greater blocks are cut.

use super::memory::{ArenaMemory, Block, CAPACITY, COUNT, ChildRecord, NEXT, WORK, units_of};

/// A part of the memory in which one tree lives.
#[derive(Debug)]
pub(crate) struct Allocator {
    top: u32,
    end: u32,
    /// The first given-back block of each number of units.
    free: Vec<Block>,
    /// Nodes in the tree.
    nodes: u64,
}

impl Allocator {
    /// The units from `bottom` (at least 1) to `end`, exclusively.
    pub fn new(bottom: u32, end: u32) -> Self {
        Allocator { top: bottom.max(1), end, free: Vec::new(), nodes: 0 }
    }

    /// Empties the allocator and moves it.
    pub fn reset(&mut self, bottom: u32, end: u32) {
        self.top = bottom.max(1);
        self.end = end;
        self.free.fill(0);
        self.nodes = 0;
    }

    /// The first unit that was never in use.
    pub fn top(&self) -> u32 {
        self.top
    }

    /// The unit behind the last one.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Nodes in the tree, the root not counted.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Makes a block of unexpanded children, or returns `None` if there is no room. The stamp is
    /// not set.
    pub fn allocate(
        &mut self,
        memory: &mut ArenaMemory,
        nodes: impl ExactSizeIterator<Item = ChildRecord>,
    ) -> Option<Block> {
        let capacity = nodes.len();
        let units = units_of(capacity);
        let block = match self.free.get(units) {
            Some(&block) if block != 0 => {
                self.free[units] = memory.header(block, NEXT);
                block
            }
            _ if units <= (self.end.saturating_sub(self.top)) as usize => {
                let block = self.top;
                self.top += units as u32;
                block
            }
            _ => self.cut(memory, units)?,
        };
        memory.set_header(block, CAPACITY, capacity as u32);
        memory.set_header(block, COUNT, capacity as u32);
        memory.set_header(block, WORK, 0);
        for (at, node) in nodes.enumerate() {
            memory.set_node(block, at, node, 0);
        }
        self.nodes += capacity as u64;
        Some(block)
    }

    /// Cuts the smallest given-back block that is large enough.
    #[cold]
    fn cut(&mut self, memory: &mut ArenaMemory, units: usize) -> Option<Block> {
        let found = (units + 1..self.free.len()).find(|&size| self.free[size] != 0)?;
        let block = self.free[found];
        self.free[found] = memory.header(block, NEXT);
        // A rest of one unit, which no block fits into, waits in its list as well.
        self.give_back(memory, block + units as u32, found - units);
        Some(block)
    }

    /// Takes over a tree of `nodes` nodes in the units up to `top`, which is not among them.
    pub(super) fn restore(&mut self, top: u32, nodes: u64) {
        self.top = top;
        self.nodes = nodes;
    }

    /// True if any block has been given back.
    #[cfg(test)]
    pub fn has_free_blocks(&self) -> bool {
        self.free.iter().any(|&block| block != 0)
    }

    /// Puts a block of `units` units into its list.
    pub(super) fn give_back(&mut self, memory: &mut ArenaMemory, block: Block, units: usize) {
        if self.free.len() <= units {
            self.free.resize(units + 1, 0);
        }
        memory.set_header(block, NEXT, self.free[units]);
        self.free[units] = block;
    }

    /// Gives back a block and everything below it; returns the expansions that it stands for.
    pub fn free(&mut self, memory: &mut ArenaMemory, block: Block) -> u64 {
        let mut work = 0;
        memory.set_header(block, NEXT, 0);
        let mut pending = block;
        while pending != 0 {
            let block = pending;
            pending = memory.header(block, NEXT);
            work += u64::from(memory.header(block, WORK));
            let count = memory.count(block);
            self.nodes -= count as u64;
            for at in 0..count {
                let child = memory.child(block, at);
                if child != 0 {
                    memory.set_header(child, NEXT, pending);
                    pending = child;
                }
            }
            let units = units_of(memory.header(block, CAPACITY) as usize);
            self.give_back(memory, block, units);
        }
        work
    }

    /// Counts a child that [`ArenaMemory::remove`] has taken out.
    pub fn removed(&mut self) {
        self.nodes -= 1;
    }
}
