//! The first level, as a leader sees it.

use std::hash::Hash;

use super::messages::{JobOutcome, WorkerId};
use crate::Value;
use crate::numbers::Number;
use crate::run::{Counters, Reason, RootChildren};

/// What a selection found.
#[derive(Debug)]
pub enum Selection<L> {
    /// A leaf, which is now taken.
    Leaf(L),
    /// All leaves are taken.
    AllTaken,
    /// The root has a value.
    Solved,
}

/// A tree whose leaves are jobs.
pub trait FirstLevel {
    /// A node, in the way in which workers are told.
    type Node: Clone + Eq + Hash + Send;
    /// A leaf that is taken, to be given back by [`FirstLevel::release`]. The tree may change in any
    /// way meanwhile.
    type Leaf: Send;
    /// The open children of a node.
    type Children;
    /// Something that a worker has found out and that stays true.
    type Fact: Clone + Send;

    /// Takes the best leaf that is free.
    fn select(&mut self) -> Selection<Self::Leaf>;

    /// The node at a leaf.
    fn node(leaf: &Self::Leaf) -> Self::Node;

    /// Who knows more about a leaf than the others, as it has searched the parent; nobody, where all
    /// know the same.
    fn known_by(&self, _leaf: &Self::Leaf) -> Option<WorkerId> {
        None
    }

    /// What a worker knew is gone.
    fn forget(&mut self, _worker: WorkerId) {}

    /// Whether this can come of a leaf that is taken: what comes from elsewhere may be anything.
    fn is_sound(
        &mut self,
        leaf: &Self::Leaf,
        outcome: &JobOutcome<Self::Node, Self::Children>,
    ) -> bool;

    /// Ends the hold on a leaf. If there is a result, it is taken in next.
    fn release(&mut self, leaf: &Self::Leaf);

    /// Whether the leaf that was selected is still there, open and not expanded.
    fn stands(&self, leaf: &Self::Leaf) -> bool;

    /// Whether leaves that are taken may have left the tree since the last call.
    fn has_lost_leaves(&mut self) -> bool;

    /// Gives a leaf interim numbers, if it is still there; for workers that tell any.
    fn update(&mut self, _leaf: &Self::Leaf, _phi: Number, _delta: Number) {}

    /// Gives a leaf its children, for which `work` expansions were made by a worker, if it is still
    /// there. Returns by how many nodes the tree has grown, or `None` if there is no room.
    fn attach(
        &mut self,
        leaf: &Self::Leaf,
        children: &Self::Children,
        work: u64,
        worker: WorkerId,
    ) -> Option<u64>;

    /// Gives a leaf a value that `work` expansions have proven, if it is still there. `best` is a
    /// lost child if it is won.
    fn resolve(&mut self, leaf: &Self::Leaf, value: Value, best: Option<Self::Node>, work: u64);

    /// Bytes that a fact takes beside itself.
    fn bytes_beside(_fact: &Self::Fact) -> usize {
        0
    }

    /// Says that a fact is about to be learnt.
    fn announce(&self, _fact: &Self::Fact) {}

    /// Takes over a fact, and counts that; whether it is news.
    fn learn(&mut self, fact: &Self::Fact, counters: &mut Counters) -> bool;

    /// Puts what has been found out where selections look for it, and counts that.
    fn publish(&mut self, counters: &mut Counters);

    /// Lets the table grow if what stands in it makes that necessary; for a leader that shares its
    /// table with nobody.
    fn make_room(&mut self);

    /// Why the search cannot go on, if it cannot.
    fn failure(&self) -> Option<Reason> {
        None
    }

    /// Takes the Grundy numbers that have become known since the last call, for the observer.
    fn take_found(&mut self) -> Vec<(u32, u32)> {
        Vec::new()
    }

    /// The root's proof and disproof number, and its best child: a lost one if the root is won.
    fn root(&self) -> (Number, Number, Option<Self::Node>);

    /// Who knows the numbers of the root's open children, where these are positions.
    fn root_children(&self) -> Option<&dyn RootChildren> {
        None
    }

    /// Whether the root has a value.
    fn is_solved(&self) -> bool;

    /// Nodes in the tree.
    fn nodes(&self) -> u64;
}
