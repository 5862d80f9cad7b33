//! The thresholds of df-pn, with Grundy numbers or without (Čížek, Balko and Schmid, "DFPN with
//! Grundy Numbers" and appendix C), for any [`Combination`].
//!
//! In a plain NAND tree the search stays below a node while `phi` and `delta` are below one
//! threshold each. Below a sum whose Grundy numbers are still being found, what counts is the
//! *lesser* of the two: a part's number is min(phi, delta) of its current couple. The paper keeps
//! a third threshold mt and two shifts ps and ds for this, and goes on while
//! min(phi + ps, delta + ds) < mt. Here a node has the pair
//!
//! * `or_phi` = mt − ps and `or_delta` = mt − ds,
//!
//! and the search goes on while phi < `or_phi` or delta < `or_delta`, which is the same. Going down
//! to a child exchanges the two as it exchanges phi and delta: the child's phi may grow until the
//! parent's delta reaches `or_delta`; the child's delta, which is the parent's phi, up to `or_phi`.
//! With the plain sum this is the paper's formula, ps(w) = ds(v) + dn(v) − pn(w), ds(w) = ps(v), and
//! it holds for every way to combine the children's numbers. In a plain game both stay infinite.

use super::numbers::{Combination, INFINITY, Number, Pair, best_child_threshold};

/// How long the search stays below a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// pt: phi stays below.
    pub phi: Number,
    /// dt: delta stays below.
    pub delta: Number,
    /// mt − ps: phi stays below, or delta below [`Self::or_delta`].
    pub or_phi: Number,
    /// mt − ds.
    pub or_delta: Number,
}

/// What the other children of a node have, for the thresholds of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Others {
    /// Their least delta.
    pub least_delta: Number,
    /// Their greatest phi.
    pub max_phi: Number,
    /// The sum of their phi.
    pub sum_phi: u64,
}

impl Thresholds {
    /// The root's: search until it is solved.
    pub const ROOT: Thresholds =
        Thresholds { phi: INFINITY, delta: INFINITY, or_phi: INFINITY, or_delta: INFINITY };

    /// Whether the most-proving node is still below a node with these numbers (Theorem 2). Never
    /// for a solved one. With `sums` false, for a plain game, it asks `phi` and `delta` only.
    #[inline(always)]
    pub fn hold(&self, Pair { phi, delta }: Pair, sums: bool) -> bool {
        phi < self.phi
            && delta < self.delta
            && (!sums || phi < self.or_phi || delta < self.or_delta)
    }

    /// The thresholds of the child of least delta. `epsilon_1024` of 0 follows the most-proving
    /// node exactly. With `sums` false, for a plain game, the other two are infinite.
    #[inline(always)]
    pub fn of_child(
        &self,
        others: Others,
        combination: Combination,
        epsilon_1024: u32,
        sums: bool,
    ) -> Thresholds {
        let Others { least_delta, max_phi, sum_phi } = others;
        let until = |threshold| match threshold {
            0 => 0,
            _ => combination.child_threshold(threshold, max_phi, sum_phi),
        };
        Thresholds {
            phi: until(self.delta),
            delta: best_child_threshold(self.phi, least_delta, epsilon_1024),
            or_phi: if sums { until(self.or_delta) } else { INFINITY },
            or_delta: if sums { self.or_phi } else { INFINITY },
        }
    }

    /// The number up to which phi and delta of a sum may grow while its parts' Grundy numbers are
    /// being found, when both are the same: t(v) of the paper.
    #[inline(always)]
    pub fn of_sum(&self) -> Number {
        self.phi.min(self.delta).min(self.or_phi.max(self.or_delta))
    }

    /// The thresholds of the current couple of one part of a sum: the couple's min(phi, delta) may
    /// grow until the sum of the parts reaches [`Self::of_sum`]. `others` is the rest of that sum.
    #[inline(always)]
    pub fn of_part(&self, others: u64) -> Thresholds {
        let until = match self.of_sum() {
            INFINITY => INFINITY,
            threshold => u64::from(threshold).saturating_sub(others) as Number,
        };
        Thresholds { phi: INFINITY, delta: INFINITY, or_phi: until, or_delta: until }
    }
}
