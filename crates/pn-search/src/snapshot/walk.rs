//! Copying a tree piece by piece while the search goes on in it.
//!
//! A *record* is an expanded node's open children, with their numbers. Like an entry of the table it
//! is true by itself: the children that it does not list are won for their side to move, whatever
//! became of the node later. So the records of a copy may be of different times. They are written in
//! pre-order, and a child that has a record of its own is marked.
//!
//! Between two pieces, blocks are freed and used for other nodes, and children are removed from
//! their blocks. So a walk remembers no blocks but codes: those of the path on which it stands, and
//! at each node of it the marked children that it still has to visit. At the beginning of a piece it
//! goes down the path again. Where that is gone, because a node has been solved, an empty record
//! stands for each child that was marked and cannot be visited any more; for a reader they are
//! leaves.

use crate::arena::{Block, Memory, Region, UNIT, units_of};

/// In a child's phi: it has a record.
pub const MARK: u32 = 1 << 31;

/// The most children of a record; a node with more stays a leaf.
pub const MAX_CHILDREN: usize = 1 << 16;

/// A child as it was when its parent was copied. Others may have been removed since, and then it
/// stands somewhere else.
#[derive(Clone, Copy)]
struct Place {
    code: u64,
    at: usize,
}

/// A node on the path.
struct Step {
    place: Place,
    /// The marked children that are still to be visited, the next one last.
    pending: Vec<Place>,
}

/// A copy of a tree in progress.
pub struct Walk {
    path: Vec<Step>,
    started: bool,
    /// Bytes of memory that the records may stand for: copied at different times, they could
    /// otherwise be more than ever fitted at once.
    limit: u64,
    /// Bytes that the records so far take in memory.
    bytes: u64,
    /// Children in the records so far.
    nodes: u64,
}

/// Records that were copied.
#[derive(Debug, Default)]
pub struct Piece {
    /// The records.
    pub raw: Vec<u8>,
    /// How many, empty ones included.
    pub records: u32,
}

impl Walk {
    /// A walk at its beginning.
    pub fn new() -> Self {
        Walk { path: Vec::new(), started: false, limit: 0, bytes: 0, nodes: 0 }
    }

    /// Whether everything has been copied.
    pub fn is_done(&self) -> bool {
        self.started && self.path.is_empty()
    }

    /// Bytes that the records take in memory.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Children in the records.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Appends records until the piece has `enough` bytes or everything is copied. The tree lives in
    /// `region`; its root's children are in the block `root`, 0 if it is not expanded.
    pub fn copy(
        &mut self,
        (memory, region): (&Memory, &Region),
        root: Block,
        piece: &mut Piece,
        enough: usize,
    ) {
        if !self.started {
            self.started = true;
            self.limit = u64::from(region.end().saturating_sub(1)) * UNIT as u64;
            self.record(memory, root, Place { code: 0, at: 0 }, piece);
        }
        let mut blocks = self.find(memory, root, piece);
        while piece.raw.len() < enough
            && let Some(step) = self.path.last_mut()
        {
            let Some(place) = step.pending.pop() else {
                self.path.pop();
                blocks.pop();
                continue;
            };
            let block = blocks.last().map_or(0, |&block| child_of(memory, block, place));
            if self.record(memory, block, place, piece) {
                blocks.push(block);
            }
        }
    }

    /// Goes down the path again and returns its blocks. What is gone is cut off.
    fn find(&mut self, memory: &Memory, root: Block, piece: &mut Piece) -> Vec<Block> {
        let mut blocks = Vec::with_capacity(self.path.len() + 8);
        for (depth, step) in self.path.iter().enumerate() {
            let block = match depth {
                0 => root,
                _ => child_of(memory, blocks[depth - 1], step.place),
            };
            if block == 0 {
                break;
            }
            blocks.push(block);
        }
        while self.path.len() > blocks.len() {
            let gone = self.path.pop().expect("longer than something");
            for _ in gone.pending {
                empty_record(piece);
            }
        }
        blocks
    }

    /// Appends the record of a node, an empty one if it has no block or is too large. True if its
    /// children are to be visited.
    fn record(&mut self, memory: &Memory, block: Block, place: Place, piece: &mut Piece) -> bool {
        let count = if block == 0 { 0 } else { memory.count(block) };
        let bytes = (units_of(count) * UNIT) as u64;
        if count == 0 || count > MAX_CHILDREN || self.bytes + bytes > self.limit {
            empty_record(piece);
            return false;
        }
        self.bytes += bytes;
        self.nodes += count as u64;
        piece.records += 1;
        piece.raw.extend((count as u32).to_le_bytes());
        piece.raw.extend(memory.work(block).to_le_bytes());
        let mut pending = Vec::new();
        for at in 0..count {
            let node = memory.node(block, at);
            let marked = memory.child(block, at) != 0;
            let mark = if marked { MARK } else { 0 };
            piece.raw.extend(node.code.to_le_bytes());
            piece.raw.extend((node.phi | mark).to_le_bytes());
            piece.raw.extend(node.delta.to_le_bytes());
            if marked {
                pending.push(Place { code: node.code, at });
            }
        }
        pending.reverse();
        self.path.push(Step { place, pending });
        true
    }
}

fn empty_record(piece: &mut Piece) {
    piece.records += 1;
    piece.raw.extend(0u32.to_le_bytes());
}

/// The block of a child; 0 if it has none, or is not there any more. A child that is listed twice
/// may be found in the wrong place, which is of the same position.
fn child_of(memory: &Memory, block: Block, place: Place) -> Block {
    let is_here = |&at: &usize| at < memory.count(block) && memory.code(block, at) == place.code;
    let found = Some(place.at).filter(is_here).or_else(|| (0..memory.count(block)).find(is_here));
    found.map_or(0, |at| memory.child(block, at))
}
