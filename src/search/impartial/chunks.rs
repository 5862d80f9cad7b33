//! A shared array that grows and never moves: chunks of doubling size, made when they are first
//! needed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Elements of the first chunk.
const FIRST: usize = 1 << 12;
/// Enough chunks for every 32-bit index.
const CHUNKS: usize = 21;

/// An array over all 32-bit indices; what was never written is `T::default()`.
pub(super) struct Chunks<T> {
    chunks: [OnceLock<Box<[T]>>; CHUNKS],
    bytes: AtomicU64,
}

impl<T: Default> Chunks<T> {
    pub fn new() -> Self {
        Chunks { chunks: [const { OnceLock::new() }; CHUNKS], bytes: AtomicU64::new(0) }
    }

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
            let length = FIRST << chunk;
            self.bytes.fetch_add((length * size_of::<T>()) as u64, Ordering::Relaxed);
            (0..length).map(|_| T::default()).collect()
        });
        &elements[offset]
    }

    /// Bytes of the chunks that exist.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// All elements whose chunks exist, with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.chunks.iter().enumerate().filter_map(|(at, chunk)| Some((at, chunk.get()?))).flat_map(
            |(at, chunk)| {
                let start = (FIRST << at) - FIRST;
                chunk.iter().enumerate().map(move |(offset, item)| ((start + offset) as u32, item))
            },
        )
    }
}

/// The chunk of an index and its place there.
#[inline(always)]
fn place(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST;
    let chunk = (shifted.ilog2() - FIRST.ilog2()) as usize;
    (chunk, shifted - (FIRST << chunk))
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
            expected.1 += 1;
            if expected.1 == FIRST << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        assert!(place(u32::MAX).0 < CHUNKS);
    }

    #[test]
    fn elements_are_kept() {
        let chunks: Chunks<AtomicU32> = Chunks::new();
        assert!(chunks.get(5).is_none());
        for index in [0, 5, 4095, 4096, 70_000] {
            chunks.get_or_make(index).store(index + 1, Ordering::Relaxed);
        }
        assert_eq!(chunks.get(70_000).unwrap().load(Ordering::Relaxed), 70_001);
        let written = chunks.iter().filter(|(_, item)| item.load(Ordering::Relaxed) != 0);
        let written: Vec<_> = written.map(|(index, _)| index).collect();
        assert_eq!(written, [0, 5, 4095, 4096, 70_000]);
        assert_eq!(chunks.bytes(), 4 * (4096 + 8192 + 65536));
    }
}
