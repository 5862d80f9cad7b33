//! How many positions have which remoteness.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Numbers of positions by remoteness, from 0 to the largest: of all sets of stones, equivalent ones
/// counted one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// With Black to move.
    pub black: Vec<u64>,
    /// With White to move.
    pub white: Vec<u64>,
}

impl Histogram {
    /// Adds the positions of another layer.
    pub fn add(&mut self, other: &Histogram) {
        add(&mut self.black, &other.black);
        add(&mut self.white, &other.white);
    }

    /// The most plies that a position of the database lasts.
    pub fn longest(&self) -> u32 {
        self.black.len().max(self.white.len()).saturating_sub(1) as u32
    }

    /// Positions, and those that the side to move wins, by the side to move; `None` if there are
    /// 2⁶⁴ or more.
    pub(super) fn totals(&self) -> Option<[(u64, u64); 2]> {
        let total = |side: &[u64]| {
            let all = side.iter().try_fold(0u64, |sum, &n| sum.checked_add(n))?;
            Some((all, side.iter().skip(1).step_by(2).sum()))
        };
        Some([total(&self.black)?, total(&self.white)?])
    }
}

/// Adds numbers to numbers, without zeros at the end.
pub(super) fn add(to: &mut Vec<u64>, numbers: &[u64]) {
    let used = numbers.iter().rposition(|&number| number > 0).map_or(0, |last| last + 1);
    to.resize(to.len().max(used), 0);
    to.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
}
