//! The parameters of proof-number search with Grundy numbers.

use super::evaluate::Pair;
use super::game::Features;
use crate::search::numbers::{Combination, MAX, Number};

/// The numbers of a couple that nothing is known about.
///
/// Most couples are won, and most of those by the first good move: phi is 1 throughout. A lost one
/// takes a refutation of every move, and the more the larger the atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafEstimate {
    /// 1 and 1, as in the paper.
    Unit,
    /// Delta is 1 + lives²/`lives_divisor` + options^(7/16), each rounded down.
    Size {
        /// The divisor, at least 1.
        lives_divisor: u32,
    },
}

impl LeafEstimate {
    #[inline]
    pub(super) fn of(self, features: Features) -> Pair {
        let Features { lives, estimated_options } = features;
        match self {
            LeafEstimate::Unit => Pair { phi: 1, delta: 1 },
            LeafEstimate::Size { lives_divisor } => {
                let lives = lives.min(1 << 15);
                let delta = 1 + lives * lives / lives_divisor + power_7_16(estimated_options);
                Pair { phi: 1, delta: delta.min(MAX) }
            }
        }
    }
}

/// n^(7/16), rounded down, for n up to 2¹⁸ and the same for all greater ones. In whole numbers, so
/// that searches count the same on every machine.
fn power_7_16(n: u32) -> u32 {
    let n = u128::from(n.min(1 << 18));
    // Rounding down after each root gives the same as rounding down at the end.
    let fourth = n.pow(7).isqrt() as u64;
    fourth.isqrt().isqrt().isqrt() as u32
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

    /// What takes the least time on Sprouts (figures in docs/decisions.md).
    pub const TUNED: SearchOptions = SearchOptions {
        combination: Combination { weight_64: 17 },
        epsilon_1024: 0,
        leaf: LeafEstimate::Size { lives_divisor: 92 },
        heuristic: true,
        parts: PartOrder::Least,
        virtual_number: 1,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_exact() {
        for n in (0..3000).chain([65_535, 65_536, 262_143, 262_144]) {
            // The greatest root whose 16th power is at most n^7, by definition.
            let seventh = u128::from(n).pow(7);
            let root = (0u32..).take_while(|&root| u128::from(root).pow(16) <= seventh).last();
            assert_eq!(power_7_16(n), root.unwrap(), "{n}");
        }
        assert_eq!(power_7_16(u32::MAX), power_7_16(1 << 18));
    }

    #[test]
    fn estimates_grow_with_the_atom() {
        let of = |lives, estimated_options| {
            LeafEstimate::Size { lives_divisor: 92 }.of(Features { lives, estimated_options }).delta
        };
        assert_eq!(of(0, 0), 1);
        assert!(of(30, 10) > of(20, 10) && of(20, 100) > of(20, 10));
        assert!(of(u32::MAX, u32::MAX) <= MAX);
    }
}
