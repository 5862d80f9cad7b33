//! Thresholds of df-pn, with Grundy numbers or without (Čížek, Balko and Schmid, "DFPN with Grundy
//! Numbers" and appendix C), for any [`Combination`].
//!
//! In a plain NAND tree the search stays below a node while `phi` and `delta` are below one
//! threshold each. Sums need more. While the Grundy number of a part (a summand) is unknown, the
//! number of this part is min(phi, delta) of its current couple: the couple of the part with the
//! least nimber that is not excluded yet. Below a sum, the search therefore has to limit the
//! *lesser* of phi and delta. For this the paper has a third threshold mt and two shifts ps and ds.
//! Its search stays below a node while min(phi + ps, delta + ds) < mt. Here a node has the pair
//!
//! * `or_phi` = mt − ps and `or_delta` = mt − ds,
//!
//! and the search stays while phi < `or_phi` or delta < `or_delta`, which is the same condition.
//!
//! The child's pair follows from the parent's pair. The child's `or_phi` is the phi of the child at
//! which the parent's delta reaches the parent's `or_delta`. The child's `or_delta` is the parent's
//! `or_phi`, because the child's delta is the parent's phi. If the parent's delta is the plain sum,
//! this is the paper's formula for a child w of v: ps(w) = ds(v) + dn(v) − pn(w), ds(w) = ps(v).
//! The rule holds for every other combination too. In a plain game the pair stays infinite.

use super::numbers::{Combination, Epsilon, INFINITY, Number, Pair, best_child_threshold};

/// Thresholds of a node. The search returns from the node as soon as phi reaches `phi`, delta
/// reaches `delta`, or, with sums, phi reaches `or_phi` and delta reaches `or_delta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Threshold of phi; pt in the paper.
    pub phi: Number,
    /// Threshold of delta; dt in the paper.
    pub delta: Number,
    /// Threshold of phi that counts only together with [`Self::or_delta`]; mt − ps in the paper.
    pub or_phi: Number,
    /// Threshold of delta that counts only together with [`Self::or_phi`]; mt − ds in the paper.
    pub or_delta: Number,
}

/// Numbers of all children of a node but one, for the thresholds of that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Others {
    /// Least delta of the other children.
    pub min_delta: Number,
    /// Greatest phi of the other children.
    pub max_phi: Number,
    /// Sum of the other children's phi.
    pub sum_phi: u64,
    /// Number of the others.
    pub count: usize,
}

impl Thresholds {
    /// Thresholds of the root. They are reached only when the root is solved.
    pub const ROOT: Thresholds =
        Thresholds { phi: INFINITY, delta: INFINITY, or_phi: INFINITY, or_delta: INFINITY };

    /// Returns true if the most-proving node is still below a node with these numbers (Theorem 2 of
    /// the paper). Returns false for a solved node. `limits_min` is false in a plain game: then only
    /// the thresholds `phi` and `delta` are compared.
    #[inline(always)]
    pub fn hold(&self, Pair { phi, delta }: Pair, limits_min: bool) -> bool {
        phi < self.phi
            && delta < self.delta
            && (!limits_min || phi < self.or_phi || delta < self.or_delta)
    }

    /// Thresholds of the child of least delta. With [`Epsilon::ZERO`] the search follows the
    /// most-proving node exactly. `limits_min` is false in a plain game: then `or_phi` and
    /// `or_delta` are infinite.
    #[inline(always)]
    pub fn of_child(
        &self,
        others: Others,
        combination: Combination,
        epsilon: Epsilon,
        limits_min: bool,
    ) -> Thresholds {
        let Others { min_delta, max_phi, sum_phi, count } = others;
        let until = |threshold| match threshold {
            0 => 0,
            _ => combination.child_threshold(threshold, max_phi, sum_phi, count),
        };
        Thresholds {
            phi: until(self.delta),
            delta: best_child_threshold(self.phi, min_delta, epsilon),
            or_phi: if limits_min { until(self.or_delta) } else { INFINITY },
            or_delta: if limits_min { self.or_phi } else { INFINITY },
        }
    }

    /// Threshold of a sum while the Grundy number of at least one of its parts is unknown; t(v) in
    /// the paper. The phi and delta of the sum are equal then.
    #[inline(always)]
    pub fn of_sum(&self) -> Number {
        self.phi.min(self.delta).min(self.or_phi.max(self.or_delta))
    }

    /// Thresholds of the current couple of one part of a sum: the couple's min(phi, delta) may grow
    /// until the sum over the parts reaches [`Self::of_sum`]. `others` is the sum of the numbers of
    /// the other parts.
    #[inline(always)]
    pub fn of_part(&self, others: u64) -> Thresholds {
        let until = match self.of_sum() {
            INFINITY => INFINITY,
            threshold => u64::from(threshold).saturating_sub(others) as Number,
        };
        Thresholds { phi: INFINITY, delta: INFINITY, or_phi: until, or_delta: until }
    }
}
