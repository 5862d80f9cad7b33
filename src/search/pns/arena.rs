//! The memory of proof-number search's trees.
//!
//! # Layout
//!
//! A tree consists of blocks; a block holds all open children of one expanded node. Blocks are made
//! of 16-byte units and named by the index of their first unit, so that 32 bits reach 64 GiB; unit
//! 0 belongs to no block, and 0 stands for "not expanded". With 32-bit words, a block of capacity
//! `c` is
//!
//! | words | content |
//! |---|---|
//! | 0 | capacity `c` |
//! | 1 | number of children in use, at the front of every row |
//! | 2 | expansions in this block's node and in children that have been removed |
//! | 3 | a stamp of the search; the next block of a list, while the block is in one |
//! | `c` words | delta of the children |
//! | `c` words | phi of the children |
//! | `c` words | their own blocks |
//! | `2 c` words | their codes, low half first |
//!
//! rounded up to whole units: 20 bytes for a child and some 20 for a block, 22 bytes for a node in
//! all at ten children to a block. Selection and back-up read the first two rows only, which is why
//! they are rows: two cache lines for most blocks. Parents are not stored, since a search holds
//! its path.
//!
//! # Allocation
//!
//! A [`Region`] of the memory is filled from the bottom; blocks that are given back wait in a list
//! for each size. When the region is full, greater blocks are cut.

#![forbid(unsafe_code)]

use crate::search::numbers::{Combination, INFINITY, Number};

/// Bytes of a unit.
pub(in crate::search) const UNIT: usize = 16;
const WORDS: usize = UNIT / 4;

const CAPACITY: usize = 0;
const COUNT: usize = 1;
const WORK: usize = 2;
const STAMP: usize = 3;
/// While the block is in a list.
const NEXT: usize = STAMP;

// The rows, in words per child from the first row's start.
const DELTA: usize = 0;
const PHI: usize = 1;
const CHILD: usize = 2;
const CODE: usize = 3;

/// The name of a block; 0 is none.
pub(in crate::search) type Block = u32;

// An anonymous mapping is zeroed, costs nothing before it is touched, and can be backed by huge
// pages; the interpreter that checks for undefined behaviour has no mappings.
#[cfg(not(miri))]
type Bytes = memmap2::MmapMut;
#[cfg(miri)]
type Bytes = Vec<u8>;

type Word = [u8; 4];

#[inline(always)]
fn number(word: Word) -> u32 {
    u32::from_ne_bytes(word)
}

/// A child as it stands in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) struct Node {
    pub code: u64,
    pub phi: Number,
    pub delta: Number,
}

/// What selection and back-up want to know about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) struct Scan {
    /// The child of least delta, the first of them.
    pub best: usize,
    /// Its delta.
    pub least: Number,
    /// The least delta of the others, or [`INFINITY`].
    pub second: Number,
    /// The best child's phi.
    pub phi: Number,
    /// The greatest phi of the others, or 0.
    pub max_other: Number,
    /// The sum of the others' phi.
    pub sum_other: u64,
}

impl Scan {
    /// What the children's numbers make of their parent's: phi and delta.
    #[inline(always)]
    pub fn numbers_of_parent(&self, combination: Combination) -> (Number, Number) {
        let max = self.max_other.max(self.phi);
        let sum = self.sum_other + u64::from(self.phi);
        (self.least, combination.combine(max, sum))
    }
}

/// Words that blocks are made of.
pub(in crate::search) struct Memory {
    bytes: Bytes,
}

impl Memory {
    /// Reserves whole units, at most `bytes` bytes. `None` if the system refuses or if not even a
    /// block of one child fits.
    pub fn new(bytes: usize) -> Option<Self> {
        let units = (bytes / UNIT).min(u32::MAX as usize);
        if units < 1 + units_of(1) {
            return None;
        }
        #[cfg(not(miri))]
        let bytes = {
            let map = memmap2::MmapMut::map_anon(units * UNIT).ok()?;
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            map
        };
        #[cfg(miri)]
        let bytes = vec![0; units * UNIT];
        Some(Memory { bytes })
    }

