//! All moves from a land.
//!
//! A move joins two occurrences of spots in a region with a curve and puts a new spot on it, which
//! has two curve ends and so becomes a letter:
//!
//! * within a boundary `x…y…` the region is cut in two. One side gets `x…y` and the new letter, the
//!   other `y…x` and the new letter, and the other boundaries go to either side in all ways. A spot
//!   with two lives can be joined with itself. A letter cannot be joined with its own other
//!   occurrence: that is the same spot, with one life.
//! * between two boundaries `x…` and `y…` they become one, `x…x` letter `y…y` letter.
//!
//! A spot that has a third curve end now is dead, with all its occurrences; one with its second is a
//! letter.
//!
//! Of moves that a symmetry turns into each other one is enough. Seen here are: isolated spots; equal
//! boundaries without links to other regions; rotations of a boundary, and reflections of a region,
//! that keep every link in its place; and pairs of spots `AB` that link two boundaries and nothing
//! else.

mod symmetry;

use super::flat::{Flat, LETTER, ONE, Token};
use crate::search::impartial::game::Full;
use symmetry::{Symmetries, Symmetry};

/// Most moves of one land that are written down. A position that a person can write may have 2^2000
/// of them; one with fewer than 15 different boundaries in a region has fewer than this.
pub(super) const MOST_MOVES: u32 = 1 << 22;

/// Working memory, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Mover {
    parent: Flat,
    child: Flat,
    symmetries: Symmetries,
    /// How many boundaries of each class go to the first side; the isolated spots come first.
    share: Vec<u32>,
    /// How many there are.
    whole: Vec<u32>,
    moves: u32,
}

/// One side of a curve within a boundary.
struct Cut {
    boundary: usize,
    /// Places in the boundary, in the order of reading.
    i: usize,
    j: usize,
    /// Whether a symmetry exchanges the two sides.
    exchanged: bool,
}

impl Mover {
    /// Calls `child` for every move with the position after it and the letters that have died,
    /// whose occurrences are still there. Moves that the symmetries above connect come once.
    ///
    /// # Errors
    /// What `child` returns, and [`Full`] after [`MOST_MOVES`] moves.
    pub(super) fn run(
        &mut self,
        packed: &[u8],
        mut child: impl FnMut(&Flat, [Token; 2]) -> Result<(), Full>,
    ) -> Result<(), Full> {
        self.parent.unpack(packed);
        self.symmetries.survey(&self.parent);
        self.moves = 0;
        for region in 0..self.parent.regions.len() {
            self.symmetries.of_region(&self.parent, region);
            self.copy_others(region);
            let base = Base::of(&self.child);
            let mut count = |child_flat: &Flat, dead, moves: &mut u32| {
                *moves += 1;
                if *moves > MOST_MOVES {
                    return Err(Full);
                }
                child(child_flat, dead)
            };
            self.cuts(region, base, &mut count)?;
            self.joins(region, base, &mut count)?;
        }
        Ok(())
    }

    /// Every region but this one.
    fn copy_others(&mut self, region: usize) {
        let Mover { parent, child, .. } = self;
        child.clear();
        for other in (0..parent.regions.len()).filter(|&other| other != region) {
            for boundary in parent.boundaries(other) {
                child.tokens.extend_from_slice(&parent.tokens[parent.span(boundary)]);
                child.end_boundary();
            }
            child.end_region(parent.regions[other].isolated);
        }
        child.letters = parent.letters + 3;
    }

