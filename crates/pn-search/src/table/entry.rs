//! Entries, and their full layout: one entry in a cell, with the whole code and exact phi and delta.
//!
//! | bits | content |
//! |---|---|
//! | 0..64 | the exact code |
//! | 64..92 | phi, 0 to 2²⁷ |
//! | 92..120 | delta, 0 to 2²⁷ |
//! | 120..128 | work (search effort): five bits of exponent, three bits after the leading one |
//!
//! phi and delta are never both zero in a stored entry, so a cell of zeros is empty.
//!
//! Checkpoints and messages contain entries as full cells. A change of this layout therefore
//! requires a new version of both formats.

use super::layout::{Layout, decode, encode};
use crate::Value;
use crate::numbers::{INFINITY, MAX, Number, Pair};

/// Data of a position in the table.
///
/// Some numbers are rounded when they are stored. `work` is rounded down to four significant bits.
/// In a compact entry, `work` is rounded down to two significant bits and is at most 49 152. There,
/// phi and delta of open positions are rounded up, by at most 1.6 % below 2¹⁸ and 6 % above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Proof number for the side to move.
    pub phi: Number,
    /// Disproof number for the side to move.
    pub delta: Number,
    /// Search effort: number of expansions for the position. For open nodes of PNS and PN², only the
    /// expansions of the last visit count.
    pub work: u64,
}

const NUMBER_BITS: u32 = 28;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
const WORK_SHIFT: u32 = 2 * NUMBER_BITS;
const WORK_MANTISSA: u32 = 3;

impl Entry {
    /// Entry of a position with these numbers.
    #[inline(always)]
    pub(crate) fn new(Pair { phi, delta }: Pair, work: u64) -> Self {
        Entry { phi, delta, work }
    }

    /// Entry of a solved position.
    pub fn solved(value: Value, work: u64) -> Self {
        Entry::new(Pair::of(value), work)
    }

    /// Proof and disproof number.
    #[inline(always)]
    pub(crate) fn pair(&self) -> Pair {
        Pair { phi: self.phi, delta: self.delta }
    }

    /// Value of the position, if it is solved.
    #[inline(always)]
    pub fn value(&self) -> Option<Value> {
        self.pair().value()
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

/// Returns true if a search can store the phi and delta of this full cell. This is a check for cells
/// from untrusted sources.
pub fn is_valid(cell: u128) -> bool {
    let Entry { phi, delta, .. } = Entry::unpack(cell);
    match (phi, delta) {
        (0, other) | (other, 0) => other == INFINITY,
        (phi, delta) => phi <= MAX && delta <= MAX,
    }
}

/// The full layout (see the module's head).
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
