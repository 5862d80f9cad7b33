//! The bit-parallel sweep: computes the values of all positions of a board in one pass, a whole row at a time.
//!
//! A *row* belongs to a black pattern and a side to move. It has one bit for each white pattern.
//! `black_wins[B]` has the positions that Black wins with Black to move, `white_wins[B]` those that
//! White wins with White to move. A white jump from f to t over the stones M leads from (B, W) to
//! (B∖M, W∖{f}∪{t}), a black jump from (B, W) to (B∖{f}∪{t}, W∖M). Therefore
//!
//! * `white_wins[B]` is computed from rows `black_wins` with fewer black stones, and
//! * `black_wins[B]` is computed from rows `white_wins` with the same number of black stones.
//!
//! So rows are computed in ascending order of the number of black stones. For each number, first all rows
//! `white_wins` are computed in parallel, then all rows `black_wins`.
//!
//! A jump is one masked operation on a row: the union (OR) with the inverse of the row after the jump
//! ([`row_ops`]). If the value of a position has several bits, the operation takes the greater of two ranks
//! instead ([`remoteness`](crate::tablebase::values::remoteness)). Only rows of canonical black patterns are
//! stored. The row of another black pattern is computed when it is needed, as the image of the canonical row
//! under a symmetry.

mod columns;
pub mod row_ops;
mod scatter;

use std::io;
use std::ops::Range;
use std::sync::Mutex;

use bitvec::prelude::{BitSlice, Lsb0};
use bitvec::view::BitView;
use memmap2::MmapMut;
use rayon::prelude::*;

pub use columns::Columns;
pub use row_ops::row_words;
use row_ops::{RowJump, RowOps, RowPermutation};
pub use scatter::Targets;

use super::jumps::{Jump, jumps};
use crate::konane::Colour;
use crate::system::zeroed;
use crate::tablebase::index::{Index, Row, SquareNumbers};

/// Words that are initially zero, in huge pages if the system has them.
#[derive(Debug)]
pub struct MappedWords(Option<MmapMut>);

impl MappedWords {
    /// Reserves `length` words. The system provides each page when it is first accessed.
    ///
    /// # Errors
    /// If the system has no address space of this length.
    pub fn zeroed(length: usize) -> io::Result<Self> {
        let map = (length > 0).then(|| zeroed(length * size_of::<u64>()));
        Ok(MappedWords(map.transpose()?))
    }

    /// The words.
    #[inline]
    pub fn as_slice(&self) -> &[u64] {
        self.0.as_deref().map_or(&[][..], bytemuck::cast_slice)
    }

    /// The words, mutable.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        self.0.as_deref_mut().map_or(&mut [][..], bytemuck::cast_slice_mut)
    }
}

/// Rows of the canonical black patterns with the same number of stones, for one side to move: all rows, which are a
/// *band*, or a range of them, which is a *slice*.
///
/// The rows of a slice can be converted in place to rows of a database's blocks (`split`), so that no second copy
/// in memory is needed.
#[derive(Debug)]
pub struct Band {
    black: u32,
    /// Number of white squares of the board.
    white: u32,
    rows: Range<u32>,
    /// Number of words of a row with all its planes.
    row_words: usize,
    /// Number of words from the beginning of a row to the beginning of the next row.
    stride: usize,
    words: MappedWords,
}

impl Band {
    /// All rows, zeroed.
    ///
    /// # Errors
    /// If memory cannot be reserved. The other constructors fail in the same case.
    pub(in crate::tablebase) fn zeroed(index: &Index, black: u32) -> io::Result<Self> {
        Band::of_planes(index, black, 1)
    }

    /// All rows, of several planes each, zeroed.
    pub(in crate::tablebase) fn of_planes(
        index: &Index,
        black: u32,
        planes: usize,
    ) -> io::Result<Self> {
        let row_words = planes * row_words(index.numbering().count(Colour::White));
        Band::new(index, black, 0..index.rows(black) as u32, row_words, row_words)
    }

    /// A slice, zeroed, with enough memory for [`Band::split`].
    pub(in crate::tablebase) fn slice(
        index: &Index,
        black: u32,
        rows: Range<u32>,
    ) -> io::Result<Self> {
        let white = index.numbering().count(Colour::White);
        Band::new(index, black, rows, row_words(white), stride_words(white))
    }

