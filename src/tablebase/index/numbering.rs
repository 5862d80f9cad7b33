//! A numbering of the squares of each colour. With it, the stones of one colour are a bit pattern.

use crate::konane::symmetry::Permutation;
use crate::konane::{Board, Colour};

/// Number of elements whose images are found by one table look-up.
const CHUNK: usize = 8;

/// Maps sets of up to 64 elements, with one table look-up for every eight elements.
#[derive(Clone, Debug)]
pub struct SetMap(Box<[[u64; 1 << CHUNK]]>);

impl SetMap {
    /// Creates the map of the sets of `elements` elements. `image(i)` is the set to which element `i` is
    /// mapped. The image of a set is the union of the images of its elements.
    pub fn new(elements: usize, image: impl Fn(usize) -> u64) -> Self {
        let chunk = |c: usize| {
            std::array::from_fn(|bits| {
                (0..CHUNK)
                    .filter(|i| bits >> i & 1 == 1 && c * CHUNK + i < elements)
                    .fold(0, |set, i| set | image(c * CHUNK + i))
            })
        };
        SetMap((0..elements.div_ceil(CHUNK)).map(chunk).collect())
    }

    #[inline(always)]
    pub fn map(&self, set: u64) -> u64 {
        let mut image = 0;
        for (c, table) in self.0.iter().enumerate() {
            image |= table[(set >> (c * CHUNK)) as usize & ((1 << CHUNK) - 1)];
        }
        image
    }
}

/// Numbers the squares of each colour from 0.
///
/// Black squares are numbered in the order of the board. White squares are numbered orbit by orbit, where an
/// orbit is a set of squares that the symmetries which keep the colours map to each other. If the sizes of
/// the orbits allow it, the white squares 0 to 5 are a union of orbits. This matters for rows that have a bit
/// for each white pattern: squares 0 to 5 select the bit within a 64-bit word, and the other squares select
/// the word. With such a numbering, a symmetry moves whole words, and permutes the bits of all words alike.
#[derive(Clone, Debug)]
pub struct SquareNumbers {
    squares: [Vec<u8>; 2],
    /// Maps a set of squares to both patterns: black in the lower 32 bits, white in the upper 32 bits.
    pack: SetMap,
    unpack: [SetMap; 2],
    /// By colour and symmetry: the number to which the symmetry maps each number.
    moved: [Vec<Vec<u8>>; 2],
    /// The same as maps of patterns.
    images: [Vec<SetMap>; 2],
}

impl SquareNumbers {
    /// Creates the numbering of a board, with tables of some 50 KiB.
    pub fn new(board: &Board) -> Self {
        let symmetries = board.symmetries().preserving();
        let listed = |colour: Colour| -> Vec<u8> {
            let squares = board.dimensions().squares() as u8;
            (0..squares).filter(|&s| board.squares_of(colour) >> s & 1 == 1).collect()
        };
        let mut orbits: Vec<Vec<u8>> = Vec::new();
        for square in listed(Colour::White) {
            if orbits.iter().all(|orbit| !orbit.contains(&square)) {
                let mut orbit: Vec<u8> = symmetries.iter().map(|g| g[square as usize]).collect();
                orbit.sort_unstable();
                orbit.dedup();
                orbits.push(orbit);
            }
        }
        let chosen = choose_orbits(&orbits, 6).unwrap_or_default();
        let (first, last): (Vec<_>, Vec<_>) =
            (0..orbits.len()).partition(|index| chosen.contains(index));
        let white = first.into_iter().chain(last).flat_map(|i| orbits[i].clone()).collect();
        let squares = [listed(Colour::Black), white];

        let mut number = [0u32; 64];
        for list in &squares {
            for (n, &square) in (0..).zip(list) {
                number[square as usize] = n;
            }
        }
        let pack = SetMap::new(board.dimensions().squares() as usize, |square| {
            let half = 32 * u32::from(board.colour_of(square as u32) == Colour::White);
            1 << (half + number[square])
        });
        let unpack = [0, 1].map(|c| SetMap::new(squares[c].len(), |n| 1 << squares[c][n]));
        let moved = [0, 1].map(|c| {
            let list = |g: &Permutation| {
                squares[c].iter().map(|&s| number[g[s as usize] as usize] as u8).collect()
            };
            symmetries.iter().map(list).collect::<Vec<Vec<u8>>>()
        });
        let images = [0, 1].map(|c: usize| {
            moved[c].iter().map(|list| SetMap::new(list.len(), |n| 1 << list[n])).collect()
        });
        SquareNumbers { squares, pack, unpack, moved, images }
    }

