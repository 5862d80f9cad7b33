//! Perft with equal positions merged. For each ply, a list has all positions up to symmetry, each with the number of
//! sequences that lead to it. For the last plies there is no list: the sequences from each position of the last list
//! are counted without merging.
//!
//! On 8x8 the 4.6 million sequences of 9 plies lead to 438,166 positions. Most sequences differ in the order of
//! moves only.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::{MIN_PIECES, Perft, PerftError};
use crate::konane::moves::Move;
use crate::konane::position::Position;
use crate::system::is_available;

/// Number of plies after the last list. Counting them without merging takes less time than another list.
const PLAIN_PLIES: u32 = 3;

/// Number of positions that a thread expands at a time.
const BATCH: usize = 1024;

/// The code of a position, and the number of sequences that lead to the position or its images under symmetries.
type Ways = (u64, u64);

/// Mean number of entries that are sorted at a time when batches are combined. Sorting them takes some milliseconds.
const RANGE: u64 = 1 << 16;

/// Bytes of a generated position. It is stored three times: in its batch, in its range, and in the list of the ply
/// while the ranges are copied to this list.
const FOUND_BYTES: u64 = 3 * size_of::<Ways>() as u64;

/// Parts of the progress of [`Perft::merged_divide`] for each move.
const PARTS_OF_MOVE: u64 = 1000;

impl Perft<'_> {
    /// Number of move sequences of exactly `depth` plies, like [`Perft::count`], on the current
    /// rayon pool. Lists of positions take up to `memory` bytes. With less memory, counting takes longer. Calls
    /// `progress`, from any thread, with the number of finished positions of the last list and the length of this list,
    /// which is unknown until the list is complete.
    ///
    /// # Errors
    /// If `stop` becomes true (within some milliseconds), or if the number of sequences, or of those to an earlier
    /// ply, does not fit into 64 bits.
    pub fn merged(
        &self,
        position: &Position,
        depth: u32,
        memory: u64,
        progress: &(dyn Fn(u64, u64) + Sync),
        stop: &AtomicBool,
    ) -> Result<u64, PerftError> {
        if depth > Self::MAX_PLIES {
            return Ok(0);
        }
        let mut left = depth;
        let mut layer = vec![(position.code(self.board), 1)];
        while left > PLAIN_PLIES {
            let successors = self.successors(&layer, stop);
            let found = successors * FOUND_BYTES;
            if size_of_val(&*layer) as u64 + found > memory || !is_available(found) {
                break;
            }
            layer = self.next(&layer, successors, stop)?;
            left -= 1;
        }
        let done = AtomicU64::new(0);
        let below = |stack: &mut Vec<u64>, piece: &[Ways]| {
            let mut total = 0;
            for &(code, ways) in piece {
                let position = Position::from_code(self.board, code);
                let count = self.count_until(stack, &position, left, stop)?;
                total += u128::from(count) * u128::from(ways);
            }
            let length = piece.len() as u64;
            progress(done.fetch_add(length, Ordering::Relaxed) + length, layer.len() as u64);
            Ok(total)
        };
        let pieces = layer.par_chunks((layer.len() / MIN_PIECES).max(1));
        let total = pieces.map_init(Vec::new, below).try_reduce(|| 0, |a, b| Ok(a + b))?;
        u64::try_from(total).map_err(|_| PerftError::TooMany)
    }

    /// For each move of the position, the number of sequences of `depth` plies that begin with this move, computed by
    /// [`Perft::merged`]. Moves to equivalent positions share one computation. Depth 0 is the same as 1. Each
    /// move has an equal share of the total of `progress`.
    ///
    /// # Errors
    /// As [`Perft::merged`].
    pub fn merged_divide(
        &self,
        position: &Position,
        depth: u32,
        memory: u64,
        progress: &(dyn Fn(u64, u64) + Sync),
        stop: &AtomicBool,
    ) -> Result<Vec<(Move, u64)>, PerftError> {
        let mut known: Vec<Ways> = Vec::new();
        let moves = position.moves(self.board);
        let all = moves.len() as u64 * PARTS_OF_MOVE;
        let mut count = |(before, mv)| {
            let next = position.play(self.board, mv);
            let code = next.code(self.board);
            if let Some(&(_, count)) = known.iter().find(|&&(other, _)| other == code) {
                return Ok((mv, count));
            }
            let part = |done: u64, of: u64| {
                progress(before * PARTS_OF_MOVE + done * PARTS_OF_MOVE / of, all);
            };
            let count = self.merged(&next, depth.max(1) - 1, memory, &part, stop)?;
            known.push((code, count));
            Ok((mv, count))
        };
        (0..).zip(moves).map(&mut count).collect()
    }

    /// Total number of moves in all positions of the layer, which is the number of successors before equal ones are
    /// merged. The result may be too small if `stop` is true.
    fn successors(&self, layer: &[Ways], stop: &AtomicBool) -> u64 {
        let moves = |&(code, _): &Ways| {
            u64::from(Position::from_code(self.board, code).count_moves(self.board))
        };
        let batches = layer.par_chunks(BATCH).take_any_while(|_| !stop.load(Ordering::Relaxed));
        batches.map(|batch| batch.iter().map(moves).sum::<u64>()).sum()
    }

    /// The list of the next ply. `successors` is its length before equal positions are merged.
    ///
    /// Each batch of the layer is expanded, sorted and merged. Then, for each range of keys, the entries of all
    /// batches in the range are combined, sorted and merged. Batches and ranges are small, so that the stop flag is
    /// read often.
    fn next(
        &self,
        layer: &[Ways],
        successors: u64,
        stop: &AtomicBool,
    ) -> Result<Vec<Ways>, PerftError> {
        let check = || match stop.load(Ordering::Relaxed) {
            true => Err(PerftError::Interrupted),
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

/// The key by which entries are sorted. It mixes the bits of the code, so that ranges have similar numbers of
/// entries. Different codes have different keys.
fn key(code: u64) -> u64 {
    code.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Index of the range that contains the key of `code`, if the keys are divided into `ranges` ranges of equal width in
/// increasing order.
fn range_of(code: u64, ranges: u64) -> u64 {
    ((u128::from(key(code)) * u128::from(ranges)) >> 64) as u64
}

/// Sorts a list by keys and merges entries with the same code.
fn merge(list: &mut Vec<Ways>) -> Result<(), PerftError> {
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
    if fits { Ok(()) } else { Err(PerftError::TooMany) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_one_position_are_added_or_overflow() {
        let mut list = vec![(1, 2), (4, 7), (1, 3), (1, u64::MAX - 5)];
        assert_eq!(merge(&mut list), Ok(()));
        list.sort_unstable();
        assert_eq!(list, [(1, u64::MAX), (4, 7)]);
        let mut list = vec![(1, 2), (1, u64::MAX - 1)];
        assert_eq!(merge(&mut list), Err(PerftError::TooMany));
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
