//! Cooperation of several workers that share a table (Kaneko 2010).
//!
//! # Protocol
//!
//! Every worker runs the sequential search from the root, with these additions.
//!
//! **Virtual loss.** A worker that enters a node adds itself to its count in `VirtualLossTable`. A worker that chooses
//! between the children of a node below which there are others adds a virtual loss to the delta of each
//! child for every worker below that child: 1, as Kaneko does, and a share of the delta itself, because
//! our leaf estimates are far greater than 1. It chooses the least virtual delta, and stays with the child
//! until another child has the least. Inside the child, real numbers are compared, so the child's
//! threshold is the one without its virtual part. Virtual numbers are used for the selection only: a node's own
//! numbers, which are stored in the table and compared with its thresholds, are real. If others occupy the good
//! children of a node, the worker takes the best free child that keeps within the node's threshold. If there is
//! none, it joins another worker, and they separate further down. With [`super::VirtualLoss::Stored`], as published by
//! Kaneko, virtual numbers are stored and compared with thresholds, so the worker leaves such a node.
//!
//! **Updates from peers.** Children's numbers are on the worker's own stack, as in the sequential search.
//! They and the node itself are read again when the node's word in `VirtualLossTable` shows that another worker has
//! come since the worker last read the word, or has returned from a child while a third worker was there. A worker
//! that is alone below a node, which is the usual case, pays one load of that word.
//!
//! **Cut-off requests.** A worker that solves a node sends its key to all others if some of them are below
//! it. A worker that finds such a node on its path, or a node that the same result has solved, returns to
//! it, storing true numbers on the way, and finds the value in the table. If the table has lost the value,
//! the worker searches on. A worker whose job is cancelled returns from the job's node in the same way.
//!
//! **The end.** The first worker that solves the root stops the others as a limit would.
//!
//! An entry is a true statement whichever worker writes it. So nothing that arrives late, twice or never
//! can make an answer false; see [`crate::table`] for the entries and [`crate::run`] for the memory
//! orderings of everything else.

use super::Worker;
use crate::Value;
use crate::numbers::{Epsilon, INFINITY, MAX, Number};
use crate::run::{CutoffRequest, NodeActivity};
use crate::search_tree::{ChildRef, SearchTree};

/// Nodes to which the worker has added its virtual loss, from the root down.
#[derive(Default)]
pub(super) struct SearchPath {
    nodes: Vec<PathNode>,
    /// Least depth at which nodes are given up: a node above has been solved, or the job is cancelled.
    cutoff: Option<usize>,
}

struct PathNode {
    depth: usize,
    code: u64,
    key: u64,
    /// The node's word when the worker last read it.
    seen: NodeActivity,
}

impl SearchPath {
    /// Returns true if the worker has added its virtual loss to its deepest node, of this depth.
    #[inline(always)]
    pub fn is_below(&self, depth: usize) -> bool {
        self.nodes.last().is_some_and(|node| node.depth == depth)
    }

    /// Returns true if nodes of this depth are given up.
    #[inline(always)]
    pub fn is_cut_off(&self, depth: usize) -> bool {
        self.cutoff.is_some_and(|cutoff| cutoff <= depth)
    }

    /// Ends a cut-off and returns the least depth that it gave up; 0 if the job was cancelled.
    pub fn take_cutoff(&mut self) -> Option<usize> {
        self.cutoff.take()
    }
}

/// State of a node after its numbers have been synchronised with other workers.
pub(super) enum PeerUpdate {
    /// The node is solved.
    Solved(Value),
    /// The node is open.
    Open {
        /// Other workers are below it.
        others: bool,
    },
}

/// A child, by its index among its siblings, and the threshold until which the search stays with it.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub child: usize,
    pub delta_threshold: Number,
    /// Phi of the node with the virtual losses below its children.
    pub virtual_phi: Number,
}

impl<'a, T: SearchTree<'a>, const PARALLEL: bool> Worker<T, PARALLEL> {
    /// Reads the mailbox and returns true if a cut-off is pending.
    #[inline(always)]
    pub(super) fn is_cut_off(&mut self) -> bool {
        let monitor = self.tree.monitor_ref();
        if let Some(signal) = monitor.state().mailboxes.take(monitor.number()) {
            let tree = &self.tree;
            let cutoff = match signal {
                CutoffRequest::Cancel => Some(0),
                CutoffRequest::Solved(key) => {
                    let is_solved = |node: &&PathNode| {
                        node.key == key || T::SUMS && tree.value(node.code).is_some()
                    };
                    self.path.nodes.iter().find(is_solved).map(|node| node.depth + 1)
                }
            };
            self.path.cutoff = cutoff.into_iter().chain(self.path.cutoff).min();
        }
        self.path.cutoff.is_some()
    }

