//! Symmetries of a board, and the exact canonical code of a position.
//!
//! Reflections and rotations of the rectangle either keep every square's colour or exchange the
//! colours of all squares (thesis, section 3.4, lists the former). In the jumping phase the two
//! players differ in nothing but their squares, so an exchanging symmetry together with a change
//! of the side to move gives an equivalent position. Therefore:
//!
//! * on a board with an even side every jumping-phase position is written with Black to move, and
//!   its code is the least occupancy over the group (Black to move) or over the exchanging coset
//!   (White to move);
//! * on a board with two odd sides, which has at most 63 squares, no symmetry exchanges the
//!   colours; the code is the least occupancy over the group, with bit 63 set for White to move;
//! * before the second removal the players do differ, and only the group is used. The number of
//!   empty squares (0 or 1) tells these positions from all others.
//!
//! The code is a complete description: two positions have the same code exactly when a symmetry
//! maps one to the other. Nothing is hashed.

use super::board::{Colour, Dimensions};
use super::position::Position;

/// Set in the code of a position with White to move on a board with two odd sides.
pub const WHITE_TO_MOVE: u64 = 1 << 63;

/// Bits of a square set that one table look-up maps. Eight symmetries of 49 squares take 13 KiB
/// at four bits, which stays in the first-level cache beside the search's own data.
const CHUNK: u32 = 4;

/// One symmetry as a permutation: the square to which each square goes.
pub type Permutation = Box<[u8]>;

/// Maps a square set under several permutations at once.
///
/// Rows of the table hold the images of one chunk's bits under all members, padded by repetition
/// to [`ImageTable::stride`] words, so that a kernel can run over a fixed number of lanes.
#[derive(Clone, Debug)]
pub struct ImageTable {
    stride: usize,
    rows: Box<[u64]>,
}

impl ImageTable {
    fn new(permutations: &[Permutation], stride: usize, squares: u32) -> Self {
        let chunks = squares.div_ceil(CHUNK) as usize;
        let mut rows = vec![0u64; (chunks << CHUNK) * stride];
        for (index, row) in rows.chunks_exact_mut(stride).enumerate() {
            let (chunk, bits) = ((index >> CHUNK) as u32, (index & ((1 << CHUNK) - 1)) as u64);
            let set = bits << (chunk * CHUNK) & (u64::MAX >> (64 - squares));
            for (lane, image) in row.iter_mut().enumerate() {
                *image = permute(&permutations[lane % permutations.len()], set);
            }
        }
        ImageTable {
            stride,
            rows: rows.into(),
        }
    }

    /// Words in a row: 4, or 8 where there are more than four members.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The images of a set; lanes beyond the members repeat them.
    ///
    /// # Panics
    /// If `LANES` is not the stride.
    #[inline(always)]
    pub fn images<const LANES: usize>(&self, set: u64) -> [u64; LANES] {
        assert_eq!(LANES, self.stride);
        let mut images = [0; LANES];
        let chunk_words = LANES << CHUNK;
        let mut rest = set;
        for chunk in self.rows.chunks_exact(chunk_words) {
            let at = (rest & ((1 << CHUNK) - 1)) as usize * LANES;
            rest >>= CHUNK;
            let row = &chunk[at..at + LANES];
            for lane in 0..LANES {
                images[lane] ^= row[lane];
            }
        }
        images
    }

    /// The least image of a set.
    #[inline]
    pub fn least(&self, set: u64) -> u64 {
        if self.stride == 4 {
            self.images::<4>(set).into_iter().fold(u64::MAX, u64::min)
        } else {
            self.images::<8>(set).into_iter().fold(u64::MAX, u64::min)
        }
    }
}

/// All symmetries of one board.
#[derive(Clone, Debug)]
pub struct Symmetries {
    squares: u32,
    even_side: bool,
    preserving: Vec<Permutation>,
    exchanging: Vec<Permutation>,
    preserving_table: ImageTable,
    exchanging_table: Option<ImageTable>,
}