    /// Moves within boundaries.
    fn cuts(
        &mut self,
        region: usize,
        base: Base,
        found: &mut impl FnMut(&Flat, [Token; 2], &mut u32) -> Result<(), Full>,
    ) -> Result<(), Full> {
        if self.parent.regions[region].isolated > 0 {
            self.loops(region, base, found)?;
        }
        for class in 0..self.symmetries.classes.len() {
            let boundary = self.symmetries.classes[class].members[0];
            let span = self.parent.span(boundary);
            for i in 0..span.len() {
                for j in i..span.len() {
                    let tokens = &self.parent.tokens[span.clone()];
                    let joinable = match i == j {
                        true => tokens[i] == ONE,
                        false => tokens[i] < LETTER || tokens[i] != tokens[j],
                    };
                    if !joinable {
                        continue;
                    }
                    let symmetry = self.symmetries.within(class, i, j);
                    if symmetry != Symmetry::Superfluous {
                        let exchanged = symmetry == Symmetry::Exchange;
                        let cut = Cut { boundary, i, j, exchanged };
                        self.cut(region, class, &cut, base, found)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// An isolated spot is joined with itself: a circle with two letters on it, seen alike from both
    /// sides.
    fn loops(
        &mut self,
        region: usize,
        base: Base,
        found: &mut impl FnMut(&Flat, [Token; 2], &mut u32) -> Result<(), Full>,
    ) -> Result<(), Full> {
        let letter = LETTER + self.parent.letters;
        self.whole.clear();
        self.whole.push(self.parent.regions[region].isolated - 1);
        self.whole.extend(self.symmetries.classes.iter().map(|class| class.members.len() as u32));
        self.first_share();
        while self.next_share(true) {
            base.reset(&mut self.child);
            for side in 0..2 {
                self.child.tokens.extend([letter, letter + 1]);
                self.child.end_boundary();
                self.give_share(side, usize::MAX);
            }
            found(&self.child, [0; 2], &mut self.moves)?;
        }
        Ok(())
    }

    fn cut(
        &mut self,
        region: usize,
        class: usize,
        cut: &Cut,
        base: Base,
        found: &mut impl FnMut(&Flat, [Token; 2], &mut u32) -> Result<(), Full>,
    ) -> Result<(), Full> {
        let &Cut { boundary, i, j, exchanged } = cut;
        self.whole.clear();
        self.whole.push(self.parent.regions[region].isolated);
        self.whole.extend(self.symmetries.classes.iter().map(|class| class.members.len() as u32));
        self.whole[class + 1] -= 1;
        let span = self.parent.span(boundary);
        let fresh = LETTER + self.parent.letters;
        let (x, x_dead) = second_end(self.parent.tokens[span.start + i], fresh);
        let (y, y_dead) = second_end(self.parent.tokens[span.start + j], fresh + 1);
        self.first_share();
        while self.next_share(exchanged) {
            base.reset(&mut self.child);
            let tokens = &self.parent.tokens[span.clone()];
            let out = &mut self.child.tokens;
            if i == j {
                // The spot has had its third end; within the loop there is only the new one.
                out.push(fresh + 2);
                self.child.end_boundary();
                self.give_share(0, boundary);
                let tokens = &self.parent.tokens[span.clone()];
                let out = &mut self.child.tokens;
                out.extend_from_slice(&tokens[i + 1..]);
                out.extend_from_slice(&tokens[..i]);
                out.push(fresh + 2);
            } else {
                out.extend(x);
                out.extend_from_slice(&tokens[i + 1..j]);
                out.extend(y);
                out.push(fresh + 2);
                self.child.end_boundary();
                self.give_share(0, boundary);
                let tokens = &self.parent.tokens[span.clone()];
                let out = &mut self.child.tokens;
                out.extend(y);
                out.extend_from_slice(&tokens[j + 1..]);
                out.extend_from_slice(&tokens[..i]);
                out.extend(x);
                out.push(fresh + 2);
            }
            self.child.end_boundary();
            self.give_share(1, boundary);
            found(&self.child, [x_dead, y_dead], &mut self.moves)?;
        }
        Ok(())
    }

    /// Moves between boundaries.
    fn joins(
        &mut self,
        region: usize,
        base: Base,
        found: &mut impl FnMut(&Flat, [Token; 2], &mut u32) -> Result<(), Full>,
    ) -> Result<(), Full> {
        let isolated = self.parent.regions[region].isolated;
        let fresh = LETTER + self.parent.letters;
        if isolated >= 2 {
            base.reset(&mut self.child);
            self.child.tokens.extend([ONE, fresh + 2, ONE, fresh + 2]);
            self.finish_join(region, isolated - 2, [usize::MAX; 2]);
            found(&self.child, [0; 2], &mut self.moves)?;
        }
        for class in 0..self.symmetries.classes.len() {
            let first = self.symmetries.classes[class].members[0];
            let length = self.parent.span(first).len();
            for i in (0..length).filter(|_| isolated > 0) {
                if self.symmetries.with_isolated(class, i) {
                    base.reset(&mut self.child);
                    let dead = self.join_end(first, i, fresh);
                    self.child.tokens.extend([fresh + 2, ONE, fresh + 2]);
                    self.finish_join(region, isolated - 1, [first, usize::MAX]);
                    found(&self.child, [dead, 0], &mut self.moves)?;
                }
            }
            for other in class..self.symmetries.classes.len() {
                let members = &self.symmetries.classes[other].members;
                let second = match other == class {
                    false => members[0],
                    true if members.len() > 1 => members[1],
                    true => continue,
                };
                for i in 0..length {
                    for j in 0..self.parent.span(second).len() {
                        if !self.symmetries.between((class, i), (other, j)) {
                            continue;
                        }
                        base.reset(&mut self.child);
                        let x_dead = self.join_end(first, i, fresh);
                        self.child.tokens.push(fresh + 2);
                        let y_dead = self.join_end(second, j, fresh + 1);
                        self.child.tokens.push(fresh + 2);
                        self.finish_join(region, isolated, [first, second]);
                        found(&self.child, [x_dead, y_dead], &mut self.moves)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes a boundary from a place to the same place, and tells the letter that dies.
    fn join_end(&mut self, boundary: usize, place: usize, fresh: Token) -> Token {
        let tokens = &self.parent.tokens[self.parent.span(boundary)];
        let (end, dead) = second_end(tokens[place], fresh);
        let out = &mut self.child.tokens;
        out.extend(end);
        out.extend_from_slice(&tokens[place + 1..]);
        out.extend_from_slice(&tokens[..place]);
        out.extend(end);
        dead
    }

    /// Adds what the region has besides the two boundaries that were joined.
    fn finish_join(&mut self, region: usize, isolated: u32, joined: [usize; 2]) {
        let Mover { parent, child, .. } = self;
        child.end_boundary();
        for boundary in parent.boundaries(region).filter(|boundary| !joined.contains(boundary)) {
            child.tokens.extend_from_slice(&parent.tokens[parent.span(boundary)]);
            child.end_boundary();
        }
        child.end_region(isolated);
    }

    /// Prepares `next_share`.
    fn first_share(&mut self) {
        self.share.clear();
    }

    /// Goes to the next way to divide `whole` between two sides; if these are alike, only those in
    /// which the first side has no more than the second in the first class where they differ.
    fn next_share(&mut self, alike: bool) -> bool {
        if self.share.is_empty() {
            self.share.resize(self.whole.len(), 0);
            return true;
        }
        loop {
            // The last class counts fastest.
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
                None | Some(std::cmp::Ordering::Less) => return true,
                // The first class only gets more from here on.
                Some(_) if self.share[0] * 2 > self.whole[0] => return false,
                Some(_) => {}
            }
        }
    }

    /// Adds one side's boundaries, but for the one that was cut, and ends the region.
    fn give_share(&mut self, side: usize, cut: usize) {
        let Mover { parent, child, symmetries, share, whole, .. } = self;
        for (class, (&first, &all)) in
            symmetries.classes.iter().zip(share[1..].iter().zip(&whole[1..]))
        {
            let members = class.members.iter().filter(|&&member| member != cut);
            let (skip, take) = if side == 0 { (0, first) } else { (first, all - first) };
            for &member in members.skip(skip as usize).take(take as usize) {
                child.tokens.extend_from_slice(&parent.tokens[parent.span(member)]);
                child.end_boundary();
            }
        }
        child.end_region(if side == 0 { share[0] } else { whole[0] - share[0] });
    }
}

/// What a spot that is not isolated becomes with one more curve end, and the letter that dies.
fn second_end(token: Token, fresh: Token) -> (Option<Token>, Token) {
    match token {
        ONE => (Some(fresh), 0),
        LETTER.. => (None, token),
        _ => (None, 0),
    }
}

/// How much of the child is there for all moves in a region.
#[derive(Clone, Copy, Debug)]
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
