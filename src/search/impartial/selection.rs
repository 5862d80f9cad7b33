//! Which child comes next, and the sums that its thresholds need.

use super::evaluate::Child;
use crate::search::numbers::{INFINITY, Number};

/// What selection wants to know about the children of a node.
pub(super) struct Scan {
    /// The child to search: of least delta, virtual numbers added; of several, the one of least
    /// rank; of several, the first.
    pub best: usize,
    /// The least delta, without virtual numbers: the node's phi.
    pub phi: Number,
    /// The least delta of the others than the best, virtual numbers added.
    pub second: Number,
    /// The greatest phi, and that of the others than the best.
    pub max: Number,
    pub max_other: Number,
    pub sum: u64,
}

/// Looks at the open children of a node once. Every thread below a child adds `virtual_number` to
/// its delta.
#[inline]
pub(super) fn scan(children: &[Child], virtual_number: Number) -> Scan {
    let (mut best, mut phi, mut least, mut second) = (0, INFINITY, INFINITY, INFINITY);
    let (mut max, mut max_second, mut max_at, mut sum) = (0, 0, 0, 0u64);
    for (index, child) in children.iter().enumerate() {
        phi = phi.min(child.delta);
        let delta = child.delta.saturating_add(child.threads.saturating_mul(virtual_number));
        if delta < least || delta == least && child.rank < children[best].rank {
            second = least;
            least = delta;
            best = index;
        } else if delta < second {
            second = delta;
        }
        if child.phi > max {
            max_second = max;
            max = child.phi;
            max_at = index;
        } else if child.phi > max_second {
            max_second = child.phi;
        }
        sum += u64::from(child.phi);
    }
    let max_other = if max_at == best { max_second } else { max };
    Scan { best, phi, second, max, max_other, sum }
}