    /// Units in all.
    pub fn units(&self) -> u32 {
        (self.bytes.len() / UNIT) as u32
    }

    #[inline(always)]
    fn words(&self) -> &[Word] {
        self.bytes.as_chunks::<4>().0
    }

    #[inline(always)]
    fn get(&self, at: usize) -> u32 {
        number(self.words()[at])
    }

    #[inline(always)]
    fn set(&mut self, at: usize, value: u32) {
        self.bytes.as_chunks_mut::<4>().0[at] = value.to_ne_bytes();
    }

    #[inline(always)]
    fn header(&self, block: Block, field: usize) -> u32 {
        self.get(block as usize * WORDS + field)
    }

    #[inline(always)]
    fn set_header(&mut self, block: Block, field: usize, value: u32) {
        self.set(block as usize * WORDS + field, value);
    }

    /// The word of child `at` in a row; the first of two in [`CODE`].
    #[inline(always)]
    fn place(&self, block: Block, row: usize, at: usize) -> usize {
        let capacity = self.header(block, CAPACITY) as usize;
        let start = block as usize * WORDS + WORDS + row * capacity;
        start + if row == CODE { 2 * at } else { at }
    }

    /// Children in use.
    #[inline(always)]
    pub fn count(&self, block: Block) -> usize {
        self.header(block, COUNT) as usize
    }

    #[inline(always)]
    pub fn code(&self, block: Block, at: usize) -> u64 {
        let place = self.place(block, CODE, at);
        u64::from(self.get(place)) | u64::from(self.get(place + 1)) << 32
    }

    /// The child with this code, if there is one: a search through the block.
    pub fn position(&self, block: Block, code: u64) -> Option<usize> {
        (0..self.count(block)).find(|&at| self.code(block, at) == code)
    }

    pub fn node(&self, block: Block, at: usize) -> Node {
        Node {
            code: self.code(block, at),
            phi: self.get(self.place(block, PHI, at)),
            delta: self.delta(block, at),
        }
    }

    #[inline(always)]
    pub fn delta(&self, block: Block, at: usize) -> Number {
        self.get(self.place(block, DELTA, at))
    }

    #[inline(always)]
    pub fn set_numbers(&mut self, block: Block, at: usize, phi: Number, delta: Number) {
        self.set(self.place(block, PHI, at), phi);
        self.set(self.place(block, DELTA, at), delta);
    }

    /// The block of a child, 0 if it is not expanded.
    #[inline(always)]
    pub fn child(&self, block: Block, at: usize) -> Block {
        self.get(self.place(block, CHILD, at))
    }

    #[inline(always)]
    pub fn set_child(&mut self, block: Block, at: usize, child: Block) {
        self.set(self.place(block, CHILD, at), child);
    }

    /// When the search last did something to the block, in units of its own.
    #[inline(always)]
    pub fn stamp(&self, block: Block) -> u32 {
        self.header(block, STAMP)
    }

    #[inline(always)]
    pub fn set_stamp(&mut self, block: Block, stamp: u32) {
        self.set_header(block, STAMP, stamp);
    }

    /// Expansions counted to a block.
    pub fn work(&self, block: Block) -> u32 {
        self.header(block, WORK)
    }

    /// Counts expansions to a block; stops at the greatest number.
    pub fn add_work(&mut self, block: Block, work: u64) {
        let sum = u64::from(self.header(block, WORK)).saturating_add(work);
        self.set_header(block, WORK, sum.min(u64::from(u32::MAX)) as u32);
    }

    fn set_node(&mut self, block: Block, at: usize, node: Node, child: Block) {
        self.set_numbers(block, at, node.phi, node.delta);
        self.set_child(block, at, child);
        let place = self.place(block, CODE, at);
        self.set(place, node.code as u32);
        self.set(place + 1, (node.code >> 32) as u32);
    }

