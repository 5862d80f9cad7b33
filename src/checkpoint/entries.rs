//! Encoding of a block of table entries: sorted by code and transposed by bytes.
//!
//! A block has the first bytes of all entries, then all second bytes, and so on. The upper bytes of sorted
//! codes rarely change, so they compress well. The index of an entry in the table follows from its key.

use crate::file::fields::u64_at;
use crate::search::table::entry;

/// Bytes of an entry: eight of the code, then eight of the upper half of its cell.
const BYTES: usize = 16;

/// Sorts the cells and appends them to `raw`.
pub fn encode(cells: &mut [u128], raw: &mut Vec<u8>) {
    cells.sort_unstable_by_key(|&cell| cell as u64);
    let (start, count) = (raw.len(), cells.len());
    raw.resize(start + BYTES * count, 0);
    let planes = &mut raw[start..];
    let (eights, rest) = cells.as_chunks::<8>();
    for (at, eight) in eights.iter().enumerate() {
        for half in 0..2 {
            let rows = transposed(eight.map(|cell| (cell >> (64 * half)) as u64));
            for (plane, row) in (8 * half..).zip(rows) {
                planes[plane * count + 8 * at..][..8].copy_from_slice(&row.to_le_bytes());
            }
        }
    }
    for (at, cell) in (8 * eights.len()..).zip(rest) {
        for (plane, byte) in cell.to_le_bytes().into_iter().enumerate() {
            planes[plane * count + at] = byte;
        }
    }
}

/// Returns the cells of a block, or `None` if the block is not `count` sorted entries of a table.
pub fn decode(raw: &[u8], count: usize) -> Option<Vec<u128>> {
    if count.checked_mul(BYTES) != Some(raw.len()) {
        return None;
    }
    let mut cells = vec![0; count];
    let (eights, rest) = cells.as_chunks_mut::<8>();
    for (at, eight) in eights.iter_mut().enumerate() {
        let rows = |half: usize| {
            let row = |plane| u64_at(raw, (8 * half + plane) * count + 8 * at);
            transposed(std::array::from_fn(row))
        };
        for (cell, (low, high)) in eight.iter_mut().zip(rows(0).into_iter().zip(rows(1))) {
            *cell = u128::from(high) << 64 | u128::from(low);
        }
    }
    for (at, cell) in (count - rest.len()..).zip(rest) {
        *cell = u128::from_le_bytes(std::array::from_fn(|plane| raw[plane * count + at]));
    }
    let is_valid = cells.iter().all(|&cell| entry::is_valid(cell))
        && cells.is_sorted_by_key(|&cell| cell as u64);
    is_valid.then_some(cells)
}

/// Transposes a matrix of 8 x 8 bytes.
#[inline(always)]
fn transposed(mut rows: [u64; 8]) -> [u64; 8] {
    for (step, mask) in
        [(4, 0x0000_0000_FFFF_FFFF), (2, 0x0000_FFFF_0000_FFFF), (1, 0x00FF_00FF_00FF_00FF)]
    {
        for low in (0..8).filter(|row| row & step == 0) {
            let swapped = (rows[low] >> (8 * step) ^ rows[low + step]) & mask;
            rows[low] ^= swapped << (8 * step);
            rows[low + step] ^= swapped;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Value;
    use crate::search::numbers::MAX;
    use crate::search::table::{Cursor, Entry, Table};
    use proptest::prelude::*;

    fn any_entry() -> impl Strategy<Value = Entry> {
        prop_oneof![
            (1..=MAX, 1..=MAX, 0u64..1 << 36).prop_map(|(phi, delta, work)| Entry {
                phi,
                delta,
                work
            }),
            (any::<bool>(), 0u64..1 << 36).prop_map(|(won, work)| {
                Entry::solved(if won { Value::Win } else { Value::Loss }, work)
            }),
        ]
    }

    /// Stores entries in a table and returns its cells.
    fn cells_of(entries: &[(u64, Entry)]) -> Vec<u128> {
        let table = Table::new(1 << 16).unwrap();
        for &(code, entry) in entries {
            table.store(code, code, entry);
        }
        let (mut cursor, mut cells) = (Cursor::default(), Vec::new());
        while table.copy_cells(&mut cursor, 1, &mut cells) {}
        cells
    }

    proptest! {
        #[test]
        fn blocks_round_trip(entries in prop::collection::vec((any::<u64>(), any_entry()), 0..200)) {
            let mut cells = cells_of(&entries);
            let count = cells.len();
            let mut raw = Vec::new();
            encode(&mut cells, &mut raw);
            prop_assert!(raw.len() == 16 * count);
            for (at, cell) in cells.iter().enumerate() {
                for (plane, byte) in cell.to_le_bytes().into_iter().enumerate() {
                    prop_assert_eq!(raw[plane * count + at], byte);
                }
            }
            prop_assert_eq!(decode(&raw, count), Some(cells));
        }

        #[test]
        fn any_bytes_are_valid_entries_or_rejected(
            raw in prop::collection::vec(any::<u8>(), 0..100),
            count in 0usize..8,
        ) {
            if let Some(cells) = decode(&raw, count) {
                prop_assert_eq!(cells.len(), count);
                prop_assert!(cells.iter().all(|&cell| entry::is_valid(cell)));
            }
        }
    }

    #[test]
    fn entries_that_no_search_stores_are_rejected() {
        let cell = |phi: u128, delta: u128| (phi | delta << 28) << 64 | 5;
        let infinity = 1 << 27;
        for (phi, delta) in [
            (0, 0),
            (0, 1),
            (1, 0),
            (infinity, 1),
            (1, infinity),
            (infinity, infinity),
            (infinity + 1, 1),
            (1, infinity + 1),
        ] {
            let mut raw = Vec::new();
            encode(&mut [cell(phi, delta)], &mut raw);
            assert_eq!(decode(&raw, 1), None, "{phi} {delta}");
        }
        for (phi, delta) in [(0, infinity), (infinity, 0), (1, 1), (infinity - 1, infinity - 1)] {
            let mut raw = Vec::new();
            encode(&mut [cell(phi, delta)], &mut raw);
            assert_eq!(decode(&raw, 1), Some(vec![cell(phi, delta)]));
            assert_eq!(decode(&raw, usize::MAX), None);
        }
    }
}
