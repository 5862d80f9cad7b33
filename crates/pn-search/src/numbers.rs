//! Proof and disproof numbers in the NAND form.
//!
//! The `phi` of a position is the proof number for its side to move: the number of leaves to solve
//! until this side is shown to win. Its `delta` is the disproof number. The `phi` of a position is
//! the least `delta` of its children. Its `delta` is the sum, or another combination, of its
//! children's `phi` (Nagai 2002; thesis, 2.2 and 2.4).
//!
//! * [`Number`]: a proof or disproof number. [`Pair`]: both numbers of a position.
//! * [`Combination`]: combination of the children's phi to delta.

use std::fmt;
use std::str::FromStr;

use crate::Value;

/// A proof or disproof number. Open positions have numbers in `1..=MAX`.
pub type Number = u32;

/// Proof number of a lost position, and disproof number of a won one.
pub const INFINITY: Number = 1 << 27;

/// Greatest number of an open position. Sums saturate at this number.
pub const MAX: Number = INFINITY - 1;

/// Proof and disproof number of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Proof number for the side to move.
    pub phi: Number,
    /// Disproof number.
    pub delta: Number,
}

impl Pair {
    /// Numbers of a position that is won for the side to move.
    pub const WIN: Pair = Pair { phi: 0, delta: INFINITY };
    /// Numbers of a position that is lost for the side to move.
    pub const LOSS: Pair = Pair { phi: INFINITY, delta: 0 };

    /// Numbers of a solved position.
    pub fn of(value: Value) -> Self {
        match value {
            Value::Win => Pair::WIN,
            Value::Loss => Pair::LOSS,
        }
    }

    /// Value of the position, if it is solved.
    #[inline(always)]
    pub fn value(self) -> Option<Value> {
        match (self.phi, self.delta) {
            (0, _) => Some(Value::Win),
            (_, 0) => Some(Value::Loss),
            _ => None,
        }
    }

    /// The lesser of both numbers. In a sum, this is the number of a summand whose Grundy number is
    /// searched; `self` then has the numbers of the summand's current couple.
    #[inline(always)]
    pub fn least(self) -> Number {
        self.phi.min(self.delta)
    }
}

/// Combination of the children's `phi` to their parent's `delta`: the maximum, plus a share of the
/// sum of the other numbers, plus a constant for each of the other children.
///
/// If several children share a subtree, the sum counts the leaves of the subtree more than once. In
/// a game with many transpositions, the sum is too large by orders of magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Combination {
    /// Weight of all numbers except the maximum, in 1/64; at most 64.
    weight_64: u32,
    /// Number added for each child but one.
    each: Number,
}

impl Combination {
    /// The plain sum, as published (Allis 1994).
    pub const SUM: Combination = Combination::mixed(64);
    /// The maximum.
    pub const MAX: Combination = Combination::mixed(0);
    /// The maximum plus the number of the other children: weak proof-number search (Ueda et al. 2008).
    pub const WEAK: Combination = Combination { weight_64: 0, each: 1 };

    /// The maximum plus `weight_64`/64 of the sum of the other numbers.
    ///
    /// # Panics
    /// If the weight is more than 64.
    pub const fn mixed(weight_64: u32) -> Combination {
        assert!(weight_64 <= 64, "the weight of a combination is at most 1");
        Combination { weight_64, each: 0 }
    }

    /// Combines the maximum and the sum of the `phi` of `count` children. The sum may exceed [`MAX`]. The
    /// result is at most [`MAX`], unless the `phi` of a child is [`INFINITY`].
    #[inline(always)]
    pub fn combine(self, max: Number, sum: u64, count: usize) -> Number {
        if max >= INFINITY {
            return INFINITY;
        }
        let rest = ((sum - u64::from(max)) * u64::from(self.weight_64)) >> 6;
        let constant = u64::from(self.each) * count.saturating_sub(1) as u64;
        (u64::from(max) + rest + constant).min(u64::from(MAX)) as Number
    }

    /// Least `phi` of one child for which the parent's `delta` is at least `threshold` if the other
    /// children keep their numbers. `max` and `sum` are the maximum and the sum of the `phi` of the
    /// `count` other children.
    #[inline(always)]
    pub fn child_threshold(self, threshold: Number, max: Number, sum: u64, count: usize) -> Number {
        if threshold >= INFINITY {
            return INFINITY;
        }
        let weight = u64::from(self.weight_64);
        let constant = u64::from(self.each) * count as u64;
        let threshold = u64::from(threshold).saturating_sub(constant);
        let (max, rest) = (u64::from(max), (sum * weight) >> 6);
        // If the child's phi is the maximum, the condition is phi + rest >= threshold.
        let bound = if max + rest < threshold {
            threshold - rest
        } else {
            // Otherwise it is max + (sum - max + phi)·weight >= threshold, which holds at the
            // latest when phi reaches max.
            let needed = (threshold.saturating_sub(max) << 6).div_ceil(weight.max(1));
            needed.saturating_sub(sum - max).min(max.max(1))
        };
        bound.clamp(1, u64::from(INFINITY)) as Number
    }
}