    /// Takes out a child that has no block of its own; the last one takes its place.
    pub fn remove(&mut self, block: Block, at: usize) {
        let last = self.count(block) - 1;
        if at != last {
            let (node, child) = (self.node(block, last), self.child(block, last));
            self.set_node(block, at, node, child);
        }
        self.set_header(block, COUNT, last as u32);
    }

    /// Reads the numbers of a block's children.
    ///
    /// # Panics
    /// If it has none.
    #[inline]
    pub fn scan(&self, block: Block) -> Scan {
        let start = block as usize * WORDS;
        let words = &self.words()[start..];
        let (capacity, count) = (number(words[CAPACITY]), number(words[COUNT]));
        let (capacity, count) = (capacity as usize, count as usize);
        let deltas = &words[WORDS..WORDS + count];
        let phis = &words[WORDS + capacity..WORDS + capacity + count];
        let (mut best, mut least, mut second) = (0, INFINITY, INFINITY);
        for (at, &delta) in deltas.iter().enumerate() {
            let delta = number(delta);
            if delta < least {
                second = least;
                least = delta;
                best = at;
            } else {
                second = second.min(delta);
            }
        }
        let (mut max_other, mut sum_other) = (0, 0);
        for part in [&phis[..best], &phis[best + 1..]] {
            for &phi in part {
                let phi = number(phi);
                max_other = max_other.max(phi);
                sum_other += u64::from(phi);
            }
        }
        Scan { best, least, second, phi: number(phis[best]), max_other, sum_other }
    }
}

/// Units of a block of so many children.
pub(in crate::search) fn units_of(capacity: usize) -> usize {
    1 + (5 * capacity).div_ceil(WORDS)
}

/// A part of the memory in which one tree lives.
#[derive(Debug)]
pub(in crate::search) struct Region {
    top: u32,
    end: u32,
    /// The first given-back block of each number of units.
    free: Vec<Block>,
    /// Nodes in the tree.
    nodes: u64,
}

impl Region {
    /// The units from `bottom` (at least 1) to `end`, exclusively.
    pub fn new(bottom: u32, end: u32) -> Self {
        Region { top: bottom.max(1), end, free: Vec::new(), nodes: 0 }
    }

    /// Empties the region and moves it.
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
        memory: &mut Memory,
        nodes: impl ExactSizeIterator<Item = Node>,
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
    fn cut(&mut self, memory: &mut Memory, units: usize) -> Option<Block> {
        let found = (units + 1..self.free.len()).find(|&size| self.free[size] != 0)?;
        let block = self.free[found];
        self.free[found] = memory.header(block, NEXT);
        // A rest of one unit, which no block fits into, waits in its list as well.
        self.give_back(memory, block + units as u32, found - units);
        Some(block)
    }

    /// Puts a block of so many units into its list.
    fn give_back(&mut self, memory: &mut Memory, block: Block, units: usize) {
        if self.free.len() <= units {
            self.free.resize(units + 1, 0);
        }
        memory.set_header(block, NEXT, self.free[units]);
        self.free[units] = block;
    }