    fn new(
        index: &Index,
        black: u32,
        rows: Range<u32>,
        row_words: usize,
        stride: usize,
    ) -> io::Result<Self> {
        let white = index.numbering().count(Colour::White);
        let words = MappedWords::zeroed(rows.len() * stride)?;
        Ok(Band { black, white, rows, row_words, stride, words })
    }

    /// The number of black stones.
    pub fn black(&self) -> u32 {
        self.black
    }

    /// Row `index`. In a row with one plane, bit `p % 64` of word `p / 64` belongs to white pattern `p`. On
    /// boards with fewer than nine white squares, the last words of a row are unused.
    #[inline]
    pub fn row(&self, index: u32) -> &[u64] {
        let start = self.start(index);
        &self.words.as_slice()[start..start + self.row_words]
    }

    /// Row `index` as bits: bit `p` belongs to white pattern `p`. Access to single bits is as fast as in
    /// [`Band::row`], which is faster for operations on whole rows.
    pub fn row_bits(&self, index: u32) -> &BitSlice<u64, Lsb0> {
        &self.row(index).view_bits()[..1 << self.white]
    }

    /// Range of the indices of the rows.
    pub fn row_numbers(&self) -> Range<u32> {
        self.rows.clone()
    }

    /// Number of words of a row with all its planes.
    pub fn row_words(&self) -> usize {
        self.row_words
    }

    /// All rows in order, for parallel work.
    pub fn par_rows(&self) -> impl IndexedParallelIterator<Item = &[u64]> {
        let rows = self.words.as_slice().par_chunks_exact(self.stride);
        rows.map(|row| &row[..self.row_words])
    }

    pub(super) fn row_mut(&mut self, index: u32) -> &mut [u64] {
        let start = self.start(index);
        &mut self.words.as_mut_slice()[start..start + self.row_words]
    }

    pub(super) fn par_rows_mut(&mut self) -> impl IndexedParallelIterator<Item = &mut [u64]> {
        let row_words = self.row_words;
        let rows = self.words.as_mut_slice().par_chunks_exact_mut(self.stride);
        rows.map(move |row| &mut row[..row_words])
    }

    fn start(&self, index: u32) -> usize {
        (index - self.rows.start) as usize * self.stride
    }

    /// The rows as targets of [`Sweep::scatter`].
    pub(in crate::tablebase) fn targets(&mut self) -> Targets<'_> {
        let (black, first) = (self.black, self.rows.start);
        Targets { black, first, rows: self.par_rows_mut().map(Mutex::new).collect() }
    }

    /// Calls `change`, in parallel, for every group of words of every row. A row has `planes` planes; `change`
    /// receives the group's words of all planes.
    pub(in crate::tablebase) fn for_each_group(
        &mut self,
        planes: usize,
        change: impl Fn(&mut [[u64; row_ops::GROUP]]) + Sync + Send,
    ) {
        self.par_rows_mut().for_each(|row| row_ops::for_each_group(row, planes, &change));
    }

    /// Converts each row of a slice to rows of a database's blocks, one for each number of white stones. After
    /// this, only [`Band::block_row`] can be used.
    pub(in crate::tablebase) fn split(&mut self, columns: &Columns) {
        let (row_words, words) = (self.row_words, columns.words());
        let rows = self.words.as_mut_slice().par_chunks_exact_mut(self.stride);
        rows.for_each_init(
            || vec![0; words],
            |split, row| {
                columns.split(&row[..row_words], split);
                let bytes_of = |(to, from): (&mut u64, &u64)| *to = from.to_le();
                row.iter_mut().zip(split.iter()).for_each(bytes_of);
            },
        );
    }

    /// The part of a split row that has `white` white stones: a row of a database's block, as bytes.
    pub(in crate::tablebase) fn block_row(&self, row: u32, columns: &Columns, white: u32) -> &[u8] {
        let (start, block) = (self.start(row), columns.block(white));
        let words = &self.words.as_slice()[start + block.start..start + block.end];
        &bytemuck::cast_slice(words)[..columns.row_bytes(white)]
    }
}

/// Number of words that a row of a slice takes: enough for the row before [`Band::split`], and for the block
/// rows after it, each of which begins at a word.
pub fn stride_words(white: u32) -> usize {
    row_words(white).max(Columns::new(white).words())
}

