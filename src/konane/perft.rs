//! Perft: the number of move sequences of a given length (thesis, Table B.1), and the number of
//! distinct positions first met at each ply (Table B.2).

use ahash::AHashSet;
use rayon::prelude::*;

use super::board::Board;
use super::kernels::Jumps;
use super::moves::Move;
use super::position::{Phase, Position};

/// Counts move sequences from one position. Holds the board's tables; share it between threads.
#[derive(Debug)]
pub struct Perft<'a> {
    board: &'a Board,
    jumps: Jumps,
}

impl<'a> Perft<'a> {
    /// Prepares the tables of a board.
    pub fn new(board: &'a Board) -> Self {
        Perft {
            board,
            jumps: Jumps::new(board),
        }
    }

    /// The number of move sequences of exactly `depth` plies; 1 for depth 0.
    pub fn count(&self, position: &Position, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if position.phase(self.board) == Phase::Jumping {
            return self
                .jumps
                .perft(position.occupied(), position.to_move(), depth);
        }
        let moves = position.moves(self.board);
        moves
            .iter()
            .map(|&mv| self.count(&position.play(self.board, mv), depth - 1))
            .sum()
    }

    /// [`Perft::count`] for each move of the position, on the current rayon pool: the tree is cut
    /// into some thousands of pieces, which the pool's threads take in turn.
    pub fn divide(&self, position: &Position, depth: u32) -> Vec<(Move, u64)> {
        let depth = depth.max(1);
        let moves = position.moves(self.board);
        let mut pieces: Vec<(usize, Position, u32)> = moves
            .iter()
            .enumerate()
            .map(|(index, &mv)| (index, position.play(self.board, mv), depth - 1))
            .collect();
        while pieces.len() < 4096 && pieces.iter().any(|&(_, _, rest)| rest > 2) {
            pieces = pieces
                .into_iter()
                .flat_map(|(index, position, rest)| {
                    let moves = if rest > 2 {
                        position.moves(self.board)
                    } else {
                        Vec::new()
                    };
                    let next: Vec<_> = moves
                        .iter()
                        .map(|&mv| (index, position.play(self.board, mv), rest - 1))
                        .collect();
                    if rest > 2 {
                        next
                    } else {
                        vec![(index, position, rest)]
                    }
                })
                .collect();
        }
        let counts: Vec<(usize, u64)> = pieces
            .into_par_iter()
            .map(|(index, position, rest)| (index, self.count(&position, rest)))
            .collect();
        let mut totals = vec![0; moves.len()];
        for (index, count) in counts {
            totals[index] += count;
        }
        moves.into_iter().zip(totals).collect()
    }

    /// The number of positions that are first met at each of the plies 1 to `depth`.
    ///
    /// With `symmetry`, positions that a colour-preserving symmetry maps to each other count once
    /// (that is the reduction of the thesis; exchanging the colours would also merge positions of
    /// different plies). Keeps every position in memory, about 16 bytes each.
    pub fn unique(&self, start: &Position, depth: u32, symmetry: bool) -> Vec<u64> {
        let reduce = |occupied: u64| {
            if symmetry {
                self.board.symmetries().least_preserving(occupied)
            } else {
                occupied
            }
        };
        // Ply and side to move go together, so each side has a set of its own.
        let mut seen: [AHashSet<u64>; 2] = Default::default();
        let mut layer = vec![Position::new_unchecked(
            reduce(start.occupied()),
            start.to_move(),
        )];
        seen[start.to_move().index()].insert(layer[0].occupied());
        let mut counts = Vec::new();
        for _ in 0..depth {
            let mut next: Vec<u64> = layer
                .par_iter()
                .flat_map_iter(|position| {
                    let board = self.board;
                    let play = move |mv| position.play(board, mv).occupied();
                    position.moves(board).into_iter().map(play).map(reduce)
                })
                .collect();
            next.par_sort_unstable();
            next.dedup();
            let Some(first) = layer.first() else {
                counts.push(0);
                continue;
            };
            let side = !first.to_move();
            let known = &mut seen[side.index()];
            next.retain(|&occupied| known.insert(occupied));
            layer = next
                .into_iter()
                .map(|o| Position::new_unchecked(o, side))
                .collect();
            counts.push(layer.len() as u64);
        }
        counts
    }
}
