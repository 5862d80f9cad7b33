//! From rows over all white patterns to the columns of a database's blocks, and back.
//!
//! A row of the sweep has its patterns in the order of their values, a block those with one number
//! of white stones in the order of their combinadic ranks. Among patterns with the same number of stones,
//! both orders are the same. So a block's row is the sweep's row without the bits of all other patterns.
//! This works word by word, because the stones on the squares above the sixth are the same for a whole
//! word.
//!
//! First the bits of a word are ordered by their stones, by tables for its bytes: eight look-ups. Seven
//! instructions PEXT or PDEP of BMI2 would suffice, but they are microcode on AMD's processors before 2020
//! and take some ten times as long there.

use std::ops::Range;

use crate::tablebase::index::binomial;

/// Count of the numbers of stones that 32 squares can have.
const CLASSES: usize = 33;

/// Squares that determine the bit within a word.
const LOW: u32 = 6;

/// Destination of each bit of a word if they are ordered by the stones on the lower squares, then by value;
/// and the inverse.
const ORDER: ([usize; 64], [usize; 64]) = {
    let (mut places, mut patterns) = ([0; 64], [0; 64]);
    let (mut next, mut stones) = (0, 0);
    while stones <= LOW {
        let mut pattern = 0usize;
        while pattern < 64 {
            if pattern.count_ones() == stones {
                places[pattern] = next;
                patterns[next] = pattern;
                next += 1;
            }
            pattern += 1;
        }
        stones += 1;
    }
    (places, patterns)
};

/// From the order of values to that of stones.
static SORTED: BitPermutation = BitPermutation::new(ORDER.0);
/// The inverse.
static BY_VALUE: BitPermutation = BitPermutation::new(ORDER.1);

/// A permutation of the bits of a word: the destinations of the bits of each byte, for every value of the
/// byte. 16 KiB.
#[derive(Debug)]
struct BitPermutation([[u64; 256]; 8]);

impl BitPermutation {
    /// Makes the permutation from the destination of each bit.
    const fn new(places: [usize; 64]) -> BitPermutation {
        let mut tables = [[0; 256]; 8];
        let mut at = 0;
        while at < 64 * 256 {
            let (bit, value) = (at / 256, at % 256);
            tables[bit / 8][value] |= (value as u64 >> (bit % 8) & 1) << places[bit];
            at += 1;
        }
        BitPermutation(tables)
    }

    #[inline]
    fn of(&self, word: u64) -> u64 {
        (0..8).fold(0, |all, byte| all | self.0[byte][(word >> (8 * byte)) as usize & 0xFF])
    }
}

/// Splits rows by the number of white stones, and joins them again.
#[derive(Clone, Debug)]
pub struct Columns {
    white: u32,
    /// By number of white stones: the first word of a block's row among the rows of all blocks; at the end,
    /// the number of all words.
    starts: Vec<usize>,
    /// By number of stones on the lower squares: the first bit of an ordered word with as many, and
    /// the number of these bits.
    classes: [(u32, u32); LOW as usize + 1],
}

impl Columns {
    /// For rows over `white` squares.
    pub fn new(white: u32) -> Self {
        let mut starts = vec![0];
        for stones in 0..=white {
            starts.push(starts[stones as usize] + binomial(white, stones).div_ceil(64) as usize);
        }
        // With fewer squares, the existing patterns of a class are the first ones of it.
        let low = white.min(LOW);
        let classes = std::array::from_fn(|stones| {
            let start = (0..stones as u32).map(|fewer| binomial(LOW, fewer) as u32).sum();
            (start, binomial(low, stones as u32) as u32)
        });
        Columns { white, starts, classes }
    }

    /// Bytes of a block's row for a number of white stones: one bit a pattern, rounded up.
    pub fn row_bytes(&self, stones: u32) -> usize {
        binomial(self.white, stones).div_ceil(8) as usize
    }

    /// Words of the rows of all blocks together. Each begins with a word of its own.
    pub fn words(&self) -> usize {
        self.starts[self.white as usize + 1]
    }

    /// Words of the block with a number of white stones among them.
    pub fn block(&self, stones: u32) -> Range<usize> {
        self.starts[stones as usize]..self.starts[stones as usize + 1]
    }

    /// Puts a block's row, as bytes of a database, among the rows of all blocks.
    #[inline]
    pub fn put_block(&self, blocks: &mut [u64], stones: u32, bytes: &[u8]) {
        let words = &mut blocks[self.block(stones)];
        words[words.len() - 1] = 0;
        bytemuck::cast_slice_mut(words)[..bytes.len()].copy_from_slice(bytes);
        words.iter_mut().for_each(|word| *word = u64::from_le(*word));
    }

