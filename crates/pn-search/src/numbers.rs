//! Proof and disproof numbers in the NAND form.
//!
//! The `phi` of a position is the proof number for its side to move: the number of leaves to solve
//! until this side is shown to win. Its `delta` is the disproof number. The `phi` of a position is
//! the least `delta` of its children. Its `delta` is the sum, or another combination, of its
//! children's `phi` (Nagai 2002; thesis, 2.2 and 2.4).
//!
//! * [`Number`]: a proof or disproof number. [`Pair`]: both numbers of a position.
//! * [`Combination`]: combination of the children's phi to delta.

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

/// Combination of the children's `phi` to their parent's `delta`.
///
/// If several children share a subtree, the sum counts the leaves of the subtree more than once. In
/// a game with many transpositions, the sum is too large by orders of magnitude. Therefore the
/// combination is `max + (sum - max)·weight`, which is between the maximum (weight 0) and the sum
/// (weight 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination {
    /// Weight of all numbers except the maximum, in 1/64; at most 64.
    pub weight_64: u32,
}

impl Combination {
    /// The plain sum, as published.
    pub const SUM: Combination = Combination { weight_64: 64 };

    /// Combines the maximum and the sum of the children's `phi`. The sum may exceed [`MAX`]. The
    /// result is at most [`MAX`], unless the `phi` of a child is [`INFINITY`].
    #[inline(always)]
    pub fn combine(self, max: Number, sum: u64) -> Number {
        if max >= INFINITY {
            return INFINITY;
        }
        let rest = ((sum - u64::from(max)) * u64::from(self.weight_64)) >> 6;
        (u64::from(max) + rest).min(u64::from(MAX)) as Number
    }

    /// Least `phi` of one child for which the parent's `delta` is at least `threshold` if the other
    /// children keep their numbers. `max` and `sum` are the maximum and the sum of the other
    /// children's `phi`.
    #[inline(always)]
    pub fn child_threshold(self, threshold: Number, max: Number, sum: u64) -> Number {
        if threshold >= INFINITY {
            return INFINITY;
        }
        let weight = u64::from(self.weight_64);
        let threshold = u64::from(threshold);
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

/// Delta at which the search returns from the child of least delta. It returns when the parent's
/// phi, which equals this delta, reaches `threshold`. It also returns when the delta exceeds
/// `second`·(1 + `epsilon_1024`/1024), where `second` is the least delta of the other children
/// (Pawlewicz and Lew 2006). `threshold` is at most [`INFINITY`].
#[inline(always)]
pub fn best_child_threshold(threshold: Number, second: Number, epsilon_1024: u32) -> Number {
    if second >= INFINITY {
        return threshold;
    }
    let slack = (u64::from(second) * u64::from(epsilon_1024)) >> 10;
    (u64::from(second) + slack + 1).min(u64::from(threshold)) as Number
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn child_threshold_is_the_least_phi_with_which_the_combination_reaches_the_threshold(
            weight_64 in 0u32..=64,
            others in prop::collection::vec(1u32..500, 0..6),
            threshold in 1u32..2000,
        ) {
            let combination = Combination { weight_64 };
            let max = others.iter().copied().max().unwrap_or(0);
            let sum: u64 = others.iter().map(|&n| u64::from(n)).sum();
            let reaches = |phi: u32| {
                combination.combine(max.max(phi), sum + u64::from(phi)) >= threshold
            };
            let bound = combination.child_threshold(threshold, max, sum);
            let least = (1..=4000).find(|&phi| reaches(phi)).unwrap();
            prop_assert_eq!(bound, least);
        }
    }

    #[test]
    fn the_search_leaves_the_best_child_a_little_above_the_second_best() {
        assert_eq!(best_child_threshold(1000, 7, 0), 8);
        assert_eq!(best_child_threshold(1000, 100, 154), 116);
        assert_eq!(best_child_threshold(110, 100, 154), 110);
        assert_eq!(best_child_threshold(1000, INFINITY, 154), 1000);
        assert_eq!(best_child_threshold(INFINITY, MAX, u32::MAX), INFINITY);
    }

    #[test]
    fn a_combination_is_infinite_only_if_a_number_is() {
        for weight_64 in [64, 8] {
            let c = Combination { weight_64 };
            assert_eq!(c.combine(MAX, 40 * u64::from(MAX)), MAX);
            assert_eq!(c.combine(INFINITY, u64::from(INFINITY)), INFINITY);
            assert_eq!(c.child_threshold(INFINITY, 7, 20), INFINITY);
        }
        assert_eq!(Combination::SUM.combine(5, 12), 12);
        assert_eq!(Combination { weight_64: 8 }.combine(5, 12), 5);
        assert_eq!(Combination { weight_64: 8 }.combine(5, 13), 6);
    }
}
