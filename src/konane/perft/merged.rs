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
use crate::system::is_available;

/// Plies below the last list: the plain count of so few costs less than another list.
const PLAIN: u32 = 3;

/// Positions that a thread expands at a time.
const BATCH: usize = 1024;

/// A position's code, and the number of ways that lead to the position or its images.
type Ways = (u64, u64);

/// Entries that are sorted at a time when batches are put together, on average: some milliseconds.
const RANGE: u64 = 1 << 16;

/// Bytes of a found position: in its batch, in its range, and in the list of the ply while that takes
/// the ranges' entries over.
const FOUND_BYTES: u64 = 3 * size_of::<Ways>() as u64;

impl Perft<'_> {
    /// The number of move sequences of exactly `depth` plies, as [`Perft::count`], on the current
    /// rayon pool. Lists of positions take up to `memory` bytes; with less, the counts are the same
    /// and take longer.
    ///
    /// # Errors
    /// If `stop` becomes true, which is seen within some milliseconds; if 64 bits do not hold a count,
    /// also one of a ply on the way.
    pub fn merged(
        &self,
        position: &Position,
        depth: u32,
        memory: u64,
        stop: &AtomicBool,
    ) -> Result<u64, Uncounted> {
        if depth > Self::MOST_PLIES {
            return Ok(0);
        }
        let mut left = depth;
        let mut layer = vec![(position.code(self.board), 1)];
        while left > PLAIN {
            let successors = self.successors(&layer, stop);
            let found = successors * FOUND_BYTES;
            if size_of_val(&*layer) as u64 + found > memory || !is_available(found) {
                break;
            }
            layer = self.next(&layer, successors, stop)?;
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

    /// The number of successors of all positions of the layer, before any are merged; 0 once `stop` is
    /// true.
    fn successors(&self, layer: &[Ways], stop: &AtomicBool) -> u64 {
        let moves = |&(code, _): &Ways| {
            u64::from(Position::from_code(self.board, code).count_moves(self.board))
        };
        let batches = layer.par_chunks(BATCH).take_any_while(|_| !stop.load(Ordering::Relaxed));
        batches.map(|batch| batch.iter().map(moves).sum::<u64>()).sum()
    }

    /// The positions of the next ply, which come from so many successors.
    ///
    /// Batches of the layer are expanded, sorted and merged by themselves. Then all batches' entries in
    /// one range of keys are put together, sorted and merged, range by range, so that nothing takes
    /// long between two looks at the flag.
    fn next(
        &self,
        layer: &[Ways],
        successors: u64,
        stop: &AtomicBool,
    ) -> Result<Vec<Ways>, Uncounted> {
        let check = || match stop.load(Ordering::Relaxed) {
            true => Err(Uncounted::Interrupted),
            false => Ok(()),
        };
        let expand = |batch: &[Ways]| {
            check()?;
            let mut found = Vec::new();
            for &(code, ways) in batch {
                let position = Position::from_code(self.board, code);
                let moves = position.moves(self.board).into_iter();
                found
                    .extend(moves.map(|mv| (position.play(self.board, mv).code(self.board), ways)));
            }
            merge(&mut found)?;
            Ok(found)
        };
        let batches = layer.par_chunks(BATCH).map(expand).collect::<Result<Vec<_>, _>>()?;
        let ranges = successors.div_ceil(RANGE).max(1);
        let gather = |range: u64| {
            check()?;
            let mut found = Vec::new();
            for batch in &batches {
                let from =
                    |range| batch.partition_point(|&(code, _)| range_of(code, ranges) < range);
                found.extend_from_slice(&batch[from(range)..from(range + 1)]);
            }
            merge(&mut found)?;
            Ok(found)
        };
        let merged = (0..ranges).into_par_iter().map(gather).collect::<Result<Vec<_>, _>>()?;
        drop(batches);
        Ok(merged.concat())
    }
}

/// What entries are sorted by: the code with its bits spread, so that ranges have like numbers of
/// entries. Different codes have different keys.
fn key(code: u64) -> u64 {
    code.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// In which of so many ranges of keys an entry is; greater keys are in the same range or a later one.
fn range_of(code: u64, ranges: u64) -> u64 {
    ((u128::from(key(code)) * u128::from(ranges)) >> 64) as u64
}

/// Sorts a list by keys and makes one entry of all with the same code.
fn merge(list: &mut Vec<Ways>) -> Result<(), Uncounted> {
    list.sort_unstable_by_key(|&(code, _)| key(code));
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
        let mut list = vec![(1, 2), (4, 7), (1, 3), (1, u64::MAX - 5)];
        assert_eq!(merge(&mut list), Ok(()));
        list.sort_unstable();
        assert_eq!(list, [(1, u64::MAX), (4, 7)]);
        let mut list = vec![(1, 2), (1, u64::MAX - 1)];
        assert_eq!(merge(&mut list), Err(Uncounted::TooMany));
    }

    #[test]
    fn ranges_follow_the_order_of_keys() {
        for ranges in [1, 3, 4096] {
            let mut codes: Vec<u64> = (0..10_000).map(|i| i * i * 0x1_0001).collect();
            codes.sort_unstable_by_key(|&code| key(code));
            assert!(codes.is_sorted_by_key(|&code| range_of(code, ranges)));
            assert!(codes.iter().all(|&code| range_of(code, ranges) < ranges));
            let first = codes.iter().filter(|&&code| range_of(code, ranges) == 0).count() as u64;
            assert!(first <= 2 * 10_000 / ranges + 20, "{first} of {ranges}");
        }
    }
}
