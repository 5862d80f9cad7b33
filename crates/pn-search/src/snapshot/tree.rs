//! Trees before and after a search: an empty one, or the bytes of an earlier search's tree.

use crate::arena::{Allocator, ArenaMemory, Block, MOST_BYTES, TreeError, UNIT, restore};
use crate::numbers::Combination;

/// Size of the memory for a tree, and the rule by which its numbers follow from each other. The
/// options of each search that has a tree provide it, such as [`crate::pns::PnsOptions::tree_room`].
#[derive(Clone, Copy, Debug)]
pub struct TreeRoom {
    /// Bytes set aside.
    bytes: usize,
    /// Quarters of them that the tree may take.
    quarters: u64,
    combination: Combination,
    /// Number and bytes of further memories for small trees.
    beside: (usize, usize),
    /// Bytes of everything together, of which those set aside are a fixed part.
    total: u64,
}

impl TreeRoom {
    /// Maximum number of useful bytes, nearly 64 GiB. Of more, this many are taken.
    pub const MOST_BYTES: u64 = MOST_BYTES;

    /// A tree that may take `quarters` quarters of a memory of `bytes` bytes.
    pub fn new(bytes: usize, quarters: u64, combination: Combination) -> Self {
        TreeRoom { bytes, quarters, combination, beside: (0, 0), total: bytes as u64 }
    }

    /// The same with further memories of `bytes` bytes each.
    pub fn with(self, memories: usize, bytes: usize) -> Self {
        TreeRoom { beside: (memories, bytes), ..self }
    }

    /// The same as a part of `total` bytes.
    pub fn of(self, total: u64) -> Self {
        TreeRoom { total, ..self }
    }

    /// Bytes set aside.
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Bytes that have to be set aside for a tree of `bytes` bytes ([`SavedTree::bytes`]).
    pub fn needed(&self, bytes: u64) -> u64 {
        let units = bytes.div_ceil(UNIT as u64);
        units.saturating_mul(4).div_ceil(self.quarters).saturating_mul(UNIT as u64)
    }

    /// Total bytes of which enough would be set aside for a tree of `bytes` bytes.
    pub fn total_needed(&self, bytes: u64) -> u64 {
        let (needed, total) = (u128::from(self.needed(bytes)), u128::from(self.total));
        (needed * total).div_ceil(self.bytes.max(1) as u128).try_into().unwrap_or(u64::MAX)
    }
}

/// Tree of a proof-number search before or after the search. Its numbers are backed up.
pub struct SavedTree {
    pub(crate) memory: ArenaMemory,
    pub(crate) allocator: Allocator,
    pub(crate) root_block: Block,
    /// Memories for small trees, where a search wants some.
    pub(crate) beside: Vec<ArenaMemory>,
}

impl SavedTree {
    /// A tree of an unexpanded root. The memory is reserved at once and used as the tree grows.
    ///
    /// # Errors
    /// [`TreeError::TooSmall`] if it is less than the least that a tree takes (64 bytes),
    /// [`TreeError::Memory`] if the system refuses.
    pub fn empty(room: TreeRoom) -> Result<Self, TreeError> {
        let memory = ArenaMemory::new(room.bytes)?;
        let end = (u64::from(memory.units()) * room.quarters / 4) as u32;
        let (count, bytes) = room.beside;
        let beside = (0..count).map(|_| ArenaMemory::new(bytes)).collect::<Result<_, _>>()?;
        Ok(SavedTree { memory, allocator: Allocator::new(1, end), root_block: 0, beside })
    }

    /// Number of nodes, the root not counted.
    pub fn nodes(&self) -> u64 {
        self.allocator.nodes()
    }

    /// The bytes that were ever in use, in the layout of docs/CHECKPOINT_FORMAT.md.
    pub fn bytes(&mut self) -> &[u8] {
        self.memory.tree_bytes(&self.allocator, self.root_block)
    }

    /// The memory for the bytes of another tree, which [`SavedTree::restore`] takes up; none if they
    /// do not fit. Only for an empty tree.
    pub fn bytes_mut(&mut self, bytes: u64) -> Option<&mut [u8]> {
        let end = u64::from(self.allocator.end()) * UNIT as u64;
        (bytes <= end).then(|| self.memory.bytes_mut(bytes as usize))
    }

    /// Takes up the tree that was stored in [`SavedTree::bytes_mut`]. Every block is checked, so the
    /// bytes need not be trusted. The numbers of expanded nodes are computed from those of the
    /// leaves, and memory that belongs to no block is free.
    ///
    /// # Errors
    /// [`TreeError::Unsound`] if the bytes are not those of a tree, [`TreeError::Memory`] if the
    /// system refuses the memory for the check, one bit for 16 bytes.
    pub fn restore(&mut self, room: TreeRoom, bytes: u64) -> Result<(), TreeError> {
        let units = (bytes / UNIT as u64) as u32;
        self.root_block = restore(&mut self.memory, &mut self.allocator, units, room.combination)?;
        Ok(())
    }
}

impl std::fmt::Debug for SavedTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SavedTree").field("nodes", &self.nodes()).finish()
    }
}
