//! Trees before and after a search: an empty one, and one that is made of the records of another.

use super::walk::{MARK, MAX_CHILDREN};
use crate::arena::{Block, MOST_BYTES, Memory, Node, Region, TreeError, UNIT};
use crate::numbers::{Combination, MAX};

/// The memory for a tree, and how its numbers follow from each other. The options of the searches
/// that have one say it of theirs, such as [`crate::pns::PnsOptions::tree_room`].
#[derive(Clone, Copy, Debug)]
pub struct TreeRoom {
    /// Bytes set aside.
    bytes: usize,
    /// How many quarters of it the tree may take.
    quarters: u64,
    combination: Combination,
    /// Memories for small trees beside it: how many, and bytes of each.
    beside: (usize, usize),
    /// Bytes of everything together, of which those set aside are a fixed part.
    total: u64,
}

impl TreeRoom {
    /// The most bytes that are of use, nearly 64 GiB: of more, so many are taken.
    pub const MOST_BYTES: u64 = MOST_BYTES;

    /// A tree that may take so many quarters of a memory of `bytes` bytes.
    pub fn new(bytes: usize, quarters: u64, combination: Combination) -> Self {
        TreeRoom { bytes, quarters, combination, beside: (0, 0), total: bytes as u64 }
    }

    /// The same with so many memories of `bytes` bytes each beside it.
    pub fn with(self, memories: usize, bytes: usize) -> Self {
        TreeRoom { beside: (memories, bytes), ..self }
    }

    /// The same as a part of so many bytes.
    pub fn of(self, total: u64) -> Self {
        TreeRoom { total, ..self }
    }

    /// Bytes set aside.
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Bytes that would have to be set aside for a tree of `bytes` bytes; unit 0 is never in use.
    pub fn needed(&self, bytes: u64) -> u64 {
        let units = bytes.div_ceil(UNIT as u64).saturating_add(1);
        units.saturating_mul(4).div_ceil(self.quarters).saturating_mul(UNIT as u64)
    }

    /// Of how many bytes a part for a tree of `bytes` bytes would be set aside.
    pub fn total_needed(&self, bytes: u64) -> u64 {
        let (needed, total) = (u128::from(self.needed(bytes)), u128::from(self.total));
        (needed * total).div_ceil(self.bytes.max(1) as u128).try_into().unwrap_or(u64::MAX)
    }
}

/// A proof-number search's tree before or after a search. Its numbers are backed up.
pub struct SavedTree {
    pub(crate) memory: Memory,
    pub(crate) region: Region,
    pub(crate) root_block: Block,
    /// Memories for small trees, where a search wants some.
    pub(crate) beside: Vec<Memory>,
}

impl SavedTree {
    /// A tree of an unexpanded root. The memory is reserved at once and used as the tree grows.
    ///
    /// # Errors
    /// [`TreeError::TooSmall`] if it is less than the least that a tree takes (64 bytes),
    /// [`TreeError::Memory`] if the system refuses.
    pub fn empty(room: TreeRoom) -> Result<Self, TreeError> {
        let memory = Memory::new(room.bytes)?;
        let end = (u64::from(memory.units()) * room.quarters / 4) as u32;
        let (count, bytes) = room.beside;
        let beside = (0..count).map(|_| Memory::new(bytes)).collect::<Result<_, _>>()?;
        Ok(SavedTree { memory, region: Region::new(1, end), root_block: 0, beside })
    }

    /// Whether the root has been expanded.
    pub fn has_nodes(&self) -> bool {
        self.root_block != 0
    }
}

impl std::fmt::Debug for SavedTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SavedTree").field("nodes", &self.region.nodes()).finish()
    }
}

/// What is wrong with records.
#[derive(Debug, PartialEq, Eq)]
pub enum Misfit {
    /// They contradict each other: what should be there, and what is.
    Unsound(&'static str, &'static str),
    /// The memory is too small.
    Full,
}

/// A tree in the making. The children of a block that have records are visited in order; blocks
/// without any left are backed up and left.
pub struct TreeLoader {
    room: TreeRoom,
    tree: SavedTree,
    /// The path: blocks, and the child that the next record is of.
    path: Vec<(Block, usize)>,
    started: bool,
}

/// In place of a block: the record is still to come.
const MARKED: Block = Block::MAX;