    /// Writes a row's bits to the rows of the blocks. Some 10 ns a word.
    ///
    /// # Panics
    /// If one of them is shorter than it is for this number of squares.
    pub fn split(&self, row: &[u64], blocks: &mut [u64]) {
        // Bits of words that are not full yet, by number of stones.
        let mut waiting = [0u64; CLASSES];
        let mut at = self.begin();
        for (high, &word) in row[..self.row_words()].iter().enumerate() {
            let stones = high.count_ones() as usize;
            let sorted = SORTED.of(word);
            for (low, &(start, count)) in self.classes.iter().enumerate() {
                let bits = sorted >> start & ((1 << count) - 1);
                let (waiting, at) = (&mut waiting[stones + low], &mut at[stones + low]);
                let (here, fill) = (*at / 64, *at as u32 % 64);
                *waiting |= bits << fill;
                *at += count as usize;
                if fill + count >= 64 {
                    blocks[here] = *waiting;
                    // The bits that did not fit, at most 19.
                    *waiting = bits >> (64 - fill);
                }
            }
        }
        for (waiting, at) in waiting.into_iter().zip(at) {
            if at % 64 > 0 {
                blocks[at / 64] = waiting;
            }
        }
    }

    /// The inverse of [`Columns::split`].
    ///
    /// # Panics
    /// As there.
    pub fn join(&self, blocks: &[u64], row: &mut [u64]) {
        let mut at = self.begin();
        let words = self.row_words();
        for (high, word) in row[..words].iter_mut().enumerate() {
            let stones = high.count_ones() as usize;
            let mut sorted = 0;
            for (low, &(start, count)) in self.classes.iter().enumerate() {
                let at = &mut at[stones + low];
                let (here, used) = (*at / 64, *at % 64);
                // Of the next word too, without a branch that depends on whether they are there.
                let next = blocks.get(here + 1).copied().unwrap_or(0);
                let bits = blocks[here] >> used | next << 1 << (63 - used);
                *at += count as usize;
                sorted |= (bits & ((1 << count) - 1)) << start;
            }
            *word = BY_VALUE.of(sorted);
        }
        row[words..].fill(0);
    }

    /// First bits of the block rows, by number of white stones. Those of numbers beyond the squares are
    /// not used.
    fn begin(&self) -> [usize; CLASSES] {
        std::array::from_fn(|stones| match stones <= self.white as usize {
            true => 64 * self.starts[stones],
            false => 0,
        })
    }

    /// Words of a row that have patterns.
    fn row_words(&self) -> usize {
        (1usize << self.white).div_ceil(64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_ops::row_words;
    use super::*;
    use crate::tablebase::index::Combinadics;

    #[test]
    fn columns_are_ranks() {
        for white in 0..=14 {
            let columns = Columns::new(white);
            let mut state = u64::from(white) + 1;
            let row: Vec<u64> = (0..row_words(white))
                .map(|_| {
                    state = state.wrapping_mul(0xD129_42A6_4C4D_9F2D).wrapping_add(0x5851_F42D);
                    state ^ state >> 31
                })
                .collect();
            let bit = |words: &[u64], at: u32| words[at as usize / 64] >> (at % 64) & 1 == 1;
            let mut blocks = vec![!0; columns.words()];
            columns.split(&row, &mut blocks);
            let ranks = Combinadics::new(white);
            for stones in 0..=white {
                assert_eq!(columns.row_bytes(stones), ranks.count(stones).div_ceil(8) as usize);
                for (rank, pattern) in (0..).zip(ranks.patterns(stones)) {
                    let value = bit(&blocks[columns.block(stones)], rank);
                    assert_eq!(value, bit(&row, pattern), "{white} {pattern:b}");
                }
                let ones: u32 =
                    blocks[columns.block(stones)].iter().map(|word| word.count_ones()).sum();
                let expected = ranks.patterns(stones).filter(|&p| bit(&row, p)).count();
                assert_eq!(ones as usize, expected, "nothing behind the last rank");
            }
            let mut joined = vec![!0; row.len()];
            columns.join(&blocks, &mut joined);
            for pattern in 0..1 << white {
                assert_eq!(bit(&joined, pattern), bit(&row, pattern), "{white} {pattern:b}");
            }
        }
    }
}
