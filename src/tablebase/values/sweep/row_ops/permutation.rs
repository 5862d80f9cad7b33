//! Permutations of the white squares, as they act on rows.

use super::{GROUP, put_plane, row_words, word_index};

/// Number of words that are permuted together.
const BLOCK: usize = 64;

/// A permutation of the white squares, as it acts on rows.
#[derive(Clone, Debug)]
pub struct RowPermutation {
    /// Exchanges of bits within words. Together they permute the six lowest squares. Each exchange is a mask and a
    /// distance: every bit in the mask changes places with the bit that is `distance` bits above it.
    exchanges: Vec<(u64, u32)>,
    /// The source word of a target word is `upper[word / 64] | lower[word % 64]`.
    lower: [u32; BLOCK],
    upper: Vec<u32>,
    /// Destination of each square, if the permutation does not move whole words.
    scattered: Option<Vec<u8>>,
    /// Number of words of a plane.
    row_words: usize,
}

impl RowPermutation {
    /// Prepares a permutation that maps each white square `n` to square `moved[n]`.
    pub fn new(moved: &[u8]) -> Self {
        let white = moved.len();
        let whole = white >= 6 && moved[..6].iter().all(|&to| to < 6);
        let mut exchanges = Vec::new();
        // Selection sort of the six lowest squares by destination.
        let mut at: Vec<u8> = moved.iter().copied().take(6).collect();
        for index in 0..at.len().min(if whole { 6 } else { 0 }) {
            let from = at.iter().position(|&to| usize::from(to) == index).expect("a permutation");
            if from != index {
                let (low, high) = (index.min(from), index.max(from));
                let mask = (0..64u64)
                    .filter(|p| p >> low & 1 == 1 && p >> high & 1 == 0)
                    .fold(0, |mask, p| mask | 1 << p);
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
        let (lower, upper) = if whole {
            let lower = std::array::from_fn(|w| if w < words { source(w) } else { w as u32 });
            (lower, (0..words.div_ceil(BLOCK)).map(|w| source(w * BLOCK)).collect())
        } else {
            ([0; BLOCK], Vec::new())
        };
        let scattered = (!whole).then(|| moved.to_vec());
        RowPermutation { exchanges, lower, upper, scattered, row_words: row_words(white as u32) }
    }

    /// Number of words of a plane.
    pub(super) fn row_words(&self) -> usize {
        self.row_words
    }

    /// Returns true if the permutation does not move whole words. Then bits are moved one by one.
    pub(super) fn is_scattered(&self) -> bool {
        self.scattered.is_some()
    }

    pub(super) fn permute_scattered(&self, planes: usize, target: &mut [u64], source: &[u64]) {
        let moved =
            self.scattered.as_deref().expect("only if the permutation does not move whole words");
        target.fill(0);
        for p in 0..1usize << moved.len() {
            let image = (0..moved.len())
                .filter(|n| p >> n & 1 == 1)
                .fold(0usize, |image, n| image | 1 << moved[n]);
            for plane in 0..planes {
                let at = |p: usize| word_index(p / 64, planes) + plane * GROUP;
                target[at(image)] |= (source[at(p)] >> (p % 64) & 1) << (image % 64);
            }
        }
    }
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
        }
    };
}

#[cfg(target_arch = "x86_64")]
permute_version!(permute_avx512, "avx2,avx512f,avx512bw,avx512dq,avx512vl");
#[cfg(target_arch = "x86_64")]
permute_version!(permute_avx2, "avx2");
permute_version!(permute_baseline);
