//! Parameters of proof-number search with Grundy numbers.
//!
//! - [`SearchOptions`] are the parameters of a search.
//! - [`LeafEstimate`] computes phi and delta of a new couple. It uses the [`Likelihood`] that the couple's nimber is
//!   the Grundy number of its atom.
//! - [`PartOrder`] selects the part of a sum that is searched next.

use std::sync::LazyLock;

use super::game::{Atom, AtomFeatures, Impartial, Odds};
use super::knowledge::GrundyInfo;
use crate::dfpn::{SelectionParams, VirtualLoss};
use crate::numbers::{Combination, Epsilon, MAX, Number, Pair};

/// Rule for the initial phi and delta of a couple.
///
/// Phi is always 1, because most couples are won, and most won couples by the first good move. The proof that a couple
/// is lost needs a refutation of every move, so delta increases with the size of the atom.
///
/// A couple is lost if its nimber is the Grundy number of its atom. If the game has probabilities of Grundy numbers
/// ([`Impartial::odds`]), delta is greater for an unlikely nimber: delta is divided by √(4p), where p is the likelihood
/// of the nimber, but at least 1/100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafEstimate {
    /// Phi and delta are 1, as in the paper. The likelihood is not used.
    Unit,
    /// Delta is 1 + lives/`lives_divisor` + options^(7/16), each term rounded down, before the division by √(4p).
    Size {
        /// Divisor of the lives, at least 1.
        lives_divisor: u32,
    },
}

impl LeafEstimate {
    /// Returns phi and delta of the child that represents all options of an atom in
    /// [`OptionSubset::Rest`](super::game::OptionSubset::Rest). Phi is options^(7/16), at least 1. Delta is three
    /// quarters of the atom's [`LeafEstimate::Size`], at least 2, so that it exceeds the delta of a sum of two new
    /// atoms, which is 1.
    pub(super) fn of_rest(self, game: &impl Impartial, atom: Atom) -> Pair {
        match self {
            LeafEstimate::Unit => Pair { phi: 1, delta: 1 },
            LeafEstimate::Size { lives_divisor } => {
                let features = game.features(atom);
                let phi = power_7_16(features.estimated_options).max(1);
                let delta = size(features, lives_divisor).saturating_mul(3) / 4;
                Pair { phi, delta: delta.clamp(2, MAX) }
            }
        }
    }

    /// Returns the initial phi and delta of a couple. `known` are the results about its atom, which do not solve the
    /// couple.
    #[inline]
    pub(super) fn of(
        self,
        game: &impl Impartial,
        atom: Atom,
        nimber: u32,
        known: GrundyInfo,
    ) -> Pair {
        let delta = match self {
            LeafEstimate::Unit => 1,
            LeafEstimate::Size { lives_divisor } => {
                let size = size(game.features(atom), lives_divisor);
                match game.odds(atom) {
                    Some(odds) => Likelihood::of(odds, nimber, known).raise(size),
                    None => size,
                }
            }
        };
        Pair { phi: 1, delta }
    }
}

/// Estimates the difficulty of computing the Grundy number of an atom, for comparisons between atoms. It is the
/// delta of [`LeafEstimate::Size`] with `lives_divisor` 3.
pub(super) fn difficulty(features: AtomFeatures) -> Number {
    size(features, 3)
}

fn size(features: AtomFeatures, lives_divisor: u32) -> Number {
    let AtomFeatures { lives, estimated_options } = features;
    (1 + power_7_16(estimated_options)).saturating_add(lives / lives_divisor).min(MAX)
}

/// The likelihood of a Grundy number among those that are not excluded, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Likelihood {
    part: u32,
    whole: u32,
}

impl Likelihood {
    #[inline]
    fn of(odds: &Odds, nimber: u32, known: GrundyInfo) -> Self {
        const LAST: usize = size_of::<Odds>() / size_of::<u16>() - 1;
        let open = |&(number, _): &(u32, &u16)| number == LAST as u32 || !known.excludes(number);
        let whole: u32 = (0..).zip(odds).filter(open).map(|(_, &odds)| u32::from(odds)).sum();
        let part = match nimber as usize {
            number @ 0..LAST => odds[number].into(),
            // `odds` has one probability for all numbers from 5 on. About half of the atoms with such a Grundy number
            // have the number 5. The greater numbers get the same likelihood.
            _ => u32::from(odds[LAST]) / 2,
        };
        Likelihood { part: part.max(whole / 100).max(1), whole: whole.max(1) }
    }

