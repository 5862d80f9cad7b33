//! Positions of one layer: those that wait for their turn, and those of a set.

use std::collections::{HashSet, TryReserveError};
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::allocation::{try_reserve, try_reserve_in_set};

/// The system refuses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoMemory;

impl From<TryReserveError> for NoMemory {
    fn from(_: TryReserveError) -> Self {
        NoMemory
    }
}

/// Codes of one layer that are in the set.
pub(super) type Codes = HashSet<u64, ahash::RandomState>;

/// Codes that wait are not looked through for repeats before there are so many.
const FEW: usize = 1 << 20;

/// Codes that wait for the turn of their layer.
///
/// Many are named more than once. Repeats are removed whenever the list has doubled, so that it never
/// holds more than twice the different codes.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    codes: Vec<u64>,
    /// How many were left when repeats were last removed.
    different: usize,
}

impl Waiting {
    /// # Errors
    /// If there is no memory for the code.
    pub fn push(&mut self, code: u64) -> Result<(), NoMemory> {
        if self.codes.len() >= (2 * self.different).max(FEW) {
            self.remove_repeats();
        }
        push(&mut self.codes, code)
    }

    /// Takes all, each once, in increasing order.
    pub fn take(&mut self) -> Vec<u64> {
        self.remove_repeats();
        std::mem::take(self).codes
    }

    fn remove_repeats(&mut self) {
        self.codes.par_sort_unstable();
        self.codes.dedup();
        self.different = self.codes.len();
    }
}

/// Codes that are packed together.
const CHUNK: usize = 1 << 16;

/// How hard zstd tries: hardly, as lower bytes of the differences are next to random and upper ones
/// zero.
const LEVEL: i32 = 1;

/// The set in one layer, once it is complete: packed in some 3 bytes for a code, and a table of the
/// codes from the first question on.
#[derive(Debug, Default)]
pub(super) struct Finished {
    chunks: Vec<Chunk>,
    table: OnceLock<Result<Codes, NoMemory>>,
}

/// Some codes in increasing order: of their differences, the first from 0, all lowest bytes, then all
/// of the next, and so on; compressed.
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
            for (place, byte) in (code - before).to_le_bytes().into_iter().enumerate() {
                bytes[place * len + at] = byte;
            }
            before = code;
        }
        // zstd has room for the worst case, so nothing else can be wrong.
        let packed = zstd::bulk::compress(&bytes, LEVEL).map_err(|_| NoMemory)?;
        // It was given more room than it needed.
        Ok(Chunk { len, packed: packed.into_boxed_slice() })
    }

    fn codes(&self) -> Result<impl Iterator<Item = u64>, NoMemory> {
        let len = self.len;
        // zstd has written it.
        let bytes = zstd::bulk::decompress(&self.packed, 8 * len).map_err(|_| NoMemory)?;
        let difference =
            move |at| u64::from_le_bytes(std::array::from_fn(|place| bytes[place * len + at]));
        Ok((0..len).scan(0, move |code, at| {
            *code += difference(at);
            Some(*code)
        }))
    }
}

/// Appends an item.
///
/// # Errors
/// If there is no memory for it.
pub(super) fn push<T>(list: &mut Vec<T>, item: T) -> Result<(), NoMemory> {
    if list.len() == list.capacity() {
        try_reserve(list, 1)?;
    }
    list.push(item);
    Ok(())
}

/// Adds a code to a set; false if it was there.
///
/// # Errors
/// If there is no memory for it.
pub(super) fn insert(set: &mut Codes, code: u64) -> Result<bool, NoMemory> {
    if set.len() == set.capacity() {
        try_reserve_in_set(set, 1)?;
    }
    Ok(set.insert(code))
}

impl Finished {
    /// Of codes in increasing order.
    ///
    /// # Errors
    /// If there is no memory to pack them.
    pub fn new(codes: &[u64]) -> Result<Self, NoMemory> {
        let chunks = codes.par_chunks(CHUNK).map(Chunk::new).collect::<Result<_, _>>()?;
        Ok(Finished { chunks, table: OnceLock::new() })
    }

    /// How many codes.
    pub fn len(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.len as u64).sum()
    }

    /// Returns true if a code is in the set. The first question makes a table of all codes.
    ///
    /// # Errors
    /// If there is no memory for the table.
    pub fn contains(&self, code: u64) -> Result<bool, NoMemory> {
        let table = || {
            let mut table = Codes::default();
            try_reserve_in_set(&mut table, self.len() as usize)?;
            for chunk in &self.chunks {
                table.extend(chunk.codes()?);
            }
            Ok(table)
        };
        match self.table.get_or_init(table) {
            Ok(table) => Ok(table.contains(&code)),
            Err(no_memory) => Err(*no_memory),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_taken_once_and_in_order() {
        let mut waiting = Waiting::default();
        let named = 3 * FEW as u64;
        for i in 0..named {
            // Odd, so that every number below 2^20 comes up three times.
            waiting.push(i.wrapping_mul(0x9E37_79B1) % FEW as u64).unwrap();
            assert!(waiting.codes.len() <= 2 * FEW);
        }
        assert_eq!(waiting.take(), (0..FEW as u64).collect::<Vec<_>>());
        assert!(waiting.take().is_empty());
    }

    #[test]
    fn a_finished_layer_has_its_codes() {
        let layer = Finished::new(&[3, 5, 9]).unwrap();
        let found: Vec<u64> = (0..12).filter(|&code| layer.contains(code).unwrap()).collect();
        assert_eq!(found, [3, 5, 9]);
        assert_eq!(Finished::default().contains(0), Ok(false));
    }

    #[test]
    fn packed_codes_come_out_as_they_went_in() {
        let far_apart = (0..CHUNK as u64 + 3).map(|at| at * at * 1_000_003);
        for codes in [vec![], vec![0], vec![u64::MAX], vec![0, u64::MAX], far_apart.collect()] {
            let layer = Finished::new(&codes).unwrap();
            assert_eq!(layer.len(), codes.len() as u64);
            assert!(layer.chunks.iter().flat_map(|chunk| chunk.codes().unwrap()).eq(codes));
        }
    }
}
