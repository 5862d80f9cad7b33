//! Table entries that workers of a plain game share.

use super::WireError;
use crate::table::{Entry, entry};

/// A table entry with its position, solved or open. It is sent as the 16 bytes of a full table cell, so
/// `work` is rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedEntry {
    /// Code of the position.
    pub code: u64,
    /// Proof and disproof number of the position, and the search effort spent on them.
    pub entry: Entry,
}

impl SharedEntry {
    /// Unpacks the entry of a table cell ([`entry`]).
    pub(crate) fn of_cell(cell: u128) -> Self {
        SharedEntry { code: cell as u64, entry: Entry::unpack(cell) }
    }
}

impl From<SharedEntry> for [u8; 16] {
    fn from(SharedEntry { code, entry }: SharedEntry) -> Self {
        entry.pack(code).to_le_bytes()
    }
}

impl TryFrom<[u8; 16]> for SharedEntry {
    type Error = &'static str;

    fn try_from(bytes: [u8; 16]) -> Result<Self, Self::Error> {
        let cell = u128::from_le_bytes(bytes);
        match entry::is_valid(cell) {
            true => Ok(SharedEntry::of_cell(cell)),
            false => Err("invalid numbers in a table entry"),
        }
    }
}

/// Returns entries as bytes, one after the other.
pub(crate) fn to_bytes(entries: &[SharedEntry]) -> Vec<u8> {
    entries.iter().flat_map(|&entry| <[u8; 16]>::from(entry)).collect()
}

/// Returns the entries in the bytes of [`to_bytes`].
///
/// # Errors
/// If these are other bytes.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Vec<SharedEntry>, WireError> {
    let (cells, rest) = bytes.as_chunks::<16>();
    let entries = cells.iter().map(|&cell| SharedEntry::try_from(cell)).collect();
    match (entries, rest) {
        (Ok(entries), []) => Ok(entries),
        _ => Err(WireError::Unexpected("a list of valid entries")),
    }
}
