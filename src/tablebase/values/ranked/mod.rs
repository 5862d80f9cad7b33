//! The ranked method: computes values layer by layer, in ascending order of the number of stones. It is for
//! boards that are too large for a sweep over all white patterns, and for positions with few stones. White
//! patterns are indexed by their combinadic ranks.
//!
//! A jump takes at most [`Board::longest_jump`](crate::konane::Board::longest_jump) stones. So the values of the
//! positions with `n` stones follow from those with `n - longest_jump` to `n - 1` stones. A *block* holds the
//! positions with the same side to move, number of black stones and number of white stones. It is computed row
//! by row: a row has one canonical black pattern and all white patterns of the block. Rows are independent of
//! each other.
//!
//! The effect of a jump on a row is a list of pairs of runs of ranks: the positions of one run are before the
//! jump, those of the other run are after it (`relation`). If the black pattern after the jump is canonical, a
//! run is copied word by word (`bits`). Otherwise the bits of the run are gathered one by one: a table has the
//! ranks of the white patterns after the symmetry that leads to the canonical black pattern.
//!
//! # Remoteness
//!
//! If the value of a position has more than one bit, a row has one plane for each bit ([`remoteness`]). For the
//! positions of a run, the greater of two ranks is then taken instead of the union of the wins.
//!
//! # Memory
//!
//! The kept layers need one bit in each plane for every position. The tables of ranks need 4 bytes for every
//! white pattern and every symmetry except the identity. They are computed only for the numbers of white stones
//! that are needed.

mod bits;
mod relation;

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use bits::{bits_at, for_each_word, for_each_word_of_planes, gather_bits, low_bits, or_bits};
use bits::{read_bits, xor_bits};
use relation::Relation;

use super::jumps::{Jump, jumps};
use super::remoteness::{self, MAX_PLANES};
use crate::konane::Colour;
use crate::tablebase::index::Index;

/// The bits of a block, followed by padding so that a word can be read from any bit on. With several planes,
/// they are the ranks of moves to the positions of the block ([`remoteness::ranks_of_moves`]).
struct KeptBlock {
    bytes: Vec<u8>,
    /// Bytes of a row, all planes together.
    row_bytes: usize,
}

/// Number of bytes after the last row that may be read and have no meaning.
const PADDING: usize = 16;

impl KeptBlock {
    fn new(mut bytes: Vec<u8>, row_bytes: usize) -> Self {
        bytes.resize(bytes.len() + PADDING, 0);
        KeptBlock { bytes, row_bytes }
    }

    /// Returns a row and all bytes after it.
    #[inline]
    fn row(&self, row: u32) -> &[u8] {
        &self.bytes[row as usize * self.row_bytes..]
    }
}

/// Computes blocks from kept blocks with fewer stones.
///
/// Blocks with White to move are computed and kept like those with Black to move. On boards where the colours
/// can be exchanged, this doubles the memory of the kept layers, but it avoids the scattered reads of an
/// exchange. The last layer, which has most of the positions, need not be kept.
pub struct RankedLayers<'a> {
    index: &'a Index,
    planes: usize,
    /// Jumps of each side, with their effect on the ranks of white patterns.
    jumps: [Vec<(Jump, Relation)>; 2],
    /// `permuted[g - 1][n]`: the ranks of the images under symmetry `g` of all patterns with `n` white stones.
    permuted: Vec<Vec<OnceLock<Box<[u32]>>>>,
    /// By numbers of black and white stones, then by side to move.
    blocks: BTreeMap<(u32, u32), [Option<KeptBlock>; 2]>,
}

impl<'a> RankedLayers<'a> {
    /// Creates the tables of a board, without values. The value of a position has `planes` bits: 1 for
    /// outcomes, more for remotenesses.
    pub fn new(index: &'a Index, planes: u32) -> Self {
        let numbering = index.numbering();
        let white = numbering.count(Colour::White);
        let permuted = (1..numbering.symmetries())
            .map(|_| (0..=white).map(|_| OnceLock::new()).collect())
            .collect();
        let jumps = [Colour::Black, Colour::White].map(|mover| {
            let ranked = |jump: Jump| {
                let Jump { from, to, landings, taken } = jump;
                let relation = match mover {
                    Colour::Black => Relation::new(taken, taken, 0),
                    Colour::White => Relation::new(from | landings, from, to),
                };
                (jump, relation)
            };
            jumps(index.board(), numbering, mover).into_iter().map(ranked).collect()
        });
        let planes = planes as usize;
        RankedLayers { index, planes, jumps, permuted, blocks: BTreeMap::new() }
    }

    /// Bytes of one plane of a row of a block with this number of white stones.
    pub fn row_bytes(&self, white: u32) -> usize {
        (self.index.ranks(Colour::White).count(white) as usize).div_ceil(8)
    }

