//! What workers of a plain game tell each other.

use serde::{Deserialize, Serialize};

use crate::search::table::{Entry, entry};

/// What somebody has found out about a position, solved or open. It travels as the 16 bytes of a
/// table's cell, so `work` is rounded down on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "[u8; 16]", try_from = "[u8; 16]")]
pub struct Finding {
    /// The position's code.
    pub code: u64,
    /// Its numbers, and the expansions behind them.
    pub entry: Entry,
}

impl Finding {
    /// What a cell of a table says ([`entry`]).
    pub(in crate::search) fn of_cell(cell: u128) -> Self {
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
