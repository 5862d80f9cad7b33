//! Converts rows of the sweep, which have all white patterns, to rows of a database's blocks, and back.
//!
//! In the sweep, a row has a bit for every white pattern, in numerical order of the patterns. In a block, a row
//! has only the patterns with a certain number of stones, in the order of their combinadic ranks. Among patterns
//! with the same number of stones, both orders are the same. So a block's row is the sweep's row without the bits
//! of all other patterns.
//!
//! A row is converted word by word. The patterns of a word differ only on the six lowest squares. First, the bits
//! of the word are sorted by the number of stones on these squares, with one table look-up for each byte. Then
//! the bits with the same number of stones are adjacent and are appended to a block's row at once. Instead of the
//! eight look-ups, seven PEXT or PDEP instructions (BMI2) would suffice, but on AMD processors before 2020 these
//! are microcode and take some ten times as long.

use std::ops::Range;

use crate::tablebase::index::binomial;

/// Number of different numbers of stones on 32 squares: 0 to 32.
const CLASSES: usize = 33;

/// Number of low squares: those that determine the bit within a word.
const LOW: u32 = 6;

/// The order of the bits of a word by the number of stones on the low squares, then by pattern. First the
/// destination of each bit, then the inverse: the original index of each sorted bit.
const ORDER: ([usize; 64], [usize; 64]) = {
    let (mut destinations, mut patterns) = ([0; 64], [0; 64]);
    let (mut next, mut stones) = (0, 0);
    while stones <= LOW {
        let mut pattern = 0usize;
        while pattern < 64 {
            if pattern.count_ones() == stones {
                destinations[pattern] = next;
                patterns[next] = pattern;
                next += 1;
            }
            pattern += 1;
        }
        stones += 1;
    }
    (destinations, patterns)
};

/// Sorts the bits of a word by the number of stones on the low squares.
static SORTED: BitPermutation = BitPermutation::new(ORDER.0);
/// Restores the order by pattern: the inverse of `SORTED`.
static BY_PATTERN: BitPermutation = BitPermutation::new(ORDER.1);

/// A permutation of the bits of a word. For each of the eight bytes and every value of the byte, the table has the
/// word with the byte's bits at their destinations. The table takes 16 KiB.
#[derive(Debug)]
struct BitPermutation([[u64; 256]; 8]);

impl BitPermutation {
    /// Makes the permutation from the destination of each bit.
    const fn new(destinations: [usize; 64]) -> BitPermutation {
        let mut tables = [[0; 256]; 8];
        let mut at = 0;
        while at < 64 * 256 {
            let (bit, value) = (at / 256, at % 256);
            tables[bit / 8][value] |= (value as u64 >> (bit % 8) & 1) << destinations[bit];
            at += 1;
        }
        BitPermutation(tables)
    }

    /// Returns the word with permuted bits.
    #[inline]
    fn of(&self, word: u64) -> u64 {
        (0..8).fold(0, |all, byte| all | self.0[byte][(word >> (8 * byte)) as usize & 0xFF])
    }
}

/// Splits rows of the sweep into rows of blocks, one for each number of white stones, and joins them again. The
/// rows of all blocks are adjacent; each begins at a word.
#[derive(Clone, Debug)]
pub struct Columns {
    white: u32,
    /// `starts[n]` is the first word of the row of the block with `n` white stones. The last element is the total
    /// number of words.
    starts: Vec<usize>,
    /// `classes[n]`, for `n` stones on the low squares: index, in a sorted word, of the first bit whose pattern
    /// has n stones, and the number of these bits.
    classes: [(u32, u32); LOW as usize + 1],
}

impl Columns {
    /// Prepares the conversion of rows for `white` white squares.
    pub fn new(white: u32) -> Self {
        let mut starts = vec![0];
        for stones in 0..=white {
            starts.push(starts[stones as usize] + binomial(white, stones).div_ceil(64) as usize);
        }
        // On fewer than six squares, a class has only some of its patterns. These are its first ones.
        let low = white.min(LOW);
        let classes = std::array::from_fn(|stones| {
            let start = (0..stones as u32).map(|fewer| binomial(LOW, fewer) as u32).sum();
            (start, binomial(low, stones as u32) as u32)
        });
        Columns { white, starts, classes }
    }

    /// Number of bytes of the row of the block with `stones` white stones: a bit for each pattern, rounded up.
    pub fn row_bytes(&self, stones: u32) -> usize {
        binomial(self.white, stones).div_ceil(8) as usize
    }

    /// Number of words of the rows of all blocks together.
    pub fn words(&self) -> usize {
        self.starts[self.white as usize + 1]
    }

    /// Range of the words of the block with `stones` white stones, among the words of all blocks.
    pub fn block(&self, stones: u32) -> Range<usize> {
        self.starts[stones as usize]..self.starts[stones as usize + 1]
    }

    /// Copies the row of the block with `stones` white stones to the rows of all blocks, `blocks`. `bytes` is the
    /// row as it is in a database.
    #[inline]
    pub fn put_block(&self, blocks: &mut [u64], stones: u32, bytes: &[u8]) {
        let words = &mut blocks[self.block(stones)];
        words[words.len() - 1] = 0;
        bytemuck::cast_slice_mut(words)[..bytes.len()].copy_from_slice(bytes);
        words.iter_mut().for_each(|word| *word = u64::from_le(*word));
    }

    /// Writes the bits of a row to the rows of the blocks. Takes some 10 ns for each word.
    ///
    /// # Panics
    /// If `row` or `blocks` is too short for this number of squares.
    pub fn split(&self, row: &[u64], blocks: &mut [u64]) {
        // By number of stones: the bits of the block's last word, which is not full yet.
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
                    // At most 19 bits did not fit into the full word.
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
    /// As for [`Columns::split`].
    pub fn join(&self, blocks: &[u64], row: &mut [u64]) {
        let mut at = self.begin();
        let words = self.row_words();
        for (high, word) in row[..words].iter_mut().enumerate() {
            let stones = high.count_ones() as usize;
            let mut sorted = 0;
            for (low, &(start, count)) in self.classes.iter().enumerate() {
                let at = &mut at[stones + low];
                let (here, used) = (*at / 64, *at % 64);
                // The next word is read even if none of its bits are needed: this avoids a branch.
                let next = blocks.get(here + 1).copied().unwrap_or(0);
                let bits = blocks[here] >> used | next << 1 << (63 - used);
                *at += count as usize;
                sorted |= (bits & ((1 << count) - 1)) << start;
            }
            *word = BY_PATTERN.of(sorted);
        }
        row[words..].fill(0);
    }

    /// By number of white stones: index of the first bit of the block's row. Elements for more stones than there
    /// are squares are not used.
    fn begin(&self) -> [usize; CLASSES] {
        std::array::from_fn(|stones| match stones <= self.white as usize {
            true => 64 * self.starts[stones],
            false => 0,
        })
    }

    /// Number of words of a row that contain bits of patterns. The row may have further, unused words.
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
    fn columns_of_split_rows_are_ranks() {
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
                assert_eq!(ones as usize, expected, "all bits after the last rank are 0");
            }
            let mut joined = vec![!0; row.len()];
            columns.join(&blocks, &mut joined);
            for pattern in 0..1 << white {
                assert_eq!(bit(&joined, pattern), bit(&row, pattern), "{white} {pattern:b}");
            }
        }
    }
}
