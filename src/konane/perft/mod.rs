//! Perft: the number of move sequences of a given length (thesis, Table B.1), and the number of
//! distinct positions first met at each ply (Table B.2).
//!
//! Sequences are counted in two ways. Here one by one, which tests the generation of moves; in
//! [`merged`](Perft::merged) with equal positions counted once, which is several times faster.

use std::sync::atomic::{AtomicBool, Ordering};

use ahash::AHashSet;
use rayon::prelude::*;

mod merged;

use super::board::Board;
use super::kernels::Jumps;
use super::moves::Move;
use super::position::{Phase, Position};
use crate::error::ErrorKind;
use crate::system::{is_available, try_reserve_in_set};

/// Plies that are counted without a look at the stop flag: some milliseconds on 8×8, also where there
/// are the most moves.
const UNINTERRUPTED: u32 = 5;

/// Pieces into which [`Perft::divide`] cuts a tree, at least, where it is large enough: enough for
/// pieces of very different sizes to keep all threads busy to the end.
const PIECES: usize = 4096;

/// Memory of a position in [`Perft::unique`]: in a set that grows to twice its size at times.
const KNOWN_BYTES: u64 = 32;

/// Memory of a position in the list of a ply, as it is found and as it is expanded.
const FOUND_BYTES: u64 = 24;

/// Why sequences or positions were not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Uncounted {
    /// Somebody set the stop flag.
    #[error("interrupted")]
    Interrupted,
    /// The count, or that of a ply before, is no number of 64 bits.
    #[error("64 bits do not hold the count")]
    TooMany,
    /// The positions of the next ply might not fit into the memory that may be used.
    #[error("memory")]
    Memory,
}

impl Uncounted {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Uncounted::Interrupted => ErrorKind::Interrupted,
            Uncounted::TooMany | Uncounted::Memory => ErrorKind::Limit,
        }
    }
}

/// Counts move sequences from one position. Holds the board's tables; share it between threads.
#[derive(Debug)]
pub struct Perft<'a> {
    board: &'a Board,
    jumps: Jumps,
}

impl<'a> Perft<'a> {
    /// Most plies that a game can have, rounded up: every ply removes a stone. Of more plies there is
    /// no sequence.
    pub const MOST_PLIES: u32 = 64;

    /// Prepares the tables of a board.
    pub fn new(board: &'a Board) -> Self {
        Perft { board, jumps: Jumps::new(board) }
    }

    /// The number of move sequences of exactly `depth` plies, on one thread, one by one but for the
    /// last ply; 1 for depth 0. Some 3 ns for each position before the last ply.
    pub fn count(&self, position: &Position, depth: u32) -> u64 {
        // Each ply takes room for a list.
        if depth > Self::MOST_PLIES {
            return 0;
        }
        self.count_in(&mut Vec::new(), position, depth)
    }

    /// [`Perft::count`] with room for lists of positions, which the caller keeps.
    fn count_in(&self, stack: &mut Vec<u64>, position: &Position, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if position.phase(self.board) == Phase::Jumping {
            let (occupied, mover) = (position.occupied(), position.to_move());
            return self.jumps.perft_in(stack, occupied, mover, depth);
        }
        let moves = position.moves(self.board).into_iter();
        moves.map(|mv| self.count_in(stack, &position.play(self.board, mv), depth - 1)).sum()
    }

    /// [`Perft::count`], given up when `stop` is true, which is looked at every few milliseconds.
    fn count_until(
        &self,
        stack: &mut Vec<u64>,
        position: &Position,
        depth: u32,
        stop: &AtomicBool,
    ) -> Result<u64, Uncounted> {
        if stop.load(Ordering::Relaxed) {
            return Err(Uncounted::Interrupted);
        }
        if depth <= UNINTERRUPTED {
            return Ok(self.count_in(stack, position, depth));
        }
        let moves = position.moves(self.board).into_iter();
        moves
            .map(|mv| self.count_until(stack, &position.play(self.board, mv), depth - 1, stop))
            .sum()
    }

