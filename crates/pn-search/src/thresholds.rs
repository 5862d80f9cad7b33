//! Thresholds of df-pn, with Grundy numbers or without (Čížek, Balko and Schmid, "DFPN with Grundy
//! Numbers" and appendix C), for any [`Combination`].
//!
//! In a plain NAND tree the search stays below a node while `phi` and `delta` are below one
//! threshold each. Below a sum whose Grundy numbers are not all known, the *lesser* of the two
//! counts: the number of a part is min(phi, delta) of its current couple. For this the paper keeps
//! a third threshold mt and two shifts ps and ds, and searches on while min(phi + ps, delta + ds) <
//! mt. Here a node has the pair
//!
//! * `or_phi` = mt − ps and `or_delta` = mt − ds,
//!
//! and the search stays while phi < `or_phi` or delta < `or_delta`, which is the same. In a child,
//! the two are exchanged like phi and delta: the child's phi may grow until the parent's delta
//! reaches `or_delta`, and the child's delta, which is the parent's phi, up to `or_phi`. With the
//! plain sum this is the paper's formula, ps(w) = ds(v) + dn(v) − pn(w), ds(w) = ps(v). It holds
//! for every combination of the children's numbers. In a plain game both stay infinite.

use super::numbers::{Combination, Epsilon, INFINITY, Number, Pair, best_child_threshold};

/// Thresholds of a node: the search returns from the node as soon as they are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Threshold of phi: pt of the paper.
    pub phi: Number,
    /// Threshold of delta: dt of the paper.
    pub delta: Number,
    /// mt − ps: the search stays while phi is less or delta is less than [`Self::or_delta`].
    pub or_phi: Number,
    /// mt − ds.
    pub or_delta: Number,
}

/// Numbers of the other children of a node, for the thresholds of one child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Others {
    /// Least delta of the others.
    pub min_delta: Number,
    /// Greatest phi of the others.
    pub max_phi: Number,
    /// Sum of the others' phi.
    pub sum_phi: u64,
    /// Number of the others.
    pub count: usize,
}

impl Thresholds {
    /// Thresholds of the root: search until it is solved.
    pub const ROOT: Thresholds =
        Thresholds { phi: INFINITY, delta: INFINITY, or_phi: INFINITY, or_delta: INFINITY };

    /// Returns true if the most-proving node is still below a node with these numbers (Theorem 2).
    /// False for a solved node. With `sums` false, for a plain game, only `phi` and `delta` are
    /// compared.
    #[inline(always)]
    pub fn hold(&self, Pair { phi, delta }: Pair, sums: bool) -> bool {
        phi < self.phi
            && delta < self.delta
            && (!sums || phi < self.or_phi || delta < self.or_delta)
    }

    /// Thresholds of the child of least delta. With [`Epsilon::ZERO`] the search follows the
    /// most-proving node exactly. With `sums` false, for a plain game, `or_phi` and `or_delta` are
    /// infinite.
    #[inline(always)]
    pub fn of_child(
        &self,
        others: Others,
        combination: Combination,
        epsilon: Epsilon,
        sums: bool,
    ) -> Thresholds {
        let Others { min_delta, max_phi, sum_phi, count } = others;
        let until = |threshold| match threshold {
            0 => 0,
            _ => combination.child_threshold(threshold, max_phi, sum_phi, count),
        };
        Thresholds {
            phi: until(self.delta),
            delta: best_child_threshold(self.phi, min_delta, epsilon),
            or_phi: if sums { until(self.or_delta) } else { INFINITY },
            or_delta: if sums { self.or_phi } else { INFINITY },
        }
    }

    /// Threshold of phi and delta of a sum while both are equal, because Grundy numbers of its
    /// parts are unknown: t(v) of the paper.
    #[inline(always)]
    pub fn of_sum(&self) -> Number {
        self.phi.min(self.delta).min(self.or_phi.max(self.or_delta))
    }

    /// Thresholds of the current couple of one part of a sum: the couple's min(phi, delta) may grow
    /// until the sum of the parts reaches [`Self::of_sum`]. `others` is the sum of the other parts.
    #[inline(always)]
    pub fn of_part(&self, others: u64) -> Thresholds {
        let until = match self.of_sum() {
            INFINITY => INFINITY,
            threshold => u64::from(threshold).saturating_sub(others) as Number,
        };
        Thresholds { phi: INFINITY, delta: INFINITY, or_phi: until, or_delta: until }
    }
}
