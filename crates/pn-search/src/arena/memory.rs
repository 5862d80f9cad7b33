//! Memory of child arrays.
//!
//! # Layout
//!
//! A tree consists of child arrays. An array holds all open children of one expanded node. Arrays
//! are made of 16-byte units and identified by the index of their first unit, so that 32 bits
//! address 64 GiB. Unit 0 belongs to no array, and index 0 means "not expanded". An array of
//! capacity `c` consists of these 32-bit little-endian words, padded to whole units:
//!
//! | words | content |
//! |---|---|
//! | 0 | capacity `c` |
//! | 1 | number of children, which are at the front of every row |
//! | 2 | expansions of the array's node, and of subtrees of it that have been removed |
//! | 3 | the stamp; while the array is in a list, the next array of the list |
//! | `c` words | delta of the children |
//! | `c` words | phi of the children |
//! | `c` words | arrays of the children's own children |
//! | `2 c` words | codes of the children, low half first |
//!
//! A child takes 20 bytes, and an array some 20 bytes more. With ten children in an array, these
//! are 22 bytes for each node. Data is stored in rows because selection and back-up read only delta
//! and phi. For most arrays these two rows take two cache lines. The parent of an array is not
//! stored, because a search stores its path from the root. The *stamp* of an array is the time when
//! the search last updated its children from the table.

use crate::error::ErrorKind;
use crate::numbers::{Combination, INFINITY, Number, Pair};
use crate::plain::game::Child;
use crate::search_tree::ChildRef;
use crate::thresholds::Others;

/// Bytes of a unit.
pub(crate) const UNIT: usize = 16;
const WORDS: usize = UNIT / 4;

pub(super) const CAPACITY: usize = 0;
pub(super) const COUNT: usize = 1;
pub(super) const WORK: usize = 2;
const STAMP: usize = 3;
/// Next array of a list, while the array is in a list: of free arrays, or of arrays to process.
pub(super) const NEXT: usize = STAMP;

// Offsets of the rows from the first row, in multiples of the capacity (in words).
const DELTA: usize = 0;
const PHI: usize = 1;
const CHILD: usize = 2;
const CODE: usize = 3;

/// Index of the first unit of a child array; 0 means no array.
pub(crate) type ArrayId = u32;

// Miri does not support memory mappings.
#[cfg(not(miri))]
pub(super) type Bytes = memmap2::MmapMut;
#[cfg(miri)]
pub(super) type Bytes = Vec<u8>;

type Word = [u8; 4];

#[inline(always)]
fn number(word: Word) -> u32 {
    u32::from_le_bytes(word)
}

/// Numbers of a child array for selection and back-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArraySummary {
    /// First child of least delta.
    pub best: usize,
    /// Phi and delta of the best child.
    pub pair: Pair,
    /// Numbers of the other children. If there are none, their least delta is [`INFINITY`].
    pub others: Others,
}

impl ArraySummary {
    /// Phi and delta of the parent.
    #[inline(always)]
    pub fn numbers_of_parent(&self, combination: Combination) -> Pair {
        let Others { max_phi, sum_phi, count, .. } = self.others;
        let (max, sum) = (max_phi.max(self.pair.phi), sum_phi + u64::from(self.pair.phi));
        Pair { phi: self.pair.delta, delta: combination.combine(max, sum, count + 1) }
    }
}

/// Reason why a tree cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The memory does not suffice for an array of one child.
    #[error("{bytes} bytes are too little for a tree: at least {MIN_BYTES} are needed")]
    TooSmall {
        /// Number of bytes requested.
        bytes: usize,
    },
    /// The system does not provide the memory.
    #[error("the system does not give {bytes} bytes for the tree: {source}; ask for less memory")]
    Memory {
        /// Number of bytes requested.
        bytes: usize,
        /// Error of the system.
        source: std::io::Error,
    },
}

impl TreeError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            TreeError::TooSmall { .. } => ErrorKind::Usage,
            TreeError::Memory { .. } => ErrorKind::Resource,
        }
    }
}

/// Minimum size of a tree in bytes: unit 0, and an array of one child.
const MIN_BYTES: usize = (1 + units_of(1)) * UNIT;

/// Maximum number of bytes of a tree, nearly 64 GiB.
pub const MAX_BYTES: u64 = u32::MAX as u64 * UNIT as u64;

/// Allocates zeroed bytes.
fn zeroed(bytes: usize) -> Result<Bytes, TreeError> {
    #[cfg(not(miri))]
    let zeroed = crate::allocation::zeroed(bytes);
    #[cfg(miri)]
    let zeroed = Ok(vec![0; bytes]);
    zeroed.map_err(|source| TreeError::Memory { bytes, source })
}

/// Memory of the child arrays of one tree, divided into units of 16 bytes.
pub(crate) struct Arena {
    bytes: Bytes,
    /// First unit of those that were never in use since the last [`Arena::clear`].
    pub(super) top: u32,
    /// `free_arrays[n]` is the first free array of `n` units, or 0 if there is none.
    pub(super) free_arrays: Vec<ArrayId>,
    /// Number of nodes in the tree without the root.
    pub(super) node_count: u64,
}

