//! A shared array that grows without moving its elements. It consists of chunks that are allocated when they are
//! first needed. After the first eight chunks, no chunk has more than a quarter of the elements of all chunks before
//! it, so little memory is allocated before it is needed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of elements in the first eight chunks together. Every further group of eight chunks has twice as many
/// elements as the group before it.
const FIRST_ELEMENTS: usize = 1 << 12;
/// log₂ of the number of consecutive chunks of equal length.
const CHUNKS_PER_STEP_LOG2: u32 = 3;
/// Number of chunks, enough for every 32-bit index.
const CHUNKS: usize = 21 << CHUNKS_PER_STEP_LOG2;

/// An array over all 32-bit indices. Elements are initialised with `T::default()`.
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
    /// Returns the element, if its chunk is allocated.
    #[inline(always)]
    pub fn get(&self, index: u32) -> Option<&T> {
        let (chunk, offset) = locate(index);
        self.chunks[chunk].get().map(|chunk| &chunk[offset])
    }

    /// Returns the element. Allocates its chunk if necessary.
    #[inline]
    pub fn get_or_allocate(&self, index: u32) -> &T {
        let (chunk, offset) = locate(index);
        let elements = self.chunks[chunk].get_or_init(|| {
            self.bytes.fetch_add(bytes_of::<T>(chunk), Ordering::Relaxed);
            (0..length(chunk)).map(|_| T::default()).collect()
        });
        &elements[offset]
    }

    /// Returns the bytes that [`Self::get_or_allocate`] would allocate: 0 if the chunk is already allocated.
    pub fn bytes_to_allocate(&self, index: u32) -> u64 {
        let (chunk, _) = locate(index);
        if self.chunks[chunk].get().is_some() { 0 } else { bytes_of::<T>(chunk) }
    }

    /// Returns the bytes of all allocated chunks.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns all elements of allocated chunks with their indices.
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

/// Returns the chunk of an index, and the offset in the chunk.
#[inline(always)]
fn locate(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST_ELEMENTS;
    let shift = shifted.ilog2() - CHUNKS_PER_STEP_LOG2;
    let chunk = (shifted >> shift) + ((shift as usize) << CHUNKS_PER_STEP_LOG2) - FIRST_CHUNK;
    (chunk, shifted & ((1 << shift) - 1))
}

/// Number that [`locate`] subtracts, so that index 0 is in chunk 0.
const FIRST_CHUNK: usize = (1 << CHUNKS_PER_STEP_LOG2)
    + ((FIRST_ELEMENTS.ilog2() - CHUNKS_PER_STEP_LOG2) << CHUNKS_PER_STEP_LOG2) as usize;

/// Returns the number of elements of a chunk.
fn length(chunk: usize) -> usize {
    (FIRST_ELEMENTS >> CHUNKS_PER_STEP_LOG2) << (chunk >> CHUNKS_PER_STEP_LOG2)
}

/// Returns the first index of a chunk.
fn start(chunk: usize) -> usize {
    let steps = (1 << CHUNKS_PER_STEP_LOG2) + chunk % (1 << CHUNKS_PER_STEP_LOG2);
    steps * length(chunk) - FIRST_ELEMENTS
}

fn bytes_of<T>(chunk: usize) -> u64 {
    (length(chunk) * size_of::<T>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn every_index_has_its_own_location() {
        let mut expected = (0, 0);
        for index in 0..100_000 {
            assert_eq!(locate(index), expected, "{index}");
            assert_eq!(start(expected.0) + expected.1, index as usize);
            expected.1 += 1;
            if expected.1 == length(expected.0) {
                expected = (expected.0 + 1, 0);
            }
        }
        assert_eq!(
            locate(u32::MAX).0,
            CHUNKS - 8,
            "the last index is in the first chunk of the last group of eight"
        );
    }

    #[test]
    fn elements_are_kept() {
        let chunks: Chunks<AtomicU32> = Chunks::default();
        assert!(chunks.get(5).is_none());
        for index in [0, 5, 4095, 4096, 70_000] {
            chunks.get_or_allocate(index).store(index + 1, Ordering::Relaxed);
        }
        assert_eq!(chunks.get(70_000).unwrap().load(Ordering::Relaxed), 70_001);
        let written = chunks.iter().filter(|(_, item)| item.load(Ordering::Relaxed) != 0);
        let written: Vec<_> = written.map(|(index, _)| index).collect();
        assert_eq!(written, [0, 5, 4095, 4096, 70_000]);
        let chunk = chunks.bytes_to_allocate(4096 + 5 * 1024);
        assert_eq!((chunk, chunks.bytes_to_allocate(4097)), (4 * 1024, 0));
        // The chunks of indices 0, 4095, 4096 and 70 000 are allocated.
        assert_eq!(chunks.bytes(), 4 * (512 + 512 + 1024 + 8192));
    }
}
