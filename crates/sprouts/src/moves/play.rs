//! [`ChildBuilder`] creates the positions after moves. The positions after all moves in one region have the
//! other regions in common; the extent of these is a [`Base`].

use std::cmp::Ordering;
use std::ops::Range;

use pn_search::sums::game::GameFull;

use super::list::{Curve, CutCurve, LandMove};
use super::symmetry::RegionSymmetries;
use crate::flat::{Flat, LETTER, ONE, Token};

/// Working memory, kept between moves.
#[derive(Debug, Default)]
pub(super) struct ChildBuilder {
    child: Flat,
    /// Extent of the other regions, which all positions after moves in `region` have in common.
    base: Base,
    /// Region for which `base` is valid.
    region: Option<usize>,
    /// Number of members of each class on the first side, preceded by the number of isolated spots.
    share: Vec<u32>,
    /// Number of members of each class on both sides together, preceded by the number of isolated spots.
    whole: Vec<u32>,
}

impl ChildBuilder {
    /// Prepares for the moves of another land.
    pub(super) fn begin(&mut self) {
        self.region = None;
    }

    /// Calls `found` with every position after a move, and the letters that have died.
    pub(super) fn play(
        &mut self,
        parent: &Flat,
        symmetries: &RegionSymmetries,
        LandMove { region, curve }: LandMove,
        found: &mut impl FnMut(&Flat, [Token; 2]) -> Result<(), GameFull>,
    ) -> Result<(), GameFull> {
        if self.region.replace(region) != Some(region) {
            self.copy_others(parent, region);
        }
        let isolated = parent.regions[region].isolated;
        let fresh = LETTER + parent.letters;
        self.base.reset(&mut self.child);
        match curve {
            Curve::Loop => self.loops(parent, symmetries, region, found),
            Curve::Cut(cut) => self.cut(parent, symmetries, region, cut, found),
            Curve::Isolated => {
                self.child.tokens.extend([ONE, fresh + 2, ONE, fresh + 2]);
                self.finish_join(parent, region, isolated - 2, [usize::MAX; 2]);
                found(&self.child, [0; 2])
            }
            Curve::WithIsolated { boundary, place } => {
                let dead = self.join_end(parent, boundary, place, fresh);
                self.child.tokens.extend([fresh + 2, ONE, fresh + 2]);
                self.finish_join(parent, region, isolated - 1, [boundary, usize::MAX]);
                found(&self.child, [dead, 0])
            }
            Curve::Join { boundaries, places } => {
                let x_dead = self.join_end(parent, boundaries[0], places[0], fresh);
                self.child.tokens.push(fresh + 2);
                let y_dead = self.join_end(parent, boundaries[1], places[1], fresh + 1);
                self.child.tokens.push(fresh + 2);
                self.finish_join(parent, region, isolated, boundaries);
                found(&self.child, [x_dead, y_dead])
            }
        }
    }

    /// Copies every region except this one.
    fn copy_others(&mut self, parent: &Flat, region: usize) {
        let child = &mut self.child;
        child.clear();
        for other in (0..parent.regions.len()).filter(|&other| other != region) {
            for boundary in parent.boundaries(other) {
                child.tokens.extend_from_slice(&parent.tokens[parent.span(boundary)]);
                child.end_boundary();
            }
            child.end_region(parent.regions[other].isolated);
        }
        child.letters = parent.letters + 3;
        self.base = Base::of(child);
    }

    /// Joins an isolated spot with itself: the curve is a circle with two letters, and its sides are
    /// equivalent.
    fn loops(
        &mut self,
        parent: &Flat,
        symmetries: &RegionSymmetries,
        region: usize,
        found: &mut impl FnMut(&Flat, [Token; 2]) -> Result<(), GameFull>,
    ) -> Result<(), GameFull> {
        let letter = LETTER + parent.letters;
        let classes = symmetries.classes_of(region);
        self.begin_shares(symmetries, &classes, parent.regions[region].isolated - 1);
        while self.next_share(true) {
            self.base.reset(&mut self.child);
            for side in 0..2 {
                self.child.tokens.extend([letter, letter + 1]);
                self.child.end_boundary();
                self.add_share(parent, symmetries, &classes, side, usize::MAX);
            }
            found(&self.child, [0; 2])?;
        }
        Ok(())
    }

    fn cut(
        &mut self,
        parent: &Flat,
        symmetries: &RegionSymmetries,
        region: usize,
        CutCurve { class, i, j, exchanged }: CutCurve,
        found: &mut impl FnMut(&Flat, [Token; 2]) -> Result<(), GameFull>,
    ) -> Result<(), GameFull> {
        let classes = symmetries.classes_of(region);
        let boundary = symmetries.members(class)[0];
        self.begin_shares(symmetries, &classes, parent.regions[region].isolated);
        self.whole[class - classes.start + 1] -= 1;
        let tokens = &parent.tokens[parent.span(boundary)];
        let fresh = LETTER + parent.letters;
        let (x, x_dead) = second_end(tokens[i], fresh);
        let (y, y_dead) = second_end(tokens[j], fresh + 1);
        while self.next_share(exchanged) {
            self.base.reset(&mut self.child);
            let out = &mut self.child.tokens;
            if i != j {
                out.extend(x);
                out.extend_from_slice(&tokens[i + 1..j]);
                out.extend(y);
            }
            // If i = j, the spot is joined with itself, gets its third curve end and is dead. The inner
            // boundary then consists of the new spot alone.
            out.push(fresh + 2);
            self.child.end_boundary();
            self.add_share(parent, symmetries, &classes, 0, boundary);
            let out = &mut self.child.tokens;
            if i != j {
                out.extend(y);
            }
            out.extend_from_slice(&tokens[j + 1..]);
            out.extend_from_slice(&tokens[..i]);
            if i != j {
                out.extend(x);
            }
            out.push(fresh + 2);
            self.child.end_boundary();
            self.add_share(parent, symmetries, &classes, 1, boundary);
            found(&self.child, [x_dead, y_dead])?;
        }
        Ok(())
    }

