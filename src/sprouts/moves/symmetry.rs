//! Symmetries of a region that change nothing outside of it: [`RegionSymmetries`] with a [`Class`] of
//! exchangeable boundaries each, and the [`CurveSymmetry`] of a curve.

use crate::sprouts::flat::{Flat, LETTER, TWO};
use std::ops::Range;

/// Effect of the symmetries on a curve within a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CurveSymmetry {
    /// A symmetry maps it onto a curve that is used instead.
    Superfluous,
    /// A symmetry keeps it and exchanges its sides.
    Exchange,
    /// No symmetry concerns it.
    None,
}

/// Boundaries of a region that can be exchanged.
#[derive(Debug, Default)]
struct Class {
    /// Numbers of the boundaries; at least one.
    members: Vec<usize>,
    length: usize,
    /// Steps s such that place p can be mapped onto place p + s.
    rotations: Vec<usize>,
    /// Sums k such that place p can be mapped onto place k − p, if the whole region can be reflected.
    reflections: Vec<usize>,
}

/// Classes of the boundaries of a land, with their symmetries.
#[derive(Debug, Default)]
pub(super) struct RegionSymmetries {
    /// Region by region, in the order of their first members.
    classes: Vec<Class>,
    /// End of the classes of each region.
    ends: Vec<usize>,
    spare: Vec<Class>,
    /// The other occurrence of the letter at each place.
    partner: Vec<usize>,
    /// The boundary of each place.
    boundary_of: Vec<usize>,
    /// True if the letter at this place links regions.
    links: Vec<bool>,
    seen: Vec<usize>,
}

/// Marks a missing place.
const NONE: usize = usize::MAX;

impl RegionSymmetries {
    /// Finds the classes and symmetries of all regions.
    pub(super) fn find(&mut self, land: &Flat) {
        self.find_partners(land);
        self.spare.append(&mut self.classes);
        self.ends.clear();
        for region in 0..land.regions.len() {
            self.find_in_region(land, region);
            self.ends.push(self.classes.len());
        }
    }

    fn find_partners(&mut self, land: &Flat) {
        self.partner.clear();
        self.partner.resize(land.tokens.len(), NONE);
        self.boundary_of.clear();
        self.seen.clear();
        self.seen.resize(usize::from(land.letters), NONE);
        for boundary in 0..land.ends.len() {
            for at in land.span(boundary) {
                self.boundary_of.push(boundary);
                if land.tokens[at] < LETTER {
                    continue;
                }
                let seen = &mut self.seen[usize::from(land.tokens[at] - LETTER)];
                if *seen != NONE {
                    self.partner[at] = *seen;
                    self.partner[*seen] = at;
                }
                *seen = at;
            }
        }
        let links = |(&partner, &boundary_of): (&usize, &usize)| {
            partner != NONE && self.boundary_of[partner] != boundary_of
        };
        self.links.clear();
        self.links.extend(self.partner.iter().zip(&self.boundary_of).map(links));
    }

    fn find_in_region(&mut self, land: &Flat, region: usize) {
        let before = self.classes.len();
        let mut mirrored = true;
        for boundary in land.boundaries(region) {
            let same = |class: &Class| self.same_word(land, class.members[0], boundary);
            if let Some(number) = self.classes[before..].iter().position(same) {
                self.classes[before + number].members.push(boundary);
                continue;
            }
            let mut class = self.spare.pop().unwrap_or_default();
            let length = land.span(boundary).len();
            class.members.clear();
            class.members.push(boundary);
            class.length = length;
            class.rotations.clear();
            class.rotations.extend((0..length).filter(|&step| self.rotates(land, boundary, step)));
            class.reflections.clear();
            class.reflections.extend((0..length).filter(|&sum| self.reflects(land, boundary, sum)));
            mirrored &= !class.reflections.is_empty();
            self.classes.push(class);
        }
        if !mirrored {
            self.classes[before..].iter_mut().for_each(|class| class.reflections.clear());
        }
    }

    /// Returns the numbers of the classes of a region's boundaries.
    pub(super) fn classes_of(&self, region: usize) -> Range<usize> {
        let begin = if region == 0 { 0 } else { self.ends[region - 1] };
        begin..self.ends[region]
    }

    /// Returns the boundaries of a class, at least one.
    pub(super) fn members(&self, class: usize) -> &[usize] {
        &self.classes[class].members
    }

    /// Returns the number of places with letters that link regions.
    pub(super) fn links<const N: usize>(&self, places: [usize; N]) -> usize {
        places.into_iter().filter(|&at| self.links[at]).count()
    }

