//! Blocks of children.
//!
//! # Layout
//!
//! A tree consists of blocks; a block holds all open children of one expanded node. Blocks are made
//! of 16-byte units and named by the index of their first unit, so that 32 bits reach 64 GiB; unit
//! 0 belongs to no block, and 0 stands for "not expanded". With 32-bit little-endian words, a block of
//! capacity `c` is
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
//! Checkpoints store these bytes ([`ArenaMemory::tree_bytes`]). The first word of unit 0 is the block of the
//! root's children there; while a search goes on, it is not kept up to date.

use super::allocator::Allocator;
use crate::error::ErrorKind;
use crate::numbers::{Combination, INFINITY, Number};

/// Bytes of a unit.
pub(crate) const UNIT: usize = 16;
const WORDS: usize = UNIT / 4;

pub(super) const CAPACITY: usize = 0;
pub(super) const COUNT: usize = 1;
pub(super) const WORK: usize = 2;
const STAMP: usize = 3;
/// While the block is in a list.
pub(super) const NEXT: usize = STAMP;

/// The word with the block of the root's children, in the bytes of a tree.
const ROOT: usize = 0;

// The rows, in words per child from the first row's start.
const DELTA: usize = 0;
const PHI: usize = 1;
const CHILD: usize = 2;
const CODE: usize = 3;

/// The name of a block; 0 is none.
pub(crate) type Block = u32;

// The interpreter that checks for undefined behaviour has no mappings.
#[cfg(not(miri))]
pub(super) type Bytes = memmap2::MmapMut;
#[cfg(miri)]
pub(super) type Bytes = Vec<u8>;

type Word = [u8; 4];

#[inline(always)]
fn number(word: Word) -> u32 {
    u32::from_le_bytes(word)
}

/// A child as it stands in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChildRecord {
    pub code: u64,
    pub phi: Number,
    pub delta: Number,
}

/// What selection and back-up want to know about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockSummary {
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

impl BlockSummary {
    /// What the children's numbers make of their parent's: phi and delta.
    #[inline(always)]
    pub fn numbers_of_parent(&self, combination: Combination) -> (Number, Number) {
        let max = self.max_other.max(self.phi);
        let sum = self.sum_other + u64::from(self.phi);
        (self.least, combination.combine(max, sum))
    }
}

/// Reason why there is no tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// Not even a block of one child fits.
    #[error("{bytes} bytes are too little for a tree: at least {LEAST_BYTES} are needed")]
    TooSmall {
        /// The bytes asked for.
        bytes: usize,
    },
    /// The system refuses.
    #[error("the system does not give {bytes} bytes for the tree: {source}; ask for less memory")]
    Memory {
        /// The bytes asked for.
        bytes: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// Bytes that are not those of a tree.
    #[error("the child array at unit {unit} of the tree should be {expected}, but is {got}")]
    Unsound {
        /// First unit of a child array.
        unit: u32,
        /// Property that it should have.
        expected: &'static str,
        /// Property that it has.
        got: &'static str,
    },
}

impl TreeError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            TreeError::TooSmall { .. } => ErrorKind::Usage,
            TreeError::Memory { .. } => ErrorKind::Resource,
            TreeError::Unsound { .. } => ErrorKind::File,
        }
    }
}

/// Unit 0, and a block of one child.
const LEAST_BYTES: usize = (1 + units_of(1)) * UNIT;

/// Bytes that can be named: nearly 64 GiB.
pub(crate) const MOST_BYTES: u64 = u32::MAX as u64 * UNIT as u64;

/// Zeroed bytes.
pub(super) fn zeroed(bytes: usize) -> Result<Bytes, TreeError> {
    #[cfg(not(miri))]
    let zeroed = crate::allocation::zeroed(bytes);
    #[cfg(miri)]
    let zeroed = Ok(vec![0; bytes]);
    zeroed.map_err(|source| TreeError::Memory { bytes, source })
}

/// Words that blocks are made of.
pub(crate) struct ArenaMemory {
    bytes: Bytes,
}

impl ArenaMemory {
    /// Reserves whole units, at most `bytes` bytes and [`MOST_BYTES`].
    pub fn new(bytes: usize) -> Result<Self, TreeError> {
        if bytes < LEAST_BYTES {
            return Err(TreeError::TooSmall { bytes });
        }
        Ok(ArenaMemory { bytes: zeroed((bytes / UNIT).min(u32::MAX as usize) * UNIT)? })
    }

    /// Units in all.
    pub fn units(&self) -> u32 {
        (self.bytes.len() / UNIT) as u32
    }

    /// The used bytes of a tree in `allocator`, with the block of the root's children.
    pub fn tree_bytes(&mut self, allocator: &Allocator, root_block: Block) -> &[u8] {
        self.set(ROOT, root_block);
        &self.bytes[..allocator.top() as usize * UNIT]
    }

    /// The first `bytes` bytes, for those of a tree.
    pub fn bytes_mut(&mut self, bytes: usize) -> &mut [u8] {
        &mut self.bytes[..bytes]
    }

    /// The block of the root's children in the bytes of a tree; 0 if the root is not expanded.
    pub(super) fn root_block(&self) -> Block {
        self.get(ROOT)
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
        self.bytes.as_chunks_mut::<4>().0[at] = value.to_le_bytes();
    }

    #[inline(always)]
    pub(super) fn header(&self, block: Block, field: usize) -> u32 {
        self.get(block as usize * WORDS + field)
    }

    #[inline(always)]
    pub(super) fn set_header(&mut self, block: Block, field: usize, value: u32) {
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

    pub fn node(&self, block: Block, at: usize) -> ChildRecord {
        ChildRecord {
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

    /// Counts expansions to a block; stops at the greatest number.
    pub fn add_work(&mut self, block: Block, work: u64) {
        let sum = u64::from(self.header(block, WORK)).saturating_add(work);
        self.set_header(block, WORK, sum.min(u64::from(u32::MAX)) as u32);
    }

    pub(super) fn set_node(&mut self, block: Block, at: usize, node: ChildRecord, child: Block) {
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
    pub fn scan(&self, block: Block) -> BlockSummary {
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
        BlockSummary { best, least, second, phi: number(phis[best]), max_other, sum_other }
    }
}

/// Units of a block of so many children.
pub(crate) const fn units_of(capacity: usize) -> usize {
    1 + (5 * capacity).div_ceil(WORDS)
}
