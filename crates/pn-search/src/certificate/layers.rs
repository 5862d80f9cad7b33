//! Sets of positions of one layer.
//!
//! * [`PendingCodes`]: codes found for a layer that is not processed yet.
//! * [`PackedLayer`]: codes of a finished layer, compressed.
//! * [`LayerSet`]: codes of a layer in a hash set.

use std::collections::{HashSet, TryReserveError};
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::allocation::{try_reserve, try_reserve_in_set};

/// Error: the system does not provide the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoMemory;

impl From<TryReserveError> for NoMemory {
    fn from(_: TryReserveError) -> Self {
        NoMemory
    }
}

/// A hash set of codes.
pub(super) type LayerSet = HashSet<u64, ahash::RandomState>;

/// Minimum length of a list of pending codes at which duplicates are removed.
const MIN_DEDUP_LEN: usize = 1 << 20;

/// Codes found for a layer that is not processed yet.
///
/// Many codes are added more than once. Duplicates are removed whenever the list has doubled and has
/// at least [`MIN_DEDUP_LEN`] codes, so a long list has at most twice as many codes as are distinct.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingCodes {
    codes: Vec<u64>,
    /// Number of codes after the last removal of duplicates.
    distinct: usize,
}

impl PendingCodes {
    /// Adds a code.
    ///
    /// # Errors
    /// If there is no memory for the code.
    pub fn push(&mut self, code: u64) -> Result<(), NoMemory> {
        if self.codes.len() >= (2 * self.distinct).max(MIN_DEDUP_LEN) {
            self.remove_repeats();
        }
        push(&mut self.codes, code)
    }

    /// Takes all codes, each once, in increasing order.
    pub fn take(&mut self) -> Vec<u64> {
        self.remove_repeats();
        std::mem::take(self).codes
    }

    fn remove_repeats(&mut self) {
        self.codes.par_sort_unstable();
        self.codes.dedup();
        self.distinct = self.codes.len();
    }
}

/// Number of codes in a chunk.
const CHUNK: usize = 1 << 16;

/// Compression level of zstd. A higher level gains little, because the lower bytes of the
/// differences are almost random and the upper bytes are zero.
const ZSTD_LEVEL: i32 = 1;

/// Codes of a finished layer, compressed to some 3 bytes per code. The first query creates a hash
/// set of the codes.
#[derive(Debug, Default)]
pub(super) struct PackedLayer {
    chunks: Vec<Chunk>,
    set: OnceLock<Result<LayerSet, NoMemory>>,
}

/// Codes in increasing order. Instead of each code, its difference to the code before it is stored,
/// for the first code the difference to 0. The lowest bytes of all differences come first, then
/// their second bytes, and so on. All these bytes together are compressed.
#[derive(Debug)]
struct Chunk {
    len: usize,
    packed: Box<[u8]>,
}

impl Chunk {
    fn new(codes: &[u64]) -> Result<Self, NoMemory> {
        let len = codes.len();
        let mut bytes = vec![0; 8 * len];
        let mut before = 0;
        for (at, &code) in codes.iter().enumerate() {
            for (index, byte) in (code - before).to_le_bytes().into_iter().enumerate() {
                bytes[index * len + at] = byte;
            }
            before = code;
        }
        // The buffer has space for the worst case, so this can only fail for lack of memory.
        let packed = zstd::bulk::compress(&bytes, ZSTD_LEVEL).map_err(|_| NoMemory)?;
        // Frees the rest of the buffer.
        Ok(Chunk { len, packed: packed.into_boxed_slice() })
    }

    fn codes(&self) -> Result<impl Iterator<Item = u64>, NoMemory> {
        let len = self.len;
        // The data was written by zstd, so this can only fail for lack of memory.
        let bytes = zstd::bulk::decompress(&self.packed, 8 * len).map_err(|_| NoMemory)?;
        let difference =
            move |at| u64::from_le_bytes(std::array::from_fn(|index| bytes[index * len + at]));
        Ok((0..len).scan(0, move |code, at| {
            *code += difference(at);
            Some(*code)
        }))
    }
}

/// Appends an item.
///
/// # Errors
/// If there is no memory for the item.
pub(super) fn push<T>(list: &mut Vec<T>, item: T) -> Result<(), NoMemory> {
    if list.len() == list.capacity() {
        try_reserve(list, 1)?;
    }
    list.push(item);
    Ok(())
}

/// Adds a code to a set. Returns false if the set already contained the code.
///
/// # Errors
/// If there is no memory for the code.
pub(super) fn insert(set: &mut LayerSet, code: u64) -> Result<bool, NoMemory> {
    if set.len() == set.capacity() {
        try_reserve_in_set(set, 1)?;
    }
    Ok(set.insert(code))
}

impl PackedLayer {
    /// Packs codes in increasing order.
    ///
    /// # Errors
    /// If there is no memory to pack them.
    pub fn new(codes: &[u64]) -> Result<Self, NoMemory> {
        let chunks = codes.par_chunks(CHUNK).map(Chunk::new).collect::<Result<_, _>>()?;
        Ok(PackedLayer { chunks, set: OnceLock::new() })
    }

    /// Number of codes.
    pub fn len(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.len as u64).sum()
    }

    /// Returns true if the layer contains a code. The first call creates a hash set of all codes.
    ///
    /// # Errors
    /// If there is no memory for the hash set or for the decompressed codes.
    pub fn contains(&self, code: u64) -> Result<bool, NoMemory> {
        let create = || {
            let mut set = LayerSet::default();
            try_reserve_in_set(&mut set, self.len() as usize)?;
            for chunk in &self.chunks {
                set.extend(chunk.codes()?);
            }
            Ok(set)
        };
        match self.set.get_or_init(create) {
            Ok(set) => Ok(set.contains(&code)),
            Err(no_memory) => Err(*no_memory),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_codes_are_taken_once_and_in_order() {
        let mut pending = PendingCodes::default();
        let added = 3 * MIN_DEDUP_LEN as u64;
        for i in 0..added {
            // The factor is odd, so every number below 2²⁰ is added three times.
            pending.push(i.wrapping_mul(0x9E37_79B1) % MIN_DEDUP_LEN as u64).unwrap();
            assert!(pending.codes.len() <= 2 * MIN_DEDUP_LEN);
        }
        assert_eq!(pending.take(), (0..MIN_DEDUP_LEN as u64).collect::<Vec<_>>());
        assert!(pending.take().is_empty());
    }

    #[test]
    fn a_packed_layer_contains_its_codes() {
        let layer = PackedLayer::new(&[3, 5, 9]).unwrap();
        let found: Vec<u64> = (0..12).filter(|&code| layer.contains(code).unwrap()).collect();
        assert_eq!(found, [3, 5, 9]);
        assert_eq!(PackedLayer::default().contains(0), Ok(false));
    }

    #[test]
    fn packing_keeps_all_codes() {
        let far_apart = (0..CHUNK as u64 + 3).map(|at| at * at * 1_000_003);
        for codes in [vec![], vec![0], vec![u64::MAX], vec![0, u64::MAX], far_apart.collect()] {
            let layer = PackedLayer::new(&codes).unwrap();
            assert_eq!(layer.len(), codes.len() as u64);
            assert!(layer.chunks.iter().flat_map(|chunk| chunk.codes().unwrap()).eq(codes));
        }
    }
}
