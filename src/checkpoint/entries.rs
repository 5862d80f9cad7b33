//! A block of table entries: sorted by code, and byte by byte.
//!
//! What the first bytes of all entries have in common then stands side by side, and so on. Sorted,
//! the upper bytes of the codes nearly repeat; where an entry stood in the table is found again from
//! its key.

use crate::search::table::entry;

/// Bytes of an entry: eight of the code, then the eight of its cell's upper half.
const BYTES: usize = 16;

/// Sorts the cells and appends them to `raw`.
pub fn encode(cells: &mut [u128], raw: &mut Vec<u8>) {
    cells.sort_unstable_by_key(|&cell| cell as u64);
    for plane in 0..BYTES {
        raw.extend(cells.iter().map(|cell| (cell >> (8 * plane)) as u8));
    }
}

/// The cells of a block. `None` if these are not `count` entries, sorted, as a table has them.
pub fn decode(raw: &[u8], count: usize) -> Option<Vec<u128>> {
    if count.checked_mul(BYTES) != Some(raw.len()) {
        return None;
    }
    let mut cells = vec![0u128; count];
    for (plane, bytes) in raw.chunks_exact(count.max(1)).enumerate() {
        for (cell, &byte) in cells.iter_mut().zip(bytes) {
            *cell |= u128::from(byte) << (8 * plane);
        }
    }
    let sound = cells.iter().all(|&cell| entry::is_valid(cell))
        && cells.is_sorted_by_key(|&cell| cell as u64);
    sound.then_some(cells)
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

    /// The cells of a table in which these entries are stored.
    fn cells_of(entries: &[(u64, Entry)]) -> Vec<u128> {
        let table = Table::new(1 << 16).unwrap();
        for &(code, entry) in entries {
            table.store(code, code, entry);
        }
        let (mut cursor, mut cells) = (Cursor::default(), Vec::new());
        while table.copy_cells(&mut cursor, &mut cells) {}
        cells
    }

    proptest! {
        #[test]
        fn blocks_survive(entries in prop::collection::vec((any::<u64>(), any_entry()), 0..200)) {
            let mut cells = cells_of(&entries);
            let count = cells.len();
            let mut raw = Vec::new();
            encode(&mut cells, &mut raw);
            prop_assert!(raw.len() == 16 * count);
            prop_assert_eq!(decode(&raw, count), Some(cells));
        }

        #[test]
        fn any_bytes_are_sound_entries_or_refused(
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
    fn what_no_search_stores_is_refused() {
        let cell = |phi: u128, delta: u128| (phi | delta << 28) << 64 | 5;
        let infinity = 1 << 27;
        for (phi, delta) in [(0, 0), (0, 1), (1, 0), (infinity + 1, 1), (1, infinity + 1)] {
            let mut raw = Vec::new();
            encode(&mut [cell(phi, delta)], &mut raw);
            assert_eq!(decode(&raw, 1), None, "{phi} {delta}");
        }
        for (phi, delta) in [(0, infinity), (infinity, 0), (1, 1)] {
            let mut raw = Vec::new();
            encode(&mut [cell(phi, delta)], &mut raw);
            assert_eq!(decode(&raw, 1), Some(vec![cell(phi, delta)]));
            assert_eq!(decode(&raw, usize::MAX), None);
        }
    }
}
