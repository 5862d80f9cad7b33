//! Symmetries of a board.
//!
//! A reflection or rotation of the rectangle either preserves the colour of every square or exchanges the
//! colours of all squares. Section 3.4 of the thesis lists the symmetries that preserve the colours.
//! [`Position::code`](super::position::Position::code) explains how both kinds are used for positions.
//!
//! [`Symmetries`] has the [`Permutation`]s of a board, and an [`ImageTable`] for each of the two kinds.

use std::fmt;

use serde::Serialize;

use super::geometry::{Dimensions, squares};

/// Number of bits of a set of squares that one look-up maps. With four bits, the table for eight symmetries of 49
/// squares takes 13 KiB, which fits into the first-level cache together with the data of the search.
const CHUNK: u32 = 4;

/// Symmetries by which equivalent positions share a code ([`Board::with_symmetry`](super::Board::with_symmetry)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub enum Symmetry {
    /// All reflections and rotations. Those that exchange the colours also exchange the players.
    #[default]
    All,
    /// Those that keep the colour of every square (thesis, section 3.4).
    Colours,
    /// None.
    None,
}

impl Symmetry {
    /// All values.
    pub const ALL: [Symmetry; 3] = [Symmetry::All, Symmetry::Colours, Symmetry::None];

    /// `all`, `colours` or `none`.
    pub const fn name(self) -> &'static str {
        match self {
            Symmetry::All => "all",
            Symmetry::Colours => "colours",
            Symmetry::None => "none",
        }
    }

    /// Returns true for [`Symmetry::All`].
    pub fn is_all(&self) -> bool {
        *self == Symmetry::All
    }
}

impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A board on which a code cannot contain the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a search of {0}, which has 64 squares, needs all symmetries: without exchange of colours, a \
     position of it has no code of 64 bits"
)]
pub struct SymmetryError(pub Dimensions);

/// A symmetry as a permutation: the image of each square.
pub type Permutation = Box<[u8]>;

/// A table that maps a set of squares under several permutations at once.
///
/// The bits of a set are divided into chunks. For each chunk and each value of its bits, a row has the images of
/// these bits under all permutations. A row is padded to [`ImageTable::stride`] words by repeating the first images,
/// so that a kernel has a fixed number of lanes.
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
        ImageTable { stride, rows: rows.into() }
    }

    /// Number of words in a row: 8 if the board has more than four colour-preserving symmetries, otherwise 4.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The images of a set. Lanes after the last permutation repeat the first images.
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
    preserving: Vec<Permutation>,
    exchanging: Vec<Permutation>,
    preserving_table: ImageTable,
    exchanging_table: Option<ImageTable>,
}

impl Symmetries {
    pub(super) fn new(dimensions: Dimensions, symmetry: Symmetry) -> Self {
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
                let family = if keeps { &mut preserving } else { &mut exchanging };
                if !family.contains(&permutation) {
                    family.push(permutation);
                }
            }
        }
        match symmetry {
            Symmetry::All => {}
            Symmetry::Colours => exchanging.clear(),
            Symmetry::None => {
                preserving.truncate(1);
                exchanging.clear();
            }
        }
        let stride = if preserving.len() > 4 { 8 } else { 4 };
        let squares = dimensions.squares();
        let preserving_table = ImageTable::new(&preserving, stride, squares);
        let exchanging_table =
            (!exchanging.is_empty()).then(|| ImageTable::new(&exchanging, stride, squares));
        Symmetries { preserving, exchanging, preserving_table, exchanging_table }
    }

    /// The symmetries that preserve the colour of every square. The identity is the first.
    pub fn preserving(&self) -> &[Permutation] {
        &self.preserving
    }

    /// The symmetries that exchange the colours. A board with two odd sides has none.
    pub fn exchanging(&self) -> &[Permutation] {
        &self.exchanging
    }

    /// The table for the codes of successors, after a move by Black in the jumping phase: the code of a successor is
    /// its least image under these symmetries, apart from the bit of the side to move. They are the colour-exchanging
    /// symmetries, or the colour-preserving ones if no symmetry exchanges the colours.
    pub(super) fn successor_table(&self) -> &ImageTable {
        self.exchanging_table.as_ref().unwrap_or(&self.preserving_table)
    }

    /// The least occupancy under the colour-preserving symmetries. The tables of the thesis count positions up to these
    /// symmetries.
    #[inline]
    pub fn least_preserving(&self, occupied: u64) -> u64 {
        self.preserving_table.least(occupied)
    }

    /// The least occupancy under the colour-exchanging symmetries, if there are any.
    #[inline]
    pub fn least_exchanging(&self, occupied: u64) -> Option<u64> {
        Some(self.exchanging_table.as_ref()?.least(occupied))
    }
}

/// The image of a set under one permutation, square by square.
pub fn permute(permutation: &[u8], set: u64) -> u64 {
    squares(set).fold(0, |image, square| image | 1u64 << permutation[usize::from(square)])
}
