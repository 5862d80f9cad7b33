//! The text of lands: runs of `0`, and names for the spots that occur twice.

use std::collections::HashMap;
use std::fmt::{self, Write};

use super::parts::{Region, Spot};

/// Where a spot occurs that occurs twice.
pub(super) struct Home {
    /// The boundary of the last occurrence, counted within the land.
    boundary: usize,
    /// Whether both occurrences are in it.
    pub is_lower: bool,
}

/// The homes of a land's spots that occur twice.
pub(super) fn homes(land: &[Region]) -> HashMap<u32, Home> {
    let mut homes: HashMap<u32, Home> = HashMap::new();
    for (boundary, spots) in land.iter().flatten().enumerate() {
        for spot in spots {
            let Spot::Pair(pair) = *spot else { continue };
            let is_lower = homes.get(&pair).is_some_and(|home| home.boundary == boundary);
            homes.insert(pair, Home { boundary, is_lower });
        }
    }
    homes
}

/// The letters of a land, as SPOTS has them: `a` to `l` within a boundary and `A` to `Y` between
/// regions. A land that needs more of a kind has `m(1)`, `m(2)`, … or `n(1)`, `n(2)`, … in their place.
#[derive(Clone, Copy)]
pub(super) struct Alphabet {
    /// Letters within a boundary that are needed.
    pub lower: u32,
    /// Letters between regions that are needed.
    pub upper: u32,
}

impl Alphabet {
    fn of_land(homes: &HashMap<u32, Home>) -> Alphabet {
        let mut lower: HashMap<usize, u32> = HashMap::new();
        for home in homes.values().filter(|home| home.is_lower) {
            *lower.entry(home.boundary).or_default() += 1;
        }
        let upper = homes.values().filter(|home| !home.is_lower).count() as u32;
        Alphabet { lower: lower.into_values().max().unwrap_or(0), upper }
    }

    /// The name of a letter, counted from 0.
    pub(super) fn name(self, number: u32, is_lower: bool) -> String {
        match is_lower {
            true if self.lower > 12 => format!("m({})", number + 1),
            true => char::from(b'a' + number as u8).into(),
            false if self.upper > 25 => format!("n({})", number + 1),
            false => char::from(b'A' + number as u8).into(),
        }
    }
}

/// The names of the spots of a land. Upper-case names are given as the spots come; lower-case names
/// begin anew in every boundary.
pub(super) struct SpotNames {
    homes: HashMap<u32, Home>,
    alphabet: Alphabet,
    upper: HashMap<u32, u32>,
}

impl SpotNames {
    /// Looks through all boundaries of a land.
    pub(super) fn of_land(land: &[Region]) -> SpotNames {
        let homes = homes(land);
        SpotNames { alphabet: Alphabet::of_land(&homes), homes, upper: HashMap::new() }
    }

    /// The texts of a boundary's vertices.
    pub(super) fn names(&mut self, boundary: &[Spot]) -> Vec<String> {
        let mut lower: HashMap<u32, u32> = HashMap::new();
        let name = |spot: &Spot| match *spot {
            Spot::Single(ends) => ends.to_string(),
            Spot::Pair(pair) => {
                let is_lower = self.homes[&pair].is_lower;
                let names = if is_lower { &mut lower } else { &mut self.upper };
                let next = names.len() as u32;
                self.alphabet.name(*names.entry(pair).or_insert(next), is_lower)
            }
        };
        boundary.iter().map(name).collect()
    }
}

/// Writes a land; letters are named as they come.
pub(super) fn write_land(out: &mut impl Write, land: &[Region]) -> fmt::Result {
    let mut scope = SpotNames::of_land(land);
    write_regions(out, land, &[Spot::Single(0)], |boundary| scope.names(boundary))
}

/// Writes regions whose vertices have these `names`; boundaries `isolated` that follow each other
/// become `0*k`.
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
