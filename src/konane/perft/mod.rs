//! [`Perft`]: the number of move sequences of a given length (thesis, Table B.1), and the number of
//! positions first reached at each ply (Table B.2).
//!
//! Sequences are counted in two ways: one by one, which tests the generation of moves, and with equal positions
//! merged ([`Perft::merged`]), which is several times faster.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ahash::AHashSet;
use rayon::prelude::*;

mod merged;

use super::board::Board;
use super::kernels::Jumps;
use super::moves::Move;
use super::position::{Phase, Position};
use crate::error::ErrorKind;
use crate::system::{is_available, try_reserve_in_set};

/// Maximum depth of a count that does not read the stop flag. Such a count takes some milliseconds on 8×8, even from
/// positions with the most moves.
const UNINTERRUPTED_PLIES: u32 = 5;

/// [`Perft::divide`] divides the tree ply by ply until there are at least this many pieces. With that many pieces, all
/// threads are busy to the end although the sizes of the pieces differ widely.
const MIN_PIECES: usize = 4096;

/// Maximum number of bytes for each position in the sets of [`Perft::unique_plies`]. A set takes most bytes for each
/// position when its capacity has just doubled.
const KNOWN_BYTES: u64 = 32;

/// Bytes of a generated position: 8 in the list of generated positions, and 16 in the list from which they are
/// expanded.
const FOUND_BYTES: u64 = 24;

/// Error of a count of sequences or positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PerftError {
    /// The stop flag was set.
    #[error("interrupted")]
    Interrupted,
    /// The number of sequences, or of those to an earlier ply, does not fit into 64 bits.
    #[error("the count does not fit into 64 bits")]
    TooMany,
    /// The positions of the next ply might not fit into the memory limit.
    #[error("memory")]
    Memory,
}

impl PerftError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            PerftError::Interrupted => ErrorKind::Interrupted,
            PerftError::TooMany | PerftError::Memory => ErrorKind::Limit,
        }
    }
}

/// Counts move sequences from positions of one board. It contains precomputed tables of the board, so threads should
/// share it.
#[derive(Debug)]
pub struct Perft<'a> {
    board: &'a Board,
    jumps: Jumps,
}

impl<'a> Perft<'a> {
    /// Upper bound of the number of plies of a game: every ply removes a stone.
    pub const MAX_PLIES: u32 = 64;

    /// Creates the tables of a board.
    pub fn new(board: &'a Board) -> Self {
        Perft { board, jumps: Jumps::new(board) }
    }

    /// Number of move sequences of exactly `depth` plies; 1 for depth 0. Counts on one thread. Visits
    /// every position before the last ply, in some 3 ns each, and counts the moves of the last ply without making them.
    pub fn count(&self, position: &Position, depth: u32) -> u64 {
        // No game is longer. This check also bounds the size of the stack, which has a list for each ply.
        if depth > Self::MAX_PLIES {
            return 0;
        }
        self.count_in(&mut Vec::new(), position, depth)
    }

    /// [`Perft::count`] with a reusable buffer for lists of positions.
    fn count_in(&self, stack: &mut Vec<u64>, position: &Position, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if position.phase(self.board) == Phase::Jumping {
            let (occupied, mover) = (position.occupied(), position.to_move());
            return self.jumps.perft(stack, occupied, mover, depth);
        }
        let moves = position.moves(self.board).into_iter();
        moves.map(|mv| self.count_in(stack, &position.play(self.board, mv), depth - 1)).sum()
    }

    /// [`Perft::count`], which also reads `stop` every few milliseconds and returns an error if it is true.
    fn count_until(
        &self,
        stack: &mut Vec<u64>,
        position: &Position,
        depth: u32,
        stop: &AtomicBool,
    ) -> Result<u64, PerftError> {
        if stop.load(Ordering::Relaxed) {
            return Err(PerftError::Interrupted);
        }
        if depth <= UNINTERRUPTED_PLIES {
            return Ok(self.count_in(stack, position, depth));
        }
        let moves = position.moves(self.board).into_iter();
        moves
            .map(|mv| self.count_until(stack, &position.play(self.board, mv), depth - 1, stop))
            .sum()
    }

    /// For each move of the position, the number of sequences of `depth` plies that begin with this move. Counts on
    /// the current rayon pool, in some thousands of pieces of the tree. Depth 0 is the same as 1.
    pub fn divide(&self, position: &Position, depth: u32) -> Vec<(Move, u64)> {
        let never = AtomicBool::new(false);
        self.divide_until(position, depth, &|_, _| (), &never).expect("the flag is not set")
    }

