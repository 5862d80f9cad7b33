//! Which moves a land has, and in which order they are made.

use super::super::flat::{Flat, LETTER, ONE};
use super::symmetry::{Symmetries, Symmetry};

/// A move, but for how a cut divides what is left of the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    /// The region in which the curve is drawn.
    pub region: usize,
    /// What it connects.
    pub curve: Curve,
}

/// What a curve connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    /// An isolated spot and itself.
    Loop,
    /// Two places of a boundary, or one and itself.
    Cut(Cut),
    /// Two isolated spots.
    Isolated,
    /// A place of a boundary and an isolated spot.
    WithIsolated { boundary: usize, place: usize },
    /// Places of two boundaries.
    Join { boundaries: [usize; 2], places: [usize; 2] },
}

/// A curve within a boundary, which cuts the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The boundary is the first one of this class.
    pub class: usize,
    /// Places in the boundary, in the order of reading.
    pub i: usize,
    pub j: usize,
    /// Whether a symmetry exchanges the two sides.
    pub exchanged: bool,
}

/// Working memory; the result is in `moves`.
#[derive(Debug, Default)]
pub(super) struct Lister {
    /// By the number of links between regions that a move cuts.
    moves: [Vec<Move>; 3],
}

impl Lister {
    /// Finds the moves of a land.
    pub(super) fn run(&mut self, land: &Flat, symmetries: &Symmetries) {
        self.moves.iter_mut().for_each(Vec::clear);
        for region in 0..land.regions.len() {
            let isolated = land.regions[region].isolated;
            let mut add = |curve, links: usize| self.moves[links].push(Move { region, curve });
            if isolated > 0 {
                add(Curve::Loop, 0);
            }
            cuts(land, symmetries, region, &mut add);
            if isolated >= 2 {
                add(Curve::Isolated, 0);
            }
            joins(land, symmetries, region, &mut add);
        }
    }

    /// The moves, those first that cut more links: after these the land falls apart more often, and
    /// more is known about small lands.
    pub(super) fn moves(&self) -> impl Iterator<Item = Move> {
        self.moves.iter().rev().flatten().copied()
    }
}

/// Calls `add` with every curve within a boundary of a region that is needed, and the number of
/// links that it cuts.
fn cuts(land: &Flat, symmetries: &Symmetries, region: usize, add: &mut impl FnMut(Curve, usize)) {
    for class in symmetries.classes_of(region) {
        let span = land.span(symmetries.members(class)[0]);
        let tokens = &land.tokens[span.clone()];
        for i in 0..span.len() {
            for j in i..span.len() {
                let joinable = match i == j {
                    true => tokens[i] == ONE,
                    false => tokens[i] < LETTER || tokens[i] != tokens[j],
                };
                if !joinable {
                    continue;
                }
                let symmetry = symmetries.within(class, i, j);
                if symmetry != Symmetry::Superfluous {
                    let exchanged = symmetry == Symmetry::Exchange;
                    let links = symmetries.links(span.start + i) + symmetries.links(span.start + j);
                    add(Curve::Cut(Cut { class, i, j, exchanged }), links);
                }
            }
        }
    }
}

/// The same for curves between boundaries.
fn joins(land: &Flat, symmetries: &Symmetries, region: usize, add: &mut impl FnMut(Curve, usize)) {
    let isolated = land.regions[region].isolated;
    let classes = symmetries.classes_of(region);
    for class in classes.clone() {
        let first = symmetries.members(class)[0];
        let span = land.span(first);
        for i in (0..span.len()).filter(|_| isolated > 0) {
            if symmetries.with_isolated(class, i) {
                let curve = Curve::WithIsolated { boundary: first, place: i };
                add(curve, symmetries.links(span.start + i));
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
                    if symmetries.between((class, i), (other, j)) {
                        let (boundaries, places) = ([first, second], [i, j]);
                        let ends = [span.start + i, second_span.start + j];
                        let links = ends.into_iter().map(|at| symmetries.links(at)).sum();
                        add(Curve::Join { boundaries, places }, links);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprouts::Position;

    /// Links that a move cuts, counted in the regions.
    fn links(land: &Flat, symmetries: &Symmetries, Move { region, curve }: Move) -> usize {
        let token = |boundary, place| land.tokens[land.span(boundary).start + place];
        let ends = match curve {
            Curve::Loop | Curve::Isolated => vec![],
            Curve::WithIsolated { boundary, place } => vec![token(boundary, place)],
            Curve::Join { boundaries: [a, b], places: [i, j] } => vec![token(a, i), token(b, j)],
            Curve::Cut(Cut { class, i, j, .. }) => {
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
    fn moves_that_cut_more_links_come_first() {
        for (text, most) in
            [("0*3", 0), ("0*2.1a1a.22", 0), ("0.AB|1C.AB|2C", 2), ("0*2.A|1aAa", 1)]
        {
            let land = Flat::of_land(&text.parse::<Position>().unwrap().lands()[0]);
            let (mut symmetries, mut lister) = (Symmetries::default(), Lister::default());
            symmetries.survey(&land);
            lister.run(&land, &symmetries);
            let cut: Vec<usize> =
                lister.moves().map(|found| links(&land, &symmetries, found)).collect();
            assert!(cut.is_sorted_by(|a, b| a >= b), "{text}: {cut:?}");
            assert_eq!((cut[0], cut[cut.len() - 1]), (most, 0), "{text}");
        }
    }
}