    /// Divides a number by √(4p), where p is the likelihood.
    #[inline]
    fn raise(self, number: Number) -> Number {
        let number = u64::from(number.min(1 << 22));
        // Twice the result, so that the result can be rounded to the nearest integer.
        let twice = root(number * number * u64::from(self.whole) / u64::from(self.part));
        (twice.div_ceil(2).max(1) as Number).min(MAX)
    }
}

/// Returns the square root of n, rounded down. It uses the floating-point square root, which is correctly rounded on
/// all machines.
#[inline]
fn root(n: u64) -> u64 {
    let near = ((n as f64).sqrt() as u64).min(u32::MAX.into());
    match n.checked_sub(near * near) {
        None => near - 1,
        Some(rest) if rest > 2 * near => near + 1,
        Some(_) => near,
    }
}

/// Number of powers that are stored in a table.
const POWERS: usize = 512;

/// Returns n^(7/16), rounded down; for n above 2¹⁸, the power of 2¹⁸. It is computed with integers, so that node counts
/// are the same on every machine.
#[inline]
fn power_7_16(n: u32) -> u32 {
    static SMALL: LazyLock<[u8; POWERS]> =
        LazyLock::new(|| std::array::from_fn(|n| slow_power_7_16(n as u32) as u8));
    match SMALL.get(n as usize) {
        Some(&power) => power.into(),
        None => slow_power_7_16(n),
    }
}

fn slow_power_7_16(n: u32) -> u32 {
    let n = u128::from(n.min(1 << 18));
    // Rounding down after each root gives the same as rounding down at the end.
    let square_root = n.pow(7).isqrt() as u64;
    square_root.isqrt().isqrt().isqrt() as u32
}

/// Choice of the part of a sum whose Grundy number is computed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartOrder {
    /// The part with the fewest lives; among equal ones, the one with the fewest estimated options. df-pn on several
    /// threads uses [`Self::Least`] instead, as in the paper.
    Lives,
    /// df-pn: the part of least min(phi, delta), including virtual losses. PNS: the easiest part, by the estimate that
    /// sorts the parts.
    Least,
}

/// Parameters of proof-number search with Grundy numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// Rule for the delta of a couple from the phi of its children.
    pub combination: Combination,
    /// df-pn: the ε of the 1+ε trick.
    pub epsilon: Epsilon,
    /// Initial phi and delta of couples.
    pub leaf: LeafEstimate,
    /// True if children of equal delta are searched in the order of Lemoine and Viennot (2015): by lives plus four
    /// times the nimber, ascending; then by the number of atoms, descending; then by the number of options, ascending.
    pub heuristic: bool,
    /// Order of the parts of a sum.
    pub parts: PartOrder,
    /// True if phi and delta of a sum are sums over all its k parts, as in equation (6) of the paper. False if the
    /// hardest part is left out, because its Grundy number is not needed. This is the formula with k − 1 terms in the
    /// paper's section "Proof-Number Search with Grundy Numbers".
    pub sum_of_all_parts: bool,
    /// df-pn: true if only the likely options of an atom are generated at first. The others are generated when their
    /// estimated delta is the least among the children.
    pub lazy: bool,
    /// If set, ties between children are broken at random, by this seed; otherwise by the order in which the game
    /// generates the options.
    pub seed: Option<u64>,
}

impl SearchOptions {
    /// Returns the parameters of df-pn. The virtual loss of each worker below a node is 1.
    pub(super) fn params(&self) -> SelectionParams {
        let &SearchOptions { combination, epsilon, .. } = self;
        SelectionParams {
            combination,
            epsilon,
            epsilon_at_or_nodes: false,
            virtual_loss: VirtualLoss::Selection { share_1024: 0 },
        }
    }

