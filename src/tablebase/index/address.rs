//! The address of a position: layer, block, row and column.

use std::sync::OnceLock;

use super::numbering::{SetMap, SquareNumbers};
use super::orbits::{Orbits, count_rows};
use super::rank::Combinadics;
use crate::konane::{Board, Colour};

/// Location of the value of a jumping-phase position.
///
/// The block (`to_move`, `black`, `white`) holds the positions with this side to move and these numbers of
/// stones. Its rows are the canonical black patterns ([`Orbits`]), its columns the white patterns by
/// combinadic rank. If the index exchanges the colours of a position, its address is that of the position
/// after the exchange. Equivalent positions may have different addresses if a symmetry maps their black
/// pattern to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The side to move. Always Black if the index exchanges the colours.
    pub to_move: Colour,
    /// Number of black stones.
    pub black: u32,
    /// Number of white stones.
    pub white: u32,
    /// Index of the canonical black pattern.
    pub row: u32,
    /// Rank of the white pattern.
    pub column: u32,
}

/// Addresses of the positions of one board. Can be shared between threads. The canonical black patterns with
/// a given number of stones are computed when they are first needed.
#[derive(Debug)]
pub struct Index {
    board: Board,
    numbering: SquareNumbers,
    ranks: [Combinadics; 2],
    orbits: Box<[OnceLock<Orbits>]>,
    /// Number of canonical black patterns, by number of stones.
    rows: Vec<u64>,
    /// The symmetry that exchanges the colours of positions with White to move, if the index exchanges them.
    exchange: Option<SetMap>,
}

impl Index {
    /// Creates the index of a board. If `exchange` is true and the board has an even side, a position with
    /// White to move has the address of the equivalent position with exchanged colours and Black to move. On
    /// a board with two odd sides, `exchange` has no effect.
    pub fn new(board: Board, exchange: bool) -> Self {
        let numbering = SquareNumbers::new(&board);
        let ranks = [Colour::Black, Colour::White].map(|c| Combinadics::new(numbering.count(c)));
        let orbits = (0..=numbering.count(Colour::Black)).map(|_| OnceLock::new()).collect();
        let squares = board.dimensions().squares() as usize;
        let exchange = board
            .symmetries()
            .exchanging()
            .first()
            .filter(|_| exchange)
            .map(|symmetry| SetMap::new(squares, |square| 1 << symmetry[square]));
        let rows = count_rows(&numbering);
        Index { board, numbering, ranks, orbits, rows, exchange }
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The numbers of the squares.
    pub fn numbering(&self) -> &SquareNumbers {
        &self.numbering
    }

    /// The ranks of the patterns of a colour.
    pub fn ranks(&self, colour: Colour) -> &Combinadics {
        &self.ranks[colour.index()]
    }

    /// Returns true if positions with White to move have the addresses of equivalent positions with Black to
    /// move.
    pub fn exchanges(&self) -> bool {
        self.exchange.is_some()
    }

    /// The sides to move that have blocks: only Black if the colours are exchanged.
    pub fn sides(&self) -> &'static [Colour] {
        if self.exchanges() { &[Colour::Black] } else { &[Colour::Black, Colour::White] }
    }

    /// The canonical black patterns with a number of stones.
    ///
    /// # Panics
    /// If the board has fewer than `black` black squares.
    #[inline]
    pub fn orbits(&self, black: u32) -> &Orbits {
        self.orbits[black as usize]
            .get_or_init(|| Orbits::new(&self.numbering, self.ranks(Colour::Black), black))
    }

    /// Number of canonical black patterns with a number of stones. Does not compute the patterns.
    ///
    /// # Panics
    /// If the board has fewer than `black` black squares.
    pub fn rows(&self, black: u32) -> u64 {
        self.rows[black as usize]
    }

    /// Returns the address of the jumping-phase position with these stones. Takes some 20 ns.
    #[inline]
    pub fn address(&self, occupied: u64, to_move: Colour) -> Address {
        let (occupied, to_move) = match (&self.exchange, to_move) {
            (Some(exchange), Colour::White) => (exchange.map(occupied), Colour::Black),
            _ => (occupied, to_move),
        };
        let [black, white] = self.numbering.pack(occupied);
        let stones = black.count_ones();
        let row = self.orbits(stones).row(&self.numbering, self.ranks(Colour::Black), black);
        let image = self.numbering.image(Colour::White, usize::from(row.symmetry), white);
        let column = self.ranks(Colour::White).rank(image);
        Address { to_move, black: stones, white: white.count_ones(), row: row.index, column }
    }

    /// Returns the stones of the position at an address.
    ///
    /// # Panics
    /// If there is no such address.
    pub fn occupied(&self, address: &Address) -> u64 {
        let black = self.orbits(address.black).patterns()[address.row as usize];
        let white = self.ranks(Colour::White).unrank(address.white, address.column);
        self.numbering.unpack(Colour::Black, black) | self.numbering.unpack(Colour::White, white)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::Position;
    use proptest::prelude::*;

    #[test]
    fn addresses_are_decoded_to_equivalent_positions() {
        for size in ["3x3", "3x4", "4x4", "1x9", "2x7"] {
            let board = Board::new(size.parse().unwrap());
            for exchange in [false, true] {
                let index = Index::new(board.clone(), exchange);
                for occupied in 0..=board.all() {
                    if (board.all() & !occupied).count_ones() < 2 {
                        continue;
                    }
                    for to_move in [Colour::Black, Colour::White] {
                        let address = index.address(occupied, to_move);
                        let decoded = index.occupied(&address);
                        let code = |stones, side| {
                            Position::new_unchecked(&board, stones, side).code(&board)
                        };
                        assert_eq!(code(occupied, to_move), code(decoded, address.to_move));
                        assert_eq!(index.address(decoded, address.to_move), address);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn addresses_of_large_boards(stones: u64, size in prop::sample::select(vec![
            "6x6", "7x7", "5x8", "8x8", "7x9", "2x32", "1x64"
        ]), black_to_move: bool) {
            // Only few stones: to compute the orbits of a half full 8x8 board would take minutes.
            let board = Board::new(size.parse().unwrap());
            let mut occupied = stones & board.all();
            while occupied.count_ones() > 8 {
                occupied &= occupied - 1;
            }
            let index = Index::new(board.clone(), true);
            let to_move = if black_to_move { Colour::Black } else { Colour::White };
            let address = index.address(occupied, to_move);
            let decoded = index.occupied(&address);
            prop_assert_eq!(index.address(decoded, address.to_move), address);
            let code = |stones, side| {
                Position::new_unchecked(&board, stones, side).code(&board)
            };
            prop_assert_eq!(code(occupied, to_move), code(decoded, address.to_move));
        }
    }
}
