//! Simplification of positions: removes irrelevant parts and splits the rest into lands.
//!
//! The steps are applied in this order; no step makes an earlier one applicable again:
//!
//! 1. Dead spots are removed. If a letter occurs twice in a row in a boundary, nothing that has lives is
//!    enclosed there. The two letters become one spot with two curve ends, written `2`. Boundaries without
//!    spots are removed.
//! 2. Regions with fewer than two lives are removed, because no curve can be drawn in them. In this count,
//!    every occurrence of a letter is one life. A letter that loses an occurrence becomes `2` in the other
//!    region.
//! 3. In a region of two or three lives it does not matter which boundary a spot belongs to, because any two
//!    lives can be joined, and at most one other life remains. All boundaries become one, and a letter that
//!    occurs twice in it becomes `2`.
//! 4. Regions that share no letter, directly or through other regions, are separate lands.
//!
//! [`Simplifier`] applies the steps; [`LetterState`] is what it stores about a letter. [`DisjointSets`] is a
//! union-find structure.

use super::flat::{Flat, LETTER, ONE, Packer, TWO, Token};

/// Working memory. The result is returned by [`Simplifier::lands`].
#[derive(Debug, Default)]
pub(super) struct Simplifier {
    flat: Flat,
    /// For each letter the number + 1 of a region in which it occurs, or 0 if none has been found yet.
    region_of: Vec<u32>,
    /// State of each letter.
    state: Vec<LetterState>,
    /// Connected regions.
    components: DisjointSets,
    packer: Packer,
    ends: Vec<u32>,
    /// Regions, each with its sort key: the land, then properties that are cheap to compute.
    order: Vec<([u32; 5], u32)>,
    /// Boundaries of a region, each after its sort key: length and sum of digits.
    boundaries: Vec<(u32, u32, u32)>,
}

/// Occurrences of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LetterState {
    /// It occurs twice, in different regions.
    Upper,
    /// It occurs twice, in one region.
    Lower,
    /// The region of its other occurrence was removed.
    Single,
    /// Both occurrences were in one region. The first has become `2`, and the second is removed.
    Merged,
}

impl Simplifier {
    /// Removes the `dead` tokens from a position, simplifies it, and splits it into lands. Takes linear time,
    /// apart from sorting.
    pub(super) fn run(&mut self, raw: &Flat, dead: [Token; 2]) {
        let letters = usize::from(raw.letters);
        self.region_of.clear();
        self.region_of.resize(letters, 0);
        self.state.clear();
        self.state.resize(letters, LetterState::Upper);
        self.flat.clear();
        for region in 0..raw.regions.len() {
            self.region(raw, region, dead);
        }
        self.split();
        self.pack(raw.letters);
    }

