//! What keeps several workers apart and together that share a table (Kaneko 2010).
//!
//! # Protocol
//!
//! Every worker runs the sequential search from the root; to that it adds this.
//!
//! **Virtual numbers.** A worker that goes below a node says so in `Visits`. Whoever chooses
//! between the children of a node that others are below, too, adds to the delta of each child for
//! every worker below that: 1, as Kaneko does, and a share of the delta itself, because our leaf
//! estimates are far greater than 1. It chooses the least virtual delta, and it stays with the
//! child until that would not be the least any more; in the child, real numbers are compared, so
//! the child's threshold is the one without its virtual part. Virtual numbers are for choosing
//! only: a node's own numbers, which go to the table and are compared with its thresholds, are
//! real. (Kaneko stores virtual ones. Then a worker leaves a node when others occupy its good
//! children; here it looks for the best of the free ones that keep within the node's threshold, and
//! if there are none, it joins somebody and parts from them further down.)
//!
//! **News.** Children's numbers stand on the worker's own stack, as in the sequential search. They
//! are read again, and so is the node itself, when the node's word in `Visits` says that others have
//! come since the worker last looked, or have returned from a child while somebody else was there. A
//! worker that is alone below a node, which is nearly always so, pays one look at the word.
//!
//! **Stop signals.** Whoever solves a node sends its key to all others if somebody is below it.
//! A worker that finds such a node on its path, or a node that the same news has solved, returns to
//! it, storing true numbers on the way, and finds the value in the table. If the table has lost it,
//! it searches on as if nothing had been.
//!
//! **The end.** The first worker that solves the root tells the team; the others return as if a
//! limit had been reached.
//!
//! An entry is a true statement whoever writes it, so nothing that arrives late, or twice, or not
//! at all can make an answer false; see [`crate::table`] for the entries and
//! [`crate::run`] for the orderings of everything else.

use super::Worker;
use crate::Value;
use crate::nand::{Edge, Nand};
use crate::numbers::{INFINITY, Number};
use crate::run::Seen;

/// The nodes that the worker has said to be below, with what it knows about others there.
#[derive(Default)]
pub(super) struct Path {
    nodes: Vec<Below>,
    /// Depth of a node that others have solved: everything below it is given up.
    end: Option<usize>,
}

struct Below {
    depth: usize,
    code: u64,
    key: u64,
    /// The node's word when the worker last looked.
    seen: Seen,
}

impl Path {
    /// Whether the worker has said to be below its node of this depth, the deepest one now.
    #[inline(always)]
    pub fn is_below(&self, depth: usize) -> bool {
        self.nodes.last().is_some_and(|node| node.depth == depth)
    }

    /// Whether the worker has to return to a node above this depth.
    #[inline(always)]
    pub fn ends_above(&self, depth: usize) -> bool {
        self.end.is_some_and(|end| end < depth)
    }
}

/// What a look at the others' results at a node says.
pub(super) enum Meeting {
    /// The node is solved.
    Solved(Value),
    /// It is open; whether others are below it.
    Open {
        /// See above.
        others: bool,
    },
}

/// A child, by its place among its siblings, and how long to stay with it.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub child: usize,
    pub delta_threshold: Number,
}

impl<'a, T: Nand<'a>, const TEAM: bool> Worker<T, TEAM> {
    /// Reads the mailbox and says whether to return to a node that others have solved.
    #[inline(always)]
    pub(super) fn is_called_back(&mut self) -> bool {
        let control = self.tree.control_ref();
        if let Some(key) = control.team().signals.take(control.number()) {
            let tree = &self.tree;
            let solved =
                |node: &&Below| node.key == key || T::SUMS && tree.value(node.code).is_some();
            if let Some(node) = self.path.nodes.iter().find(solved) {
                self.path.end = Some(node.depth);
            }
        }
        self.path.end.is_some()
    }

    /// Tells the others that the worker goes below a node.
    #[inline(always)]
    pub(crate) fn go_below(&mut self, code: u64, depth: usize) {
        let key = self.tree.key(code);
        let seen = self.tree.control_ref().team().visits.enter(key);
        self.path.nodes.push(Below { depth, code, key, seen });
    }

