//! [`Position`]: a position whose text has passed all checks.

use std::collections::HashMap;
use std::fmt;

use super::error::TextError;
use super::flat::{Boundary, Land, Region, Spot};
use super::names::write_land;
use super::notation::{
    self, MAX_CANONICAL_VERTICES, MAX_VERTICES, SpotName, Vertex, WrittenVertex,
};
use super::simplify::DisjointSets;

/// A sum of lands as written. Nothing is simplified, split or sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    lands: Vec<Land>,
}

impl Position {
    /// Returns the position of `spots` isolated spots; `None` if there are more than [`MAX_VERTICES`].
    pub fn start(spots: u32) -> Option<Position> {
        format!("0*{spots}").parse().ok()
    }

    /// Reads a canonical text written by this library. Such a text may have more than [`MAX_VERTICES`]
    /// vertices, because moves add vertices to the position that a user has written.
    ///
    /// # Errors
    /// [`TextError`] with the offset of the error.
    pub fn from_canonical(text: &str) -> Result<Position, TextError> {
        Position::from_vertices(&notation::parse(text, MAX_CANONICAL_VERTICES)?)
    }

    /// Checks all conditions that can be checked on a text:
    ///
    /// * Every letter occurs twice: a lower-case letter in one boundary, an upper-case letter in two regions
    ///   of a land.
    /// * Pairs of lower-case letters in a boundary do not cross.
    /// * No two boundaries of a region are connected through other regions.
    ///
    /// A position that passes may still be impossible to draw in the plane. A text may omit dead spots and
    /// their curves, and only these may show that the drawing is impossible.
    ///
    /// # Errors
    /// [`TextError`] with the offset of the error.
    fn from_vertices(vertices: &[WrittenVertex]) -> Result<Position, TextError> {
        let lands = vertices.chunk_by(|a, b| a.land == b.land);
        Ok(Position { lands: lands.map(check_land).collect::<Result<_, _>>()? })
    }

    /// Returns a position from regions without empty boundaries, which may form several lands.
    pub(super) fn from_land(land: Land) -> Position {
        Position { lands: if land.is_empty() { Vec::new() } else { vec![land] } }
    }

    /// Returns the lands. Empty ones (`0*0`) are omitted.
    pub fn lands(&self) -> &[Land] {
        &self.lands
    }

    /// Returns the total number of lives of all spots.
    pub fn lives(&self) -> u32 {
        let spots = self.lands.iter().flatten().flatten().flatten();
        // A pair is one spot with one life, and occurs twice.
        let halves = spots.map(|spot| match spot {
            Spot::Single(ends) => 2 * u32::from(3 - ends),
            Spot::Pair(_) => 1,
        });
        halves.sum::<u32>() / 2
    }
}

/// Reads a text from a user, of at most [`MAX_VERTICES`] vertices.
impl std::str::FromStr for Position {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Position, TextError> {
        Position::from_vertices(&notation::parse(text, MAX_VERTICES)?)
    }
}

/// Writes the position in the notation of SPOTS. Letters are renamed.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lands.is_empty() {
            return f.write_str("!");
        }
        for (number, land) in self.lands.iter().enumerate() {
            if number > 0 {
                f.write_str("+")?;
            }
            write_land(f, land)?;
        }
        Ok(())
    }
}

/// The occurrences of a spot's name that have been read so far.
struct Seen {
    at: usize,
    /// Boundary of the first occurrence, counted within the land.
    boundary: usize,
    /// Number of the spot.
    spot: u32,
    twice: bool,
}

fn check_land(vertices: &[WrittenVertex]) -> Result<Land, TextError> {
    let mut land = Land::new();
    let mut upper: HashMap<SpotName, Seen> = HashMap::new();
    let mut spots = 0;
    let boundaries: Vec<&[WrittenVertex]> =
        vertices.chunk_by(|a, b| a.boundary == b.boundary).collect();
    let mut region_of = Vec::with_capacity(boundaries.len());
    for (number, boundary) in boundaries.iter().enumerate() {
        if number == 0 || boundaries[number - 1][0].region != boundary[0].region {
            land.push(Region::new());
        }
        region_of.push(land.len() - 1);
        let checked = check_boundary(boundary, number, &mut upper, &mut spots)?;
        land.last_mut().expect("a region was begun").push(checked);
    }
    if let Some((name, seen)) = upper.iter().filter(|(_, m)| !m.twice).min_by_key(|(_, m)| m.at) {
        let place = "in its land";
        return Err(TextError::Once { at: seen.at, name: name.to_string(), place });
    }
    check_rings(&boundaries, &region_of, land.len())?;
    Ok(land)
}