/// The images of rows under the symmetries.
#[derive(Clone, Debug)]
pub struct Images {
    /// By symmetry: the effect of its inverse on rows; `None` if the inverse leaves every row unchanged.
    back: Vec<Option<RowPermutation>>,
    /// By symmetry: its inverse.
    inverses: Vec<u8>,
}

impl Images {
    /// Creates the permutations for the symmetries of a numbering.
    pub fn new(numbering: &SquareNumbers) -> Self {
        let white = |g| numbering.moved(Colour::White, g);
        let black = |g| numbering.moved(Colour::Black, g);
        let undoes =
            |there: &[u8], back: &[u8]| (0..).zip(there).all(|(n, &to)| back[usize::from(to)] == n);
        let inverse = |g: usize| {
            (0..numbering.symmetries())
                .find(|&h| undoes(white(g), white(h)) && undoes(black(g), black(h)))
                .expect("a group has inverses")
        };
        let inverses: Vec<u8> = (0..numbering.symmetries()).map(|g| inverse(g) as u8).collect();
        let back = |&inverse: &u8| {
            let moved = white(usize::from(inverse));
            let moves = moved.iter().zip(0..).any(|(&to, from)| to != from);
            moves.then(|| RowPermutation::new(moved))
        };
        Images { back: inverses.iter().map(back).collect(), inverses }
    }

    /// Returns the row of a black pattern that `symmetry` maps to its canonical pattern. `canonical` is the row of
    /// the canonical pattern. The result is `canonical` itself if the inverse of the symmetry does not change
    /// rows, and otherwise its image, which is written to `scratch`.
    #[inline]
    pub(super) fn row<'b>(
        &self,
        ops: RowOps,
        canonical: &'b [u64],
        symmetry: u8,
        scratch: &'b mut Vec<u64>,
    ) -> &'b [u64] {
        match &self.back[usize::from(symmetry)] {
            None => canonical,
            Some(permutation) => {
                scratch.resize(canonical.len(), 0);
                ops.permute(permutation, scratch, canonical);
                scratch
            }
        }
    }
}

/// The sweep over one board.
#[derive(Debug)]
pub struct Sweep<'a> {
    index: &'a Index,
    ops: RowOps,
    /// Jumps of each side, with their effect on rows of values.
    black_jumps: Vec<(Jump, RowJump)>,
    white_jumps: Vec<(Jump, RowJump)>,
    images: Images,
}

impl<'a> Sweep<'a> {
    /// Prepares a sweep with the kernels for the processor's widest registers.
    pub fn new(index: &'a Index) -> Self {
        Self::with_ops(index, RowOps::detect())
    }

    /// Prepares a sweep with the given kernels.
    pub fn with_ops(index: &'a Index, ops: RowOps) -> Self {
        let (board, numbering) = (index.board(), index.numbering());
        let white = numbering.count(Colour::White);
        // Black wins by the jump if White has the stones that it takes and does not win after they are removed.
        let black_jumps = jumps(board, numbering, Colour::Black)
            .into_iter()
            .map(|jump| {
                let relation = RowJump::new(white, jump.taken, 0, jump.taken);
                (jump, relation)
            })
            .collect();
        let white_jumps = jumps(board, numbering, Colour::White)
            .into_iter()
            .map(|jump| {
                let flip = jump.from | jump.to;
                let relation = RowJump::new(white, jump.from, jump.landings, flip);
                (jump, relation)
            })
            .collect();
        let images = Images::new(numbering);
        Sweep { index, ops, black_jumps, white_jumps, images }
    }