    /// Adds the worker's virtual loss to a node that it enters.
    #[inline(always)]
    pub(super) fn push_visit(&mut self, code: u64, depth: usize) {
        let key = self.tree.key(code);
        let seen = self.tree.monitor_ref().state().virtual_losses.add(key);
        self.path.nodes.push(PathNode { depth, code, key, seen });
    }

    /// Removes the worker's virtual loss from its deepest node. If the node is solved, the other workers below it
    /// receive a cut-off request.
    pub(super) fn pop_visit(&mut self, solved: bool) {
        let PathNode { depth, key, .. } =
            self.path.nodes.pop().expect("the worker is below the node");
        self.path.cutoff = self.path.cutoff.filter(|&cutoff| cutoff <= depth);
        let monitor = self.tree.monitor_ref();
        let others = monitor.state().virtual_losses.remove(key);
        if solved && others > 0 {
            monitor.state().mailboxes.send(monitor.number(), key);
        }
    }

    /// Adds the worker's virtual loss to a child that is a sum of several parts.
    pub(super) fn add_virtual_loss(&self, key: Option<u64>) {
        if let Some(key) = key {
            self.tree.monitor_ref().state().virtual_losses.add(key);
        }
    }

    /// Removes the worker's virtual loss from a child that is a sum of several parts.
    pub(super) fn remove_virtual_loss(&self, key: Option<u64>) {
        if let Some(key) = key {
            self.tree.monitor_ref().state().virtual_losses.remove(key);
        }
    }

    /// Reads the results of other workers for a node and its children from `base`, if there are or were other
    /// workers below it.
    #[inline(always)]
    pub(super) fn sync_with_peers(
        &mut self,
        code: u64,
        node: &T::Node,
        base: usize,
        depth: usize,
    ) -> PeerUpdate {
        let &PathNode { key, seen: before, .. } =
            self.path.nodes.last().expect("the worker is below the node");
        let virtual_losses = &self.tree.monitor_ref().state().virtual_losses;
        let mut seen = virtual_losses.get(key);
        let others = seen.count() > 1;
        let mut own = 0;
        if others {
            // The result of the child that the worker has just left.
            seen = virtual_losses.notify(key);
            own = 1;
        }
        let is_requested = self.path.cutoff == Some(depth + 1);
        let has_changed = seen.updates_since(before) > own;
        self.path.nodes.last_mut().expect("see above").seen = seen;
        if !is_requested && !has_changed {
            return PeerUpdate::Open { others };
        }
        self.path.cutoff = self.path.cutoff.filter(|_| !is_requested);
        // The root's value alone does not determine its best child.
        if depth > 0
            && let Some(value) = self.tree.value(code)
        {
            return PeerUpdate::Solved(value);
        }
        self.tree.refresh(node, base);
        PeerUpdate::Open { others }
    }

    /// Chooses among the children from `base` by their virtual deltas.
    pub(crate) fn choose(&self, base: usize, phi_threshold: Number, epsilon: Epsilon) -> Choice {
        let virtual_loss = self.params.virtual_loss;
        let virtual_losses = &self.tree.monitor_ref().state().virtual_losses;
        let children = &self.tree.children_ref()[base..];
        let (mut chosen, mut least, mut second) = (0, u64::MAX, u64::MAX);
        let mut workers = 0;
        for (index, child) in children.iter().enumerate() {
            let count = u64::from(virtual_losses.get(self.tree.child_key(child)).count());
            let delta = child.pair().delta;
            let number = virtual_loss.apply(delta, count);
            let comes_first =
                number < least || number == least && child.rank() < children[chosen].rank();
            // A child beyond the threshold is not visited, but counts as the second best.
            if comes_first && delta < phi_threshold {
                second = second.min(least);
                least = number;
                chosen = index;
                workers = count;
            } else {
                second = second.min(number);
            }
        }
        let delta = children[chosen].pair().delta;
        let mut threshold = u64::from(phi_threshold);
        if second < u64::from(INFINITY) {
            threshold = threshold.min(virtual_loss.remove(epsilon.relax(second), workers));
        }
        let delta_threshold = (threshold as Number).max(delta + 1);
        // A lost child has no virtual loss: the node is won.
        let virtual_phi = if delta == 0 { 0 } else { least.min(second).min(MAX.into()) as Number };
        Choice { child: chosen, delta_threshold, virtual_phi }
    }
}
