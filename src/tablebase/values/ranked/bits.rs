//! Runs of bits that begin anywhere, in rows as bytes and in rows as words.

use crate::tablebase::values::remoteness::MAX_PLANES;

/// Splits a pair of runs into pieces of at most 56 bits, which a word holds with any offset below
/// 8.
#[inline(always)]
pub fn for_each_word(to: u32, from: u32, length: u32, mut visit: impl FnMut(usize, usize, usize)) {
    let (to, from, length) = (to as usize, from as usize, length as usize);
    let mut done = 0;
    while done < length {
        visit(to + done, from + done, (length - done).min(56));
        done += 56;
    }
}

/// At least 56 bits from bit `at` on. At least 8 bytes must follow from the byte of that bit on.
#[inline(always)]
pub fn read_bits(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at / 8..].first_chunk().expect("the padding after the last row");
    u64::from_le_bytes(*bytes) >> (at % 8)
}

/// The bits at places in a string of bytes.
#[inline(always)]
pub fn gather_bits(bytes: &[u8], places: &[u32]) -> u64 {
    let bit = |&place: &u32| u64::from(bytes[place as usize / 8] >> (place % 8) & 1);
    places.iter().zip(0..).fold(0, |bits, (place, at)| bits | bit(place) << at)
}

/// Calls `change` for every word of adjacent planes of the same length.
pub fn for_each_word_of_planes(bytes: &mut [u8], planes: usize, change: impl Fn(&mut [[u64; 1]])) {
    let plane_bytes = bytes.len() / planes;
    let mut words = [[0u64]; MAX_PLANES];
    for at in (0..plane_bytes).step_by(8) {
        let length = 8.min(plane_bytes - at);
        let place = |plane: usize| plane * plane_bytes + at..plane * plane_bytes + at + length;
        for (plane, word) in words[..planes].iter_mut().enumerate() {
            let mut buffer = [0; 8];
            buffer[..length].copy_from_slice(&bytes[place(plane)]);
            *word = [u64::from_le_bytes(buffer)];
        }
        change(&mut words[..planes]);
        for (plane, word) in words[..planes].iter().enumerate() {
            bytes[place(plane)].copy_from_slice(&word[0].to_le_bytes()[..length]);
        }
    }
}

/// 64 bits from bit `at` on. At least two words must follow from the word of that bit on.
#[inline(always)]
pub fn bits_at(words: &[u64], at: usize) -> u64 {
    let offset = at % 64;
    let words = &words[at / 64..][..2];
    words[0] >> offset | words[1] << 1 << (63 - offset)
}

/// Inverts bits in a string of words.
#[inline(always)]
pub fn xor_bits(words: &mut [u64], at: usize, bits: u64) {
    let offset = at % 64;
    let words = &mut words[at / 64..][..2];
    words[0] ^= bits << offset;
    words[1] ^= bits >> 1 >> (63 - offset);
}

/// Sets bits in a string of words. Whole words, so that a bit just written is read back fast.
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

    /// Every pair of offsets, and lengths about those of the pieces, against one bit after the other.
    #[test]
    fn runs_are_copied_as_bit_by_bit() {
        let noise = |i: usize| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57 & 1 == 1;
        let bytes: Vec<u8> =
            (0..48).map(|at| (0..8).fold(0, |b, i| b | u8::from(noise(8 * at + i)) << i)).collect();
        let places: Vec<u32> = (0..256).map(|place: u32| place * 77 % 256).collect();
        for length in [1, 7, 8, 55, 56, 57, 111, 112, 113, 170] {
            for (to, from) in (0..64).flat_map(|to| (0..64).map(move |from| (to, from))) {
                let (mut copied, mut gathered, mut inverted) = ([0; 6], [0; 6], [u64::MAX; 6]);
                for_each_word(to, from, length, |to, from, length| {
                    let bits = read_bits(&bytes, from) & low_bits(length);
                    or_bits(&mut copied, to, bits);
                    or_bits(&mut gathered, to, gather_bits(&bytes, &places[from..from + length]));
                    xor_bits(&mut inverted, to, bits);
                    assert_eq!(bits_at(&copied, to) & low_bits(length), bits);
                });
                let bit = |words: &[u64; 6], at: usize| words[at / 64] >> (at % 64) & 1 == 1;
                for at in 0..320usize {
                    let source = at.wrapping_sub(to as usize);
                    let inside = source < length as usize;
                    let source = source.wrapping_add(from as usize);
                    assert_eq!(bit(&copied, at), inside && noise(source));
                    assert_eq!(bit(&gathered, at), inside && noise(places[source] as usize));
                    assert_eq!(bit(&inverted, at), !(inside && noise(source)));
                }
            }
        }
    }
}
