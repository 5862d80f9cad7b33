//! Positions whose spots have numbers, and the notation in which players write moves between them: the notation
//! of the World Game of Sprouts Association (wgosa.org, "Sprouts Notation").
//!
//! Spots are numbered from 1 in the order in which they come into existence.
//!
//! | text | move |
//! |---|---|
//! | `1(9)2` | a curve from spot 1 to spot 2, on which the new spot 9 lies |
//! | `1(9)1[2-5,8]` | a curve that divides a region, and the live spots on one of its sides |
//! | `6(16@2)14` | a curve in the region in which the new spot is accessible to spot 2 |
//! | `4!(9)7`, `4(9)7!` | a curve that reaches a spot with two curves on the less expected side |
//!
//! The page of the association leaves some cases open. [`NumberedPosition::read`] and
//! [`NumberedPosition::write`] use these rules for them:
//!
//! * The list has all live spots that are on one side of the curve and not on the other. Published games omit
//!   piers, which are spots with two curves and one region around them, and some have one spot for all those of a
//!   boundary. So a list may omit piers, and spots of a boundary of which it has another spot. Where it fits several
//!   moves, it means those of which it omits the fewest spots.
//! * Without `@`, the curve is in the region in which the new spot is accessible to no spot that the other region
//!   lacks, if there is such a region.
//! * A mark chooses between the two sides of a pier; any other spot has one side in a region. A walker who comes
//!   from the new spot to the pier has one of its neighbours on the left. Without a mark, this is the neighbour with
//!   the lower number. Marks that change nothing are ignored.
//! * Where the listed spots could still be on either side of the curve, they are on its right in the order of the
//!   text, so that f, g and h are clockwise around them.
//!
//! `moves` defines a [`NumberedMove`] and its effect, and `notation` its text.

mod moves;
mod notation;
#[cfg(test)]
mod tests;

use std::fmt;

use super::flat::Spot;
use super::position::Position;
use super::simplify::DisjointSets;

pub use moves::NumberedMove;

/// Spots that one meets along a boundary with the left hand on it, in cyclic order.
type Walk = Vec<u32>;

/// A position of a game from isolated spots, with the number of every spot, and with dead spots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedPosition {
    /// Number of curve ends of each spot, from spot 1 on.
    ends: Vec<u8>,
    /// Boundaries of each region.
    regions: Vec<Vec<Walk>>,
}

impl NumberedPosition {
    /// Numbers the spots of a position in which all spots are isolated and share a region, such as `0*5`.
    /// Returns `None` for other positions.
    pub fn from_start(start: &Position) -> Option<NumberedPosition> {
        let [land] = start.lands() else { return None };
        let [region] = &land[..] else { return None };
        let is_start = region.iter().all(|boundary| boundary[..] == [Spot::Single(0)]);
        let spots = region.len() as u32;
        is_start.then(|| NumberedPosition {
            ends: vec![0; region.len()],
            regions: vec![(1..=spots).map(|spot| vec![spot]).collect()],
        })
    }

    /// Returns the position without numbers and dead spots.
    pub fn position(&self) -> Position {
        let spot = |&spot: &u32| match self.ends_of(spot) {
            2 => Spot::Pair(spot),
            ends => Spot::Single(ends),
        };
        let boundary = |walk: Walk| walk.iter().map(spot).collect();
        let region = |region: Vec<Walk>| region.into_iter().map(boundary).collect();
        Position::from_land(self.live_regions().map(region).collect())
    }

    /// Number of the newest spot, which is the number of spots.
    fn last_spot(&self) -> u32 {
        self.ends.len() as u32
    }

    fn ends_of(&self, spot: u32) -> u8 {
        self.ends[spot as usize - 1]
    }

    fn is_live(&self, spot: u32) -> bool {
        self.ends_of(spot) < 3
    }

    /// Returns the regions that contain live spots, without dead spots.
    fn live_regions(&self) -> impl Iterator<Item = Vec<Walk>> {
        let live = |walk: &Walk| -> Walk {
            walk.iter().copied().filter(|&spot| self.is_live(spot)).collect()
        };
        let regions = self.regions.iter().map(move |region| {
            region.iter().map(live).filter(|walk| !walk.is_empty()).collect::<Vec<_>>()
        });
        regions.filter(|region| !region.is_empty())
    }

    /// Returns a value that is equal for two positions if the same moves lead to equal positions, except for the
    /// marks in their texts: one results from the other by reflections of whole lands, or they differ in dead spots.
    fn shape(&self) -> Vec<Vec<Vec<Walk>>> {
        let regions: Vec<Vec<Walk>> = self.live_regions().collect();
        let mut lands = DisjointSets::default();
        lands.begin(regions.len());
        let mut region_of = vec![None; self.ends.len()];
        for (region, number) in regions.iter().zip(0..) {
            for &spot in region.iter().flatten() {
                let first = *region_of[spot as usize - 1].get_or_insert(number);
                lands.unite(first, number);
            }
        }
        let mut shapes = vec![Vec::new(); regions.len()];
        for (region, number) in regions.into_iter().zip(0..) {
            shapes[lands.root(number) as usize].push(region);
        }
        for land in &mut shapes {
            let mut reflected = land.clone();
            reflected.iter_mut().flatten().for_each(|walk| walk.reverse());
            for way in [&mut *land, &mut reflected] {
                way.iter_mut().flatten().for_each(|walk| rotate_to_least(walk));
                way.iter_mut().for_each(|region| region.sort());
                way.sort();
            }
            *land = reflected.min(std::mem::take(land));
        }
        shapes.sort();
        shapes
    }
}

/// Rotates a cyclic sequence so that it is least in lexicographic order.
fn rotate_to_least<T: Ord + Copy>(walk: &mut [T]) {
    let rotation = |start: usize| walk[start..].iter().chain(&walk[..start]);
    let least = walk.iter().min();
    let starts = (0..walk.len()).filter(|&start| Some(&walk[start]) == least);
    if let Some(start) = starts.min_by(|&a, &b| rotation(a).cmp(rotation(b))) {
        walk.rotate_left(start);
    }
}

/// Writes the numbers of the spots with dead ones: `,` between the spots of a boundary, `;` between boundaries, `/`
/// between regions.
impl fmt::Display for NumberedPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let walk = |walk: &Walk| walk.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let region = |region: &Vec<Walk>| region.iter().map(walk).collect::<Vec<_>>().join(";");
        f.write_str(&self.regions.iter().map(region).collect::<Vec<_>>().join("/"))
    }
}