    /// Returns the lands as packed bytes. In each land, letters are numbered by their first occurrences.
    pub(super) fn lands(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.packer.bytes[start as usize..end as usize])
    }

    /// Applies steps 1 to 3 to one region. Letters whose other region is removed become `2` later, in
    /// `split`.
    fn region(&mut self, raw: &Flat, number: usize, dead: [Token; 2]) {
        let flat = &mut self.flat;
        let (first_token, first_end) = (flat.tokens.len(), flat.ends.len());
        for boundary in raw.boundaries(number) {
            let start = flat.tokens.len();
            for &token in &raw.tokens[raw.span(boundary)] {
                if token == dead[0] || token == dead[1] {
                    continue;
                }
                match flat.tokens[start..].last_mut() {
                    Some(last) if *last == token && token >= LETTER => *last = TWO,
                    _ => flat.tokens.push(token),
                }
            }
            // A boundary is cyclic, so its last and its first letter are adjacent too.
            let length = flat.tokens.len();
            if length - start >= 2
                && flat.tokens[start] >= LETTER
                && flat.tokens[start] == flat.tokens[length - 1]
            {
                flat.tokens.pop();
                flat.tokens[start] = TWO;
            }
            flat.end_boundary();
        }
        let own = number as u32 + 1;
        let isolated = raw.regions[number].isolated;
        let mut lives = 3 * isolated as usize + flat.tokens.len() - first_token;
        let mut pairs = 0;
        for &token in &flat.tokens[first_token..] {
            if token == ONE {
                lives += 1;
            } else if token >= LETTER {
                let letter = usize::from(token - LETTER);
                if self.region_of[letter] == own {
                    self.state[letter] = LetterState::Lower;
                    pairs += 1;
                } else {
                    self.region_of[letter] = own;
                }
            }
        }
        if lives < 2 {
            for &token in &flat.tokens[first_token..] {
                if token >= LETTER {
                    self.state[usize::from(token - LETTER)] = LetterState::Single;
                }
            }
            flat.tokens.truncate(first_token);
            flat.ends.truncate(first_end);
            return;
        }
        if lives - pairs <= 3 && (pairs > 0 || flat.ends.len() - first_end > 1) {
            flat.ends.truncate(first_end);
            let mut kept = first_token;
            for at in first_token..flat.tokens.len() {
                let token = flat.tokens[at];
                flat.tokens[kept] = token;
                kept += 1;
                if token >= LETTER {
                    let state = &mut self.state[usize::from(token - LETTER)];
                    match *state {
                        LetterState::Lower => {
                            *state = LetterState::Merged;
                            flat.tokens[kept - 1] = TWO;
                        }
                        LetterState::Merged => kept -= 1,
                        LetterState::Upper | LetterState::Single => {}
                    }
                }
            }
            flat.tokens.truncate(kept);
            flat.end_boundary();
        }
        flat.end_region(isolated);
    }

    /// Replaces letters that occur once by `2`, and finds the connected regions.
    fn split(&mut self) {
        self.components.begin(self.flat.regions.len());
        self.region_of.fill(0);
        for region in 0..self.flat.regions.len() {
            for boundary in self.flat.boundaries(region) {
                for at in self.flat.span(boundary) {
                    let token = self.flat.tokens[at];
                    if token < LETTER {
                        continue;
                    }
                    let letter = usize::from(token - LETTER);
                    match self.state[letter] {
                        LetterState::Single => self.flat.tokens[at] = TWO,
                        LetterState::Lower | LetterState::Merged => {}
                        LetterState::Upper if self.region_of[letter] == 0 => {
                            self.region_of[letter] = region as u32 + 1;
                        }
                        LetterState::Upper => {
                            self.components.unite(self.region_of[letter] - 1, region as u32);
                        }
                    }
                }
            }
        }
    }

    fn pack(&mut self, letters: u16) {
        self.packer.begin(letters);
        self.ends.clear();
        // Regions and boundaries are sorted by everything that is cheap to compare. Thus equivalent lands
        // more often have the same bytes, and the cache of recent lands finds them. Canonical forms do not
        // depend on this order.
        let flat = &self.flat;
        self.order.clear();
        for region in 0..flat.regions.len() as u32 {
            let land = self.components.root(region);
            let boundaries = flat.boundaries(region as usize);
            let tokens = match boundaries.is_empty() {
                true => 0..0,
                false => flat.span(boundaries.start).start..flat.span(boundaries.end - 1).end,
            };
            let digits = |sum: u32, &token: &Token| sum + u32::from(token.min(LETTER));
            let sum = flat.tokens[tokens.clone()].iter().fold(0, digits);
            let isolated = u32::MAX - flat.regions[region as usize].isolated;
            let key = [land, isolated, boundaries.len() as u32, tokens.len() as u32, sum];
            self.order.push((key, region));
        }
        self.order.sort_unstable();
        let mut last = None;
        for &([land, ..], region) in &self.order {
            if last == Some(land) {
                self.packer.next_region();
            } else {
                if last.is_some() {
                    self.ends.push(self.packer.bytes.len() as u32);
                }
                self.packer.begin_next();
            }
            last = Some(land);
            self.boundaries.clear();
            for boundary in flat.boundaries(region as usize) {
                let tokens = &flat.tokens[flat.span(boundary)];
                let sum = tokens.iter().fold(0, |sum, &token| sum + u32::from(token.min(LETTER)));
                self.boundaries.push((tokens.len() as u32, sum, boundary as u32));
            }
            self.boundaries.sort_unstable();
            self.packer.isolated(flat.regions[region as usize].isolated);
            for (number, &(_, _, boundary)) in self.boundaries.iter().enumerate() {
                if number > 0 {
                    self.packer.next_boundary();
                }
                let tokens = &flat.tokens[flat.span(boundary as usize)];
                let begin = (0..tokens.len()).min_by_key(|&at| tokens[at].min(LETTER));
                let (after, before) = tokens.split_at(begin.unwrap_or(0));
                before.iter().chain(after).for_each(|&token| self.packer.token(token));
            }
        }
        if last.is_some() {
            self.ends.push(self.packer.bytes.len() as u32);
        }
    }
}

/// Disjoint sets of numbers. A set is represented by its smallest member, its root.
#[derive(Debug, Default)]
pub(super) struct DisjointSets {
    /// For each number a member of its set that is not greater; for a root the root itself.
    up: Vec<u32>,
}

impl DisjointSets {
    /// Puts every number below `members` into a set of its own.
    pub(super) fn begin(&mut self, members: usize) {
        self.up.clear();
        self.up.extend(0..members as u32);
    }

    pub(super) fn root(&mut self, mut member: u32) -> u32 {
        while self.up[member as usize] != member {
            let up = self.up[self.up[member as usize] as usize];
            self.up[member as usize] = up;
            member = up;
        }
        member
    }

    /// Unites the sets of `a` and `b`. Returns true if they were different.
    pub(super) fn unite(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.up[a.max(b) as usize] = a.min(b);
        a != b
    }
}
