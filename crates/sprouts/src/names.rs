//! Writes lands as text: equal isolated spots as `0*n`, and spots that occur twice as letters.
//!
//! [`write_land`] writes a land. [`LandNames`] assigns names from an [`Alphabet`] to the vertices. Whether a
//! letter is written in lower or upper case follows from the [`PairLocation`] of its spot.

use std::collections::HashMap;
use std::fmt::{self, Write};

use super::flat::{Region, Spot};

/// Location of a spot that occurs twice.
pub(super) struct PairLocation {
    /// Number of the last occurrence's boundary, counted within the land.
    boundary: usize,
    /// True if both occurrences are in this boundary.
    pub is_lower: bool,
}

/// Returns the locations of the spots of a land that occur twice.
pub(super) fn pair_locations(land: &[Region]) -> HashMap<u32, PairLocation> {
    let mut pair_locations: HashMap<u32, PairLocation> = HashMap::new();
    for (boundary, spots) in land.iter().flatten().enumerate() {
        for spot in spots {
            let Spot::Pair(pair) = *spot else { continue };
            let is_lower =
                pair_locations.get(&pair).is_some_and(|location| location.boundary == boundary);
            pair_locations.insert(pair, PairLocation { boundary, is_lower });
        }
    }
    pair_locations
}

/// The letters of a land in the notation of SPOTS: `a` to `l` within a boundary and `A` to `Y` between
/// regions. If a land needs more letters of a kind, all letters of this kind are written `m(1)`, `m(2)`, … or
/// `n(1)`, `n(2)`, ….
#[derive(Clone, Copy)]
pub(super) struct Alphabet {
    /// Maximum number of letters needed within one boundary.
    pub lower: u32,
    /// Number of letters needed between regions.
    pub upper: u32,
}

impl Alphabet {
    fn of_land(pair_locations: &HashMap<u32, PairLocation>) -> Alphabet {
        let mut lower: HashMap<usize, u32> = HashMap::new();
        for location in pair_locations.values().filter(|location| location.is_lower) {
            *lower.entry(location.boundary).or_default() += 1;
        }
        let upper = pair_locations.values().filter(|location| !location.is_lower).count() as u32;
        Alphabet { lower: lower.into_values().max().unwrap_or(0), upper }
    }

    /// Returns the name of the letter with this number, counted from 0.
    pub(super) fn name(self, number: u32, is_lower: bool) -> String {
        match is_lower {
            true if self.lower > 12 => format!("m({})", number + 1),
            true => char::from(b'a' + number as u8).into(),
            false if self.upper > 25 => format!("n({})", number + 1),
            false => char::from(b'A' + number as u8).into(),
        }
    }
}

/// Names of the spots of a land. Upper-case names are assigned in the order of first occurrences.
/// Lower-case names start again in every boundary.
pub(super) struct LandNames {
    pair_locations: HashMap<u32, PairLocation>,
    alphabet: Alphabet,
    upper: HashMap<u32, u32>,
}

impl LandNames {
    /// Prepares the names of a land.
    pub(super) fn of_land(land: &[Region]) -> LandNames {
        let pair_locations = pair_locations(land);
        LandNames {
            alphabet: Alphabet::of_land(&pair_locations),
            pair_locations,
            upper: HashMap::new(),
        }
    }

    /// Returns the texts of a boundary's vertices.
    pub(super) fn names(&mut self, boundary: &[Spot]) -> Vec<String> {
        let mut lower: HashMap<u32, u32> = HashMap::new();
        let name = |spot: &Spot| match *spot {
            Spot::Single(ends) => ends.to_string(),
            Spot::Pair(pair) => {
                let is_lower = self.pair_locations[&pair].is_lower;
                let names = if is_lower { &mut lower } else { &mut self.upper };
                let next = names.len() as u32;
                self.alphabet.name(*names.entry(pair).or_insert(next), is_lower)
            }
        };
        boundary.iter().map(name).collect()
    }
}

/// Writes a land. Letters are named in the order of their first occurrences.
pub(super) fn write_land(out: &mut impl Write, land: &[Region]) -> fmt::Result {
    let mut scope = LandNames::of_land(land);
    write_regions(out, land, &[Spot::Single(0)], |boundary| scope.names(boundary))
}

/// Writes regions. `names` returns the texts of a boundary's vertices. If k consecutive boundaries are equal
/// to `isolated`, the first one is written, followed by `*k`.
pub(super) fn write_regions<T: PartialEq>(
    out: &mut impl Write,
    regions: &[Vec<Vec<T>>],
    isolated: &[T],
    mut names: impl FnMut(&[T]) -> Vec<String>,
) -> fmt::Result {
    for (number, region) in regions.iter().enumerate() {
        if number > 0 {
            out.write_char('|')?;
        }
        let runs = region.chunk_by(|a, b| a == isolated && b == isolated);
        for (number, run) in runs.enumerate() {
            if number > 0 {
                out.write_char('.')?;
            }
            names(&run[0]).iter().try_for_each(|name| out.write_str(name))?;
            if run.len() > 1 {
                write!(out, "*{}", run.len())?;
            }
        }
    }
    Ok(())
}