    /// [`Perft::divide`], which also returns an error within milliseconds after `stop` becomes true. Calls `progress`,
    /// from any thread, with the number of finished pieces and the number of all pieces.
    ///
    /// # Errors
    /// [`PerftError::Interrupted`].
    pub fn divide_until(
        &self,
        position: &Position,
        depth: u32,
        progress: &(dyn Fn(u64, u64) + Sync),
        stop: &AtomicBool,
    ) -> Result<Vec<(Move, u64)>, PerftError> {
        let depth = depth.max(1);
        let moves = position.moves(self.board);
        if depth > Self::MAX_PLIES {
            return Ok(moves.into_iter().map(|mv| (mv, 0)).collect());
        }
        // All pieces have the same remaining depth.
        let mut left = depth - 1;
        let mut pieces: Vec<(usize, Position)> = moves
            .iter()
            .enumerate()
            .map(|(index, &mv)| (index, position.play(self.board, mv)))
            .collect();
        while pieces.len() < MIN_PIECES && !pieces.is_empty() && left > 2 {
            left -= 1;
            let divide = |(index, position): (usize, Position)| {
                let moves = position.moves(self.board).into_iter();
                moves.map(move |mv| (index, position.play(self.board, mv)))
            };
            pieces = pieces.into_iter().flat_map(divide).collect();
        }
        let (done, of) = (AtomicU64::new(0), pieces.len() as u64);
        let counts = pieces.into_par_iter().map_init(Vec::new, |stack, (index, position)| {
            let count = self.count_until(stack, &position, left, stop)?;
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, of);
            Ok((index, count))
        });
        let mut totals = vec![0; moves.len()];
        for (index, count) in counts.collect::<Result<Vec<_>, _>>()? {
            totals[index] += count;
        }
        Ok(moves.into_iter().zip(totals).collect())
    }

    /// Number of positions that are first reached at each of the plies 1 to `depth`.
    ///
    /// With `symmetry`, positions that a colour-preserving symmetry maps to each other count once, as in the thesis.
    /// Symmetries that exchange the colours are not used, because they would merge positions of different plies.
    /// Every position is stored and takes some 16 bytes; positions of the last plies take more.
    pub fn unique(&self, start: &Position, depth: u32, symmetry: bool) -> Vec<u64> {
        let never = AtomicBool::new(false);
        let plies = self.unique_plies(start, symmetry, u64::MAX, &never);
        let counts = plies.take(depth as usize).collect::<Result<_, _>>();
        counts.expect("the memory suffices, and the flag is not set")
    }

    /// Iterator over the counts of [`Perft::unique`], ply by ply. It never ends: after the end of all games, the
    /// counts are 0. Do not continue after an error. An error means that `stop` became true, or that the next ply
    /// might take more than `memory` bytes. `stop` takes effect within about a second, even with millions of
    /// positions in a ply.
    pub fn unique_plies<'p>(
        &'p self,
        start: &Position,
        symmetry: bool,
        memory: u64,
        stop: &'p AtomicBool,
    ) -> impl Iterator<Item = Result<u64, PerftError>> + 'p {
        let reduce = move |occupied: u64| {
            if symmetry { self.board.symmetries().least_preserving(occupied) } else { occupied }
        };
        let start = Position::new_unchecked(self.board, reduce(start.occupied()), start.to_move());
        // The ply determines the side to move, so each side has a separate set.
        let mut seen: [AHashSet<u64>; 2] = Default::default();
        seen[start.to_move().index()].insert(start.occupied());
        let mut layer = vec![start];
        std::iter::from_fn(move || {
            let Some(first) = layer.first() else {
                return Some(Ok(0));
            };
            let side = !first.to_move();
            let known = (seen[0].len() + seen[1].len()) as u64;
            let moves = |position: &Position| u64::from(position.count_moves(self.board));
            let found: u64 = layer.par_iter().map(moves).sum();
            let needed = found * FOUND_BYTES;
            if known * KNOWN_BYTES + needed > memory || !is_available(needed) {
                return Some(Err(PerftError::Memory));
            }
            let mut next: Vec<u64> = layer
                .par_iter()
                .take_any_while(|_| !stop.load(Ordering::Relaxed))
                .flat_map_iter(|position| {
                    let board = self.board;
                    let play = move |mv| position.play(board, mv).occupied();
                    position.moves(board).into_iter().map(play).map(reduce)
                })
                .collect();
            if stop.load(Ordering::Relaxed) {
                return Some(Err(PerftError::Interrupted));
            }
            next.par_sort_unstable();
            next.dedup();
            if (known + next.len() as u64) * KNOWN_BYTES + found * FOUND_BYTES > memory {
                return Some(Err(PerftError::Memory));
            }
            let known = &mut seen[side.index()];
            if try_reserve_in_set(known, next.len()).is_err() {
                return Some(Err(PerftError::Memory));
            }
            next.retain(|&occupied| known.insert(occupied));
            layer =
                next.into_iter().map(|o| Position::new_unchecked(self.board, o, side)).collect();
            Some(Ok(layer.len() as u64))
        })
    }
}
