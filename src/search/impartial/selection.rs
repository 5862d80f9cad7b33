//! Which child comes next, and the sums that its thresholds need.

use super::evaluate::Child;
use crate::search::numbers::INFINITY;

/// What selection wants to know about the children of a node.
pub(super) struct Scan {
    /// The child of least delta; of several, the one of least rank; of several, the first.
    pub best: usize,
    /// Its delta.
    pub least: u32,
    /// The least delta of the others.
    pub second: u32,
    /// The greatest phi, and that of the others than the best.
    pub max: u32,
    pub max_other: u32,
    pub sum: u64,
}

/// Looks at the open children of a node once.
#[inline]
pub(super) fn scan(children: &[Child]) -> Scan {
    let (mut best, mut least, mut second) = (0, INFINITY, INFINITY);
    let (mut max, mut max_second, mut max_at, mut sum) = (0, 0, 0, 0u64);
    for (index, child) in children.iter().enumerate() {
        if child.delta < least || child.delta == least && child.rank < children[best].rank {
            second = least;
            least = child.delta;
            best = index;
        } else if child.delta < second {
            second = child.delta;
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
    Scan { best, least, second, max, max_other, sum }
}
