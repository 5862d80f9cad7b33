//! Table entries that workers of a plain game share.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// Serialises the entry as a byte string, which is copied at once. An array would be serialised element by element.
/// The speed matters, because a coordinator sends each entry to every other machine.
impl Serialize for SharedEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&<[u8; 16]>::from(*self))
    }
}

impl<'de> Deserialize<'de> for SharedEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(PackedEntry)
    }
}

struct PackedEntry;

impl Visitor<'_> for PackedEntry {
    type Value = SharedEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the 16 bytes of a table cell")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<SharedEntry, E> {
        let cell =
            <[u8; 16]>::try_from(bytes).map_err(|_| E::invalid_length(bytes.len(), &self))?;
        SharedEntry::try_from(cell).map_err(E::custom)
    }
}