    /// Writes a boundary from the vertex at `place` once around, back to this vertex. Returns the letter that
    /// dies, or 0.
    fn join_end(&mut self, parent: &Flat, boundary: usize, place: usize, fresh: Token) -> Token {
        let tokens = &parent.tokens[parent.span(boundary)];
        let (end, dead) = second_end(tokens[place], fresh);
        let out = &mut self.child.tokens;
        out.extend(end);
        out.extend_from_slice(&tokens[place + 1..]);
        out.extend_from_slice(&tokens[..place]);
        out.extend(end);
        dead
    }

    /// Adds all boundaries of the region except `joined`, and ends the region.
    fn finish_join(&mut self, parent: &Flat, region: usize, isolated: u32, joined: [usize; 2]) {
        let child = &mut self.child;
        child.end_boundary();
        for boundary in parent.boundaries(region).filter(|boundary| !joined.contains(boundary)) {
            child.tokens.extend_from_slice(&parent.tokens[parent.span(boundary)]);
            child.end_boundary();
        }
        child.end_region(isolated);
    }

    /// Prepares `next_share` for all boundaries of a region and `isolated` isolated spots.
    fn begin_shares(
        &mut self,
        symmetries: &RegionSymmetries,
        classes: &Range<usize>,
        isolated: u32,
    ) {
        self.whole.clear();
        self.whole.push(isolated);
        let members = |class| symmetries.members(class).len() as u32;
        self.whole.extend(classes.clone().map(members));
        self.share.clear();
    }

    /// Advances `share` to the next way to divide `whole` between two sides. Returns false after the last
    /// way. If the sides are equivalent (`alike`), of a way and its mirror image only one is used: the one
    /// whose first side has fewer members of the first class that is not divided equally.
    fn next_share(&mut self, alike: bool) -> bool {
        if self.share.is_empty() {
            self.share.resize(self.whole.len(), 0);
            return true;
        }
        loop {
            // `share` is counted up like a number. The last class is the lowest digit.
            let mut class = self.whole.len();
            loop {
                if class == 0 {
                    return false;
                }
                class -= 1;
                if self.share[class] < self.whole[class] {
                    self.share[class] += 1;
                    break;
                }
                self.share[class] = 0;
            }
            if !alike {
                return true;
            }
            let sides = self.share.iter().zip(&self.whole).map(|(&a, &all)| a.cmp(&(all - a)));
            let mut sides = sides.skip_while(|order| order.is_eq());
            match sides.next() {
                None | Some(Ordering::Less) => return true,
                // `share[0]` never decreases, so none of the remaining ways is used.
                Some(_) if self.share[0] * 2 > self.whole[0] => return false,
                Some(_) => {}
            }
        }
    }

    /// Adds the boundaries of one side, except the boundary `cut`, and ends the region.
    fn add_share(
        &mut self,
        parent: &Flat,
        symmetries: &RegionSymmetries,
        classes: &Range<usize>,
        side: usize,
        cut: usize,
    ) {
        let ChildBuilder { child, share, whole, .. } = self;
        for (class, (&first, &all)) in classes.clone().zip(share[1..].iter().zip(&whole[1..])) {
            let members = symmetries.members(class).iter().filter(|&&member| member != cut);
            let (skip, take) = if side == 0 { (0, first) } else { (first, all - first) };
            for &member in members.skip(skip as usize).take(take as usize) {
                child.tokens.extend_from_slice(&parent.tokens[parent.span(member)]);
                child.end_boundary();
            }
        }
        child.end_region(if side == 0 { share[0] } else { whole[0] - share[0] });
    }
}

/// Returns the token of a non-isolated spot after one more curve end, if the spot is still alive, and the
/// letter that dies, or 0.
fn second_end(token: Token, fresh: Token) -> (Option<Token>, Token) {
    match token {
        ONE => (Some(fresh), 0),
        LETTER.. => (None, token),
        _ => (None, 0),
    }
}

/// Lengths of the arrays of a [`Flat`] at the end of the regions that positions have in common.
#[derive(Clone, Copy, Debug, Default)]
struct Base {
    tokens: usize,
    ends: usize,
    regions: usize,
}

impl Base {
    fn of(flat: &Flat) -> Base {
        Base { tokens: flat.tokens.len(), ends: flat.ends.len(), regions: flat.regions.len() }
    }

    fn reset(self, flat: &mut Flat) {
        flat.tokens.truncate(self.tokens);
        flat.ends.truncate(self.ends);
        flat.regions.truncate(self.regions);
    }
}
