//! The memory of proof-number trees: of PNS, of both levels of PN², and of coordinators, whose trees
//! have leaves that are jobs. This module contains no search and no game.
//!
//! * [`Arena`]: 16-byte units that hold the child arrays of one tree. Layout in `memory`, allocation in `allocator`.
//! * [`ArrayId`]: index of the first unit of a child array.
//! * `ArraySummary`: minima, maxima and sums over a child array, for selection and back-up.

#![forbid(unsafe_code)]

mod allocator;
mod memory;

pub(super) use memory::{Arena, ArrayId};
pub use memory::{MAX_BYTES, TreeError};

use super::plain::game::Child;
use super::run::RootChild;

impl Arena {
    /// Children in a child array. Array 0 stands for no array and has no children.
    pub fn nodes(&self, array: ArrayId) -> impl Iterator<Item = Child> {
        let count = if array == 0 { 0 } else { self.count(array) };
        (0..count).map(move |at| self.node(array, at))
    }

    /// Children in a child array, in the form that observers receive.
    pub fn root_children(&self, array: ArrayId) -> Vec<RootChild> {
        self.nodes(array)
            .map(|Child { code, phi, delta, .. }| RootChild { code, phi, delta })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::memory::ArraySummary;
    use super::*;
    use crate::numbers::{INFINITY, Pair};
    use crate::split_mix::mix;
    use crate::thresholds::Others;

    fn node(code: u64) -> Child {
        let (phi, delta) = (1 + (code % 7) as u32, 1 + (code % 5) as u32);
        Child { code: mix(code), phi, delta, effort: 0 }
    }

    fn array(arena: &mut Arena, nodes: std::ops::Range<u64>) -> Option<ArrayId> {
        let nodes: Vec<Child> = nodes.map(node).collect();
        arena.allocate(nodes.into_iter())
    }

    #[test]
    fn a_scan_returns_minima_maxima_and_sums() {
        let mut arena = Arena::new(1 << 16).unwrap();
        for count in 1..40 {
            let array = array(&mut arena, 1000 + count..1000 + 2 * count).unwrap();
            while arena.count(array) > 1 {
                let nodes: Vec<Child> =
                    (0..arena.count(array)).map(|at| arena.node(array, at)).collect();
                for (at, node) in nodes.iter().enumerate() {
                    assert_eq!(arena.position(array, node.code), Some(at));
                }
                assert_eq!(arena.position(array, 0), None);
                let scan = arena.scan(array);
                let least = nodes.iter().map(|n| n.delta).min().unwrap();
                let best = nodes.iter().position(|n| n.delta == least).unwrap();
                let others = || nodes.iter().enumerate().filter(|&(at, _)| at != best);
                let expected = ArraySummary {
                    best,
                    pair: Pair { phi: nodes[best].phi, delta: least },
                    others: Others {
                        min_delta: others().map(|(_, n)| n.delta).min().unwrap(),
                        max_phi: others().map(|(_, n)| n.phi).max().unwrap(),
                        sum_phi: others().map(|(_, n)| u64::from(n.phi)).sum(),
                        count: nodes.len() - 1,
                    },
                };
                assert_eq!(scan, expected);
                arena.remove(array, (mix(count) as usize) % nodes.len());
            }
            assert_eq!(arena.scan(array).others.min_delta, INFINITY);
            assert_eq!(arena.scan(array).others.max_phi, 0);
        }
    }

    #[test]
    fn arrays_keep_their_children_and_freed_memory_is_reused() {
        let mut arena = Arena::new(6000).unwrap();
        let mut live: Vec<(ArrayId, std::ops::Range<u64>)> = Vec::new();
        let mut refused = 0;
        for step in 0..3000u64 {
            let random = mix(step);
            if random.is_multiple_of(3) && !live.is_empty() {
                let (freed, nodes) = live.swap_remove(random as usize / 3 % live.len());
                arena.add_work(freed, 5);
                assert_eq!(arena.free(freed), 5);
                assert!(nodes.start < nodes.end);
            } else {
                let nodes = step * 100..step * 100 + 1 + random / 8 % 20;
                match array(&mut arena, nodes.clone()) {
                    Some(array) => live.push((array, nodes)),
                    None => refused += 1,
                }
            }
            for (array, nodes) in &live {
                let found = (0..arena.count(*array)).map(|at| arena.node(*array, at));
                assert!(found.eq(nodes.clone().map(node)));
            }
            let expected: u64 = live.iter().map(|(_, nodes)| nodes.end - nodes.start).sum();
            assert_eq!(arena.node_count(), expected);
            assert!(arena.top <= arena.units());
        }
        assert!(refused > 0);
    }

    #[test]
    fn whole_subtrees_are_freed() {
        let mut arena = Arena::new(1 << 16).unwrap();
        let root = array(&mut arena, 0..5).unwrap();
        for at in 0..5 {
            let child = array(&mut arena, 10..20).unwrap();
            arena.set_child(root, at, child);
            arena.add_work(child, 1);
            let grandchild = array(&mut arena, 10..13).unwrap();
            arena.set_child(child, 7, grandchild);
            arena.add_work(grandchild, u64::from(u32::MAX) + 9);
        }
        let top = arena.top;
        assert_eq!(arena.node_count(), 5 + 50 + 15);
        assert_eq!(arena.free(root), 5 + 5 * u64::from(u32::MAX));
        assert_eq!(arena.node_count(), 0);
        for _ in 0..5 {
            array(&mut arena, 0..10).unwrap();
        }
        assert_eq!(arena.top, top);
    }

    #[test]
    fn memory_too_small_for_an_array_is_an_error() {
        for bytes in 0..64 {
            assert!(matches!(Arena::new(bytes), Err(TreeError::TooSmall { .. })));
        }
        let mut arena = Arena::new(64).unwrap();
        assert!(array(&mut arena, 0..2).is_none());
        assert!(array(&mut arena, 0..1).is_some());
        assert!(array(&mut arena, 0..1).is_none());
    }
}