    /// The algorithms as described in the paper (Čížek, Balko and Schmid): equations (4) to (7) and (10) to (12) of its
    /// full version.
    ///
    /// The paper has two formulas for the numbers of a sum (see [`SearchOptions::sum_of_all_parts`]) and does not say
    /// how parts are ordered. Both are chosen as in the authors' program SPOTS: all parts count, and the part with the
    /// fewest lives comes first.
    ///
    /// Differences that remain:
    ///
    /// - A sum is expanded together with its parent, and its numbers are always up to date. In the paper, a sum is a
    ///   node with the numbers 1 and 1 until it is visited, and its expansion is counted.
    /// - Equal parts cancel each other.
    /// - The Grundy numbers of options are excluded for an atom without an expansion of its couples.
    /// - Without [`SearchOptions::seed`], children of equal delta are searched in the order in which the game generates
    ///   them. In the paper, one of them is chosen at random.
    pub const PAPER: SearchOptions = SearchOptions {
        combination: Combination::SUM,
        epsilon: Epsilon::ZERO,
        leaf: LeafEstimate::Unit,
        heuristic: false,
        parts: PartOrder::Lives,
        sum_of_all_parts: true,
        lazy: false,
        seed: None,
    };

    /// The fastest options on Sprouts (figures in docs/research/sprouts-search.md).
    pub const TUNED: SearchOptions = SearchOptions {
        combination: Combination::mixed(17),
        epsilon: Epsilon::ZERO,
        leaf: LeafEstimate::Size { lives_divisor: 3 },
        heuristic: true,
        parts: PartOrder::Least,
        sum_of_all_parts: false,
        lazy: true,
        seed: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::knowledge::GrundyStore;

    #[test]
    fn powers_are_exact() {
        for n in (0..3000).chain([65_535, 65_536, 262_143, 262_144]) {
            // The definition: the greatest root whose 16th power is at most n^7.
            let seventh = u128::from(n).pow(7);
            let root = (0u32..).take_while(|&root| u128::from(root).pow(16) <= seventh).last();
            assert_eq!(power_7_16(n), root.unwrap(), "{n}");
        }
        assert_eq!(power_7_16(u32::MAX), power_7_16(1 << 18));
    }

    #[test]
    fn roots_are_exact() {
        let near_squares = (1u64..1 << 32).step_by(12_345_677).chain([94_906_267, 4_294_967_295]);
        let near_squares = near_squares.flat_map(|root| [root * root - 1, root * root]);
        for n in (0..1000).chain(near_squares).chain([u64::MAX]) {
            assert_eq!(root(n), n.isqrt(), "{n}");
        }
    }

    #[test]
    fn estimates_grow_with_the_atom() {
        let of = |lives, estimated_options| size(AtomFeatures { lives, estimated_options }, 3);
        assert_eq!(of(0, 0), 1);
        assert!(of(30, 10) > of(20, 10) && of(20, 100) > of(20, 10));
        assert!(of(u32::MAX, u32::MAX) <= MAX);
        let largest = AtomFeatures { lives: u32::MAX, estimated_options: u32::MAX };
        assert_eq!(size(largest, 1), MAX);
    }

    #[test]
    fn unlikely_numbers_take_longer() {
        let odds = [30_000, 20_000, 10_000, 4_000, 535, 1_000];
        let knowledge = GrundyStore::new();
        let raise = |nimber, number| Likelihood::of(&odds, nimber, knowledge.get(0)).raise(number);
        let definition = |nimber: usize, number: f64| {
            (number / (4.0 * f64::from(odds[nimber]) / 65_535.0).sqrt()).round() as Number
        };
        for number in [1, 7, 30, 1000, 1 << 20] {
            for nimber in 0..4 {
                let fast = raise(nimber, number);
                assert!(fast.abs_diff(definition(nimber as usize, number.into()).max(1)) <= 1);
            }
            let limit = f64::from(number) * 5.0;
            let least_likely = f64::from(raise(4, number));
            // The likelihood of 4 is less than 1/100, and counts as 1/100.
            assert!((least_likely - limit).abs() <= 1.0 + limit / 1000.0);
            assert_eq!(raise(9, number), raise(5, number));
        }
        assert!(raise(4, MAX) <= MAX && raise(0, 0) >= 1);
        // After 0 is excluded, 1 is more likely.
        let before = raise(1, 1000);
        knowledge.exclude(0, GrundyStore::bit(0));
        let rest = Likelihood::of(&odds, 1, knowledge.get(0));
        assert_eq!(rest, Likelihood { part: 20_000, whole: 35_535 });
        assert!(rest.raise(1000) < before);
    }
}
