//! The tree that df-pn searches: a NAND tree whose stored nodes have codes.
//!
//! In a plain game, a child is a position and a stored node. In an impartial game, a child may be a sum of
//! several parts. A sum is not stored. Its numbers are computed from those of its parts' *current couples*: of each
//! part, the couple with the least nimber that is not excluded yet. To search a sum is to search the current couple of
//! one part (Čížek, Balko and Schmid, "NAND Trees with Grundy Numbers"). So for each child the tree returns the next
//! step of the search: the child's numbers, or a stored node to search and the thresholds for this node.

use super::numbers::{Combination, INFINITY, Number, Pair};
use super::run::SearchMonitor;
use super::table::Entry;
use super::thresholds::Thresholds;
use crate::Value;

/// An open child of a node, with its numbers.
pub(super) trait ChildRef: Copy {
    /// Proof and disproof number.
    fn pair(&self) -> Pair;

    /// Sets both numbers.
    fn set_pair(&mut self, pair: Pair);

    /// Rank among children of equal delta: the child of least rank is searched first. Children of equal rank keep
    /// their order.
    #[inline(always)]
    fn rank(&self) -> u32 {
        0
    }
}

/// Result of an expansion.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expanded<Node> {
    /// The node is solved.
    Solved(Value),
    /// The node is won by a move to the child with this code.
    Won(u64),
    /// The open children are at the top of the stack.
    Open(Node),
    /// The search was stopped, without a result.
    Stopped,
}

/// Next step of the search of a child.
pub(super) enum NextStep {
    /// The child has these numbers; there is nothing to search.
    Numbers(Pair),
    /// Search this stored node. Its numbers are those of the child.
    Node(u64, Thresholds),
    /// Search the current couple of a part of the sum, then determine the next step again.
    Summand {
        /// Code of the couple.
        code: u64,
        /// Thresholds of the couple.
        thresholds: Thresholds,
        /// Current numbers of the sum.
        pair: Pair,
    },
}

/// A game and the stored results about it, as used by one worker.
pub(super) trait SearchTree<'a> {
    /// Data of a node in addition to its children. It exists while the node is searched.
    type Node;
    /// An open child of a node.
    type ChildRef: ChildRef;

    /// True if children may be sums with Grundy numbers. Then the solution of one node can solve others elsewhere in
    /// the tree, so the search looks up a node's value at every visit.
    const SUMS: bool;
    /// True if the search below a node limits min(phi, delta), as below a part of a sum ([`Thresholds::or_phi`] and
    /// [`Thresholds::or_delta`]).
    const LIMITS_MIN: bool;
    /// A worker adds its virtual loss to a node below the root only if earlier visits made at least this many
    /// expansions below the node. For most nodes, which have fewer, adding the virtual loss would cost more than it
    /// saves.
    const MIN_SHARED_WORK: u64;

    /// Limits and counters.
    fn monitor(&mut self) -> &mut SearchMonitor<'a>;

    /// The same, for reading.
    fn monitor_ref(&self) -> &SearchMonitor<'a>;

    /// Stack of the open children of all nodes on the path from the root. The children of the deepest node are at the
    /// top.
    fn children(&mut self) -> &mut Vec<Self::ChildRef>;

    /// The same, for reading.
    fn children_ref(&self) -> &[Self::ChildRef];

    /// Called before every expansion: counts the expansion, and lets the table grow if the table is full enough.
    /// Returns true if the search has to stop.
    fn tick(&mut self) -> bool;

    /// Key of a node in the table of virtual losses. The [`Self::child_key`] of an edge to the node has the same upper
    /// 32 bits, which are all that this table uses.
    fn key(&self, code: u64) -> u64;

    /// Key of the edge to a child in the table of virtual losses; see [`Self::key`].
    fn child_key(&self, child: &Self::ChildRef) -> u64;

    /// Code of a child, or `None` in games whose children may be sums.
    fn code(&self, child: &Self::ChildRef) -> Option<u64>;

    /// Looks up the entry of a node in the table.
    fn lookup(&self, code: u64) -> Option<Entry>;

    /// Looks up the value of a node.
    fn value(&self, code: u64) -> Option<Value>;

    /// Expands a node and appends its open children to the stack. Counts new children on the first visit only.
    fn expand(&mut self, code: u64, first_visit: bool) -> Expanded<Self::Node>;

    /// If `child` represents options of the node `code` that have not been generated, expands the node again with all
    /// options. The new open children replace those from index `base` of the stack on.
    #[inline(always)]
    fn expand_rest(
        &mut self,
        _code: u64,
        _node: &Self::Node,
        _child: &Self::ChildRef,
        _base: usize,
    ) -> Option<Expanded<Self::Node>> {
        None
    }

    /// Next step of the search of a child of an open node.
    fn step(
        &mut self,
        node: &Self::Node,
        child: &Self::ChildRef,
        thresholds: Thresholds,
    ) -> NextStep;

    /// Reads the numbers of the children from index `base` of the stack on again from the stored results. Removes won
    /// children.
    fn refresh(&mut self, node: &Self::Node, base: usize);

    /// Removes the won child at index `at` of the stack.
    fn remove(&mut self, at: usize);

    /// Stores the value of a node, found by `work` expansions.
    fn solved(&mut self, code: u64, value: Value, work: u64);

    /// Stores the numbers of an open node.
    fn store(&mut self, code: u64, pair: Pair, work: u64);
}

/// Least and greatest numbers of a node's open children. Indices refer to the slice that [`scan`] receives.
pub(super) struct ChildSummary {
    /// Index of the child of least delta.
    pub best: usize,
    /// Delta of this child, which is the node's phi.
    pub least: Number,
    /// Least delta of the children other than `best`.
    pub second: Number,
    /// Index of the child of greatest phi.
    pub max_at: usize,
    /// Phi of this child.
    pub max: Number,
    /// Greatest phi of the children other than `max_at`.
    pub max_other: Number,
    /// Sum of phi over all children.
    pub sum: u64,
    /// Number of children.
    pub count: usize,
}

impl ChildSummary {
    /// Phi and delta of the parent.
    #[inline(always)]
    pub fn numbers_of_parent(&self, combination: Combination) -> Pair {
        let delta = combination.combine(self.max, self.sum, self.count);
        Pair { phi: self.least, delta }
    }
}

/// Summarises the open children of a node in one pass. Without children, the least delta is infinite and the
/// greatest phi is 0.
#[inline(always)]
pub(super) fn scan<C: ChildRef>(children: &[C]) -> ChildSummary {
    let (mut best, mut least, mut second) = (0, INFINITY, INFINITY);
    // The first child always replaces this value, because its delta is less than infinity.
    let mut best_rank = 0;
    let (mut max_at, mut max, mut max_other, mut sum) = (0, 0, 0, 0u64);
    for (index, child) in children.iter().enumerate() {
        let Pair { phi, delta } = child.pair();
        // The best rank is kept in a variable, because `children[best].rank()` would need a bounds check. With the
        // check, the compiler emits branches here, which slowed a plain search by 3 %.
        let rank = child.rank();
        if delta < least || delta == least && rank < best_rank {
            second = least;
            least = delta;
            (best, best_rank) = (index, rank);
        } else if delta < second {
            second = delta;
        }
        if phi > max {
            max_other = max;
            max = phi;
            max_at = index;
        } else if phi > max_other {
            max_other = phi;
        }
        sum += u64::from(phi);
    }
    ChildSummary { best, least, second, max_at, max, max_other, sum, count: children.len() }
}
