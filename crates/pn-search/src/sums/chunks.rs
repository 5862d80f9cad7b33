//! A shared array that grows and never moves: chunks that are made when they are first needed, each
//! an eighth of what all before it hold, or more.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Elements of the first eight chunks together; of every further eight, twice as many as of the eight
/// before.
const FIRST: usize = 1 << 12;
/// log₂ of the chunks for which the length stays the same.
const SAME: u32 = 3;
/// Enough chunks for every 32-bit index.
const CHUNKS: usize = 21 << SAME;

/// An array over all 32-bit indices; what was never written is `T::default()`.
pub struct Chunks<T> {
    chunks: [OnceLock<Box<[T]>>; CHUNKS],
    bytes: AtomicU64,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks { chunks: [const { OnceLock::new() }; CHUNKS], bytes: AtomicU64::new(0) }
    }
}

impl<T: Default> Chunks<T> {
    /// The element, if its chunk exists.
    #[inline(always)]
    pub fn get(&self, index: u32) -> Option<&T> {
        let (chunk, offset) = place(index);
        self.chunks[chunk].get().map(|chunk| &chunk[offset])
    }

    /// The element; makes its chunk if there is none yet.
    #[inline]
    pub fn get_or_make(&self, index: u32) -> &T {
        let (chunk, offset) = place(index);
        let elements = self.chunks[chunk].get_or_init(|| {
            self.bytes.fetch_add(bytes_of::<T>(chunk), Ordering::Relaxed);
            (0..length(chunk)).map(|_| T::default()).collect()
        });
        &elements[offset]
    }

    /// The bytes that it would take to make the element; 0 if its chunk exists.
    pub fn bytes_to_make(&self, index: u32) -> u64 {
        let (chunk, _) = place(index);
        if self.chunks[chunk].get().is_some() { 0 } else { bytes_of::<T>(chunk) }
    }

    /// Bytes of the chunks that exist.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// All elements whose chunks exist, with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.chunks.iter().enumerate().filter_map(|(at, chunk)| Some((at, chunk.get()?))).flat_map(
            |(at, chunk)| {
                let start = start(at);
                chunk.iter().enumerate().map(move |(offset, item)| ((start + offset) as u32, item))
            },
        )
    }
}

impl<T> std::fmt::Debug for Chunks<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chunks").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// The chunk of an index and its place there.
#[inline(always)]
fn place(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST;
    let shift = shifted.ilog2() - SAME;
    let chunk = (shifted >> shift) + ((shift as usize) << SAME) - FIRST_CHUNK;
    (chunk, shifted & ((1 << shift) - 1))
}

/// What [`place`] has before it takes this off, for index 0.
const FIRST_CHUNK: usize = (1 << SAME) + ((FIRST.ilog2() - SAME) << SAME) as usize;

/// Elements of a chunk.
fn length(chunk: usize) -> usize {
    (FIRST >> SAME) << (chunk >> SAME)
}

/// The first index of a chunk.
fn start(chunk: usize) -> usize {
    let steps = (1 << SAME) + chunk % (1 << SAME);
    steps * length(chunk) - FIRST
}

fn bytes_of<T>(chunk: usize) -> u64 {
    (length(chunk) * size_of::<T>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(place(index), expected, "{index}");
            assert_eq!(start(expected.0) + expected.1, index as usize);
            expected.1 += 1;
            if expected.1 == length(expected.0) {
                expected = (expected.0 + 1, 0);
            }
        }
        assert_eq!(
            place(u32::MAX).0,
            CHUNKS - 8,
            "as FIRST is 2^12 and u32::MAX + FIRST above 2^32"
        );
    }

    #[test]
    fn elements_are_kept() {
        let chunks: Chunks<AtomicU32> = Chunks::default();
        assert!(chunks.get(5).is_none());
        for index in [0, 5, 4095, 4096, 70_000] {
            chunks.get_or_make(index).store(index + 1, Ordering::Relaxed);
        }
        assert_eq!(chunks.get(70_000).unwrap().load(Ordering::Relaxed), 70_001);
        let written = chunks.iter().filter(|(_, item)| item.load(Ordering::Relaxed) != 0);
        let written: Vec<_> = written.map(|(index, _)| index).collect();
        assert_eq!(written, [0, 5, 4095, 4096, 70_000]);
        let chunk = chunks.bytes_to_make(4096 + 5 * 1024);
        assert_eq!((chunk, chunks.bytes_to_make(4097)), (4 * 1024, 0));
        // Of indices 0, 4095, 4096 and 70 000.
        assert_eq!(chunks.bytes(), 4 * (512 + 512 + 1024 + 8192));
    }
}
