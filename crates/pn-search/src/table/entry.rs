//! Entries, and their full layout: one entry in a cell, with the whole code and exact numbers.
//!
//! | bits | content |
//! |---|---|
//! | 0..64 | the exact code |
//! | 64..92 | phi, 0 to 2²⁷ |
//! | 92..120 | delta, 0 to 2²⁷ |
//! | 120..128 | work, as a number with a five-bit exponent and three bits after the leading one |
//!
//! phi and delta are never both zero in a stored entry, so a cell of zeros is empty.
//!
//! Checkpoints and messages store entries as full cells: a change of the layout requires a new
//! version of their formats.

use super::layout::{Layout, decode, encode};
use crate::Value;
use crate::numbers::{INFINITY, MAX, Number};

/// Numbers of a position in the table.
///
/// Stored numbers are rounded: work down, to four significant bits. In a compact entry, work has
/// two bits and is 49 152 at most, and open numbers are rounded up, by 1.6 % at most below 2¹⁸ and
/// by 6 % above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Proof number for the side to move.
    pub phi: Number,
    /// Disproof number for the side to move.
    pub delta: Number,
    /// Expansions spent on the numbers; of open nodes of PNS and PN², those of the last visit.
    pub work: u64,
}

const NUMBER_BITS: u32 = 28;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
const WORK_SHIFT: u32 = 2 * NUMBER_BITS;
const WORK_MANTISSA: u32 = 3;

impl Entry {
    /// Entry of a solved position.
    pub fn solved(value: Value, work: u64) -> Self {
        match value {
            Value::Win => Entry { phi: 0, delta: INFINITY, work },
            Value::Loss => Entry { phi: INFINITY, delta: 0, work },
        }
    }

    /// Value of the position, if it is solved.
    #[inline(always)]
    pub fn value(&self) -> Option<Value> {
        if self.phi == 0 {
            Some(Value::Win)
        } else if self.delta == 0 {
            Some(Value::Loss)
        } else {
            None
        }
    }

    #[inline(always)]
    pub(crate) fn pack(&self, code: u64) -> u128 {
        debug_assert!(self.phi <= INFINITY && self.delta <= INFINITY);
        debug_assert!(self.phi != 0 || self.delta != 0);
        let numbers = u64::from(self.phi) | u64::from(self.delta) << NUMBER_BITS;
        let work = encode::<WORK_MANTISSA>(self.work).min(255);
        u128::from(numbers | work << WORK_SHIFT) << 64 | u128::from(code)
    }

    /// Unpacks the entry of a full cell.
    #[inline(always)]
    pub fn unpack(cell: u128) -> Self {
        let data = (cell >> 64) as u64;
        Entry {
            phi: (data & NUMBER_MASK) as Number,
            delta: (data >> NUMBER_BITS & NUMBER_MASK) as Number,
            work: decode::<WORK_MANTISSA>(data >> WORK_SHIFT),
        }
    }
}

/// Returns true if the numbers of a full cell are such as a search stores. For cells from untrusted
/// sources.
pub fn is_valid(cell: u128) -> bool {
    let Entry { phi, delta, .. } = Entry::unpack(cell);
    match (phi, delta) {
        (0, other) | (other, 0) => other == INFINITY,
        (phi, delta) => phi <= MAX && delta <= MAX,
    }
}

/// Full layout (see the module's head).
pub(super) struct FullEntry;

impl Layout for FullEntry {
    type Packed = u128;

    const PER_CELL: usize = 1;
    const WORK_MANTISSA: u32 = WORK_MANTISSA;

    #[inline(always)]
    fn get(cell: u128, _: usize) -> u128 {
        cell
    }

    #[inline(always)]
    fn set(_: u128, _: usize, packed: u128) -> u128 {
        packed
    }

    #[inline(always)]
    fn is_empty(packed: u128) -> bool {
        packed >> 64 == 0
    }

    #[inline(always)]
    fn is_same(a: u128, b: u128) -> bool {
        a as u64 == b as u64
    }

    #[inline(always)]
    fn is_solved(packed: u128) -> bool {
        let data = (packed >> 64) as u64;
        data & NUMBER_MASK == 0 || data >> NUMBER_BITS & NUMBER_MASK == 0
    }

    #[inline(always)]
    fn work_rank(packed: u128) -> u32 {
        (packed >> 120) as u32
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_survive_packing(
            code: u64,
            phi in 0..=INFINITY,
            delta in 1..=INFINITY,
            work in 0u64..1 << 40,
        ) {
            let cell = Entry { phi, delta, work }.pack(code);
            let back = Entry::unpack(cell);
            prop_assert_eq!((cell as u64, back.phi, back.delta), (code, phi, delta));
            prop_assert_eq!(FullEntry::is_solved(cell), phi == 0);
            let reach = decode::<WORK_MANTISSA>(255);
            prop_assert!(back.work <= work);
            prop_assert!(back.work >= (work - work / 8).min(reach));
        }
    }
}