    /// The index of the board.
    pub(super) fn index(&self) -> &'a Index {
        self.index
    }

    /// Computes the rows `white_wins` with `black` black stones. `below` has the rows `black_wins` with fewer
    /// black stones, in ascending order: its last elements are those with `black - 2` and `black - 1` stones. The
    /// number of elements needed is the maximum number of stones that a jump takes, but at most `black`.
    ///
    /// # Errors
    /// If memory cannot be reserved.
    ///
    /// # Panics
    /// If a band is missing.
    pub fn white_wins(&self, black: u32, below: &[Band]) -> io::Result<Band> {
        let mut band = Band::zeroed(self.index, black)?;
        let patterns = self.index.orbits(black).patterns();
        let rows = band.par_rows_mut().zip(patterns);
        rows.for_each_init(Vec::new, |scratch, (row, &pattern)| {
            for group in self.white_jumps.chunk_by(|a, b| a.0.taken == b.0.taken) {
                let taken = group[0].0.taken;
                if pattern & taken != taken {
                    continue;
                }
                let source = &below[below.len() - taken.count_ones() as usize];
                debug_assert_eq!(source.black + taken.count_ones(), black);
                let source = self.image_of(source, pattern ^ taken, scratch);
                for (_, relation) in group {
                    self.ops.apply::<true>(relation, row, source);
                }
            }
        });
        Ok(band)
    }

    /// Computes the rows `black_wins` from all rows `white_wins` with the same number of black stones.
    ///
    /// # Errors
    /// If memory cannot be reserved.
    pub fn black_wins(&self, white_wins: &Band) -> io::Result<Band> {
        let mut band = Band::zeroed(self.index, white_wins.black)?;
        let patterns = self.index.orbits(white_wins.black).patterns();
        let rows = band.par_rows_mut().zip(patterns);
        rows.for_each_init(Vec::new, |scratch, (row, &pattern)| {
            self.black_row(white_wins, pattern, row, scratch);
        });
        Ok(band)
    }

    /// Computes one row of `black_wins`, for any black pattern with as many stones as `white_wins`. The
    /// caller zeroes the row; `scratch` is overwritten.
    ///
    /// If rows have several planes, `white_wins` has to hold the ranks of moves to its positions, and the
    /// computed row holds ranks ([`remoteness`](crate::tablebase::values::remoteness)). The same applies to
    /// [`Sweep::scatter`].
    pub fn black_row(
        &self,
        white_wins: &Band,
        pattern: u32,
        row: &mut [u64],
        scratch: &mut Vec<u64>,
    ) {
        for (jump, relation) in &self.black_jumps {
            if pattern & (jump.from | jump.landings) == jump.from {
                let successor = pattern ^ jump.from ^ jump.to;
                let source = self.image_of(white_wins, successor, scratch);
                self.follow(relation, row, source);
            }
        }
    }

    /// Computes the row of the positions of a black pattern in which a player has a move.
    pub fn mobile_row(&self, player: Colour, pattern: u32) -> Vec<u64> {
        let words = row_words(self.index.numbering().count(Colour::White));
        let (mut row, none) = (vec![0; words], vec![0; words]);
        let jumps = match player {
            Colour::Black => &self.black_jumps,
            Colour::White => &self.white_jumps,
        };
        // A longer jump begins with one over a single stone.
        for (jump, relation) in jumps.iter().filter(|(jump, _)| jump.taken.count_ones() == 1) {
            let is_possible = match player {
                Colour::Black => pattern & (jump.from | jump.landings) == jump.from,
                Colour::White => pattern & jump.taken == jump.taken,
            };
            if is_possible {
                self.ops.apply::<true>(relation, &mut row, &none);
            }
        }
        row
    }

    /// Updates a row by one jump. `source` is the row of the positions after the jump.
    #[inline]
    fn follow(&self, jump: &RowJump, row: &mut [u64], source: &[u64]) {
        match row.len() / row_words(self.index.numbering().count(Colour::White)) {
            1 => self.ops.apply::<true>(jump, row, source),
            planes => self.ops.greatest(planes, jump, row, source),
        }
    }

    /// Returns the row of any black pattern of a band: the row of the canonical pattern or its image, which is
    /// written to `scratch`.
    #[inline]
    fn image_of<'b>(&self, band: &'b Band, pattern: u32, scratch: &'b mut Vec<u64>) -> &'b [u64] {
        let black = self.index.ranks(Colour::Black);
        let Row { index, symmetry } =
            self.index.orbits(band.black).row(self.index.numbering(), black, pattern);
        self.images.row(self.ops, band.row(index), symmetry, scratch)
    }

    /// Number of won positions of a band. Equivalent positions are counted separately.
    #[cfg(feature = "testing")]
    pub fn count(&self, band: &Band) -> u64 {
        let numbering = self.index.numbering();
        let symmetries = numbering.symmetries() as u64;
        let patterns = self.index.orbits(band.black).patterns();
        band.par_rows()
            .zip(patterns)
            .map(|(row, &pattern)| {
                let ones: u64 = row.iter().map(|word| u64::from(word.count_ones())).sum();
                ones * (symmetries
                    / u64::from(
                        crate::tablebase::index::stabiliser(numbering, pattern).count_ones(),
                    ))
            })
            .sum()
    }
}
