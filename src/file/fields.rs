//! Numbers in bytes: all of this program's files are little-endian.

/// The number whose first byte stands at `at`.
///
/// # Panics
/// If the bytes end before.
#[inline(always)]
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// The number whose first byte stands at `at`.
///
/// # Panics
/// If the bytes end before.
#[inline(always)]
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Writes numbers one behind the other, as many as there is room for.
pub fn put_words(bytes: &mut [u8], words: &[u64]) {
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
}