fn check_boundary(
    vertices: &[WrittenVertex],
    number: usize,
    upper: &mut HashMap<SpotName, Seen>,
    spots: &mut u32,
) -> Result<Boundary, TextError> {
    let mut lower: HashMap<SpotName, Seen> = HashMap::new();
    let mut open: Vec<SpotName> = Vec::new();
    let mut boundary = Boundary::with_capacity(vertices.len());
    for &WrittenVertex { at, vertex, .. } in vertices {
        let name = match vertex {
            Vertex::Digit(ends) => {
                boundary.push(Spot::Single(ends));
                continue;
            }
            Vertex::Letter(name) => name,
        };
        let (names, place) = match name.is_lower() {
            true => (&mut lower, "in its boundary"),
            false => (&mut *upper, "in its land"),
        };
        let seen = match names.get_mut(&name) {
            None => {
                let spot = *spots;
                *spots += 1;
                names.insert(name, Seen { at, boundary: number, spot, twice: false });
                boundary.push(Spot::Pair(spot));
                if name.is_lower() {
                    open.push(name);
                }
                continue;
            }
            Some(seen) => seen,
        };
        if seen.twice {
            return Err(TextError::ThreeTimes { at, name: name.to_string(), place });
        }
        seen.twice = true;
        boundary.push(Spot::Pair(seen.spot));
        if !name.is_lower() {
            if seen.boundary == number {
                return Err(TextError::OneBoundary { at, name: name.to_string() });
            }
        } else if let Some(other) = open.pop().filter(|&last| last != name) {
            let (name, other) = (name.to_string(), other.to_string());
            return Err(TextError::Crossing { at, name, other });
        }
    }
    match lower.iter().filter(|(_, seen)| !seen.twice).min_by_key(|(_, seen)| seen.at) {
        None => Ok(boundary),
        Some((name, seen)) => {
            let place = "in its boundary";
            Err(TextError::Once { at: seen.at, name: name.to_string(), place })
        }
    }
}

/// Checks that no two boundaries of a region are connected through other regions.
///
/// In the plane, each connected part of the drawing has at most one boundary in each region. Consider the
/// graph whose nodes are the connected parts and the regions, and whose edges are the boundaries. In the
/// plane it is a tree. A text omits dead spots and their curves, so one connected part may appear as several;
/// then the graph is a forest.
fn check_rings(
    boundaries: &[&[WrittenVertex]],
    region_of: &[usize],
    regions: usize,
) -> Result<(), TextError> {
    let (mut parts, mut graph) = (DisjointSets::default(), DisjointSets::default());
    parts.begin(boundaries.len());
    graph.begin(boundaries.len() + regions);
    for (boundary, region) in (0..).zip(region_of) {
        graph.unite(boundary, (boundaries.len() + region) as u32);
    }
    let mut first: HashMap<SpotName, u32> = HashMap::new();
    for (number, boundary) in (0..).zip(boundaries) {
        for &WrittenVertex { at, vertex, .. } in *boundary {
            let Vertex::Letter(name) = vertex else { continue };
            if name.is_lower() {
                continue;
            }
            let Some(&other) = first.get(&name) else {
                first.insert(name, number);
                continue;
            };
            if parts.unite(number, other) && !graph.unite(number, other) {
                return Err(TextError::Ring { at, name: name.to_string() });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scratch, Sprouts};

    #[test]
    fn children_of_the_largest_start_are_read_again() {
        let (game, mut scratch) = (Sprouts::new(u64::MAX), Scratch::default());
        let start = Position::start(MAX_VERTICES as u32).unwrap();
        let start = game.atoms(&start, &mut scratch).unwrap();
        let children = game.children(&start, &mut scratch, &|| false).unwrap();
        let mut larger = 0;
        for child in &children {
            let text = game.text(child);
            let position = Position::from_canonical(&text).unwrap();
            assert_eq!(&game.atoms(&position, &mut scratch).unwrap(), child, "{text}");
            larger += usize::from(text.parse::<Position>().is_err());
        }
        assert!(larger > children.len() / 2, "{larger} of {}", children.len());
    }
}
