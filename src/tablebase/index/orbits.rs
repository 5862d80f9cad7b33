//! Black patterns up to the symmetries that keep the colours.

use super::numbering::SquareNumbers;
use super::rank::Combinadics;
use crate::konane::Colour;

/// The canonical black patterns with one number of stones: the least pattern of every orbit, in
/// ascending order. They are the rows of a layer.
#[derive(Clone, Debug)]
pub struct Orbits {
    patterns: Box<[u32]>,
    /// A bit for each combinadic rank, set for canonical patterns.
    canonical: Box<[u64]>,
    /// By word of `canonical`: number of canonical patterns in the words before it.
    before: Box<[u32]>,
}

/// Row of a black pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Index of the canonical pattern in [`Orbits::patterns`].
    pub index: u32,
    /// A symmetry that maps the pattern to the canonical one.
    pub symmetry: u8,
}

impl Orbits {
    /// Finds the canonical patterns with `stones` stones. Takes some 20 ns for each of the C(n, stones)
    /// patterns on n black squares.
    pub fn new(numbering: &SquareNumbers, black: &Combinadics, stones: u32) -> Self {
        let mut canonical = vec![0u64; (black.count(stones) as usize).div_ceil(64)];
        let mut patterns = Vec::new();
        for (rank, pattern) in black.patterns(stones).enumerate() {
            let least = (1..numbering.symmetries())
                .all(|g| numbering.image(Colour::Black, g, pattern) >= pattern);
            if least {
                canonical[rank / 64] |= 1 << (rank % 64);
                patterns.push(pattern);
            }
        }
        let mut count = 0;
        let before = canonical
            .iter()
            .map(|word| {
                let here = count;
                count += word.count_ones();
                here
            })
            .collect();
        Orbits { patterns: patterns.into(), canonical: canonical.into(), before }
    }

    /// The canonical patterns, ascending.
    #[inline]
    pub fn patterns(&self) -> &[u32] {
        &self.patterns
    }

    /// Returns the row of any pattern with this number of stones, with the first symmetry that maps the
    /// pattern to the canonical one.
    #[inline]
    pub fn row(&self, numbering: &SquareNumbers, black: &Combinadics, pattern: u32) -> Row {
        let (mut least, mut symmetry) = (pattern, 0);
        for g in 1..numbering.symmetries() {
            let image = numbering.image(Colour::Black, g, pattern);
            if image < least {
                (least, symmetry) = (image, g as u8);
            }
        }
        let rank = black.rank(least) as usize;
        let below = self.canonical[rank / 64] & ((1 << (rank % 64)) - 1);
        Row { index: self.before[rank / 64] + below.count_ones(), symmetry }
    }
}

/// Returns the symmetries that map a black pattern to itself: bit `g` is set for symmetry `g`. Bit 0, the
/// identity, is always set. The number of patterns in the orbit is the number of all symmetries divided by the
/// number of set bits.
pub fn stabiliser(numbering: &SquareNumbers, pattern: u32) -> u8 {
    (0..numbering.symmetries())
        .filter(|&g| numbering.image(Colour::Black, g, pattern) == pattern)
        .fold(0, |set, g| set | 1 << g)
}

/// Counts the canonical black patterns, by number of stones. By the Cauchy-Frobenius lemma, the number of
/// canonical patterns is the mean, over all symmetries, of the number of patterns that the symmetry maps to
/// themselves. A symmetry maps a pattern to itself exactly if the pattern is a union of cycles of the
/// symmetry.
pub fn count_rows(numbering: &SquareNumbers) -> Vec<u64> {
    let black = numbering.count(Colour::Black) as usize;
    let mut sums = vec![0u64; black + 1];
    for symmetry in 0..numbering.symmetries() {
        // `fixed[s]` is the number of unions of cycles that have s squares: the coefficient of x^s in the
        // product of (1 + x^length) over all cycles.
        let mut fixed = vec![0u64; black + 1];
        fixed[0] = 1;
        for length in cycles(numbering.moved(Colour::Black, symmetry)) {
            for stones in (length..=black).rev() {
                fixed[stones] += fixed[stones - length];
            }
        }
        sums.iter_mut().zip(fixed).for_each(|(sum, fixed)| *sum += fixed);
    }
    sums.into_iter().map(|sum| sum / numbering.symmetries() as u64).collect()
}

/// Returns the lengths of a permutation's cycles.
fn cycles(permutation: &[u8]) -> Vec<usize> {
    let mut seen = vec![false; permutation.len()];
    let mut lengths = Vec::new();
    for start in 0..permutation.len() {
        let (mut at, mut length) = (start, 0);
        while !seen[at] {
            seen[at] = true;
            at = usize::from(permutation[at]);
            length += 1;
        }
        if length > 0 {
            lengths.push(length);
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::Board;
    use std::collections::BTreeSet;

    #[test]
    fn rows_are_the_orbits_of_all_patterns() {
        for size in ["1x1", "3x3", "4x4", "5x5", "3x8", "6x6", "1x12"] {
            let board = Board::new(size.parse().unwrap());
            let numbering = SquareNumbers::new(&board);
            let black = Combinadics::new(numbering.count(Colour::Black));
            for stones in 0..=numbering.count(Colour::Black) {
                let orbits = Orbits::new(&numbering, &black, stones);
                let images = |p: u32| -> BTreeSet<u32> {
                    let all = 0..numbering.symmetries();
                    all.map(|g| numbering.image(Colour::Black, g, p)).collect()
                };
                let mut total = 0;
                for &pattern in orbits.patterns() {
                    let stabiliser = stabiliser(&numbering, pattern).count_ones() as usize;
                    assert_eq!(images(pattern).len() * stabiliser, numbering.symmetries());
                    total += images(pattern).len();
                }
                assert_eq!(total, black.count(stones) as usize, "{size} {stones}");
                for pattern in black.patterns(stones) {
                    let row = orbits.row(&numbering, &black, pattern);
                    let canonical = orbits.patterns()[row.index as usize];
                    assert_eq!(Some(&canonical), images(pattern).first(), "{size} {pattern:b}");
                    let g = usize::from(row.symmetry);
                    assert_eq!(numbering.image(Colour::Black, g, pattern), canonical);
                }
            }
        }
    }
}