    /// Returns a symbol for the vertex at a place: the digit, or the distance to the other occurrence
    /// within the boundary; `None` for a letter that links regions.
    fn symbol(&self, land: &Flat, at: usize, ahead: bool) -> Option<usize> {
        let token = land.tokens[at];
        if token < LETTER {
            return Some(usize::from(token));
        }
        let (partner, boundary) = (self.partner[at], self.boundary_of[at]);
        if self.boundary_of[partner] != boundary {
            return None;
        }
        let length = land.span(boundary).len();
        let steps = (partner + length - at) % length;
        Some(usize::from(TWO) + if ahead { steps } else { length - steps })
    }

    /// Returns true if two boundaries have no links and are the same as written.
    fn same_word(&self, land: &Flat, a: usize, b: usize) -> bool {
        let (a, b) = (land.span(a), land.span(b));
        a.len() == b.len()
            && a.zip(b).all(|(a, b)| {
                let (a, b) = (self.symbol(land, a, true), self.symbol(land, b, true));
                a.is_some() && a == b
            })
    }

    fn rotates(&self, land: &Flat, boundary: usize, step: usize) -> bool {
        let span = land.span(boundary);
        let length = span.len();
        if step == 0 || (length == 2 && self.is_exchangeable_pair(land, span.start)) {
            return true;
        }
        (0..length).all(|place| {
            let from = self.symbol(land, span.start + place, true);
            from.is_some() && from == self.symbol(land, span.start + (place + step) % length, true)
        })
    }

    /// Returns true if the two letters of this boundary also form another one.
    fn is_exchangeable_pair(&self, land: &Flat, start: usize) -> bool {
        let letters = [start, start + 1].iter().all(|&at| land.tokens[at] >= LETTER);
        letters && {
            let other = self.boundary_of[self.partner[start]];
            other == self.boundary_of[self.partner[start + 1]]
                && other != self.boundary_of[start]
                && land.span(other).len() == 2
        }
    }

    fn reflects(&self, land: &Flat, boundary: usize, sum: usize) -> bool {
        let span = land.span(boundary);
        let length = span.len();
        (0..length).all(|place| {
            let image = (sum + length - place) % length;
            match self.symbol(land, span.start + place, true) {
                None => image == place,
                from => from == self.symbol(land, span.start + image, false),
            }
        })
    }

    /// Returns the symmetry of the curve between two places of a class's boundary.
    pub(super) fn within(&self, class: usize, i: usize, j: usize) -> CurveSymmetry {
        let class = &self.classes[class];
        let length = class.length;
        // A loop around nothing has equal sides.
        let mut symmetry = if length == 1 { CurveSymmetry::Exchange } else { CurveSymmetry::None };
        for &step in &class.rotations {
            let (a, b) = ((i + step) % length, (j + step) % length);
            if (a.min(b), a.max(b)) < (i, j) {
                return CurveSymmetry::Superfluous;
            }
            if (a, b) == (j, i) && i != j {
                symmetry = CurveSymmetry::Exchange;
            }
        }
        for &sum in &class.reflections {
            let (a, b) = ((sum + length - i) % length, (sum + length - j) % length);
            if (a.min(b), a.max(b)) < (i, j) {
                return CurveSymmetry::Superfluous;
            }
            if (a, b) == (i, j) && i != j {
                symmetry = CurveSymmetry::Exchange;
            }
        }
        symmetry
    }

    /// Returns true if the curve from an isolated spot to this place is the representative of its orbit.
    pub(super) fn with_isolated(&self, class: usize, i: usize) -> bool {
        let class = &self.classes[class];
        class.rotated(i).chain(class.reflected(i)).all(|image| image >= i)
    }

    /// Returns true if the curve between places of two boundaries, of the same or of two classes, is the
    /// representative of its orbit.
    pub(super) fn between(&self, (a, i): (usize, usize), (b, j): (usize, usize)) -> bool {
        if !self.with_isolated(a, i) || (a == b && j < i) {
            return false;
        }
        let (first, second) = (&self.classes[a], &self.classes[b]);
        let keeps = first.reflected(i).any(|image| image == i);
        second.rotated(j).all(|image| image >= j)
            && (!keeps || second.reflected(j).all(|image| image >= j))
    }
}

impl Class {
    fn rotated(&self, place: usize) -> impl Iterator<Item = usize> {
        self.rotations.iter().map(move |step| (place + step) % self.length)
    }

    fn reflected(&self, place: usize) -> impl Iterator<Item = usize> {
        self.reflections.iter().map(move |sum| (sum + self.length - place) % self.length)
    }
}