impl Arena {
    /// Reserves as many whole units as fit into `bytes` bytes, but at most [`MAX_BYTES`]. The system provides the memory
    /// as the tree grows.
    ///
    /// # Errors
    /// [`TreeError::TooSmall`] below 64 bytes, [`TreeError::Memory`] if the system does not provide the memory.
    pub fn new(bytes: usize) -> Result<Self, TreeError> {
        if bytes < MIN_BYTES {
            return Err(TreeError::TooSmall { bytes });
        }
        let bytes = zeroed((bytes / UNIT).min(u32::MAX as usize) * UNIT)?;
        Ok(Arena { bytes, top: 1, free_arrays: Vec::new(), node_count: 0 })
    }

    /// Total number of units.
    pub(super) fn units(&self) -> u32 {
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
        self.bytes.as_chunks_mut::<4>().0[at] = value.to_le_bytes();
    }

    #[inline(always)]
    pub(super) fn header(&self, array: ArrayId, field: usize) -> u32 {
        self.get(array as usize * WORDS + field)
    }

    #[inline(always)]
    pub(super) fn set_header(&mut self, array: ArrayId, field: usize, value: u32) {
        self.set(array as usize * WORDS + field, value);
    }

    /// Index of the word of child `at` in a row. In row [`CODE`], where a child has two words, index of
    /// the first one.
    #[inline(always)]
    fn word_index(&self, array: ArrayId, row: usize, at: usize) -> usize {
        let capacity = self.header(array, CAPACITY) as usize;
        let start = array as usize * WORDS + WORDS + row * capacity;
        start + if row == CODE { 2 * at } else { at }
    }

    /// Number of children.
    #[inline(always)]
    pub fn count(&self, array: ArrayId) -> usize {
        self.header(array, COUNT) as usize
    }

    #[inline(always)]
    pub fn code(&self, array: ArrayId, at: usize) -> u64 {
        let word = self.word_index(array, CODE, at);
        u64::from(self.get(word)) | u64::from(self.get(word + 1)) << 32
    }

    /// Finds the child with this code by linear search.
    pub fn position(&self, array: ArrayId, code: u64) -> Option<usize> {
        (0..self.count(array)).find(|&at| self.code(array, at) == code)
    }

    /// Child with its numbers. Its effort is not stored.
    pub fn node(&self, array: ArrayId, at: usize) -> Child {
        Child {
            code: self.code(array, at),
            phi: self.get(self.word_index(array, PHI, at)),
            delta: self.delta(array, at),
            effort: 0,
        }
    }

    #[inline(always)]
    pub fn delta(&self, array: ArrayId, at: usize) -> Number {
        self.get(self.word_index(array, DELTA, at))
    }

    #[inline(always)]
    pub fn set_numbers(&mut self, array: ArrayId, at: usize, Pair { phi, delta }: Pair) {
        self.set(self.word_index(array, PHI, at), phi);
        self.set(self.word_index(array, DELTA, at), delta);
    }

    /// Array of a child's own children; 0 if the child is not expanded.
    #[inline(always)]
    pub fn child(&self, array: ArrayId, at: usize) -> ArrayId {
        self.get(self.word_index(array, CHILD, at))
    }

    #[inline(always)]
    pub fn set_child(&mut self, array: ArrayId, at: usize, child: ArrayId) {
        self.set(self.word_index(array, CHILD, at), child);
    }

    /// Stamp of an array: the time when the search created the array or last updated its children
    /// from the table, as a number of expansions modulo 2³².
    #[inline(always)]
    pub fn stamp(&self, array: ArrayId) -> u32 {
        self.header(array, STAMP)
    }

    #[inline(always)]
    pub fn set_stamp(&mut self, array: ArrayId, stamp: u32) {
        self.set_header(array, STAMP, stamp);
    }

    /// Adds `work` to the expansions of an array. The sum saturates at 2³² − 1.
    pub fn add_work(&mut self, array: ArrayId, work: u64) {
        let sum = u64::from(self.header(array, WORK)).saturating_add(work);
        self.set_header(array, WORK, sum.min(u64::from(u32::MAX)) as u32);
    }

    pub(super) fn set_node(&mut self, array: ArrayId, at: usize, node: Child, child: ArrayId) {
        self.set_numbers(array, at, node.pair());
        self.set_child(array, at, child);
        let word = self.word_index(array, CODE, at);
        self.set(word, node.code as u32);
        self.set(word + 1, (node.code >> 32) as u32);
    }

    /// Removes a child that is not expanded. The last child of the array moves to its index.
    pub fn remove(&mut self, array: ArrayId, at: usize) {
        let last = self.count(array) - 1;
        if at != last {
            let (node, child) = (self.node(array, last), self.child(array, last));
            self.set_node(array, at, node, child);
        }
        self.set_header(array, COUNT, last as u32);
        self.node_count -= 1;
    }

    /// Summarises the numbers of an array's children.
    ///
    /// # Panics
    /// If the array has no children.
    #[inline]
    pub fn scan(&self, array: ArrayId) -> ArraySummary {
        let start = array as usize * WORDS;
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
        let (mut max_phi, mut sum_phi) = (0, 0);
        for part in [&phis[..best], &phis[best + 1..]] {
            for &phi in part {
                let phi = number(phi);
                max_phi = max_phi.max(phi);
                sum_phi += u64::from(phi);
            }
        }
        let pair = Pair { phi: number(phis[best]), delta: least };
        let others = Others { min_delta: second, max_phi, sum_phi, count: count - 1 };
        ArraySummary { best, pair, others }
    }
}

/// Number of units of an array of `capacity` children.
pub(crate) const fn units_of(capacity: usize) -> usize {
    1 + (5 * capacity).div_ceil(WORDS)
}
