//! The tree of a coordinator.

use super::message::{JobOutcome, SharedResults, WorkerId};
use crate::Value;
use crate::run::{Counters, Reason, Report, RootChild, RootNumbers};

/// Result of a selection.
#[derive(Debug)]
pub enum Selection<L> {
    /// A leaf. It is now taken: no other selection returns it until it is released.
    Leaf {
        /// The leaf.
        leaf: L,
        /// Code of its node.
        code: u64,
        /// Worker that has searched the leaf's parent, if workers have tables of their own.
        last: Option<WorkerId>,
    },
    /// All leaves are taken.
    AllTaken,
    /// The root has a value.
    Solved,
}

/// A tree whose leaves are jobs.
pub trait JobTree {
    /// A leaf that is taken until [`JobTree::release`]. The tree may change in any way before that.
    type Leaf: Send;
    /// A node, in the form in which it is sent to another process.
    type Node;
    /// The open children of a node.
    type Children;

    /// Takes the best free leaf.
    fn select(&mut self) -> Selection<Self::Leaf>;

    /// Returns the node with this code.
    fn node(&self, code: u64) -> Self::Node;

    /// Removes a lost worker: no selection returns it as `last` any more ([`Selection::Leaf`]).
    fn remove_worker(&mut self, _worker: WorkerId) {}

    /// Returns true if a job at this leaf can have this outcome. Requests from other processes are untrusted.
    fn is_valid(&mut self, leaf: &Self::Leaf, outcome: &JobOutcome<Self::Children>) -> bool;

    /// Frees a taken leaf. Called before [`JobTree::attach`] or [`JobTree::resolve`].
    fn release(&mut self, leaf: &Self::Leaf);

    /// Returns true if the leaf is still in the tree, open and not expanded.
    fn is_leaf(&self, leaf: &Self::Leaf) -> bool;

    /// Returns true if taken leaves may have left the tree since the last call.
    fn has_lost_leaves(&mut self) -> bool;

    /// Attaches children to a leaf, if it is still in the tree. A worker has found them by `work` expansions. Returns
    /// the number of new nodes, or `None` if there is no memory for them.
    fn attach(
        &mut self,
        leaf: &Self::Leaf,
        children: &Self::Children,
        work: u64,
        worker: WorkerId,
    ) -> Option<u64>;

    /// Sets the value of a leaf, if it is still in the tree. `work` expansions have proven the value. If the leaf is
    /// won and children are positions, `best` is a lost child.
    fn resolve(&mut self, leaf: &Self::Leaf, value: Value, best: Option<u64>, work: u64);

    /// Returns true if the bytes are results of this game. Requests from other processes are untrusted.
    fn are_results(&self, results: &[u8]) -> bool;

    /// Adds results of a worker, and counts new table entries. Returns the results that are new.
    ///
    /// # Panics
    /// If the bytes are not results ([`JobTree::are_results`]).
    fn add_results(&mut self, results: &[u8], counters: &mut Counters) -> SharedResults;

    /// Stores the new phi and delta of nodes in the table and counts new entries. Lets the table grow if it is not
    /// shared with the workers. Returns the reason why the search cannot continue, if there is one.
    fn publish(&mut self, counters: &mut Counters) -> Option<Reason>;

    /// Takes the Grundy numbers that were found since the last call, as pairs of an atom and its Grundy number.
    fn take_grundy_numbers(&mut self) -> Vec<(u32, u32)> {
        Vec::new()
    }

    /// Returns the numbers of the root.
    fn root(&self) -> RootNumbers;

    /// Returns the open children of the root, if they are positions.
    fn root_children(&self) -> Vec<RootChild> {
        Vec::new()
    }

    /// Returns the number of nodes in the tree.
    fn nodes(&self) -> u64;

    /// Returns the number of entries in the table, if it is not shared with the workers.
    fn table_used(&self) -> u64;

    /// Returns the report of a search on `threads` threads. `reason` is the reason why the search ended, or `None` if
    /// the root has a value.
    fn report(&self, reason: Option<Reason>, counters: Counters, threads: u32) -> Report;

    /// Returns true if the root has a value.
    fn is_solved(&self) -> bool {
        self.root().pair.value().is_some()
    }
}
