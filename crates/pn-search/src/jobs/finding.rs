//! What workers of a plain game tell each other.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::table::{Entry, entry};

/// What somebody has found out about a position, solved or open. It travels as the 16 bytes of a
/// table's cell, so `work` is rounded down on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The position's code.
    pub code: u64,
    /// Its numbers, and the expansions behind them.
    pub entry: Entry,
}

impl Finding {
    /// What a cell of a table says ([`entry`]).
    pub(crate) fn of_cell(cell: u128) -> Self {
        Finding { code: cell as u64, entry: Entry::unpack(cell) }
    }
}

impl From<Finding> for [u8; 16] {
    fn from(Finding { code, entry }: Finding) -> Self {
        entry.pack(code).to_le_bytes()
    }
}

impl TryFrom<[u8; 16]> for Finding {
    type Error = &'static str;

    fn try_from(bytes: [u8; 16]) -> Result<Self, Self::Error> {
        let cell = u128::from_le_bytes(bytes);
        match entry::is_valid(cell) {
            true => Ok(Finding::of_cell(cell)),
            false => Err("numbers that no search stores"),
        }
    }
}

/// As bytes that are copied at once, not one by one as those of arrays: a leader sends each finding to every
/// other machine.
impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&<[u8; 16]>::from(*self))
    }
}

impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Cell)
    }
}

struct Cell;

impl Visitor<'_> for Cell {
    type Value = Finding;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the 16 bytes of a cell")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Finding, E> {
        let cell =
            <[u8; 16]>::try_from(bytes).map_err(|_| E::invalid_length(bytes.len(), &self))?;
        Finding::try_from(cell).map_err(E::custom)
    }
}
