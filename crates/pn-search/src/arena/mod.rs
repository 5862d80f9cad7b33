//! The memory of proof-number trees: blocks of children in `memory`, and `allocator`, which gives out
//! blocks and takes them back.
//!
//! It knows no search and no game. PNS, both levels of PN² and the tree of jobs stand in it.
//! Checkpoints store its bytes ([`super::snapshot`]); `restore` checks what comes back from a file.

#![forbid(unsafe_code)]

mod allocator;
mod memory;
mod restore;

pub(super) use allocator::Allocator;
pub use memory::TreeError;
pub(super) use memory::{ArenaMemory, Block, ChildRecord, MOST_BYTES, UNIT};
pub(super) use restore::restore;

use super::run::RootChild;

impl ArenaMemory {
    /// The children in a block; none for block 0.
    pub fn nodes(&self, block: Block) -> impl Iterator<Item = ChildRecord> {
        let count = if block == 0 { 0 } else { self.count(block) };
        (0..count).map(move |at| self.node(block, at))
    }

    /// The same for observers.
    pub fn root_children(&self, block: Block) -> Vec<RootChild> {
        self.nodes(block)
            .map(|ChildRecord { code, phi, delta }| RootChild { code, phi, delta })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::memory::BlockSummary;
    use super::*;
    use crate::numbers::INFINITY;
    use crate::split_mix::mix;

    fn node(code: u64) -> ChildRecord {
        let (phi, delta) = (1 + (code % 7) as u32, 1 + (code % 5) as u32);
        ChildRecord { code: mix(code), phi, delta }
    }

    fn block(
        allocator: &mut Allocator,
        memory: &mut ArenaMemory,
        nodes: std::ops::Range<u64>,
    ) -> Option<Block> {
        let nodes: Vec<ChildRecord> = nodes.map(node).collect();
        allocator.allocate(memory, nodes.into_iter())
    }

    #[test]
    fn a_scan_is_the_plain_minimum_maximum_and_sum() {
        let mut memory = ArenaMemory::new(1 << 16).unwrap();
        let mut allocator = Allocator::new(1, memory.units());
        for count in 1..40 {
            let block = block(&mut allocator, &mut memory, 1000 + count..1000 + 2 * count).unwrap();
            while memory.count(block) > 1 {
                let nodes: Vec<ChildRecord> =
                    (0..memory.count(block)).map(|at| memory.node(block, at)).collect();
                for (at, node) in nodes.iter().enumerate() {
                    assert_eq!(memory.position(block, node.code), Some(at));
                }
                assert_eq!(memory.position(block, 0), None);
                let scan = memory.scan(block);
                let least = nodes.iter().map(|n| n.delta).min().unwrap();
                let best = nodes.iter().position(|n| n.delta == least).unwrap();
                let others = || nodes.iter().enumerate().filter(|&(at, _)| at != best);
                let expected = BlockSummary {
                    best,
                    least,
                    second: others().map(|(_, n)| n.delta).min().unwrap(),
                    phi: nodes[best].phi,
                    max_other: others().map(|(_, n)| n.phi).max().unwrap(),
                    sum_other: others().map(|(_, n)| u64::from(n.phi)).sum(),
                };
                assert_eq!(scan, expected);
                memory.remove(block, (mix(count) as usize) % nodes.len());
                allocator.removed();
            }
            assert_eq!(memory.scan(block).second, INFINITY);
            assert_eq!(memory.scan(block).max_other, 0);
        }
    }

    #[test]
    fn blocks_keep_their_children_and_room_is_used_again() {
        let mut memory = ArenaMemory::new(6000).unwrap();
        let mut allocator = Allocator::new(1, memory.units());
        let mut live: Vec<(Block, std::ops::Range<u64>)> = Vec::new();
        let mut refused = 0;
        for step in 0..3000u64 {
            let random = mix(step);
            if random.is_multiple_of(3) && !live.is_empty() {
                let (freed, nodes) = live.swap_remove(random as usize / 3 % live.len());
                memory.add_work(freed, 5);
                assert_eq!(allocator.free(&mut memory, freed), 5);
                assert!(nodes.start < nodes.end);
            } else {
                let nodes = step * 100..step * 100 + 1 + random / 8 % 20;
                match block(&mut allocator, &mut memory, nodes.clone()) {
                    Some(block) => live.push((block, nodes)),
                    None => refused += 1,
                }
            }
            for (block, nodes) in &live {
                let found = (0..memory.count(*block)).map(|at| memory.node(*block, at));
                assert!(found.eq(nodes.clone().map(node)));
            }
            let expected: u64 = live.iter().map(|(_, nodes)| nodes.end - nodes.start).sum();
            assert_eq!(allocator.nodes(), expected);
            assert!(allocator.top() <= memory.units());
        }
        assert!(refused > 0);
    }

    #[test]
    fn whole_subtrees_are_freed() {
        let mut memory = ArenaMemory::new(1 << 16).unwrap();
        let mut allocator = Allocator::new(1, memory.units());
        let root = block(&mut allocator, &mut memory, 0..5).unwrap();
        for at in 0..5 {
            let child = block(&mut allocator, &mut memory, 10..20).unwrap();
            memory.set_child(root, at, child);
            memory.add_work(child, 1);
            let grandchild = block(&mut allocator, &mut memory, 10..13).unwrap();
            memory.set_child(child, 7, grandchild);
            memory.add_work(grandchild, u64::from(u32::MAX) + 9);
        }
        let top = allocator.top();
        assert_eq!(allocator.nodes(), 5 + 50 + 15);
        assert_eq!(allocator.free(&mut memory, root), 5 + 5 * u64::from(u32::MAX));
        assert_eq!(allocator.nodes(), 0);
        for _ in 0..5 {
            block(&mut allocator, &mut memory, 0..10).unwrap();
        }
        assert_eq!(allocator.top(), top);
    }

    #[test]
    fn too_little_for_a_block_is_refused() {
        for bytes in 0..4 * UNIT {
            assert!(matches!(ArenaMemory::new(bytes), Err(TreeError::TooSmall { .. })));
        }
        let mut memory = ArenaMemory::new(4 * UNIT).unwrap();
        let mut allocator = Allocator::new(1, memory.units());
        assert!(block(&mut allocator, &mut memory, 0..2).is_none());
        assert!(block(&mut allocator, &mut memory, 0..1).is_some());
        assert!(block(&mut allocator, &mut memory, 0..1).is_none());
    }
}
