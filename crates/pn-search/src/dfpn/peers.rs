//! Cooperation of several workers that share a table (Kaneko 2010).
//!
//! # Protocol
//!
//! Every worker runs the sequential search from the root, with these additions.
//!
//! **Virtual loss.** A worker that enters a node adds 1 to the node's count in `VirtualLossTable`, unless few
//! expansions have been made below the node. If several workers are below a node, each of them chooses among the
//! node's children by their *virtual deltas*. The virtual delta of a child is its delta plus a virtual loss for every
//! worker below the child. The virtual loss is 1, as in Kaneko's paper, plus a share of the delta, because our leaf
//! estimates are far greater than 1. The worker chooses the child of least virtual delta, and stays with it until
//! another child has the least. Inside the child, real numbers are compared, so the virtual losses are removed from
//! the child's threshold. Virtual deltas are used for this choice only: the numbers of a node that are stored in the
//! table and compared with its thresholds are real. With [`VirtualLoss::Stored`](super::VirtualLoss::Stored), as
//! published by Kaneko, the virtual loss is 1, and virtual numbers are stored and compared with thresholds. Then a
//! worker leaves a node when other workers occupy the node's good children. With
//! [`VirtualLoss::Selection`](super::VirtualLoss::Selection) the worker takes the best child whose real delta is below
//! the node's threshold. If other workers are below this child, the workers separate further down.
//!
//! **Updates from peers.** The numbers of the children are on the worker's own stack, as in the sequential search.
//! The worker reads the entries of the node and its children again if the node's word in `VirtualLossTable` shows
//! that, since the last reading, another worker has entered the node or has had a result for one of its children. A
//! worker that is alone below a node, which is the usual case, only loads that word.
//!
//! **Cut-off requests.** A worker that solves a node sends the node's key to all other workers if some of them are
//! below the node. A worker that receives the key of a node on its path returns to this node, stores true numbers on
//! the way, and finds the value in the table. In a search of sums, it also returns to a node on its path that the same
//! result has solved. If the table has lost the value, the worker searches on. A worker whose job is cancelled returns
//! from the job's node in the same way.
//!
//! **The end.** The first worker that solves the root stops the other workers, as a reached limit would.
//!
//! A table entry is a true statement, whichever worker writes it. So messages that arrive late, twice or never
//! cannot make a result wrong; see [`crate::table`] for the entries and [`crate::run`] for the memory
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
    /// Least depth of the nodes that the search has to leave, because a node above them has been solved or the job is
    /// cancelled.
    cutoff: Option<usize>,
}

struct PathNode {
    depth: usize,
    code: u64,
    key: u64,
    /// The node's word in `VirtualLossTable` when the worker last read it.
    seen: NodeActivity,
}

impl SearchPath {
    /// Returns true if the worker has added its virtual loss to its current node, which has this depth.
    #[inline(always)]
    pub fn is_below(&self, depth: usize) -> bool {
        self.nodes.last().is_some_and(|node| node.depth == depth)
    }

    /// Returns true if the search has to leave nodes of this depth.
    #[inline(always)]
    pub fn is_cut_off(&self, depth: usize) -> bool {
        self.cutoff.is_some_and(|cutoff| cutoff <= depth)
    }

    /// Ends a cut-off and returns the least depth of the nodes that the search had to leave; 0 if the job was
    /// cancelled.
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
        /// True if other workers are below the node.
        others: bool,
    },
}

/// Index of a child among its siblings, and the delta of this child at which the search leaves it.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub child: usize,
    pub delta_threshold: Number,
    /// Phi of the node with the virtual losses below its children, if no child is lost.
    pub virtual_phi: Number,
}

impl<'a, T: SearchTree<'a>, const PARALLEL: bool> Worker<T, PARALLEL> {
    /// Reads the mailbox and returns true if a cut-off is pending.
    #[inline(always)]
    pub(super) fn is_cut_off(&mut self) -> bool {
        let monitor = self.tree.monitor_ref();
        if let Some(request) = monitor.state().mailboxes.take(monitor.number()) {
            let tree = &self.tree;
            let cutoff = match request {
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

    /// Adds the worker's virtual loss to the child with this key, a sum of several summands. Does nothing for `None`.
    pub(super) fn add_virtual_loss(&self, key: Option<u64>) {
        if let Some(key) = key {
            self.tree.monitor_ref().state().virtual_losses.add(key);
        }
    }

    /// Removes the virtual loss that [`Self::add_virtual_loss`] has added.
    pub(super) fn remove_virtual_loss(&self, key: Option<u64>) {
        if let Some(key) = key {
            self.tree.monitor_ref().state().virtual_losses.remove(key);
        }
    }

    /// Reads the stored numbers of a node and of its children, those from index `base` on, if other workers may have
    /// changed them.
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
            // Reports the result of the child that the worker has just left.
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
        // For the root, the value does not suffice: its best child is needed too.
        if depth > 0
            && let Some(value) = self.tree.value(code)
        {
            return PeerUpdate::Solved(value);
        }
        self.tree.refresh(node, base);
        PeerUpdate::Open { others }
    }

    /// Chooses the child of least virtual delta among those from index `base` on whose delta is below `phi_threshold`.
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
            // A child whose delta has reached the threshold is not chosen, but its virtual delta counts for `second`.
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
        let virtual_phi = least.min(second).min(MAX.into()) as Number;
        Choice { child: chosen, delta_threshold, virtual_phi }
    }
}