    /// Gives back a block and everything below it; returns the expansions that it stands for.
    pub fn free(&mut self, memory: &mut Memory, block: Block) -> u64 {
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

    /// Counts a child that [`Memory::remove`] has taken out.
    pub fn removed(&mut self) {
        self.nodes -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::split_mix::mix;

    fn node(code: u64) -> Node {
        let (phi, delta) = (1 + (code % 7) as u32, 1 + (code % 5) as u32);
        Node { code: mix(code), phi, delta }
    }

    fn block(
        region: &mut Region,
        memory: &mut Memory,
        nodes: std::ops::Range<u64>,
    ) -> Option<Block> {
        let nodes: Vec<Node> = nodes.map(node).collect();
        region.allocate(memory, nodes.into_iter())
    }

    #[test]
    fn a_scan_is_the_plain_minimum_maximum_and_sum() {
        let mut memory = Memory::new(1 << 16).unwrap();
        let mut region = Region::new(1, memory.units());
        for count in 1..40 {
            let block = block(&mut region, &mut memory, 1000 + count..1000 + 2 * count).unwrap();
            while memory.count(block) > 1 {
                let nodes: Vec<Node> =
                    (0..memory.count(block)).map(|at| memory.node(block, at)).collect();
                for (at, node) in nodes.iter().enumerate() {
                    assert_eq!(memory.position(block, node.code), Some(at));
                }
                assert_eq!(memory.position(block, 0), None);
                let scan = memory.scan(block);
                let least = nodes.iter().map(|n| n.delta).min().unwrap();
                let best = nodes.iter().position(|n| n.delta == least).unwrap();
                let others = || nodes.iter().enumerate().filter(|&(at, _)| at != best);
                let expected = Scan {
                    best,
                    least,
                    second: others().map(|(_, n)| n.delta).min().unwrap(),
                    phi: nodes[best].phi,
                    max_other: others().map(|(_, n)| n.phi).max().unwrap(),
                    sum_other: others().map(|(_, n)| u64::from(n.phi)).sum(),
                };
                assert_eq!(scan, expected);
                memory.remove(block, (mix(count) as usize) % nodes.len());
                region.removed();
            }
            assert_eq!(memory.scan(block).second, INFINITY);
            assert_eq!(memory.scan(block).max_other, 0);
        }
    }

    #[test]
    fn blocks_keep_their_children_and_room_is_used_again() {
        let mut memory = Memory::new(6000).unwrap();
        let mut region = Region::new(1, memory.units());
        let mut live: Vec<(Block, std::ops::Range<u64>)> = Vec::new();
        let mut refused = 0;
        for step in 0..3000u64 {
            let random = mix(step);
            if random.is_multiple_of(3) && !live.is_empty() {
                let (freed, nodes) = live.swap_remove(random as usize / 3 % live.len());
                memory.add_work(freed, 5);
                assert_eq!(region.free(&mut memory, freed), 5);
                assert!(nodes.start < nodes.end);
            } else {
                let nodes = step * 100..step * 100 + 1 + random / 8 % 20;
                match block(&mut region, &mut memory, nodes.clone()) {
                    Some(block) => live.push((block, nodes)),
                    None => refused += 1,
                }
            }
            for (block, nodes) in &live {
                let found = (0..memory.count(*block)).map(|at| memory.node(*block, at));
                assert!(found.eq(nodes.clone().map(node)));
            }
            let expected: u64 = live.iter().map(|(_, nodes)| nodes.end - nodes.start).sum();
            assert_eq!(region.nodes(), expected);
            assert!(region.top() <= memory.units());
        }
        assert!(refused > 0);
    }

    #[test]
    fn whole_subtrees_are_freed() {
        let mut memory = Memory::new(1 << 16).unwrap();
        let mut region = Region::new(1, memory.units());
        let root = block(&mut region, &mut memory, 0..5).unwrap();
        for at in 0..5 {
            let child = block(&mut region, &mut memory, 10..20).unwrap();
            memory.set_child(root, at, child);
            memory.add_work(child, 1);
            let grandchild = block(&mut region, &mut memory, 10..13).unwrap();
            memory.set_child(child, 7, grandchild);
            memory.add_work(grandchild, u64::from(u32::MAX) + 9);
        }
        let top = region.top();
        assert_eq!(region.nodes(), 5 + 50 + 15);
        assert_eq!(region.free(&mut memory, root), 5 + 5 * u64::from(u32::MAX));
        assert_eq!(region.nodes(), 0);
        for _ in 0..5 {
            block(&mut region, &mut memory, 0..10).unwrap();
        }
        assert_eq!(region.top(), top);
    }

    #[test]
    fn too_little_for_a_block_is_refused() {
        for bytes in 0..4 * UNIT {
            assert!(Memory::new(bytes).is_none());
        }
        let mut memory = Memory::new(4 * UNIT).unwrap();
        let mut region = Region::new(1, memory.units());
        assert!(block(&mut region, &mut memory, 0..2).is_none());
        assert!(block(&mut region, &mut memory, 0..1).is_some());
        assert!(block(&mut region, &mut memory, 0..1).is_none());
    }
}
