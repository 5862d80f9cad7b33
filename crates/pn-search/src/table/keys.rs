//! Invertible keys. If the upper bits of a key determine the code, a table with the inverse
//! function needs only half as much memory per position.
//!
//! * [`LinearMap`]: a linear map of 64-bit words over the field of two elements.
//! * [`InverseHash`]: inverse of a linear key function.

/// A map of 64-bit words that is linear over the field of two elements. The image of a word is the
/// exclusive or of one word for every set bit. It takes eight look-ups, one per byte, in 16 KiB.
#[derive(Clone)]
pub struct LinearMap {
    bytes: Box<[[u64; 256]; 8]>,
}

impl LinearMap {
    /// Creates the map with `words[i]` as the image of bit `i`.
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

    /// Returns the image of a word.
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

/// Function from keys to codes. If codes have `n` bits, it uses the upper `n` bits of a key.
#[derive(Clone, Debug)]
pub struct InverseHash {
    bits: u32,
    codes: LinearMap,
}

impl InverseHash {
    /// Creates the inverse of a key function. `mask` contains the bits that may be set in a code.
    /// The key of a code is the exclusive or of `words[i]` for every set bit `i` of the code. If
    /// `mask` has `n` bits, the upper `n` bits of a key have to determine the code. Returns `None` if
    /// two codes agree in these bits of their keys.
    pub fn new(mask: u64, words: &[u64; 64]) -> Option<Self> {
        let bits = mask.count_ones();
        // Gauss-Jordan elimination. A row consists of the upper bits of a key and of the code with
        // this key. At the end, each key has a single bit.
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

    /// Number of upper bits of a key that determine the code.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the code with this key. Only the upper bits of the key are used.
    #[inline]
    pub fn code(&self, key: u64) -> u64 {
        self.codes.apply(key & upper(self.bits))
    }
}

/// Mask of the `bits` uppermost bits of a word.
fn upper(bits: u32) -> u64 {
    !u64::MAX.checked_shr(bits).unwrap_or(0)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_image_is_the_xor_of_words(words in prop::array::uniform32(any::<[u64; 2]>()), word: u64) {
            let words: [u64; 64] = std::array::from_fn(|bit| words[bit / 2][bit % 2]);
            let set = (0..64).filter(|bit| word >> bit & 1 == 1);
            let slow = set.fold(0, |image, bit| image ^ words[bit]);
            prop_assert_eq!(LinearMap::new(&words).apply(word), slow);
        }

        /// For any words, either the inverse returns every code from its key, or two codes share the
        /// upper bits of their keys.
        #[test]
        fn codes_are_recovered_from_keys_or_two_codes_share_a_key(
            mask in 1u64..1 << 10,
            words in prop::array::uniform10(any::<u16>()),
        ) {
            let words: [u64; 64] = std::array::from_fn(|bit| {
                words.get(bit).map_or(0, |&word| u64::from(word) << 48 | bit as u64)
            });
            let keys = LinearMap::new(&words);
            let codes = || (0..1u64 << 10).filter(|code| code & !mask == 0);
            match InverseHash::new(mask, &words) {
                Some(inverse) => for code in codes() {
                    prop_assert_eq!(inverse.code(keys.apply(code)), code);
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
