//! Permutations of the white squares, as they act on rows.

use super::{GROUP, put_plane, row_words, word_index};

/// Number of words that are permuted together.
const BLOCK: usize = 64;

/// A permutation of the white squares, as it acts on rows: first one that maps the six lowest squares among
/// themselves, which is a permutation of whole words and of the bits within them, then transpositions of one of
/// the six lowest squares with a higher one. The numbering of the squares avoids these transpositions on most
/// boards.
#[derive(Clone, Debug)]
pub struct RowPermutation {
    /// Exchanges of bits within words. Together they permute the six lowest squares. Each exchange is a mask and a
    /// distance: every bit in the mask changes places with the bit that is `distance` bits above it.
    exchanges: Vec<(u64, u32)>,
    /// The source word of a target word is `upper[word / 64] | lower[word % 64]`.
    lower: [u32; BLOCK],
    upper: Vec<u32>,
    /// Transpositions of one of the six lowest squares with a higher one.
    transpositions: Vec<Transposition>,
    /// Number of words of a plane.
    row_words: usize,
}

/// A transposition of one of the six lowest squares with a higher one. In every pair of words whose indices differ
/// in `word_bit` only, the bits `empty` of the word with this bit change places with the bits of the other word
/// that are `distance` bits above them.
#[derive(Clone, Copy, Debug)]
struct Transposition {
    /// The bits of a word in whose patterns the lower square is empty.
    empty: u64,
    distance: u32,
    /// The bit of a word's index that selects the higher square.
    word_bit: usize,
}

impl RowPermutation {
    /// Prepares a permutation that maps each white square `n` to square `moved[n]`.
    pub fn new(moved: &[u8]) -> Self {
        let white = moved.len();
        let mut moved = moved.to_vec();
        let mut transpositions = Vec::new();
        for low in 0..white.min(6) as u8 {
            let comes = moved.iter().position(|&to| to == low).expect("a permutation");
            if comes >= 6 {
                let leaves = moved.iter().position(|&to| to >= 6).expect("a square for `low`");
                transpositions.push(Transposition {
                    empty: bits_of(|p| p >> low & 1 == 0),
                    distance: 1 << low,
                    word_bit: 1 << (moved[leaves] - 6),
                });
                moved.swap(leaves, comes);
            }
        }
        let mut exchanges = Vec::new();
        // Selection sort of the six lowest squares by destination.
        let mut at: Vec<u8> = moved.iter().copied().take(6).collect();
        for index in 0..at.len() {
            let from = at.iter().position(|&to| usize::from(to) == index).expect("a permutation");
            if from != index {
                let (low, high) = (index.min(from), index.max(from));
                let mask = bits_of(|p| p >> low & 1 == 1 && p >> high & 1 == 0);
                exchanges.push((mask, (1 << high) - (1 << low)));
                at.swap(index, from);
            }
        }
        let source = |word: usize| -> u32 {
            (6..white)
                .filter(|&n| word >> (moved[n] - 6) & 1 == 1)
                .fold(0, |from, n| from | 1 << (n - 6))
        };
        let words = if white > 6 { 1 << (white - 6) } else { 1 };
        let lower = std::array::from_fn(|w| if w < words { source(w) } else { w as u32 });
        let upper = (0..words.div_ceil(BLOCK)).map(|w| source(w * BLOCK)).collect();
        let row_words = row_words(white as u32);
        RowPermutation { exchanges, lower, upper, transpositions, row_words }
    }

    /// Number of words of a plane.
    pub(super) fn row_words(&self) -> usize {
        self.row_words
    }
}

/// Returns the bits of a word for whose patterns of the six lowest squares `chosen` is true.
fn bits_of(chosen: impl Fn(u64) -> bool) -> u64 {
    (0..64).filter(|&p| chosen(p)).fold(0, |bits, p| bits | 1 << p)
}

macro_rules! permute_version {
    ($name:ident $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        pub(super) fn $name(
            permutation: &RowPermutation,
            planes: usize,
            target: &mut [u64],
            source: &[u64],
        ) {
            assert_eq!(target.len(), source.len());
            let lower = permutation.lower.map(|word| word_index(word as usize, planes));
            let size = BLOCK.min(permutation.row_words);
            for (block, &upper) in target.chunks_exact_mut(size * planes).zip(&permutation.upper) {
                for plane in 0..planes {
                    let upper = word_index(upper as usize, planes) + plane * GROUP;
                    let mut words = [0u64; BLOCK];
                    for at in 0..size {
                        words[at] = source[upper + lower[at]];
                    }
                    for &(mask, distance) in &permutation.exchanges {
                        for word in &mut words {
                            let moving = (*word ^ (*word >> distance)) & mask;
                            *word ^= moving ^ (moving << distance);
                        }
                    }
                    put_plane(block, planes, plane, &words[..size]);
                }
            }
            for &Transposition { empty, distance, word_bit } in &permutation.transpositions {
                for word in (0..permutation.row_words).filter(|word| word & word_bit == 0) {
                    for plane in 0..planes {
                        let low = word_index(word, planes) + plane * GROUP;
                        let high = word_index(word | word_bit, planes) + plane * GROUP;
                        let moving = (target[low] >> distance ^ target[high]) & empty;
                        target[high] ^= moving;
                        target[low] ^= moving << distance;
                    }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
permute_version!(permute_avx512, "avx2,avx512f,avx512bw,avx512dq,avx512vl");
#[cfg(target_arch = "x86_64")]
permute_version!(permute_avx2, "avx2");
permute_version!(permute_baseline);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::{Board, Colour};
    use crate::tablebase::index::SquareNumbers;

    /// A symmetry takes few operations on whole words, also on the boards whose squares cannot be numbered so that
    /// it moves whole words.
    #[test]
    fn symmetries_are_operations_on_words() {
        let operations = |board: &str| {
            let numbering = SquareNumbers::new(&Board::new(board.parse().unwrap()));
            let permutations = (0..numbering.symmetries())
                .map(|g| RowPermutation::new(numbering.moved(Colour::White, g)));
            let counts = permutations.map(|p| [p.exchanges.len(), p.transpositions.len()]);
            counts.fold([0; 2], |most, count| [0, 1].map(|kind| most[kind].max(count[kind])))
        };
        for board in ["3x3", "3x4", "4x4", "4x5", "5x6", "5x7", "6x6", "4x9", "1x36", "5x9"] {
            let [exchanges, transpositions] = operations(board);
            assert!(exchanges <= 5 && transpositions == 0, "{board}");
        }
        assert_eq!([operations("5x5"), operations("7x7")], [[5, 2]; 2]);
    }
}
