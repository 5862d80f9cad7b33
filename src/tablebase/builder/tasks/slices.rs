//! How the rows are cut, and the memory that follows from it.

use std::ops::Range;

use crate::konane::Colour;
use crate::tablebase::builder::costs::{BASE_BYTES, orbit_bytes};
use crate::tablebase::files::{CHUNK_BYTES, ROWS};
use crate::tablebase::index::{Index, Sizes, binomial};
use crate::tablebase::values::sweep::{row_words, stride_words};

/// Bytes that writing a block takes beside the rows, at the most: rows and octets that wait to be
/// compressed, what they become, and the buffer of the file.
const WRITER_BYTES: u128 = 16 << 20;

/// Bytes that a thread needs beside rows: a decompressor and its like.
const THREAD_BYTES: u128 = 1 << 20;

/// Bytes of a layer file's index for each of its chunks while it is written or read: 12, some for
/// places in the file, and what arrays that grow have in reserve.
const INDEX_BYTES: u128 = 16;

/// Bytes of a lock around a row.
const LOCK_BYTES: u128 = 32;

/// The rows of each number of black stones, cut into slices of at most so many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slices {
    /// A multiple of eight.
    pub most: u32,
}

impl Slices {
    /// The smallest: eight rows, which stand in the bytes of a block together.
    pub const LEAST: Slices = Slices { most: ROWS as u32 };

    /// Slices as large as `memory` bytes allow, but at least `parts` of them where there are most rows;
    /// nothing if not even eight rows fit.
    pub fn fitting(index: &Index, memory: u64, threads: usize, parts: u32) -> Option<Self> {
        let sizes = Sizes::new(index);
        let fixed = rows_memory(index, &sizes, 0, threads);
        let for_rows = u128::from(memory).checked_sub(fixed)?;
        let fit = for_rows / bytes_of_row(index);
        let wanted = sizes.most_rows().div_ceil(u128::from(parts.max(1)));
        let octet = ROWS as u128;
        let most = (fit / octet * octet).min(wanted.next_multiple_of(octet));
        (most > 0).then_some(Slices { most: most as u32 })
    }

    /// How many there are of some rows.
    pub fn count(self, rows: u64) -> u32 {
        rows.div_ceil(u64::from(self.most)) as u32
    }

    /// The rows of a slice: all slices have as many, but for the last one, and begin with an octet.
    pub fn range(self, rows: u64, slice: u32) -> Range<u32> {
        let each = rows.div_ceil(u64::from(self.count(rows))).next_multiple_of(ROWS as u64);
        let at = |slice: u32| (u64::from(slice) * each).min(rows) as u32;
        at(slice)..at(slice + 1)
    }

    /// All of them, none of which is empty.
    pub fn ranges(self, rows: u64) -> impl Iterator<Item = Range<u32>> {
        (0..self.count(rows)).map(move |slice| self.range(rows, slice))
    }

    /// Bytes of memory of a task that makes rows, see the formula at the room's door.
    pub fn rows_memory(self, index: &Index, sizes: &Sizes, threads: usize) -> u128 {
        let rows = u128::from(self.most).min(sizes.most_rows().next_multiple_of(ROWS as u128));
        rows_memory(index, sizes, rows, threads)
    }
}

/// Bytes of memory for each row of a slice: the row, its lock, and its share of the index of a
/// file that is read.
fn bytes_of_row(index: &Index) -> u128 {
    let row = 8 * stride_words(index.numbering().count(Colour::White)) as u128;
    row + row / 128 + LOCK_BYTES
}

/// Bytes that a slice of so many rows takes while it is made: what is compared with the rows that are
/// really there.
pub(super) fn slice_bytes(index: &Index, rows: u32) -> u64 {
    8 * u64::from(rows) * stride_words(index.numbering().count(Colour::White)) as u64
}

fn rows_memory(index: &Index, sizes: &Sizes, rows: u128, threads: usize) -> u128 {
    let white = index.numbering().count(Colour::White);
    let row = 8 * (stride_words(white) + row_words(white)) as u128;
    let reading = threads as u128 * (THREAD_BYTES + 8 * row + octet_bytes(white));
    BASE_BYTES
        + orbit_bytes(sizes, sizes.squares(Colour::Black))
        + WRITER_BYTES
        + 4 * octet_bytes(white)
        + reading
        + rows * bytes_of_row(index)
}

/// Bytes of memory of a task that puts together the layer with most positions.
pub(super) fn layer_memory(index: &Index, sizes: &Sizes, threads: usize) -> u128 {
    let white = index.numbering().count(Colour::White);
    let squares = index.board().dimensions().squares();
    let most = (0..=squares).map(|stones| sizes.layer_bytes(stones)).max().unwrap_or(0);
    let chunks = index.sides().len() as u128 * most / u128::from(CHUNK_BYTES);
    BASE_BYTES
        + orbit_bytes(sizes, sizes.squares(Colour::Black))
        + WRITER_BYTES
        + 6 * octet_bytes(white)
        + threads as u128 * (THREAD_BYTES + 2 * octet_bytes(white))
        + chunks * INDEX_BYTES
}

/// Bytes of eight rows of the largest block.
fn octet_bytes(white: u32) -> u128 {
    u128::from(binomial(white, white / 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slices_are_all_rows_in_order(
            octets in prop_oneof![1u32..40, any::<u32>().prop_map(|n| n % (1 << 20) + 1)],
            rows in prop_oneof![1u64..1000, 1u64..1 << 31],
        ) {
            let slices = Slices { most: 8 * octets };
            // Few enough to look at.
            let rows = rows.min(10_000 * u64::from(slices.most));
            let mut next = 0;
            for range in slices.ranges(rows) {
                prop_assert_eq!(range.start, next);
                prop_assert!(!range.is_empty() && range.len() <= slices.most as usize);
                prop_assert_eq!(range.start % ROWS as u32, 0);
                next = range.end;
            }
            prop_assert_eq!(u64::from(next), rows);
        }
    }
}