/// `sum`, `max`, `weak`, or `mixed:W` with the weight in 1/64.
impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Combination::SUM => f.write_str("sum"),
            Combination::MAX => f.write_str("max"),
            Combination::WEAK => f.write_str("weak"),
            Combination { weight_64, .. } => write!(f, "mixed:{weight_64}"),
        }
    }
}

impl FromStr for Combination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sum" => Ok(Combination::SUM),
            "max" => Ok(Combination::MAX),
            "weak" => Ok(Combination::WEAK),
            _ => {
                let weight = text.strip_prefix("mixed:").and_then(|weight| weight.parse().ok());
                let weight = weight.filter(|&weight: &u32| weight <= 64);
                weight.map(Combination::mixed).ok_or_else(|| {
                    "expected sum, max, weak, or mixed:W with a weight W from 0 to 64".to_owned()
                })
            }
        }
    }
}

/// The ε of the 1+ε trick (Pawlewicz and Lew 2006; thesis, equation 2.5): a search stays below the
/// best child until the child's number reaches 1 + ε times the number of the second best child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Epsilon {
    /// ε in units of 2⁻³², rounded down.
    fraction: u64,
}

impl Epsilon {
    /// No relaxation: the search follows the most-proving node exactly.
    pub const ZERO: Epsilon = Epsilon { fraction: 0 };

    /// Creates an ε.
    ///
    /// # Panics
    /// If it is less than 0 or more than 16.
    pub const fn new(epsilon: f64) -> Epsilon {
        assert!(0.0 <= epsilon && epsilon <= 16.0, "an epsilon is between 0 and 16");
        Epsilon { fraction: (epsilon * (1u64 << 32) as f64) as u64 }
    }

    /// Threshold of the best child if the least number of the other children is `second`, at most
    /// [`INFINITY`]: ⌈second·(1 + ε)⌉, but at least `second` + 1.
    #[inline(always)]
    pub fn relax(self, second: u64) -> u64 {
        let slack = (second * self.fraction + ((1 << 32) - 1)) >> 32;
        second + slack.max(1)
    }
}

/// Delta at which the search returns from the child of least delta. It returns when the parent's
/// phi, which equals this delta, reaches `threshold`. It also returns when the delta reaches the
/// threshold that `epsilon` gives for `second`, the least delta of the other children. `threshold` is
/// at most [`INFINITY`].
#[inline(always)]
pub fn best_child_threshold(threshold: Number, second: Number, epsilon: Epsilon) -> Number {
    if second >= INFINITY {
        return threshold;
    }
    epsilon.relax(u64::from(second)).min(u64::from(threshold)) as Number
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn child_threshold_is_the_least_phi_with_which_the_combination_reaches_the_threshold(
            weight_64 in 0u32..=64,
            each in 0u32..3,
            others in prop::collection::vec(1u32..500, 0..6),
            threshold in 1u32..2000,
        ) {
            let combination = Combination { weight_64, each };
            let max = others.iter().copied().max().unwrap_or(0);
            let sum: u64 = others.iter().map(|&n| u64::from(n)).sum();
            let reaches = |phi: u32| {
                combination.combine(max.max(phi), sum + u64::from(phi), others.len() + 1) >= threshold
            };
            let bound = combination.child_threshold(threshold, max, sum, others.len());
            let least = (1..=4000).find(|&phi| reaches(phi)).unwrap();
            prop_assert_eq!(bound, least);
        }
    }

    #[test]
    fn the_search_leaves_the_best_child_a_little_above_the_second_best() {
        let epsilon = Epsilon::new(0.15);
        assert_eq!(best_child_threshold(1000, 7, Epsilon::ZERO), 8);
        // Equation 2.5 of the thesis: ⌈100·1.15⌉ and ⌈101·1.15⌉.
        assert_eq!(best_child_threshold(1000, 100, epsilon), 115);
        assert_eq!(best_child_threshold(1000, 101, epsilon), 117);
        assert_eq!(best_child_threshold(1000, 1, epsilon), 2);
        assert_eq!(best_child_threshold(110, 100, epsilon), 110);
        assert_eq!(best_child_threshold(1000, INFINITY, epsilon), 1000);
        assert_eq!(best_child_threshold(INFINITY, MAX, Epsilon::new(16.0)), INFINITY);
    }

    #[test]
    fn a_combination_is_infinite_only_if_a_number_is() {
        for c in [Combination::SUM, Combination::mixed(8), Combination::WEAK] {
            assert_eq!(c.combine(MAX, 40 * u64::from(MAX), 40), MAX);
            assert_eq!(c.combine(INFINITY, u64::from(INFINITY), 1), INFINITY);
            assert_eq!(c.child_threshold(INFINITY, 7, 20, 3), INFINITY);
        }
        assert_eq!(Combination::SUM.combine(5, 12, 3), 12);
        assert_eq!(Combination::MAX.combine(5, 12, 3), 5);
        assert_eq!(Combination::WEAK.combine(5, 12, 3), 7);
        assert_eq!(Combination::WEAK.combine(0, 0, 0), 0);
        assert_eq!(Combination::mixed(8).combine(5, 12, 3), 5);
        assert_eq!(Combination::mixed(8).combine(5, 13, 3), 6);
    }
}
