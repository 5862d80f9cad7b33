//! From rows over all white patterns to the columns of a database's blocks, and back.
//!
//! A row of the sweep has its patterns in the order of their values, a block those with one number
//! of white stones in the order of their combinadic ranks. Among patterns with as many stones,
//! both orders are the same. So a block's row is what is left of the sweep's row when the bits
//! of all other patterns are taken out: word by word, as the stones on the squares above the
//! sixth are the same for a whole word.

#![allow(unsafe_code)]

use std::ops::Range;

use crate::endgame::index::binomial;

/// More than the numbers of stones that 32 squares can have.
const CLASSES: usize = 33;

/// Splits rows by the number of white stones, and joins them again.
#[derive(Clone, Debug)]
pub struct Columns {
    white: u32,
    /// By number of white stones: where a block's row begins among all of them, in words; at the
    /// end, the words of all.
    starts: Vec<usize>,
    /// By number of stones on the lower six squares: the bits of a word that stand for it.
    masks: Vec<u64>,
}

impl Columns {
    /// For rows over `white` squares.
    pub fn new(white: u32) -> Self {
        let mut starts = vec![0];
        for stones in 0..=white {
            starts.push(starts[stones as usize] + binomial(white, stones).div_ceil(64) as usize);
        }
        let low = white.min(6);
        let mask = |stones: u32| {
            (0..1u64 << low).filter(|p| p.count_ones() == stones).fold(0, |mask, p| mask | 1 << p)
        };
        Columns { white, starts, masks: (0..=low).map(mask).collect() }
    }

    /// Bytes of a block's row for a number of white stones: one bit a pattern, rounded up.
    pub fn row_bytes(&self, stones: u32) -> usize {
        binomial(self.white, stones).div_ceil(8) as usize
    }

    /// Words of the rows of all blocks together, each from a word of its own.
    pub fn words(&self) -> usize {
        self.starts[self.white as usize + 1]
    }

    /// Among them, those of the block with a number of white stones.
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
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has the instructions.
            return unsafe { self.split_bmi2(row, blocks) };
        }
        self.split_with(row, blocks, extract)
    }

    /// The inverse of [`Columns::split`].
    ///
    /// # Panics
    /// As there.
    pub fn join(&self, blocks: &[u64], row: &mut [u64]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has the instructions.
            return unsafe { self.join_bmi2(blocks, row) };
        }
        self.join_with(blocks, row, deposit)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2")]
    fn split_bmi2(&self, row: &[u64], blocks: &mut [u64]) {
        self.split_with(row, blocks, |word, mask| std::arch::x86_64::_pext_u64(word, mask))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2")]
    fn join_bmi2(&self, blocks: &[u64], row: &mut [u64]) {
        self.join_with(blocks, row, |bits, mask| std::arch::x86_64::_pdep_u64(bits, mask))
    }

    #[inline(always)]
    fn split_with(&self, row: &[u64], blocks: &mut [u64], extract: impl Fn(u64, u64) -> u64) {
        // Bits that wait for their word to be full, and their number, by number of stones.
        let (mut waiting, mut fill) = ([0u64; CLASSES], [0u32; CLASSES]);
        let mut at = self.begin();
        for (high, &word) in row[..self.row_words()].iter().enumerate() {
            let stones = high.count_ones() as usize;
            for (low, &mask) in self.masks.iter().enumerate() {
                let bits = extract(word, mask);
                let class = stones + low;
                let count = mask.count_ones();
                waiting[class] |= bits << fill[class];
                fill[class] += count;
                if fill[class] >= 64 {
                    blocks[at[class]] = waiting[class];
                    at[class] += 1;
                    fill[class] -= 64;
                    // What did not fit, at most 19 bits.
                    waiting[class] = bits >> (count - fill[class]);
                }
            }
        }
        for class in 0..=self.white as usize {
            if at[class] < self.starts[class + 1] {
                blocks[at[class]] = waiting[class];
            }
        }
    }

    #[inline(always)]
    fn join_with(&self, blocks: &[u64], row: &mut [u64], deposit: impl Fn(u64, u64) -> u64) {
        let (mut at, mut fill) = (self.begin(), [0u32; CLASSES]);
        let words = self.row_words();
        for (high, word) in row[..words].iter_mut().enumerate() {
            let stones = high.count_ones() as usize;
            *word = 0;
            for (low, &mask) in self.masks.iter().enumerate() {
                let class = stones + low;
                let count = mask.count_ones();
                let (here, used) = (at[class], fill[class]);
                let mut bits = blocks[here] >> used;
                fill[class] += count;
                if fill[class] >= 64 {
                    at[class] += 1;
                    fill[class] -= 64;
                    if fill[class] > 0 {
                        bits |= blocks[here + 1] << (64 - used);
                    }
                }
                *word |= deposit(bits, mask);
            }
        }
        row[words..].fill(0);
    }

    /// Where the block rows begin, by number of white stones.
    fn begin(&self) -> [usize; CLASSES] {
        std::array::from_fn(|stones| self.starts.get(stones).copied().unwrap_or(0))
    }

    /// Words of a row that stand for patterns.
    fn row_words(&self) -> usize {
        (1usize << self.white).div_ceil(64)
    }
}

/// The bits of `word` under `mask`, moved together.
fn extract(word: u64, mask: u64) -> u64 {
    let (mut bits, mut at, mut rest) = (0, 0, mask);
    while rest != 0 {
        bits |= (word >> rest.trailing_zeros() & 1) << at;
        rest &= rest - 1;
        at += 1;
    }
    bits
}

/// The lowest bits of `bits`, moved to the places of `mask`.
fn deposit(bits: u64, mask: u64) -> u64 {
    let (mut word, mut at, mut rest) = (0, 0, mask);
    while rest != 0 {
        word |= (bits >> at & 1) << rest.trailing_zeros();
        rest &= rest - 1;
        at += 1;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::super::row_ops::row_words;
    use super::*;
    use crate::endgame::index::Combinadics;

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
            let (mut blocks, mut portable) = (vec![!0; columns.words()], vec![!0; columns.words()]);
            columns.split(&row, &mut blocks);
            columns.split_with(&row, &mut portable, extract);
            assert_eq!(blocks, portable);
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
            let (mut joined, mut portable) = (vec![!0; row.len()], vec![!0; row.len()]);
            columns.join(&blocks, &mut joined);
            columns.join_with(&blocks, &mut portable, deposit);
            assert_eq!(joined, portable);
            for pattern in 0..1 << white {
                assert_eq!(bit(&joined, pattern), bit(&row, pattern), "{white} {pattern:b}");
            }
        }
    }
}