    /// [`Perft::count`] for each move of the position, on the current rayon pool: the tree is cut
    /// into some thousands of pieces, which the pool's threads take in turn. Depth 0 counts as 1.
    pub fn divide(&self, position: &Position, depth: u32) -> Vec<(Move, u64)> {
        self.divide_until(position, depth, &AtomicBool::new(false)).expect("nobody sets the flag")
    }

    /// [`Perft::divide`], given up within milliseconds when `stop` becomes true.
    ///
    /// # Errors
    /// [`Uncounted::Interrupted`].
    pub fn divide_until(
        &self,
        position: &Position,
        depth: u32,
        stop: &AtomicBool,
    ) -> Result<Vec<(Move, u64)>, Uncounted> {
        let depth = depth.max(1);
        let moves = position.moves(self.board);
        if depth > Self::MOST_PLIES {
            return Ok(moves.into_iter().map(|mv| (mv, 0)).collect());
        }
        // All pieces have the same depth left.
        let mut left = depth - 1;
        let mut pieces: Vec<(usize, Position)> = moves
            .iter()
            .enumerate()
            .map(|(index, &mv)| (index, position.play(self.board, mv)))
            .collect();
        while pieces.len() < PIECES && !pieces.is_empty() && left > 2 {
            left -= 1;
            let cut = |(index, position): (usize, Position)| {
                let moves = position.moves(self.board).into_iter();
                moves.map(move |mv| (index, position.play(self.board, mv)))
            };
            pieces = pieces.into_iter().flat_map(cut).collect();
        }
        let counts = pieces.into_par_iter().map_init(Vec::new, |stack, (index, position)| {
            Ok((index, self.count_until(stack, &position, left, stop)?))
        });
        let mut totals = vec![0; moves.len()];
        for (index, count) in counts.collect::<Result<Vec<_>, _>>()? {
            totals[index] += count;
        }
        Ok(moves.into_iter().zip(totals).collect())
    }

    /// The number of positions that are first met at each of the plies 1 to `depth`.
    ///
    /// With `symmetry`, positions that a colour-preserving symmetry maps to each other count once
    /// (that is the reduction of the thesis; exchanging the colours would also merge positions of
    /// different plies). Keeps every position in memory, some 16 bytes each and the last plies more.
    pub fn unique(&self, start: &Position, depth: u32, symmetry: bool) -> Vec<u64> {
        let never = AtomicBool::new(false);
        let plies = self.unique_plies(start, symmetry, u64::MAX, &never);
        let counts = plies.take(depth as usize).collect::<Result<_, _>>();
        counts.expect("there is memory, and nobody sets the flag")
    }

    /// [`Perft::unique`] ply by ply, without end (0 once all games are over). The last item says why
    /// it ends early: because `stop` became true, which is seen within about a second even with
    /// millions of positions in a ply, or because the next ply might take more than `memory` bytes.
    pub fn unique_plies<'p>(
        &'p self,
        start: &Position,
        symmetry: bool,
        memory: u64,
        stop: &'p AtomicBool,
    ) -> impl Iterator<Item = Result<u64, Uncounted>> + 'p {
        let reduce = move |occupied: u64| {
            if symmetry { self.board.symmetries().least_preserving(occupied) } else { occupied }
        };
        let start = Position::new_unchecked(self.board, reduce(start.occupied()), start.to_move());
        // Ply and side to move go together, so each side has a set of its own.
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
                return Some(Err(Uncounted::Memory));
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
                return Some(Err(Uncounted::Interrupted));
            }
            next.par_sort_unstable();
            next.dedup();
            if (known + next.len() as u64) * KNOWN_BYTES + found * FOUND_BYTES > memory {
                return Some(Err(Uncounted::Memory));
            }
            let known = &mut seen[side.index()];
            if try_reserve_in_set(known, next.len()).is_err() {
                return Some(Err(Uncounted::Memory));
            }
            next.retain(|&occupied| known.insert(occupied));
            layer =
                next.into_iter().map(|o| Position::new_unchecked(self.board, o, side)).collect();
            Some(Ok(layer.len() as u64))
        })
    }
}
