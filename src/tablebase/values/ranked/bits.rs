//! Runs of bits that begin at any bit of a row. A row consists of bytes or of words.

use crate::tablebase::values::remoteness::MAX_PLANES;

/// Splits two runs of `length` bits, from bit `to` and from bit `from` on, into pieces, and calls
/// `visit(to, from, length)` for each pair of pieces. A piece has at most 56 bits, so that the eight bytes
/// from the byte of its first bit on contain the whole piece.
#[inline(always)]
pub fn for_each_word(to: u32, from: u32, length: u32, mut visit: impl FnMut(usize, usize, usize)) {
    let (to, from, length) = (to as usize, from as usize, length as usize);
    let mut done = 0;
    while done < length {
        visit(to + done, from + done, (length - done).min(56));
        done += 56;
    }
}

/// Returns at least 56 bits from bit `at` on. `bytes` must have at least 8 bytes from byte `at / 8` on.
#[inline(always)]
pub fn read_bits(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at / 8..].first_chunk().expect("the padding after the last row");
    u64::from_le_bytes(*bytes) >> (at % 8)
}

/// Returns the bits of `bytes` at the given indices. The first index gives the lowest bit of the result.
#[inline(always)]
pub fn gather_bits(bytes: &[u8], indices: &[u32]) -> u64 {
    let bit = |&index: &u32| u64::from(bytes[index as usize / 8] >> (index % 8) & 1);
    indices.iter().zip(0..).fold(0, |bits, (index, at)| bits | bit(index) << at)
}

/// Calls `change` for all words of a row. `bytes` has `planes` adjacent planes of the same length; each call
/// receives the same word of every plane.
pub fn for_each_word_of_planes(bytes: &mut [u8], planes: usize, change: impl Fn(&mut [[u64; 1]])) {
    let plane_bytes = bytes.len() / planes;
    let mut words = [[0u64]; MAX_PLANES];
    for at in (0..plane_bytes).step_by(8) {
        let length = 8.min(plane_bytes - at);
        let range = |plane: usize| plane * plane_bytes + at..plane * plane_bytes + at + length;
        for (plane, word) in words[..planes].iter_mut().enumerate() {
            let mut buffer = [0; 8];
            buffer[..length].copy_from_slice(&bytes[range(plane)]);
            *word = [u64::from_le_bytes(buffer)];
        }
        change(&mut words[..planes]);
        for (plane, word) in words[..planes].iter().enumerate() {
            bytes[range(plane)].copy_from_slice(&word[0].to_le_bytes()[..length]);
        }
    }
}

/// Returns 64 bits from bit `at` on. `words` must have at least two words from word `at / 64` on.
#[inline(always)]
pub fn bits_at(words: &[u64], at: usize) -> u64 {
    let offset = at % 64;
    let words = &words[at / 64..][..2];
    words[0] >> offset | words[1] << 1 << (63 - offset)
}

/// Inverts the bits of `words` that are set in `bits`, from bit `at` on.
#[inline(always)]
pub fn xor_bits(words: &mut [u64], at: usize, bits: u64) {
    let offset = at % 64;
    let words = &mut words[at / 64..][..2];
    words[0] ^= bits << offset;
    words[1] ^= bits >> 1 >> (63 - offset);
}

/// Sets the bits of `words` that are set in `bits`, from bit `at` on. Writes whole words: a word can be read
/// back faster after one write than after writes of some of its bytes.
#[inline(always)]
pub fn or_bits(words: &mut [u64], at: usize, bits: u64) {
    let offset = at % 64;
    let words = &mut words[at / 64..][..2];
    words[0] |= bits << offset;
    words[1] |= bits >> 1 >> (63 - offset);
}

#[inline(always)]
pub fn low_bits(count: usize) -> u64 {
    (1 << count) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with copies of single bits, for every pair of offsets and for lengths close to those of one,
    /// two and three pieces.
    #[test]
    fn runs_are_copied_like_single_bits() {
        let noise = |i: usize| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57 & 1 == 1;
        let bytes: Vec<u8> =
            (0..48).map(|at| (0..8).fold(0, |b, i| b | u8::from(noise(8 * at + i)) << i)).collect();
        let indices: Vec<u32> = (0..256).map(|index: u32| index * 77 % 256).collect();
        for length in [1, 7, 8, 55, 56, 57, 111, 112, 113, 170] {
            for (to, from) in (0..64).flat_map(|to| (0..64).map(move |from| (to, from))) {
                let (mut copied, mut gathered, mut inverted) = ([0; 6], [0; 6], [u64::MAX; 6]);
                for_each_word(to, from, length, |to, from, length| {
                    let bits = read_bits(&bytes, from) & low_bits(length);
                    or_bits(&mut copied, to, bits);
                    or_bits(&mut gathered, to, gather_bits(&bytes, &indices[from..from + length]));
                    xor_bits(&mut inverted, to, bits);
                    assert_eq!(bits_at(&copied, to) & low_bits(length), bits);
                });
                let bit = |words: &[u64; 6], at: usize| words[at / 64] >> (at % 64) & 1 == 1;
                for at in 0..320usize {
                    let source = at.wrapping_sub(to as usize);
                    let inside = source < length as usize;
                    let source = source.wrapping_add(from as usize);
                    assert_eq!(bit(&copied, at), inside && noise(source));
                    assert_eq!(bit(&gathered, at), inside && noise(indices[source] as usize));
                    assert_eq!(bit(&inverted, at), !(inside && noise(source)));
                }
            }
        }
    }
}
