//! The parameters of proof-number search with Grundy numbers.

use super::evaluate::Pair;
use super::game::Features;
use crate::search::numbers::{Combination, Number};

/// The numbers of a couple that nothing is known about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafEstimate {
    /// 1 and 1, as in the paper.
    Unit,
}

impl LeafEstimate {
    #[inline(always)]
    pub(super) fn of(self, features: Features, nimber: u32) -> Pair {
        let _ = (features, nimber);
        match self {
            LeafEstimate::Unit => Pair { phi: 1, delta: 1 },
        }
    }
}

/// Which part of a sum is searched first, of those whose Grundy numbers are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartOrder {
    /// The first; with several threads, as [`Self::Least`].
    First,
    /// The one of least min(phi, delta), virtual numbers added.
    Least,
}

/// The parameters of proof-number search with Grundy numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// How delta follows from the children's phi.
    pub combination: Combination,
    /// df-pn: a child keeps the search until its delta exceeds the second best by this factor, in
    /// 1/1024.
    pub epsilon_1024: u32,
    /// What new couples are worth.
    pub leaf: LeafEstimate,
    /// Whether children of equal delta are tried in the order of Lemoine and Viennot: lives and four
    /// times the heap, then more lands, then fewer options.
    pub heuristic: bool,
    /// df-pn: which part of a sum comes first.
    pub parts: PartOrder,
    /// df-pn with several threads: what each thread below a child adds to the child's delta when
    /// others select.
    pub virtual_number: Number,
}

impl SearchOptions {
    /// The algorithms as the paper has them.
    pub const PAPER: SearchOptions = SearchOptions {
        combination: Combination::SUM,
        epsilon_1024: 0,
        leaf: LeafEstimate::Unit,
        heuristic: false,
        parts: PartOrder::First,
        virtual_number: 1,
    };

    /// What is fastest on Sprouts.
    pub const TUNED: SearchOptions = SearchOptions {
        combination: Combination { weight_64: 8 },
        epsilon_1024: 154,
        leaf: LeafEstimate::Unit,
        heuristic: true,
        parts: PartOrder::First,
        virtual_number: 1,
    };
}
