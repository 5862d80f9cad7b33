//! Keys of which the upper bits tell the code: a table that knows the way back keeps half as much of
//! each position.

/// A map of 64-bit words that is linear over the field of two elements: the exclusive or of one word
/// for every set bit. Eight look-ups by byte; 16 KiB.
#[derive(Clone)]
pub struct LinearMap {
    bytes: Box<[[u64; 256]; 8]>,
}

impl LinearMap {
    /// The map that takes bit `i` to `words[i]`.
    pub fn new(words: &[u64; 64]) -> Self {
        let mut bytes = Box::new([[0u64; 256]; 8]);
        for (index, table) in bytes.iter_mut().enumerate() {
            for value in 1..256usize {
                let lowest = value.trailing_zeros() as usize;
                table[value] = table[value & (value - 1)] ^ words[index * 8 + lowest];
            }
        }
        LinearMap { bytes }
    }

    /// The image of a word.
    #[inline(always)]
    pub fn apply(&self, word: u64) -> u64 {
        let bytes = word.to_le_bytes();
        let mut image = 0;
        for (table, byte) in self.bytes.iter().zip(bytes) {
            image ^= table[byte as usize];
        }
        image
    }
}

impl std::fmt::Debug for LinearMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinearMap")
    }
}

/// The way back from keys to codes: as many upper bits of a key as codes have bits tell the code.
#[derive(Clone, Debug)]
pub struct InverseHash {
    bits: u32,
    codes: LinearMap,
}

impl InverseHash {
    /// For codes with set bits in `mask` only, whose keys are the exclusive or of one of `words` for
    /// every set bit. `None` if two such codes agree in the upper bits of their keys, as many as
    /// `mask` has.
    pub fn new(mask: u64, words: &[u64; 64]) -> Option<Self> {
        let bits = mask.count_ones();
        // Gauss-Jordan: (upper bits of a key, its code), until each key has a single bit.
        let set = (0..64).filter(|&bit| mask >> bit & 1 == 1);
        let mut rows: Vec<(u64, u64)> =
            set.map(|bit| (words[bit] & upper(bits), 1 << bit)).collect();
        let mut codes = [0; 64];
        for done in 0..rows.len() {
            let column = 63 - done;
            let pivot = (done..rows.len()).find(|&row| rows[row].0 >> column & 1 == 1)?;
            rows.swap(done, pivot);
            let (key, code) = rows[done];
            for (at, row) in rows.iter_mut().enumerate() {
                if at != done && row.0 >> column & 1 == 1 {
                    *row = (row.0 ^ key, row.1 ^ code);
                }
            }
        }
        for (done, (_, code)) in rows.into_iter().enumerate() {
            codes[63 - done] = code;
        }
        Some(InverseHash { bits, codes: LinearMap::new(&codes) })
    }

    /// How many upper bits of a key tell the code.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The code of a key, of which only the upper bits are looked at.
    #[inline]
    pub fn code(&self, key: u64) -> u64 {
        self.codes.apply(key & upper(self.bits))
    }
}

/// The uppermost bits of a word.
fn upper(bits: u32) -> u64 {
    !u64::MAX.checked_shr(bits).unwrap_or(0)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_map_is_the_sum_of_the_words(words in prop::array::uniform32(any::<[u64; 2]>()), word: u64) {
            let words: [u64; 64] = std::array::from_fn(|bit| words[bit / 2][bit % 2]);
            let set = (0..64).filter(|bit| word >> bit & 1 == 1);
            let slow = set.fold(0, |image, bit| image ^ words[bit]);
            prop_assert_eq!(LinearMap::new(&words).apply(word), slow);
        }

        /// Whatever the words are: there is a way back that finds every code, or two codes share the
        /// upper bits of their keys.
        #[test]
        fn codes_come_back_or_two_share_a_key(
            mask in 1u64..1 << 10,
            words in prop::array::uniform10(any::<u16>()),
        ) {
            let words: [u64; 64] = std::array::from_fn(|bit| {
                words.get(bit).map_or(0, |&word| u64::from(word) << 48 | bit as u64)
            });
            let keys = LinearMap::new(&words);
            let codes = || (0..1u64 << 10).filter(|code| code & !mask == 0);
            match InverseHash::new(mask, &words) {
                Some(back) => for code in codes() {
                    prop_assert_eq!(back.code(keys.apply(code)), code);
                },
                None => {
                    let bits = mask.count_ones();
                    let found: std::collections::HashSet<u64> =
                        codes().map(|code| keys.apply(code) & upper(bits)).collect();
                    prop_assert!(found.len() < 1 << bits);
                }
            }
        }
    }
}
