//! Symmetries of a region that change nothing outside of it. [`RegionSymmetries`] finds them; boundaries that
//! can be exchanged form a [`Class`]; [`CurveSymmetry`] is the effect of the symmetries on a curve.
//!
//! A link is a letter that occurs in two regions.

use std::ops::Range;

use crate::flat::{Flat, LETTER, TWO};

/// Effect of the symmetries on a curve within a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CurveSymmetry {
    /// A symmetry maps the curve onto another curve, which is used instead.
    Superfluous,
    /// The curve is used, and a symmetry exchanges its sides.
    Exchange,
    /// The curve is used, and no symmetry exchanges its sides.
    None,
}

/// Boundaries of a region that can be exchanged.
#[derive(Debug, Default)]
struct Class {
    /// Numbers of the boundaries; at least one.
    members: Vec<usize>,
    /// Number of vertices of each boundary.
    length: usize,
    /// Rotations: numbers s such that the vertex at index p can be mapped onto the vertex at index p + s.
    rotations: Vec<usize>,
    /// Reflections: numbers k such that the vertex at index p can be mapped onto the vertex at index k − p.
    /// Empty if the whole region cannot be reflected.
    reflections: Vec<usize>,
}

/// Classes of the boundaries of a land, with their symmetries.
#[derive(Debug, Default)]
pub(super) struct RegionSymmetries {
    /// Classes, region by region, in the order of their first members.
    classes: Vec<Class>,
    /// End of the classes of each region.
    ends: Vec<usize>,
    /// Classes of earlier lands, whose memory is used again.
    spare: Vec<Class>,
    /// For each token that is a letter the index of its other occurrence, else [`NONE`].
    partner: Vec<usize>,
    /// The boundary of each token.
    boundary_of: Vec<usize>,
    /// For each token true if it is a link.
    links: Vec<bool>,
    seen: Vec<usize>,
}

/// Marks a missing index.
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

    /// Returns the range of a region's classes in `classes`.
    pub(super) fn classes_of(&self, region: usize) -> Range<usize> {
        let begin = if region == 0 { 0 } else { self.ends[region - 1] };
        begin..self.ends[region]
    }

    /// Returns the boundaries of a class, at least one.
    pub(super) fn members(&self, class: usize) -> &[usize] {
        &self.classes[class].members
    }

    /// Returns the number of these tokens that are links.
    pub(super) fn links<const N: usize>(&self, places: [usize; N]) -> usize {
        places.into_iter().filter(|&at| self.links[at]).count()
    }

    /// Returns a symbol for the token at index `at`: the digit; for a pair within the boundary the distance
    /// to the other occurrence, forward if `ahead` and otherwise backward; `None` for a link.
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

    /// Returns true if two boundaries have no links and the same symbols, read from their first vertices.
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

    /// Returns true if this boundary of two vertices consists of two letters that also form another boundary
    /// of two vertices.
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

    /// Returns the symmetry of the curve between the vertices at `i` and `j` of a boundary of the class.
    pub(super) fn within(&self, class: usize, i: usize, j: usize) -> CurveSymmetry {
        let class = &self.classes[class];
        let length = class.length;
        // In a boundary of one vertex, the curve is a loop without other vertices on either side.
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

    /// Returns true if, among the curves between an isolated spot and a vertex of a boundary that symmetries
    /// map onto each other, the curve to the vertex at `i` is the one that is used.
    pub(super) fn with_isolated(&self, class: usize, i: usize) -> bool {
        let class = &self.classes[class];
        class.rotated(i).chain(class.reflected(i)).all(|image| image >= i)
    }

    /// Returns true if, among the curves between two boundaries that symmetries map onto each other, the
    /// curve between the vertex at `i` of class `a` and the vertex at `j` of class `b` is the one that is
    /// used.
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
