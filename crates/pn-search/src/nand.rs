//! The tree that df-pn searches: a NAND tree whose stored nodes have codes, and whose edges may
//! have structure of their own.
//!
//! In a plain game an edge is a successor, which is a stored node. In an impartial game it may be a
//! sum of several parts: nothing is stored for a sum, its numbers follow from those of its parts'
//! current couples, and going down means choosing a part (Čížek, Balko and Schmid, "NAND Trees with
//! Grundy Numbers"). So the search asks an edge for its next step: the numbers, or a stored node to
//! search with thresholds of its own.

use super::numbers::{INFINITY, Number, Pair};
use super::run::Control;
use super::table::Entry;
use super::thresholds::Thresholds;
use crate::Value;

/// An open child of a node, with its numbers.
pub(super) trait Edge: Copy {
    /// Proof and disproof number.
    fn pair(&self) -> Pair;

    /// Changes them.
    fn set_pair(&mut self, pair: Pair);

    /// Among children of equal delta the one of least rank comes first; of several, the first.
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
    /// It is won by a move to the child with this code.
    Won(u64),
    /// The open children are at the top of the stack.
    Open(Node),
    /// The search has been stopped, without a result.
    Stopped,
}

/// Where the search goes from an edge.
pub(super) enum Step {
    /// Nowhere: the edge has these numbers.
    Numbers(Pair),
    /// To a stored node, whose numbers are the edge's.
    Node(u64, Thresholds),
    /// To a stored node, after which the edge has to be asked again.
    Part {
        /// The node.
        code: u64,
        /// How long to stay below it.
        thresholds: Thresholds,
        /// The edge's numbers as they are now.
        pair: Pair,
    },
}

/// A game with what is known of it, as one worker sees it.
pub(super) trait Nand<'a> {
    /// What stands beside a node's children while it is searched.
    type Node;
    /// A child of a node.
    type Edge: Edge;

    /// Whether edges may be sums with Grundy numbers. Then solving one node can solve others
    /// elsewhere, so that the search asks for a node's value whenever it comes to it or returns to
    /// it; otherwise a threshold for phi and one for delta are all that it needs.
    const SUMS: bool;
    /// Expansions in earlier visits without which a worker does not tell the others that it goes
    /// below a node: most nodes are done with after fewer, and not worth the others' attention.
    const NOTABLE_WORK: u64;

    /// Limits and counters.
    fn control(&mut self) -> &mut Control<'a>;

    /// The same to look at.
    fn control_ref(&self) -> &Control<'a>;

    /// The open children of the nodes on the path, those of the last one at the top.
    fn edges(&mut self) -> &mut Vec<Self::Edge>;

    /// The same to look at.
    fn edges_ref(&self) -> &[Self::Edge];

    /// Before every expansion: lets the table grow if it is time, counts, and says whether the
    /// search has to stop.
    fn tick(&mut self) -> bool;

    /// A well-mixed key of a node, of which the upper half is that of an edge to it.
    fn key(&self, code: u64) -> u64;

    /// The key by which an edge is counted; see [`Self::key`].
    fn edge_key(&self, edge: &Self::Edge) -> u64;

    /// The code of the node that an edge leads to, where that is a position.
    fn code(&self, edge: &Self::Edge) -> Option<u64>;

    /// What the table knows about a node.
    fn lookup(&self, code: u64) -> Option<Entry>;

    /// The value of a node, if it is known.
    fn value(&self, code: u64) -> Option<Value>;

    /// Expands a node and appends its open children to the stack. New ones are counted on the first
    /// visit only.
    fn expand(&mut self, code: u64, first_visit: bool) -> Expanded<Self::Node>;

    /// If an edge stands for children that have not been made, expands its node anew: the children
    /// from `base` make way for all that are open.
    #[inline(always)]
    fn expand_rest(
        &mut self,
        _code: u64,
        _node: &Self::Node,
        _edge: &Self::Edge,
        _base: usize,
    ) -> Option<Expanded<Self::Node>> {
        None
    }

    /// The next step from an edge of an open node.
    fn step(&mut self, node: &Self::Node, edge: &Self::Edge, thresholds: Thresholds) -> Step;

    /// Replaces the numbers of the children from `base` by what is known now, and drops those that
    /// are won.
    fn refresh(&mut self, node: &Self::Node, base: usize);

    /// Drops a child that is won.
    fn remove(&mut self, at: usize);

    /// Keeps a value that so many expansions have found.
    fn solved(&mut self, code: u64, value: Value, work: u64);

    /// Keeps the numbers of an open node.
    fn store(&mut self, code: u64, pair: Pair, work: u64);
}

/// The children of a node at a glance. Indices are those of the slice.
pub(super) struct Scan {
    /// The child of least delta, and that delta: the node's phi.
    pub best: usize,
    pub least: Number,
    /// The least delta of the others.
    pub second: Number,
    /// The child of greatest phi, that phi, and the greatest of the others.
    pub max_at: usize,
    pub max: Number,
    pub max_other: Number,
    /// All phi.
    pub sum: u64,
}

/// Looks at the open children of a node once. Without any, the least delta is infinite and no phi is
/// more than 0.
#[inline(always)]
pub(super) fn scan<E: Edge>(edges: &[E]) -> Scan {
    let (mut best, mut least, mut second) = (0, INFINITY, INFINITY);
    // No open child has an infinite delta, so the first one always sets it.
    let mut best_rank = 0;
    let (mut max_at, mut max, mut max_other, mut sum) = (0, 0, 0, 0u64);
    for (index, edge) in edges.iter().enumerate() {
        let Pair { phi, delta } = edge.pair();
        // Not `edges[best].rank()`: the check of that index keeps the compiler from doing without
        // branches here, which cost 3 % of a plain search.
        let rank = edge.rank();
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
    Scan { best, least, second, max_at, max, max_other, sum }
}
