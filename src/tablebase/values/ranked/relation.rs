//! The effect of a jump on all white patterns, by their ranks.
//!
//! Let `B` be the black pattern of a row, `W` a white pattern and `M` the stones that a jump takes.
//!
//! - A *black* jump is possible if `B` allows it and `W` contains `M`. It leads to `(B', W \ M)`.
//! - A *white* jump from `f` to `t` is possible if `B` contains `M`, and `W` contains `f` and none of the landing
//!   squares. It leads to `(B \ M, (W \ {f}) ∪ {t})`.
//!
//! Both are a [`Relation`]: a few white squares are *given*, which means that the relation determines whether
//! they are occupied before and after the jump. All other white squares are *free*, and do not change.
//!
//! Consider the patterns that differ only in free squares below the lowest given square, and have the same
//! number of stones. Their combinadic ranks are consecutive before the jump, and also after it. So a relation is
//! a list of pairs of runs of ranks. [`Relation::for_each_run`] enumerates them with few additions for each run,
//! without generating moves or computing ranks for single positions.

/// The effect of a jump on the white patterns.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The squares on which the pattern is given.
    given: u32,
    /// The stones on the given squares before the jump.
    before: u32,
    /// The stones on the given squares after the jump.
    after: u32,
}

impl Relation {
    pub fn new(given: u32, before: u32, after: u32) -> Self {
        debug_assert!(given != 0 && (before | after) & !given == 0);
        Relation { given, before, after }
    }

    /// Calls `visit(before, after, length)` for each pair of runs: for all `i < length`, the pattern of rank
    /// `before + i` becomes the pattern of rank `after + i`. The runs contain every pattern of `squares` squares
    /// with `stones` stones to which the relation applies, exactly once.
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

    /// Enumerates the runs by placing stones from the highest square downwards. Only squares below `square` are
    /// left; `free` of them are not given. `stones` is the number of stones on them, and `ranks` the contribution
    /// of all other squares to the rank, both before and after the jump.
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
    fn runs_contain_all_patterns_of_a_relation() {
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
