//! Parameters of proof-number search.

use crate::LeafSolverOptions;
use crate::numbers::{Combination, Epsilon};
use crate::snapshot::TreeCapacity;

/// Parameters of PNS, and of both levels of PN².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PnsOptions {
    /// Combination of the children's phi to delta.
    pub combination: Combination,
    /// Options of the leaf solver for new children.
    pub leaf_solver: LeafSolverOptions,
    /// The ε of the 1+ε trick. With [`Epsilon::ZERO`], every expanded node is a most-proving node, as in
    /// the published algorithm.
    pub epsilon: Epsilon,
    /// See [`Evaluator::evaluate_all`].
    pub evaluate_all: bool,
    /// Stores the numbers of open nodes in the table when the search leaves them, and initialises
    /// new nodes from it. This shares results between transpositions.
    pub store_open: bool,
    /// Expansions after which the search, when it returns to a node, looks up the children in the
    /// table again: they may have been solved or searched on another path. `u32::MAX` for never.
    pub refresh_age: u32,
}

impl PnsOptions {
    /// Proof-number search as published (Allis 1994), with solved positions in a table.
    pub const PLAIN: PnsOptions = PnsOptions {
        combination: Combination::SUM,
        leaf_solver: LeafSolverOptions::NEVER,
        epsilon: Epsilon::ZERO,
        evaluate_all: true,
        store_open: false,
        refresh_age: u32::MAX,
    };

    /// Capacity of a tree in `bytes` bytes.
    pub fn tree_capacity(&self, bytes: usize) -> TreeCapacity {
        TreeCapacity::new(bytes, 4, self.combination)
    }
}
