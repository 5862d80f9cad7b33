//! Zobrist keys of canonical codes.
//!
//! A key is the exclusive or of one random word per set bit of the code. Because the code is
//! canonical, so is the key: equivalent positions share it. The key only chooses a place in a
//! table; what is stored and compared there is the exact code.

use crate::search::split_mix;

/// Random words by byte of the code: eight look-ups instead of one per stone. 16 KiB.
#[derive(Clone)]
pub struct Zobrist {
    bytes: Box<[[u64; 256]; 8]>,
}

impl Default for Zobrist {
    fn default() -> Self {
        Self::new()
    }
}

impl Zobrist {
    /// The words, always the same ones, so that keys are stable between runs and builds.
    pub fn new() -> Self {
        let words: [u64; 64] = std::array::from_fn(|bit| Self::word(bit as u64));
        let mut bytes = Box::new([[0u64; 256]; 8]);
        for (index, table) in bytes.iter_mut().enumerate() {
            for (value, key) in table.iter_mut().enumerate() {
                *key = (0..8)
                    .filter(|bit| value >> bit & 1 == 1)
                    .fold(0, |key, bit| key ^ words[index * 8 + bit]);
            }
        }
        Zobrist { bytes }
    }

    /// The word of one bit of the code: SplitMix64 of its number.
    pub fn word(bit: u64) -> u64 {
        split_mix::mix((bit + 1).wrapping_mul(split_mix::STEP))
    }

    /// The key of a canonical code.
    #[inline(always)]
    pub fn key(&self, code: u64) -> u64 {
        let bytes = code.to_le_bytes();
        let mut key = 0;
        for (table, byte) in self.bytes.iter().zip(bytes) {
            key ^= table[byte as usize];
        }
        key
    }
}

impl std::fmt::Debug for Zobrist {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Zobrist")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn key_is_the_sum_of_the_words(code: u64) {
            let slow = (0..64)
                .filter(|bit| code >> bit & 1 == 1)
                .fold(0, |key, bit| key ^ Zobrist::word(bit));
            prop_assert_eq!(Zobrist::new().key(code), slow);
        }
    }
}