    /// The squares of a colour in the order of their numbers.
    pub fn squares(&self, colour: Colour) -> &[u8] {
        &self.squares[colour.index()]
    }

    /// Number of squares of a colour.
    #[inline]
    pub fn count(&self, colour: Colour) -> u32 {
        self.squares[colour.index()].len() as u32
    }

    /// The black and the white pattern of a set of squares.
    #[inline]
    pub fn pack(&self, occupied: u64) -> [u32; 2] {
        let both = self.pack.map(occupied);
        [both as u32, (both >> 32) as u32]
    }

    /// The squares of a pattern.
    #[inline]
    pub fn unpack(&self, colour: Colour, pattern: u32) -> u64 {
        self.unpack[colour.index()].map(u64::from(pattern))
    }

    /// Number of symmetries that keep the colours; number 0 is the identity.
    #[inline]
    pub fn symmetries(&self) -> usize {
        self.images[0].len()
    }

    /// The number to which a symmetry maps each number of a colour.
    pub fn moved(&self, colour: Colour, symmetry: usize) -> &[u8] {
        &self.moved[colour.index()][symmetry]
    }

    /// The image of a pattern under a symmetry.
    #[inline]
    pub fn image(&self, colour: Colour, symmetry: usize, pattern: u32) -> u32 {
        self.images[colour.index()][symmetry].map(u64::from(pattern)) as u32
    }
}

/// Returns the indices of orbits that have exactly `size` squares in total, or `None` if there are no such
/// orbits. Tries all combinations.
fn choose_orbits(orbits: &[Vec<u8>], size: usize) -> Option<Vec<usize>> {
    fn search(orbits: &[Vec<u8>], from: usize, left: usize, chosen: &mut Vec<usize>) -> bool {
        if left == 0 {
            return true;
        }
        for index in from..orbits.len() {
            if orbits[index].len() <= left {
                chosen.push(index);
                if search(orbits, index + 1, left - orbits[index].len(), chosen) {
                    return true;
                }
                chosen.pop();
            }
        }
        false
    }
    let mut chosen = Vec::new();
    search(orbits, 0, size, &mut chosen).then_some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::symmetry::permute;

    #[test]
    fn packing_agrees_with_unpacking_and_symmetries() {
        for size in ["1x1", "3x3", "5x5", "6x6", "4x9", "5x8", "8x8", "7x9", "1x64"] {
            let board = Board::new(size.parse().unwrap());
            let numbering = SquareNumbers::new(&board);
            let mut set = 0x9E37_79B9_7F4A_7C15u64;
            for _ in 0..200 {
                set = set.wrapping_mul(0xD129_42A6_4C4D_9F2D).rotate_left(23) ^ 0x5851;
                let occupied = set & board.all();
                let [black, white] = numbering.pack(occupied);
                let squares =
                    [Colour::Black, Colour::White].map(|c| occupied & board.squares_of(c));
                assert_eq!(numbering.unpack(Colour::Black, black), squares[0], "{size}");
                assert_eq!(numbering.unpack(Colour::White, white), squares[1], "{size}");
                for (g, symmetry) in board.symmetries().preserving().iter().enumerate() {
                    let image = numbering.pack(permute(symmetry, occupied));
                    assert_eq!(numbering.image(Colour::Black, g, black), image[0], "{size} {g}");
                    assert_eq!(numbering.image(Colour::White, g, white), image[1], "{size} {g}");
                }
            }
        }
    }

    #[test]
    fn symmetries_move_whole_words_on_boards_that_are_swept() {
        let moves_whole_words = |size: &str| {
            let numbering = SquareNumbers::new(&Board::new(size.parse().unwrap()));
            (0..numbering.symmetries())
                .all(|g| numbering.moved(Colour::White, g)[..6].iter().all(|&n| n < 6))
        };
        for size in ["6x6", "5x7", "4x9", "3x12", "2x18", "1x36", "5x8", "4x10", "6x7"] {
            assert!(moves_whole_words(size), "{size}");
        }
        assert!(!moves_whole_words("5x5"));
    }
}