    /// Tells that the worker leaves the node that it is below, and those who are still there if it
    /// is solved.
    pub(crate) fn come_back(&mut self, solved: bool) {
        let Below { depth, key, .. } = self.path.nodes.pop().expect("the worker is below the node");
        self.path.end = self.path.end.filter(|&end| end < depth);
        let control = self.tree.control_ref();
        let others = control.team().visits.leave(key);
        if solved && others > 0 {
            control.team().signals.send(control.number(), key);
        }
    }

    /// The same for all nodes that the worker is below.
    pub(crate) fn come_back_to_root(&mut self) {
        while !self.path.nodes.is_empty() {
            self.come_back(false);
        }
    }

    /// Forgets that it has been called back to a node above. Whether it was.
    pub(crate) fn forget_call(&mut self) -> bool {
        self.path.end.take().is_some()
    }

    /// Counts the worker in at an edge of several parts.
    pub(crate) fn count_in(&self, key: Option<u64>) {
        if let Some(key) = key {
            self.tree.control_ref().team().visits.enter(key);
        }
    }

    /// Counts it out.
    pub(crate) fn count_out(&self, key: Option<u64>) {
        if let Some(key) = key {
            self.tree.control_ref().team().visits.leave(key);
        }
    }

    /// Takes over what others have found out about a node and its children from `base`, if there are
    /// or were any others.
    #[inline(always)]
    pub(super) fn meet(&mut self, code: u64, node: &T::Node, base: usize, depth: usize) -> Meeting {
        let &Below { key, seen: before, .. } =
            self.path.nodes.last().expect("the worker is below the node");
        let visits = &self.tree.control_ref().team().visits;
        let mut seen = visits.look(key);
        let others = seen.count() > 1;
        let mut own = 0;
        if others {
            // The result of the child that the worker has just left.
            seen = visits.tell(key);
            own = 1;
        }
        let called = self.path.end == Some(depth);
        let news = seen.news_since(before) > own;
        self.path.nodes.last_mut().expect("see above").seen = seen;
        if !called && !news {
            return Meeting::Open { others };
        }
        self.path.end = self.path.end.filter(|_| !called);
        // The root's value alone does not name its best child.
        if depth > 0
            && let Some(value) = self.tree.value(code)
        {
            return Meeting::Solved(value);
        }
        self.tree.refresh(node, base);
        Meeting::Open { others }
    }

    /// Chooses among the children from `base` by virtual numbers.
    pub(crate) fn choose(&self, base: usize, phi_threshold: Number) -> Choice {
        let visits = &self.tree.control_ref().team().visits;
        let edges = &self.tree.edges_ref()[base..];
        let (mut chosen, mut least, mut second) = (0, u64::MAX, u64::MAX);
        let mut workers = 0;
        for (index, edge) in edges.iter().enumerate() {
            let count = u64::from(visits.look(self.tree.edge_key(edge)).count());
            let delta = edge.pair().delta;
            let number = self.virtual_delta(delta, count);
            let comes_first =
                number < least || number == least && edge.rank() < edges[chosen].rank();
            // What lies beyond the threshold is not worth a visit, but tells how good the rest is.
            if comes_first && delta < phi_threshold {
                second = second.min(least);
                least = number;
                chosen = index;
                workers = count;
            } else {
                second = second.min(number);
            }
        }
        let delta = edges[chosen].pair().delta;
        let mut threshold = u64::from(phi_threshold);
        if second < u64::from(INFINITY) {
            let slack = (second * u64::from(self.choosing.epsilon_1024)) >> 10;
            threshold = threshold.min(self.real_delta(second + slack + 1, workers));
        }
        let delta_threshold = (threshold as Number).max(delta + 1);
        Choice { child: chosen, delta_threshold }
    }

    /// A delta as it appears with so many workers below the node.
    fn virtual_delta(&self, delta: Number, workers: u64) -> u64 {
        let share = workers * u64::from(self.choosing.virtual_1024);
        u64::from(delta) + workers + ((u64::from(delta) * share) >> 10)
    }

    /// The delta that appears as `number` with so many workers below the node.
    fn real_delta(&self, number: u64, workers: u64) -> u64 {
        let share = workers * u64::from(self.choosing.virtual_1024);
        (number.saturating_sub(workers) << 10) / (1024 + share)
    }
}