impl Symmetries {
    pub(super) fn new(dimensions: Dimensions) -> Self {
        let (ranks, files) = (dimensions.ranks(), dimensions.files());
        let mut preserving: Vec<Permutation> = Vec::new();
        let mut exchanging: Vec<Permutation> = Vec::new();
        for transpose in [false, true] {
            if transpose && ranks != files {
                continue;
            }
            for (flip_ranks, flip_files) in
                [(false, false), (true, true), (false, true), (true, false)]
            {
                let image = |square: u32| {
                    let (mut r, mut f) = (square / files, square % files);
                    if transpose {
                        (r, f) = (f, r);
                    }
                    if flip_ranks {
                        r = ranks - 1 - r;
                    }
                    if flip_files {
                        f = files - 1 - f;
                    }
                    r * files + f
                };
                let permutation: Permutation =
                    (0..dimensions.squares()).map(|s| image(s) as u8).collect();
                let corner = image(0);
                let keeps = (corner / files + corner % files).is_multiple_of(2);
                let family = if keeps {
                    &mut preserving
                } else {
                    &mut exchanging
                };
                if !family.contains(&permutation) {
                    family.push(permutation);
                }
            }
        }
        let stride = if preserving.len() > 4 { 8 } else { 4 };
        let squares = dimensions.squares();
        let preserving_table = ImageTable::new(&preserving, stride, squares);
        let exchanging_table =
            (!exchanging.is_empty()).then(|| ImageTable::new(&exchanging, stride, squares));
        Symmetries {
            squares,
            even_side: dimensions.has_even_side(),
            preserving,
            exchanging,
            preserving_table,
            exchanging_table,
        }
    }

    /// The symmetries that keep every square's colour, the identity first.
    pub fn preserving(&self) -> &[Permutation] {
        &self.preserving
    }

    /// The symmetries that exchange the colours; none on a board with two odd sides.
    pub fn exchanging(&self) -> &[Permutation] {
        &self.exchanging
    }

    /// The table of the symmetries that lead from a jumping-phase position's occupancy to the
    /// occupancies that compete for its *successor's* code.
    pub(super) fn successor_table(&self) -> &ImageTable {
        self.exchanging_table
            .as_ref()
            .unwrap_or(&self.preserving_table)
    }

    /// The exact canonical code of a position (see the module's head). Some 10 ns.
    #[inline]
    pub fn code(&self, position: &Position) -> u64 {
        let occupied = position.occupied();
        let white = position.to_move() == Colour::White;
        let jumping = self.squares - occupied.count_ones() >= 2;
        if let (true, true, Some(table)) = (jumping, white, &self.exchanging_table) {
            return table.least(occupied);
        }
        let least = self.preserving_table.least(occupied);
        if white && !self.even_side {
            least | WHITE_TO_MOVE
        } else {
            least
        }
    }

    /// The least occupancy under the colour-preserving symmetries alone, the reduction of the
    /// thesis' tables.
    #[inline]
    pub fn least_preserving(&self, occupied: u64) -> u64 {
        self.preserving_table.least(occupied)
    }

    /// The position that a canonical code stands for.
    #[inline]
    pub fn decode(&self, code: u64) -> Position {
        let (occupied, marked) = if self.even_side {
            (code, false)
        } else {
            (code & !WHITE_TO_MOVE, code >> 63 == 1)
        };
        let one_empty = self.squares - occupied.count_ones() == 1;
        let to_move = if marked || one_empty {
            Colour::White
        } else {
            Colour::Black
        };
        Position::new_unchecked(occupied, to_move)
    }
}

/// The image of a set under one permutation, square by square.
pub fn permute(permutation: &[u8], set: u64) -> u64 {
    let mut image = 0;
    let mut rest = set;
    while rest != 0 {
        let square = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        image |= 1u64 << permutation[square];
    }
    image
}
