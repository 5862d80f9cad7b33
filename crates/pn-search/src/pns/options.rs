//! Parameters of proof-number search.

use crate::LeafSolverOptions;
use crate::numbers::{Combination, Epsilon};
use crate::plain::evaluate::EvaluationOptions;

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
    /// Evaluates all children of a node at its first expansion, as in the thesis (section 3.5): each counts as a
    /// node, and the values that the oracle has for them are stored in the table. Otherwise the evaluation ends at
    /// the first lost child, and only the value of the node itself is stored.
    pub evaluate_all: bool,
    /// If true, the search stores the numbers of open nodes in the table when it leaves them, and
    /// initialises new nodes with numbers from the table. So paths to the same position share
    /// results.
    pub store_open: bool,
    /// Minimum number of expansions between two look-ups of a node's children in the table. When
    /// the search returns to the node later than that, it looks the children up again, because they
    /// may have been solved or searched on another path. `u32::MAX` means never: then the search also expands a
    /// leaf without looking it up again, as in the published algorithm.
    pub refresh_age: u32,
    /// Seed of a random order of the children, which decides between equally good ones. `None` for the order of
    /// generation.
    pub seed: Option<u64>,
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
        seed: None,
    };

    pub(crate) fn evaluation(&self) -> EvaluationOptions {
        let &PnsOptions { leaf_solver, evaluate_all, store_open: open_entries, seed, .. } = self;
        EvaluationOptions { leaf_solver, max_attempts: u32::MAX, evaluate_all, seed, open_entries }
    }
}
