//! Numbers of rows, addresses and bytes of the layers of a board, computed without listing the patterns.

use std::ops::RangeInclusive;

use super::address::Index;
use super::rank::binomial;
use crate::konane::Colour;

/// Sizes. Sums are `u128`, because some of them need more than 64 bits on the largest boards.
impl Index {
    /// Number of squares of a colour.
    pub fn squares(&self, colour: Colour) -> u32 {
        self.numbering().count(colour)
    }

    /// Maximum number of canonical black patterns with the same number of stones.
    pub fn max_rows(&self) -> u128 {
        let rows = (0..=self.squares(Colour::Black)).map(|black| self.rows(black));
        rows.max().unwrap_or(0).into()
    }

    /// Number of bits of all rows with `black` black stones, if a row has a bit for each white pattern with any
    /// number of stones.
    pub fn row_positions(&self, black: u32) -> u64 {
        self.rows(black) << self.squares(Colour::White)
    }

    /// Range of the numbers of black stones that positions with `stones` stones can have.
    pub fn blacks(&self, stones: u32) -> RangeInclusive<u32> {
        let [black, white] = [Colour::Black, Colour::White].map(|c| self.squares(c));
        stones.saturating_sub(white)..=stones.min(black)
    }

    /// Number of addresses of a block: positions with `black` black stones, `white` white stones and one side to
    /// move.
    pub fn block_addresses(&self, black: u32, white: u32) -> u128 {
        u128::from(self.rows(black)) * u128::from(binomial(self.squares(Colour::White), white))
    }

    /// Number of bytes of such a block before compression: one bit for each address, each row in whole bytes.
    pub fn block_bytes(&self, black: u32, white: u32) -> u128 {
        let columns = binomial(self.squares(Colour::White), white);
        u128::from(self.rows(black)) * u128::from(columns.div_ceil(8))
    }

    /// Number of addresses with `stones` stones and one side to move.
    pub fn layer_addresses(&self, stones: u32) -> u128 {
        self.blacks(stones).map(|black| self.block_addresses(black, stones - black)).sum()
    }

    /// Number of bytes, before compression, of all blocks with `stones` stones, one side to move and one kind.
    pub fn layer_bytes(&self, stones: u32) -> u128 {
        self.blacks(stones).map(|black| self.block_bytes(black, stones - black)).sum()
    }

    /// Number of bytes of the largest block with `stones` stones, before compression.
    pub fn max_block_bytes(&self, stones: u32) -> u128 {
        let bytes = self.blacks(stones).map(|black| self.block_bytes(black, stones - black));
        bytes.max().unwrap_or(0)
    }

    /// Number of sets of `stones` stones.
    pub fn layer_positions(&self, stones: u32) -> u128 {
        let patterns = |colour, stones| u128::from(binomial(self.squares(colour), stones));
        let sets = |black| patterns(Colour::Black, black) * patterns(Colour::White, stones - black);
        self.blacks(stones).map(sets).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::Board;

    #[test]
    fn computed_numbers_of_rows_match_the_listed_rows() {
        for size in ["1x1", "1x9", "2x2", "3x3", "3x4", "4x4", "5x5", "5x6", "6x6", "3x7"] {
            let index = Index::new(Board::new(size.parse().unwrap()), true);
            let mut positions = 0;
            for stones in 0..=index.board().dimensions().squares() {
                for black in index.blacks(stones) {
                    assert_eq!(
                        index.rows(black),
                        index.orbits(black).patterns().len() as u64,
                        "{size}"
                    );
                }
                positions += index.layer_positions(stones);
            }
            assert_eq!(positions, 1 << index.board().dimensions().squares());
        }
    }

    #[test]
    fn the_largest_boards_do_not_overflow() {
        for size in ["8x8", "1x64", "7x9", "1x63"] {
            let index = Index::new(Board::new(size.parse().unwrap()), true);
            let squares = index.board().dimensions().squares();
            let (mut positions, mut addresses) = (0, 0);
            for stones in 0..=squares {
                positions += index.layer_positions(stones);
                addresses += index.layer_addresses(stones);
                assert!(index.layer_bytes(stones) * 8 >= index.layer_addresses(stones));
            }
            assert_eq!(positions, 1 << squares);
            let symmetries = index.numbering().symmetries() as u128;
            assert!(addresses >= positions / symmetries && addresses <= positions);
        }
    }
}
