//! The spelling of a canonical land: chooses the most readable of the equivalent texts.
//!
//! Every region is read in the direction, and every boundary from the vertex, that give the smallest text. In
//! this order, digits come first, then upper-case letters, then lower-case letters. Finally, boundaries and
//! regions are sorted. The choice depends on the canonical bytes only, so the text is canonical too.

use std::collections::HashMap;

use super::flat::{Boundary, Region, Spot};
use super::names::pair_locations;

/// Rank of the first lower-case letter of a boundary. It is above the ranks of all other vertices.
const OF_BOUNDARY: u32 = 1 << 20;
/// Rank of the first upper-case letter of the land. It is above the digits.
const OF_LAND: u32 = 4;

/// Rearranges the regions and boundaries of a land for its text.
pub(super) fn spell(land: &mut [Region]) {
    let pair_locations = pair_locations(land);
    let is_lower = |pair: u32| pair_locations[&pair].is_lower;
    let mut words_of = Vec::with_capacity(land.len());
    for region in land.iter_mut() {
        let mut backward = region.clone();
        backward.iter_mut().for_each(|boundary| boundary.reverse());
        let ways = [std::mem::take(region), backward].map(|way| {
            let mut words: Vec<(Vec<u32>, Boundary)> =
                way.into_iter().map(|boundary| least_rotation(boundary, &is_lower)).collect();
            words.sort_by(|a, b| a.0.cmp(&b.0));
            words
        });
        let [forward, backward] = ways;
        let words = |way: &[(Vec<u32>, Boundary)]| -> Vec<Vec<u32>> {
            way.iter().map(|word| word.0.clone()).collect()
        };
        let best = if words(&forward) <= words(&backward) { forward } else { backward };
        let region: Region = best.iter().map(|word| word.1.clone()).collect();
        words_of.push((words(&best), region));
    }
    // Regions with equal words, such as `AB` and `AB`, have the same text in either order.
    words_of.sort_by(|a, b| a.0.cmp(&b.0));
    for (place, (_, region)) in land.iter_mut().zip(words_of) {
        *place = region;
    }
}

/// Returns the smallest word among the rotations of a boundary, and the boundary in this rotation.
fn least_rotation(mut boundary: Boundary, is_lower: &impl Fn(u32) -> bool) -> (Vec<u32>, Boundary) {
    let mut best: Option<(Vec<u32>, usize)> = None;
    for begin in 0..boundary.len() {
        let word = word(&boundary, is_lower);
        if best.as_ref().is_none_or(|best| word < best.0) {
            best = Some((word, begin));
        }
        boundary.rotate_left(1);
    }
    let (word, begin) = best.expect("boundaries are not empty");
    boundary.rotate_left(begin);
    (word, boundary)
}

/// Returns the ranks of the vertices of a boundary.
fn word(boundary: &[Spot], is_lower: &impl Fn(u32) -> bool) -> Vec<u32> {
    let mut names: HashMap<u32, u32> = HashMap::new();
    let rank = |spot: &Spot| match *spot {
        Spot::Single(ends) => u32::from(ends),
        Spot::Pair(pair) if is_lower(pair) => {
            let next = OF_BOUNDARY + names.len() as u32;
            *names.entry(pair).or_insert(next)
        }
        Spot::Pair(pair) => OF_LAND + pair,
    };
    boundary.iter().map(rank).collect()
}
