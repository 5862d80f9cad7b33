//! Perft with equal positions counted once: all positions of a ply with the number of ways that lead
//! to each, symmetric ones as one, and the plain count below the last such list.
//!
//! On 8x8 the 4.6 million sequences of 9 plies lead to 438,166 positions. The order in which moves
//! are made is what most of them differ in.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::{Perft, Uncounted};
use crate::konane::moves::Move;
use crate::konane::position::Position;

/// Plies below the last list: the plain count of so few costs less than another list.
const PLAIN: u32 = 3;

/// Positions that a thread expands at a time.
const BATCH: usize = 1024;

/// A position's code, and the number of ways that lead to the position or its images.
type Ways = (u64, u64);

/// Bytes of a found position, in its batch and in the list of the ply.
const FOUND_BYTES: u64 = 2 * size_of::<Ways>() as u64;

impl Perft<'_> {
    /// The number of move sequences of exactly `depth` plies, as [`Perft::count`], on the current
    /// rayon pool. Lists of positions take up to `memory` bytes; with less, the counts are the same
    /// and take longer.
    ///
    /// # Errors
    /// If `stop` becomes true, which is seen before the next list is sorted and within milliseconds
    /// at other times; if a count, also one of a ply on the way, does not fit into 64 bits.
    pub fn merged(
        &self,
        position: &Position,
        depth: u32,
        memory: u64,
        stop: &AtomicBool,
    ) -> Result<u64, Uncounted> {
        let mut left = depth;
        let mut layer = vec![(position.code(self.board), 1)];
        while left > PLAIN && self.next_fits(&layer, memory) {
            layer = self.next(&layer, stop)?;
            left -= 1;
        }
        let below = |stack: &mut Vec<u64>, &(code, ways): &Ways| {
            let position = Position::from_code(self.board, code);
            let count = self.count_until(stack, &position, left, stop)?;
            Ok(u128::from(count) * u128::from(ways))
        };
        let total =
            layer.par_iter().map_init(Vec::new, below).try_reduce(|| 0, |a, b| Ok(a + b))?;
        u64::try_from(total).map_err(|_| Uncounted::TooMany)
    }

    /// [`Perft::merged`] for each move of the position; moves to symmetric positions are counted
    /// once. Depth 0 counts as 1.
    ///
    /// # Errors
    /// As [`Perft::merged`].
    pub fn merged_divide(
        &self,
        position: &Position,
        depth: u32,
        memory: u64,
        stop: &AtomicBool,
    ) -> Result<Vec<(Move, u64)>, Uncounted> {
        let mut known: Vec<Ways> = Vec::new();
        let mut count = |mv| {
            let next = position.play(self.board, mv);
            let code = next.code(self.board);
            if let Some(&(_, count)) = known.iter().find(|&&(other, _)| other == code) {
                return Ok((mv, count));
            }
            let count = self.merged(&next, depth.max(1) - 1, memory, stop)?;
            known.push((code, count));
            Ok((mv, count))
        };
        position.moves(self.board).into_iter().map(&mut count).collect()
    }

    /// Whether all successors of the layer fit into `memory` beside it, before any are merged.
    fn next_fits(&self, layer: &[Ways], memory: u64) -> bool {
        let moves = |&(code, _): &Ways| {
            u64::from(Position::from_code(self.board, code).count_moves(self.board))
        };
        let found: u64 = layer.par_iter().map(moves).sum();
        size_of_val(layer) as u64 + found * FOUND_BYTES <= memory
    }

    /// The positions of the next ply.
    fn next(&self, layer: &[Ways], stop: &AtomicBool) -> Result<Vec<Ways>, Uncounted> {
        let expand = |batch: &[Ways]| {
            if stop.load(Ordering::Relaxed) {
                return Err(Uncounted::Interrupted);
            }
            let mut found = Vec::new();
            for &(code, ways) in batch {
                let position = Position::from_code(self.board, code);
                let moves = position.moves(self.board).into_iter();
                found
                    .extend(moves.map(|mv| (position.play(self.board, mv).code(self.board), ways)));
            }
            found.sort_unstable();
            merge(&mut found)?;
            Ok(found)
        };
        let batches = layer.par_chunks(BATCH).map(expand).collect::<Result<Vec<_>, _>>()?;
        let mut next = batches.concat();
        drop(batches);
        next.par_sort_unstable();
        merge(&mut next)?;
        Ok(next)
    }
}

/// Makes one entry of all with the same code, in a sorted list.
fn merge(list: &mut Vec<Ways>) -> Result<(), Uncounted> {
    let mut fits = true;
    list.dedup_by(|(code, ways), (kept, sum)| {
        let same = code == kept;
        if same {
            let (total, over) = sum.overflowing_add(*ways);
            *sum = total;
            fits &= !over;
        }
        same
    });
    if fits { Ok(()) } else { Err(Uncounted::TooMany) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_one_position_add_up_or_are_too_many() {
        let mut list = vec![(1, 2), (1, 3), (1, u64::MAX - 5), (4, 7)];
        assert_eq!(merge(&mut list), Ok(()));
        assert_eq!(list, [(1, u64::MAX), (4, 7)]);
        let mut list = vec![(1, 2), (1, u64::MAX - 1)];
        assert_eq!(merge(&mut list), Err(Uncounted::TooMany));
    }
}
