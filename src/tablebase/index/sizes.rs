//! Numbers of rows, addresses and bytes of the layers of a board, without listing any of them.

use super::address::Index;
use super::rank::binomial;
use crate::konane::Colour;

/// Sizes of the layers of one board. Numbers beyond 64 bits occur on the largest
/// boards, so sums are `u128`.
#[derive(Clone, Debug)]
pub struct Sizes {
    squares: [u32; 2],
    /// Canonical black patterns by number of stones.
    rows: Vec<u64>,
}

impl Sizes {
    /// Counts the canonical black patterns by the Cauchy-Frobenius lemma: their number is the mean,
    /// over the symmetries, of the number of patterns that a symmetry leaves as they are. It leaves
    /// those that are unions of its cycles.
    pub fn new(index: &Index) -> Self {
        let numbering = index.numbering();
        let squares = [Colour::Black, Colour::White].map(|c| numbering.count(c));
        let black = squares[0] as usize;
        let mut sums = vec![0u64; black + 1];
        for symmetry in 0..numbering.symmetries() {
            // Coefficients of the product of 1 + x^length over the cycles.
            let mut fixed = vec![0u64; black + 1];
            fixed[0] = 1;
            for length in cycles(numbering.moved(Colour::Black, symmetry)) {
                for stones in (length..=black).rev() {
                    fixed[stones] += fixed[stones - length];
                }
            }
            sums.iter_mut().zip(fixed).for_each(|(sum, fixed)| *sum += fixed);
        }
        let rows = sums.into_iter().map(|sum| sum / numbering.symmetries() as u64).collect();
        Sizes { squares, rows }
    }

    /// Squares of a colour.
    pub fn squares(&self, colour: Colour) -> u32 {
        self.squares[colour.index()]
    }

    /// Canonical black patterns with a number of stones.
    ///
    /// # Panics
    /// If the board has fewer black squares.
    pub fn rows(&self, black: u32) -> u64 {
        self.rows[black as usize]
    }

    /// Canonical black patterns with the number of stones with which there are most.
    pub fn most_rows(&self) -> u128 {
        self.rows.iter().map(|&rows| u128::from(rows)).max().unwrap_or(0)
    }

    /// The numbers of black stones that positions with `stones` stones can have.
    pub fn blacks(&self, stones: u32) -> std::ops::RangeInclusive<u32> {
        stones.saturating_sub(self.squares[1])..=stones.min(self.squares[0])
    }

    /// Addresses of one side to move with `black` and `white` stones.
    pub fn block_addresses(&self, black: u32, white: u32) -> u128 {
        u128::from(self.rows(black)) * u128::from(binomial(self.squares[1], white))
    }

    /// Bytes of their block before compression.
    pub fn block_bytes(&self, black: u32, white: u32) -> u128 {
        u128::from(self.rows(black)) * u128::from(binomial(self.squares[1], white).div_ceil(8))
    }

    /// Addresses of one side to move with a number of stones.
    pub fn layer_addresses(&self, stones: u32) -> u128 {
        self.blacks(stones).map(|black| self.block_addresses(black, stones - black)).sum()
    }

    /// Bytes of all blocks of one side to move and one kind with a number of stones.
    pub fn layer_bytes(&self, stones: u32) -> u128 {
        self.blacks(stones).map(|black| self.block_bytes(black, stones - black)).sum()
    }

    /// Bytes of the largest block with a number of stones.
    pub fn largest_block(&self, stones: u32) -> u128 {
        let blacks = self.blacks(stones);
        blacks.map(|black| self.block_bytes(black, stones - black)).max().unwrap_or(0)
    }

    /// Sets of a number of stones, all of them.
    pub fn layer_positions(&self, stones: u32) -> u128 {
        let sets = |black| {
            u128::from(binomial(self.squares[0], black))
                * u128::from(binomial(self.squares[1], stones - black))
        };
        self.blacks(stones).map(sets).sum()
    }
}

/// The lengths of a permutation's cycles.
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

    #[test]
    fn counted_rows_are_the_listed_ones() {
        for size in ["1x1", "1x9", "2x2", "3x3", "3x4", "4x4", "5x5", "5x6", "6x6", "3x7"] {
            let index = Index::new(Board::new(size.parse().unwrap()), true);
            let sizes = Sizes::new(&index);
            let mut positions = 0;
            for stones in 0..=index.board().dimensions().squares() {
                for black in sizes.blacks(stones) {
                    assert_eq!(sizes.rows(black), u64::from(index.orbits(black).len()), "{size}");
                }
                positions += sizes.layer_positions(stones);
            }
            assert_eq!(positions, 1 << index.board().dimensions().squares());
        }
    }

    #[test]
    fn the_largest_boards_do_not_overflow() {
        for size in ["8x8", "1x64", "7x9", "1x63"] {
            let index = Index::new(Board::new(size.parse().unwrap()), true);
            let sizes = Sizes::new(&index);
            let squares = index.board().dimensions().squares();
            let (mut positions, mut addresses) = (0, 0);
            for stones in 0..=squares {
                positions += sizes.layer_positions(stones);
                addresses += sizes.layer_addresses(stones);
                assert!(sizes.layer_bytes(stones) * 8 >= sizes.layer_addresses(stones));
            }
            assert_eq!(positions, 1 << squares);
            let symmetries = index.numbering().symmetries() as u128;
            assert!(addresses >= positions / symmetries && addresses <= positions);
        }
    }
}
