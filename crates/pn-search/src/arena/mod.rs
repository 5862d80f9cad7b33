//! The memory of proof-number trees: of PNS, of both levels of PN², and of coordinators, whose trees
//! have leaves that are jobs. This module contains no search and no game. Checkpoints store the
//! bytes of the memory ([`super::snapshot`]).
//!
//! * [`ArenaMemory`]: 16-byte units that hold child arrays. Layout in `memory`.
//! * [`Allocator`]: allocates and frees the child arrays of one tree in a range of units.
//! * [`ChildRecord`]: a child with its numbers. [`ArrayId`]: index of the first unit of a child
//!   array.
//! * `ArraySummary`: minima, maxima and sums over a child array, for selection and back-up.
//! * [`restore()`]: checks the bytes of a tree from an untrusted file.

#![forbid(unsafe_code)]

mod allocator;
mod memory;
mod restore;

pub(super) use allocator::Allocator;
pub use memory::TreeError;
pub(super) use memory::{ArenaMemory, ArrayId, ChildRecord, MAX_BYTES, UNIT};
pub(super) use restore::restore;

use super::run::RootChild;

impl ArenaMemory {
    /// Children in a child array. Array 0 stands for no array and has no children.
    pub fn nodes(&self, array: ArrayId) -> impl Iterator<Item = ChildRecord> {
        let count = if array == 0 { 0 } else { self.count(array) };
        (0..count).map(move |at| self.node(array, at))
    }

    /// Children in a child array, in the form that observers receive.
    pub fn root_children(&self, array: ArrayId) -> Vec<RootChild> {
        self.nodes(array)
            .map(|ChildRecord { code, phi, delta }| RootChild { code, phi, delta })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::memory::ArraySummary;
    use super::*;
    use crate::numbers::INFINITY;
    use crate::split_mix::mix;

    fn node(code: u64) -> ChildRecord {
        let (phi, delta) = (1 + (code % 7) as u32, 1 + (code % 5) as u32);
        ChildRecord { code: mix(code), phi, delta }
    }

    fn array(
        allocator: &mut Allocator,
        memory: &mut ArenaMemory,
        nodes: std::ops::Range<u64>,
    ) -> Option<ArrayId> {
        let nodes: Vec<ChildRecord> = nodes.map(node).collect();
        allocator.allocate(memory, nodes.into_iter())
    }

    #[test]
    fn a_scan_returns_minima_maxima_and_sums() {
        let mut memory = ArenaMemory::new(1 << 16).unwrap();
        let mut allocator = Allocator::new(1, memory.units());
        for count in 1..40 {
            let array = array(&mut allocator, &mut memory, 1000 + count..1000 + 2 * count).unwrap();
            while memory.count(array) > 1 {
                let nodes: Vec<ChildRecord> =
                    (0..memory.count(array)).map(|at| memory.node(array, at)).collect();
                for (at, node) in nodes.iter().enumerate() {
                    assert_eq!(memory.position(array, node.code), Some(at));
                }
                assert_eq!(memory.position(array, 0), None);
                let scan = memory.scan(array);
                let least = nodes.iter().map(|n| n.delta).min().unwrap();
                let best = nodes.iter().position(|n| n.delta == least).unwrap();
                let others = || nodes.iter().enumerate().filter(|&(at, _)| at != best);
                let expected = ArraySummary {
                    best,
                    least,
                    second: others().map(|(_, n)| n.delta).min().unwrap(),
                    phi: nodes[best].phi,
                    max_other: others().map(|(_, n)| n.phi).max().unwrap(),
                    sum_other: others().map(|(_, n)| u64::from(n.phi)).sum(),
                    count: nodes.len(),
                };
                assert_eq!(scan, expected);
                memory.remove(array, (mix(count) as usize) % nodes.len());
                allocator.removed();
            }
            assert_eq!(memory.scan(array).second, INFINITY);
            assert_eq!(memory.scan(array).max_other, 0);
        }
    }

    #[test]
    fn arrays_keep_their_children_and_freed_memory_is_reused() {
        let mut memory = ArenaMemory::new(6000).unwrap();
        let mut allocator = Allocator::new(1, memory.units());
        let mut live: Vec<(ArrayId, std::ops::Range<u64>)> = Vec::new();
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
                match array(&mut allocator, &mut memory, nodes.clone()) {
                    Some(array) => live.push((array, nodes)),
                    None => refused += 1,
                }
            }
            for (array, nodes) in &live {
                let found = (0..memory.count(*array)).map(|at| memory.node(*array, at));
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
        let root = array(&mut allocator, &mut memory, 0..5).unwrap();
        for at in 0..5 {
            let child = array(&mut allocator, &mut memory, 10..20).unwrap();
            memory.set_child(root, at, child);
            memory.add_work(child, 1);
            let grandchild = array(&mut allocator, &mut memory, 10..13).unwrap();
            memory.set_child(child, 7, grandchild);
            memory.add_work(grandchild, u64::from(u32::MAX) + 9);
        }
        let top = allocator.top();
        assert_eq!(allocator.nodes(), 5 + 50 + 15);
        assert_eq!(allocator.free(&mut memory, root), 5 + 5 * u64::from(u32::MAX));
        assert_eq!(allocator.nodes(), 0);
        for _ in 0..5 {
            array(&mut allocator, &mut memory, 0..10).unwrap();
        }
        assert_eq!(allocator.top(), top);
    }

    #[test]
    fn memory_too_small_for_an_array_is_an_error() {
        for bytes in 0..4 * UNIT {
            assert!(matches!(ArenaMemory::new(bytes), Err(TreeError::TooSmall { .. })));
        }
        let mut memory = ArenaMemory::new(4 * UNIT).unwrap();
        let mut allocator = Allocator::new(1, memory.units());
        assert!(array(&mut allocator, &mut memory, 0..2).is_none());
        assert!(array(&mut allocator, &mut memory, 0..1).is_some());
        assert!(array(&mut allocator, &mut memory, 0..1).is_none());
    }
}
