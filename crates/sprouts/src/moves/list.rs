//! The moves of a land and their order. A [`LandMove`] is a [`Curve`] in a region; a [`CutCurve`] lies
//! within a boundary.

use pn_search::sums::game::{GameFull, OptionSubset};

use super::symmetry::{CurveSymmetry, RegionSymmetries};
use crate::flat::{Flat, LETTER, ONE};

/// A move. For a cut, it does not say how the other boundaries are divided between the sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LandMove {
    /// The region in which the curve is drawn.
    pub region: usize,
    /// The spots that it connects.
    pub curve: Curve,
}

/// The spots that a curve connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    /// An isolated spot and itself.
    Loop,
    /// Two vertices of a boundary, or one vertex and itself.
    Cut(CutCurve),
    /// Two isolated spots.
    Isolated,
    /// The vertex at index `place` of a boundary, and an isolated spot.
    WithIsolated { boundary: usize, place: usize },
    /// Vertices of two boundaries, at the indices `places`.
    Join { boundaries: [usize; 2], places: [usize; 2] },
}

/// A curve within a boundary, which cuts the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CutCurve {
    /// Class of boundaries that symmetries exchange ([`RegionSymmetries`]). The curve is in the first of them.
    pub class: usize,
    /// Indices of the vertices in the boundary, with i ≤ j.
    pub i: usize,
    pub j: usize,
    /// True if a symmetry exchanges the two sides of the curve.
    pub exchanged: bool,
}

/// Calls `found` with the moves of a land, or with a subset of them. Of moves that a symmetry of the region
/// ([`RegionSymmetries`]) maps to each other, only one is listed. A curve that ends at a link (a letter that
/// occurs in two regions) cuts the link, because the spot is dead then. Moves that cut more links come first:
/// they split the land more often, and results for small lands are more often known. Moves that cut no links
/// are [`OptionSubset::Rest`].
///
/// # Errors
/// The errors of `found`.
pub(super) fn each(
    land: &Flat,
    symmetries: &RegionSymmetries,
    share: OptionSubset,
    mut found: impl FnMut(LandMove) -> Result<(), GameFull>,
) -> Result<(), GameFull> {
    let links = match share {
        OptionSubset::All => 0..=2,
        OptionSubset::First => 1..=2,
        OptionSubset::Rest => 0..=0,
    };
    for links in links.rev() {
        for region in 0..land.regions.len() {
            let mut found = |curve| found(LandMove { region, curve });
            let isolated = if links == 0 { land.regions[region].isolated } else { 0 };
            if isolated > 0 {
                found(Curve::Loop)?;
            }
            cuts(land, symmetries, region, links, &mut found)?;
            if isolated >= 2 {
                found(Curve::Isolated)?;
            }
            joins(land, symmetries, region, links, &mut found)?;
        }
    }
    Ok(())
}

/// Lists curves within a boundary of a region that cut `links` links.
fn cuts(
    land: &Flat,
    symmetries: &RegionSymmetries,
    region: usize,
    links: usize,
    found: &mut impl FnMut(Curve) -> Result<(), GameFull>,
) -> Result<(), GameFull> {
    for class in symmetries.classes_of(region) {
        let span = land.span(symmetries.members(class)[0]);
        let tokens = &land.tokens[span.clone()];
        for i in 0..span.len() {
            for j in i..span.len() {
                let joinable = match i == j {
                    true => tokens[i] == ONE,
                    false => tokens[i] < LETTER || tokens[i] != tokens[j],
                };
                if !joinable || symmetries.links([span.start + i, span.start + j]) != links {
                    continue;
                }
                let symmetry = symmetries.within(class, i, j);
                if symmetry != CurveSymmetry::Superfluous {
                    let exchanged = symmetry == CurveSymmetry::Exchange;
                    found(Curve::Cut(CutCurve { class, i, j, exchanged }))?;
                }
            }
        }
    }
    Ok(())
}

/// Lists curves between boundaries of a region that cut `links` links.
fn joins(
    land: &Flat,
    symmetries: &RegionSymmetries,
    region: usize,
    links: usize,
    found: &mut impl FnMut(Curve) -> Result<(), GameFull>,
) -> Result<(), GameFull> {
    let isolated = land.regions[region].isolated;
    let classes = symmetries.classes_of(region);
    for class in classes.clone() {
        let first = symmetries.members(class)[0];
        let span = land.span(first);
        for place in (0..span.len()).filter(|_| isolated > 0) {
            if symmetries.links([span.start + place]) == links
                && symmetries.with_isolated(class, place)
            {
                found(Curve::WithIsolated { boundary: first, place })?;
            }
        }
        for other in class..classes.end {
            let members = symmetries.members(other);
            let second = match other == class {
                false => members[0],
                true if members.len() > 1 => members[1],
                true => continue,
            };
            let second_span = land.span(second);
            for i in 0..span.len() {
                for j in 0..second_span.len() {
                    if symmetries.links([span.start + i, second_span.start + j]) == links
                        && symmetries.between((class, i), (other, j))
                    {
                        found(Curve::Join { boundaries: [first, second], places: [i, j] })?;
                    }
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Position;

    /// Returns the number of links that a move cuts. Looks for the letters in all other regions.
    fn links(
        land: &Flat,
        symmetries: &RegionSymmetries,
        LandMove { region, curve }: LandMove,
    ) -> usize {
        let token = |boundary, place| land.tokens[land.span(boundary).start + place];
        let ends = match curve {
            Curve::Loop | Curve::Isolated => vec![],
            Curve::WithIsolated { boundary, place } => vec![token(boundary, place)],
            Curve::Join { boundaries: [a, b], places: [i, j] } => vec![token(a, i), token(b, j)],
            Curve::Cut(CutCurve { class, i, j, .. }) => {
                let boundary = symmetries.members(class)[0];
                vec![token(boundary, i), token(boundary, j)]
            }
        };
        let occurs = |token, region: usize| {
            let mut boundaries = land.boundaries(region);
            boundaries.any(|boundary| land.tokens[land.span(boundary)].contains(&token))
        };
        let others = (0..land.regions.len()).filter(|&other| other != region);
        let elsewhere = |token| token >= LETTER && others.clone().any(|other| occurs(token, other));
        ends.into_iter().filter(|&token| elsewhere(token)).count()
    }

    #[test]
    fn moves_that_cut_more_links_come_first_and_those_that_cut_none_are_the_rest() {
        for (text, links_cut) in
            [("0*3", 0), ("0*2.1a1a.22", 0), ("0.AB|1C.AB|2C", 2), ("0*2.A|1aAa", 1)]
        {
            let land = Flat::of_land(&text.parse::<Position>().unwrap().lands()[0]);
            let mut symmetries = RegionSymmetries::default();
            symmetries.find(&land);
            let moves = |share| {
                let mut moves = Vec::new();
                each(&land, &symmetries, share, |found| {
                    moves.push(found);
                    Ok(())
                })
                .unwrap();
                moves
            };
            let all = moves(OptionSubset::All);
            let cut: Vec<usize> =
                all.iter().map(|&found| links(&land, &symmetries, found)).collect();
            assert!(cut.is_sorted_by(|a, b| a >= b), "{text}: {cut:?}");
            assert_eq!((cut[0], cut[cut.len() - 1]), (links_cut, 0), "{text}");
            let first = cut.iter().take_while(|&&cut| cut > 0).count();
            assert_eq!(moves(OptionSubset::First), all[..first]);
            assert_eq!(moves(OptionSubset::Rest), all[first..]);
        }
    }
}
