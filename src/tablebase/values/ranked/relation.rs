//! The effect of a jump on all white patterns, by their ranks.
//!
//! For a row with black pattern `B`, whether a *black* jump is possible depends on `B` and on the
//! white stones `M` that it takes: for all `W` that contain `M` it leads to `(B', W \ M)`. A
//! *white* jump from `f` to `t` over `M`, part of `B`, is possible for all `W` that contain `f` and
//! none of the landing squares; it leads to `(B \ M, W \ f + t)`. Both are a [`Relation`]: on a few
//! white squares the pattern is given before and after the jump, on all others it is free and stays
//! the same. In the order of combinadic ranks the free squares below the lowest given one run
//! through consecutive ranks before *and* after the jump, so a relation is a list of pairs of runs,
//! which [`Relation::for_each_run`] enumerates with two additions for each; there is neither move
//! generation nor ranking for a position.

/// The effect of a jump on the white patterns.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The squares on which the pattern is given.
    given: u32,
    /// The stones on them before and after the jump.
    before: u32,
    after: u32,
}

impl Relation {
    pub fn new(given: u32, before: u32, after: u32) -> Self {
        debug_assert!(given != 0 && (before | after) & !given == 0);
        Relation { given, before, after }
    }

    /// Calls `visit(before, after, length)` for runs of ranks that correspond to each other:
    /// together all patterns of `squares` squares with `stones` stones to which the relation
    /// applies, each once.
    pub fn for_each_run(
        &self,
        binomials: &[[u32; 33]; 33],
        squares: u32,
        stones: u32,
        visit: &mut impl FnMut(u32, u32, u32),
    ) {
        let (before, after) = (self.before.count_ones(), self.after.count_ones());
        let free = squares - self.given.count_ones();
        if (before..=before + free).contains(&stones) {
            let stones = [stones, stones - before + after];
            self.descend(binomials, squares, free, stones, [0, 0], visit);
        }
    }

    /// Enumerates the runs from the highest square downwards. `free` of the squares below `square` are
    /// not given; `stones` are still to be placed below `square` before and after the jump; `ranks` is
    /// the part of the ranks from the squares above.
    fn descend(
        &self,
        binomials: &[[u32; 33]; 33],
        mut square: u32,
        mut free: u32,
        mut stones: [u32; 2],
        mut ranks: [u32; 2],
        visit: &mut impl FnMut(u32, u32, u32),
    ) {
        while square > self.given.trailing_zeros() {
            square -= 1;
            let number = &binomials[square as usize];
            let bit = 1 << square;
            if self.given & bit != 0 {
                for (side, set) in [self.before, self.after].into_iter().enumerate() {
                    if set & bit != 0 {
                        ranks[side] += number[stones[side] as usize];
                        stones[side] -= 1;
                    }
                }
                continue;
            }
            let given_below = (self.before & (bit - 1)).count_ones();
            free -= 1;
            let to_place = stones[0] - given_below;
            if to_place == 0 {
                continue;
            }
            let with = [0, 1].map(|side| ranks[side] + number[stones[side] as usize]);
            if to_place > free {
                ranks = with;
                stones = stones.map(|s| s - 1);
                continue;
            }
            self.descend(binomials, square, free, stones.map(|s| s - 1), with, visit);
        }
        visit(ranks[0], ranks[1], binomials[square as usize][stones[0] as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::{Board, Colour};
    use crate::tablebase::index::Index;

    #[test]
    fn runs_are_all_the_patterns_of_a_relation() {
        let squares = 9;
        let index = Index::new(Board::new("3x6".parse().unwrap()), false);
        let ranks = index.ranks(Colour::White);
        for (given, before, after) in [
            (0b1, 0b1, 0),
            (0b100000000, 0b100000000, 0),
            (0b000101000, 0b000101000, 0),
            (0b000110000, 0b000010000, 0b000100000),
            (0b100010010, 0b100000000, 0b000000010),
        ] {
            let relation = Relation::new(given, before, after);
            for stones in 0..=squares {
                let mut found = Vec::new();
                relation.for_each_run(
                    ranks.binomials(),
                    squares,
                    stones,
                    &mut |to, from, length| {
                        found.extend((0..length).map(|i| (to + i, from + i)));
                    },
                );
                found.sort_unstable();
                let expected: Vec<(u32, u32)> = ranks
                    .patterns(stones)
                    .filter(|pattern| pattern & given == before)
                    .map(|pattern| (ranks.rank(pattern), ranks.rank(pattern & !given | after)))
                    .collect();
                assert_eq!(found, expected, "{relation:?} {stones}");
            }
        }
    }
}