    /// Keeps a finished block, for computing blocks with more stones.
    ///
    /// # Panics
    /// If `bytes` does not have the length of the block: rows times planes times [`RankedLayers::row_bytes`].
    pub fn keep(&mut self, to_move: Colour, black: u32, white: u32, mut bytes: Vec<u8>) {
        let row_bytes = self.row_bytes(white) * self.planes;
        assert_eq!(bytes.len(), row_bytes * self.index.rows(black) as usize);
        if self.planes > 1 {
            let rows = bytes.par_chunks_exact_mut(row_bytes);
            rows.for_each(|row| {
                for_each_word_of_planes(row, self.planes, remoteness::ranks_of_moves)
            });
        }
        let sides = self.blocks.entry((black, white)).or_default();
        sides[to_move.index()] = Some(KeptBlock::new(bytes, row_bytes));
    }

    /// Drops the blocks with fewer stones than this.
    pub fn forget_below(&mut self, stones: u32) {
        self.blocks.retain(|&(black, white), _| black + white >= stones);
    }

    /// Returns true if a block is kept.
    pub fn has(&self, to_move: Colour, black: u32, white: u32) -> bool {
        self.blocks.get(&(black, white)).is_some_and(|sides| sides[to_move.index()].is_some())
    }

    /// Computes the values of a block. The rows have the order of the canonical black patterns. A row has its
    /// planes from the lowest bit on, each padded to whole bytes. Calls `progress` after every row with the
    /// number of positions in the row.
    ///
    /// Runs on the rayon pool in which it is called. The result does not depend on the number of threads.
    ///
    /// Returns `None` if `stop` was set before all rows were computed.
    ///
    /// # Panics
    /// If a block with fewer stones is needed but not kept.
    pub fn compute(
        &self,
        to_move: Colour,
        black: u32,
        white: u32,
        stop: &AtomicBool,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Option<Vec<u8>> {
        let patterns = self.index.orbits(black).patterns();
        let plane_bytes = self.row_bytes(white);
        let row_bytes = plane_bytes * self.planes;
        let columns = u64::from(self.index.ranks(Colour::White).count(white));
        // The capacity includes the padding, so that `keep` need not copy the block.
        let mut bytes = Vec::with_capacity(patterns.len() * row_bytes + PADDING);
        bytes.resize(patterns.len() * row_bytes, 0);
        // Two more words than the plane needs: even the last bits are read and written in two words.
        let words = plane_bytes.div_ceil(8) + 2;
        bytes.par_chunks_mut(row_bytes).zip(patterns).try_for_each_init(
            || vec![0u64; words * self.planes],
            |row, (out, &pattern)| {
                if stop.load(Ordering::Relaxed) {
                    return None;
                }
                row.fill(0);
                self.compute_row(to_move, pattern, white, row);
                for (out, plane) in out.chunks_exact_mut(plane_bytes).zip(row.chunks_exact(words)) {
                    for (bytes, word) in out.chunks_mut(8).zip(plane) {
                        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
                    }
                }
                if self.planes > 1 {
                    for_each_word_of_planes(out, self.planes, remoteness::exchange_ranks);
                }
                progress(columns);
                Some(())
            },
        )?;
        Some(bytes)
    }

    fn compute_row(&self, to_move: Colour, pattern: u32, white: u32, row: &mut [u64]) {
        let black = pattern.count_ones();
        for (jump, relation) in &self.jumps[to_move.index()] {
            let taken = jump.taken.count_ones();
            match to_move {
                Colour::Black => {
                    if pattern & jump.from != 0 && pattern & jump.landings == 0 && taken <= white {
                        let next = pattern ^ jump.from ^ jump.to;
                        self.add(relation, (Colour::White, next, black, white - taken), white, row);
                    }
                }
                Colour::White => {
                    if pattern & jump.taken == jump.taken && white > 0 {
                        let next = pattern ^ jump.taken;
                        self.add(relation, (Colour::Black, next, black - taken, white), white, row);
                    }
                }
            }
        }
    }

    /// Adds to a row the positions that a jump wins: those that have a lost position after the jump. The tuple
    /// has the side to move, the black pattern and the numbers of black and white stones after the jump; `white`
    /// is the number of white stones before it.
    fn add(
        &self,
        relation: &Relation,
        (to_move, pattern, black, after): (Colour, u32, u32, u32),
        white: u32,
        row: &mut [u64],
    ) {
        let numbering = self.index.numbering();
        let orbits = self.index.orbits(black);
        let canonical = orbits.row(numbering, self.index.ranks(Colour::Black), pattern);
        let block = self.blocks.get(&(black, after)).and_then(|b| b[to_move.index()].as_ref());
        let block = block.unwrap_or_else(|| {
            panic!("{to_move} to move with {black} black and {after} white stones is not kept")
        });
        let source = block.row(canonical.index);
        let (squares, binomials) = (numbering.count(Colour::White), self.binomials());
        let ranks = match canonical.symmetry {
            0 => None,
            symmetry => Some(self.permuted(usize::from(symmetry), after)),
        };
        if self.planes > 1 {
            return self.add_ranks(relation, white, (source, self.row_bytes(after), ranks), row);
        }
        if let Some(ranks) = ranks {
            relation.for_each_run(binomials, squares, white, &mut |to, from, length| {
                for_each_word(to, from, length, |to, from, length| {
                    let mut lost = 0;
                    for (i, &rank) in ranks[from..from + length].iter().enumerate() {
                        let bit = !source[rank as usize / 8] >> (rank % 8) & 1;
                        lost |= u64::from(bit) << i;
                    }
                    or_bits(row, to, lost);
                });
            });
        } else {
            relation.for_each_run(binomials, squares, white, &mut |to, from, length| {
                for_each_word(to, from, length, |to, from, length| {
                    or_bits(row, to, !read_bits(source, from) & low_bits(length));
                });
            });
        }
    }

    /// The same for several planes: each rank in `row` becomes the greater of itself and the rank of the jump,
    /// which is in `source`. A plane of `source` has `source_bytes` bytes. If `images` is given, it has the
    /// indices of the ranks in `source`.
    fn add_ranks(
        &self,
        relation: &Relation,
        white: u32,
        (source, source_bytes, images): (&[u8], usize, Option<&[u32]>),
        row: &mut [u64],
    ) {
        let squares = self.index.numbering().count(Colour::White);
        let (planes, words) = (self.planes, row.len() / self.planes);
        let (mut moves, mut here) = ([0; MAX_PLANES], [0; MAX_PLANES]);
        relation.for_each_run(self.binomials(), squares, white, &mut |to, from, length| {
            for_each_word(to, from, length, |to, from, length| {
                for plane in 0..planes {
                    let source = &source[plane * source_bytes..];
                    moves[plane] = match images {
                        None => read_bits(source, from) & low_bits(length),
                        Some(images) => gather_bits(source, &images[from..from + length]),
                    };
                    here[plane] = bits_at(&row[plane * words..], to) & low_bits(length);
                }
                let greater = remoteness::greater(&moves[..planes], &here[..planes]);
                for plane in 0..planes {
                    let changed = (moves[plane] ^ here[plane]) & greater;
                    xor_bits(&mut row[plane * words..], to, changed);
                }
            });
        });
    }

    fn binomials(&self) -> &[[u32; 33]; 33] {
        self.index.ranks(Colour::White).binomials()
    }

    /// Returns the ranks of the images of all patterns with `white` stones under a symmetry.
    fn permuted(&self, symmetry: usize, white: u32) -> &[u32] {
        self.permuted[symmetry - 1][white as usize].get_or_init(|| {
            let ranks = self.index.ranks(Colour::White);
            let image = |p| ranks.rank(self.index.numbering().image(Colour::White, symmetry, p));
            ranks.patterns(white).map(image).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::Board;
    use crate::konane::{Move, Position};
    use crate::tablebase::index::Address;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Computes all blocks with up to `stones` stones.
    fn build(index: &Index, stones: u32, threads: usize) -> HashMap<(Colour, u32, u32), Vec<u8>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut layers = RankedLayers::new(index, 1);
        let counts = [Colour::Black, Colour::White].map(|c| index.numbering().count(c));
        let mut blocks = HashMap::new();
        let stop = AtomicBool::new(false);
        for n in 0..=stones {
            layers.forget_below(n.saturating_sub(index.board().longest_jump()));
            for black in n.saturating_sub(counts[1])..=n.min(counts[0]) {
                for to_move in [Colour::Black, Colour::White] {
                    let compute = || layers.compute(to_move, black, n - black, &stop, &|_| {});
                    let bytes = pool.install(compute).unwrap();
                    layers.keep(to_move, black, n - black, bytes.clone());
                    blocks.insert((to_move, black, n - black), bytes);
                }
            }
        }
        blocks
    }

    fn value(
        index: &Index,
        blocks: &HashMap<(Colour, u32, u32), Vec<u8>>,
        occupied: u64,
        to_move: Colour,
    ) -> bool {
        let Address { to_move, black, white, row, column } = index.address(occupied, to_move);
        let row_bytes = (index.ranks(Colour::White).count(white) as usize).div_ceil(8);
        let at = row as usize * row_bytes + column as usize / 8;
        blocks[&(to_move, black, white)][at] >> (column % 8) & 1 == 1
    }

    /// Returns the positions after all jumps. Jumps are also made on a board with one empty square, which in a
    /// game belongs to the removal phase.
    fn jumped(board: &Board, occupied: u64, to_move: Colour) -> Vec<u64> {
        let position = Position::new_unchecked(board, occupied, to_move);
        if (board.all() & !occupied).count_ones() == 0 {
            return Vec::new();
        }
        if (board.all() & !occupied).count_ones() >= 2 {
            let play = |mv| position.play(board, mv).occupied();
            return position.moves(board).into_iter().map(play).collect();
        }
        // One empty square: single jumps onto it.
        let empty = (board.all() & !occupied).trailing_zeros() as i32;
        let (ranks, files) = (board.dimensions().ranks() as i32, board.dimensions().files() as i32);
        let mut after = Vec::new();
        if board.colour_of(empty as u32) == to_move {
            for (down, right) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
                let (rank, file) = (empty / files + 2 * down, empty % files + 2 * right);
                if (0..ranks).contains(&rank) && (0..files).contains(&file) {
                    let over = empty + down * files + right;
                    after.push(occupied ^ 1 << empty ^ 1 << over ^ 1 << (rank * files + file));
                }
            }
        }
        after
    }

    /// Computes the values of all sets of stones, in ascending order of the number of stones, because a jump leads
    /// to a set with fewer stones.
    fn oracle(board: &Board, mut visit: impl FnMut(u64, Colour, bool)) {
        let mut wins: [Vec<bool>; 2] = [0, 1].map(|_| vec![false; board.all() as usize + 1]);
        let mut sets: Vec<u64> = (0..=board.all()).collect();
        sets.sort_by_key(|set| set.count_ones());
        for occupied in sets {
            for to_move in [Colour::Black, Colour::White] {
                let successors = jumped(board, occupied, to_move);
                let win = successors.iter().any(|&s| !wins[(!to_move).index()][s as usize]);
                wins[to_move.index()][occupied as usize] = win;
                visit(occupied, to_move, win);
            }
        }
    }

    #[test]
    fn whole_boards_against_plain_recursion() {
        for size in ["1x1", "1x2", "2x2", "3x3", "1x9", "9x1", "2x5", "3x4", "4x3", "3x5", "4x4"] {
            let board = Board::new(size.parse().unwrap());
            let index = Index::new(board.clone(), false);
            let blocks = build(&index, board.dimensions().squares(), 1);
            let mut wins = [0; 2];
            oracle(&board, |occupied, to_move, win| {
                let found = value(&index, &blocks, occupied, to_move);
                assert_eq!(found, win, "{size} {occupied:x} {to_move}");
                wins[to_move.index()] += u64::from(win);
            });
            if size == "4x4" {
                assert_eq!(wins, [33547, 33547]);
            }
        }
    }

    #[test]
    fn the_result_does_not_depend_on_the_number_of_threads() {
        let board = Board::new("5x6".parse().unwrap());
        let index = Index::new(board, false);
        let one = build(&index, 7, 1);
        assert_eq!(one, build(&index, 7, 2));
        assert_eq!(one, build(&index, 7, 5));
    }

    #[test]
    fn a_set_stop_flag_ends_the_computation() {
        let index = Index::new(Board::new("4x4".parse().unwrap()), false);
        let layers = RankedLayers::new(&index, 1);
        let stop = AtomicBool::new(true);
        assert_eq!(layers.compute(Colour::Black, 0, 0, &stop, &|_| {}), None);
    }

    #[test]
    fn values_on_large_boards_agree_with_those_of_the_successors() {
        // The values of random positions are compared with the values of their successors.
        for (size, stones) in [("5x5", 12), ("7x7", 5), ("8x8", 4), ("1x40", 6), ("3x21", 4)] {
            let board = Board::new(size.parse().unwrap());
            let index = Index::new(board.clone(), false);
            let blocks = build(&index, stones, 2);
            let mut runner = proptest::test_runner::TestRunner::default();
            let stones = prop::sample::subsequence(
                (0..board.dimensions().squares()).collect::<Vec<_>>(),
                0..=stones as usize,
            );
            runner
                .run(&stones, |stones| {
                    let occupied = stones.iter().fold(0, |set, &square| set | 1u64 << square);
                    for to_move in [Colour::Black, Colour::White] {
                        let position = Position::new_unchecked(&board, occupied, to_move);
                        let win = position.moves(&board).into_iter().any(|mv: Move| {
                            let next = position.play(&board, mv);
                            !value(&index, &blocks, next.occupied(), next.to_move())
                        });
                        prop_assert_eq!(value(&index, &blocks, occupied, to_move), win);
                    }
                    Ok(())
                })
                .unwrap();
        }
    }
}
