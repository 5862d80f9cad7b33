//! The memory of proof-number trees: blocks of children in `memory`, and `region`, which gives out
//! blocks and takes them back.
//!
//! It knows no search and no game. PNS, both levels of PN² and the tree of jobs stand in it.
//! Checkpoints store its bytes ([`super::snapshot`]); `restore` checks what comes back from a file.

#![forbid(unsafe_code)]

mod memory;
mod region;
mod restore;

pub use memory::TreeError;
pub(super) use memory::{Block, MOST_BYTES, Memory, Node, UNIT};
pub(super) use region::Region;
pub(super) use restore::restore;

use super::run::RootChild;

impl Memory {
    /// The children in a block; none for block 0.
    pub fn nodes(&self, block: Block) -> impl Iterator<Item = Node> {
        let count = if block == 0 { 0 } else { self.count(block) };
        (0..count).map(move |at| self.node(block, at))
    }

    /// The same for observers.
    pub fn root_children(&self, block: Block) -> Vec<RootChild> {
        self.nodes(block).map(|Node { code, phi, delta }| RootChild { code, phi, delta }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::memory::Scan;
    use super::*;
    use crate::numbers::INFINITY;
    use crate::split_mix::mix;

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
            assert!(matches!(Memory::new(bytes), Err(TreeError::TooSmall { .. })));
        }
        let mut memory = Memory::new(4 * UNIT).unwrap();
        let mut region = Region::new(1, memory.units());
        assert!(block(&mut region, &mut memory, 0..2).is_none());
        assert!(block(&mut region, &mut memory, 0..1).is_some());
        assert!(block(&mut region, &mut memory, 0..1).is_none());
    }
}