impl TreeLoader {
    /// # Errors
    /// As for [`SavedTree::empty`].
    pub fn new(room: TreeRoom) -> Result<Self, TreeError> {
        let tree = SavedTree::empty(room)?;
        Ok(TreeLoader { room, tree, path: Vec::new(), started: false })
    }

    /// Takes the records of a block, `count` of them.
    pub fn feed(&mut self, mut raw: &[u8], count: u32) -> Result<(), Misfit> {
        let mut records = 0;
        while !raw.is_empty() {
            let (record, rest) = raw.split_at_checked(length(raw)?).ok_or(CUT_OFF)?;
            self.take(record)?;
            raw = rest;
            records += 1;
        }
        if records == count {
            Ok(())
        } else {
            Err(Misfit::Unsound("as many records as the block says", "another number"))
        }
    }

    /// The tree, if the records are all there. `nodes` are their children.
    pub fn finish(self, nodes: u64) -> Result<SavedTree, Misfit> {
        if !self.started || !self.path.is_empty() {
            return Err(Misfit::Unsound("a record for each marked child", "an end before"));
        }
        if self.tree.region.nodes() != nodes {
            return Err(Misfit::Unsound("as many nodes as the footer says", "another number"));
        }
        Ok(self.tree)
    }

    fn take(&mut self, record: &[u8]) -> Result<(), Misfit> {
        let is_root = !self.started;
        self.started = true;
        if !is_root && self.path.is_empty() {
            return Err(Misfit::Unsound("the end of the tree", "another record"));
        }
        let mut block = 0;
        if record.len() > EMPTY_RECORD {
            let work = u32_at(record, 4);
            let children: Option<Vec<Node>> = record[8..].chunks_exact(16).map(node).collect();
            let children = children.ok_or(Misfit::Unsound("numbers of open nodes", "others"))?;
            let SavedTree { memory, region, .. } = &mut self.tree;
            block = region.allocate(memory, children.iter().copied()).ok_or(Misfit::Full)?;
            memory.add_work(block, work.into());
            memory.set_stamp(block, 0);
            for (at, child) in record[8..].chunks_exact(16).enumerate() {
                if u32_at(child, 8) & MARK != 0 {
                    memory.set_child(block, at, MARKED);
                }
            }
        }
        if is_root {
            self.tree.root_block = block;
        } else {
            let &(parent, at) = self.path.last().expect("not empty");
            self.tree.memory.set_child(parent, at, block);
        }
        if block != 0 {
            self.path.push((block, 0));
        }
        self.advance();
        Ok(())
    }

    /// Goes on to the next child that has a record.
    fn advance(&mut self) {
        let memory = &mut self.tree.memory;
        while let Some(&mut (block, ref mut at)) = self.path.last_mut() {
            let count = memory.count(block);
            if let Some(next) = (*at..count).find(|&at| memory.child(block, at) == MARKED) {
                *at = next;
                return;
            }
            let (phi, delta) = memory.scan(block).numbers_of_parent(self.room.combination);
            self.path.pop();
            if let Some(&(parent, at)) = self.path.last() {
                memory.set_numbers(parent, at, phi, delta);
            }
        }
    }
}

const CUT_OFF: Misfit = Misfit::Unsound("whole records", "a part of one");

/// Bytes of an empty record: its number of children, 0.
const EMPTY_RECORD: usize = 4;

/// Bytes of the first record.
fn length(raw: &[u8]) -> Result<usize, Misfit> {
    let count = raw.first_chunk().copied().map(u32::from_le_bytes).ok_or(CUT_OFF)? as usize;
    match count {
        0 => Ok(EMPTY_RECORD),
        1..=MAX_CHILDREN => Ok(8 + 16 * count),
        _ => Err(Misfit::Unsound("a record of at most 65536 children", "a larger one")),
    }
}

fn node(child: &[u8]) -> Option<Node> {
    let code = u64::from_le_bytes(child[..8].try_into().expect("eight bytes"));
    let (phi, delta) = (u32_at(child, 8) & !MARK, u32_at(child, 12));
    let open = (1..=MAX).contains(&phi) && (1..=MAX).contains(&delta);
    open.then_some(Node { code, phi, delta })
}

/// Little-endian number at offset `at`.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}
