//! Writing regions: runs of `0` and the names of spots that occur twice.

use std::collections::HashMap;
use std::fmt::{self, Write};

use super::position::Spot;

/// The names of the spots of a land. Upper-case names are given as the spots come; lower-case names
/// begin with `a` in every boundary.
pub(super) struct Scope {
    /// Whether both occurrences of a spot are in one boundary.
    lower: HashMap<u32, bool>,
    upper: HashMap<u32, u32>,
}

impl Scope {
    /// Looks through all boundaries of a land.
    pub(super) fn of_land<'a>(boundaries: impl Iterator<Item = &'a [Spot]>) -> Scope {
        let mut seen: HashMap<u32, usize> = HashMap::new();
        let mut lower = HashMap::new();
        for (number, boundary) in boundaries.enumerate() {
            for spot in boundary {
                let Spot::Pair(pair) = *spot else { continue };
                if let Some(other) = seen.insert(pair, number) {
                    lower.insert(pair, other == number);
                }
            }
        }
        Scope { lower, upper: HashMap::new() }
    }

    /// The texts of a boundary's vertices.
    pub(super) fn names(&mut self, boundary: &[Spot]) -> Vec<String> {
        let mut lower: HashMap<u32, u32> = HashMap::new();
        let name = |spot: &Spot| match *spot {
            Spot::Single(ends) => ends.to_string(),
            Spot::Pair(pair) => {
                let is_lower = self.lower.get(&pair) == Some(&true);
                let names = if is_lower { &mut lower } else { &mut self.upper };
                let next = names.len() as u32;
                name(*names.entry(pair).or_insert(next), is_lower)
            }
        };
        boundary.iter().map(name).collect()
    }
}

/// A name: the letters of the alphabet, then `m(26)`, ... or `n(26)`, ... as SPOTS does.
fn name(number: u32, lower: bool) -> String {
    match (number, lower) {
        (0..26, true) => char::from(b'a' + number as u8).into(),
        (0..26, false) => char::from(b'A' + number as u8).into(),
        (_, true) => format!("m({number})"),
        (_, false) => format!("n({number})"),
    }
}

/// Writes a region's boundaries; boundaries `0` that follow each other become `0*k`.
pub(super) fn write_region<'a>(
    out: &mut impl Write,
    scope: &mut Scope,
    boundaries: impl Iterator<Item = &'a [Spot]>,
) -> fmt::Result {
    let mut boundaries = boundaries.peekable();
    let mut first = true;
    while let Some(boundary) = boundaries.next() {
        if !std::mem::take(&mut first) {
            out.write_char('.')?;
        }
        if boundary == [Spot::Single(0)] {
            let mut spots = 1;
            while boundaries.next_if_eq(&[Spot::Single(0)].as_slice()).is_some() {
                spots += 1;
            }
            match spots {
                1 => out.write_char('0')?,
                _ => write!(out, "0*{spots}")?,
            }
            continue;
        }
        for name in scope.names(boundary) {
            out.write_str(&name)?;
        }
    }
    Ok(())
}
