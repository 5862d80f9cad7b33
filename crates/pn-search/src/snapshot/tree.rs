//! Trees before and after a search: an empty one, or the bytes of an earlier search's tree.

use crate::arena::{Allocator, ArenaMemory, ArrayId, MAX_BYTES, TreeError, UNIT, restore};
use crate::numbers::Combination;

/// Size of the memory for a tree, and the combination that computes the numbers of its nodes. The
/// options of a search return it, for example [`crate::pns::PnsOptions::tree_capacity`].
#[derive(Clone, Copy, Debug)]
pub struct TreeCapacity {
    /// Number of reserved bytes.
    bytes: usize,
    /// Maximum share of the reserved bytes that the tree may use, in quarters.
    quarters: u64,
    combination: Combination,
    /// Number of the workers' memories for second-level trees of PN², and bytes of each.
    worker_memories: (usize, usize),
    /// Memory of the whole search in bytes, of which `bytes` is a fixed share.
    total: u64,
}

impl TreeCapacity {
    /// Maximum number of bytes of a memory, nearly 64 GiB. If more are requested, this many are
    /// reserved.
    pub const MAX_BYTES: u64 = MAX_BYTES;

    /// Creates the capacity of a tree that may use `quarters` quarters of a memory of `bytes`
    /// bytes.
    pub fn new(bytes: usize, quarters: u64, combination: Combination) -> Self {
        TreeCapacity { bytes, quarters, combination, worker_memories: (0, 0), total: bytes as u64 }
    }

    /// Adds `memories` memories of `bytes` bytes each for the workers' second-level trees (PN²).
    pub fn with_worker_memories(self, memories: usize, bytes: usize) -> Self {
        TreeCapacity { worker_memories: (memories, bytes), ..self }
    }

    /// Sets the memory of the whole search in bytes, of which the memory of the tree is a share.
    pub fn with_total(self, total: u64) -> Self {
        TreeCapacity { total, ..self }
    }

    /// Number of reserved bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Number of bytes to reserve for a tree of `bytes` bytes ([`SavedTree::bytes`]).
    pub fn needed(&self, bytes: u64) -> u64 {
        let units = bytes.div_ceil(UNIT as u64);
        units.saturating_mul(4).div_ceil(self.quarters).saturating_mul(UNIT as u64)
    }

    /// Memory of the whole search that is needed if its share for the tree has to hold a tree of
    /// `bytes` bytes.
    pub fn total_needed(&self, bytes: u64) -> u64 {
        let (needed, total) = (u128::from(self.needed(bytes)), u128::from(self.total));
        (needed * total).div_ceil(self.bytes.max(1) as u128).try_into().unwrap_or(u64::MAX)
    }
}

/// Tree of a proof-number search before or after the search. The numbers of its inner nodes are
/// backed up.
pub struct SavedTree {
    pub(crate) memory: ArenaMemory,
    pub(crate) allocator: Allocator,
    pub(crate) root_array: ArrayId,
    /// Memories for second-level trees, one per worker of a parallel PN²; empty for other searches.
    pub(crate) worker_memories: Vec<ArenaMemory>,
}

impl SavedTree {
    /// Creates a tree of an unexpanded root. The memory is reserved at once and used as the tree
    /// grows.
    ///
    /// # Errors
    /// [`TreeError::TooSmall`] below 64 bytes, the minimum for a tree, [`TreeError::Memory`] if the
    /// system does not provide the memory.
    pub fn empty(capacity: TreeCapacity) -> Result<Self, TreeError> {
        let memory = ArenaMemory::new(capacity.bytes)?;
        let end = (u64::from(memory.units()) * capacity.quarters / 4) as u32;
        let (count, bytes) = capacity.worker_memories;
        let worker_memories =
            (0..count).map(|_| ArenaMemory::new(bytes)).collect::<Result<_, _>>()?;
        Ok(SavedTree { memory, allocator: Allocator::new(1, end), root_array: 0, worker_memories })
    }

    /// Number of nodes, the root not counted.
    pub fn nodes(&self) -> u64 {
        self.allocator.nodes()
    }

    /// Bytes of the units that were ever in use, in the layout of docs/CHECKPOINT_FORMAT.md.
    pub fn bytes(&mut self) -> &[u8] {
        self.memory.tree_bytes(&self.allocator, self.root_array)
    }

    /// Memory into which the caller stores the `bytes` bytes of another tree before it calls
    /// [`SavedTree::restore`]; `None` if they do not fit. This tree has to be empty.
    pub fn bytes_mut(&mut self, bytes: u64) -> Option<&mut [u8]> {
        let end = u64::from(self.allocator.end()) * UNIT as u64;
        (bytes <= end).then(|| self.memory.bytes_mut(bytes as usize))
    }

    /// Restores the tree whose `bytes` bytes were stored in [`SavedTree::bytes_mut`]. Every array is
    /// checked, so the bytes need not be trusted. The numbers of expanded nodes are computed from
    /// those of the leaves. Memory that belongs to no array becomes free.
    ///
    /// # Errors
    /// [`TreeError::Unsound`] if the bytes are not those of a tree, [`TreeError::Memory`] if the
    /// system does not provide the memory for the check, one bit for 16 bytes.
    pub fn restore(&mut self, capacity: TreeCapacity, bytes: u64) -> Result<(), TreeError> {
        let units = (bytes / UNIT as u64) as u32;
        self.root_array =
            restore(&mut self.memory, &mut self.allocator, units, capacity.combination)?;
        Ok(())
    }
}

impl std::fmt::Debug for SavedTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SavedTree").field("nodes", &self.nodes()).finish()
    }
}
