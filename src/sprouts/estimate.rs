//! What the order of children wants to know about a land.

use super::flat::{Flat, ONE};
use crate::search::sums::game::AtomFeatures;

/// Lives, and about how many moves there are: in each region the pairs of occurrences of spots,
/// those within a boundary times the ways to divide the other boundaries between two sides.
pub(super) fn features(flat: &Flat) -> AtomFeatures {
    let mut estimate = 0u64;
    for (number, region) in flat.regions.iter().enumerate() {
        let boundaries = flat.boundaries(number);
        let isolated = u64::from(region.isolated);
        let others = (boundaries.len() as u32).saturating_sub(1);
        // Isolated spots are all alike.
        let ways = (isolated + 1).saturating_mul(1u64.checked_shl(others).unwrap_or(u64::MAX));
        let mut seen = 0u64;
        for boundary in boundaries {
            let tokens = &flat.tokens[flat.span(boundary)];
            let length = tokens.len() as u64;
            let loops = tokens.iter().filter(|&&token| token == ONE).count() as u64;
            let within = length * (length - 1) / 2 + loops;
            estimate = estimate.saturating_add(within.saturating_mul(ways));
            estimate = estimate.saturating_add(length * (seen + isolated.min(1)));
            seen += length;
        }
        if isolated > 0 {
            let loops = isolated.saturating_mul(1u64.checked_shl(others).unwrap_or(u64::MAX));
            estimate = estimate.saturating_add(loops).saturating_add(u64::from(isolated > 1));
        }
    }
    let estimated_options = u32::try_from(estimate).unwrap_or(u32::MAX);
    AtomFeatures { lives: flat.lives(), estimated_options }
}
