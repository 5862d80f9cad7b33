//! The narrow layout: two entries in a cell, for games whose keys tell their codes.
//!
//! | bits | content |
//! |---|---|
//! | 0..10 | phi, rounded up: within 1.6 % below 2¹⁸, 6 % above |
//! | 10..20 | delta, the same |
//! | 20..25 | work, with one bit after the leading one; at most 49 152 |
//! | 25..64 | 39 bits of the key |
//!
//! The cluster is chosen by the key's upper bits, so these need not be kept. Of `s` bits, the base-2
//! logarithm of the number of clusters rounded down, at most the last one is open: a cluster's keys
//! have at most two beginnings of this length, one after the other. So the bits from that one on
//! are kept, and together with the cluster they are the upper `s` + 38 bits of the key. Where these
//! tell the code, two positions never look alike.
//!
//! Numbers are rounded up. If they were rounded down, a node would often be entered because its number
//! is below the threshold, and left at once because its children say more; what it says then is
//! rounded down again, so every visit to its parent would do the same, and on every level above as
//! often again.
//!
//! phi and delta are never both zero in a stored entry, so a place of zeros is empty.

use super::entry::Entry;
use super::keys::InverseHash;
use super::layout::{Layout, decode, encode};
use crate::numbers::{INFINITY, Number};

/// Bits of the key that a place has.
const KEY_BITS: u32 = 39;
const KEY_SHIFT: u32 = 64 - KEY_BITS;
const NUMBER_BITS: u32 = 10;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
const WORK_SHIFT: u32 = 2 * NUMBER_BITS;
const WORK_MASK: u64 = (1 << (KEY_SHIFT - WORK_SHIFT)) - 1;

/// From here on numbers are coarse.
const COARSE: u64 = 1 << 18;
/// Bits after the leading one of the numbers below and from there on.
const FINE_MANTISSA: u32 = 6;
const COARSE_MANTISSA: u32 = 4;
/// The code of [`COARSE`], and by how much it is greater than if all numbers were coarse.
const COARSE_CODE: u64 = code(COARSE.ilog2(), FINE_MANTISSA);
const COARSE_OFFSET: u64 = COARSE_CODE - code(COARSE.ilog2(), COARSE_MANTISSA);
/// The code below that of infinity.
const LARGEST: u64 = code(INFINITY.ilog2(), COARSE_MANTISSA) + COARSE_OFFSET - 1;
const _: () = assert!(LARGEST < NUMBER_MASK && INFINITY.is_power_of_two());

/// What [`encode`] makes of a power of two.
const fn code(exponent: u32, mantissa: u32) -> u64 {
    ((exponent - mantissa + 1) << mantissa) as u64
}

/// The code of a number, rounded up.
#[inline(always)]
fn encode_number(number: Number) -> u64 {
    let wide = u64::from(number);
    let code = if wide < COARSE {
        encode::<FINE_MANTISSA>(wide)
    } else {
        encode::<COARSE_MANTISSA>(wide) + COARSE_OFFSET
    };
    let up = u64::from(decode_number(code) < number);
    // No open position becomes a solved one.
    if number < INFINITY { (code + up).min(LARGEST) } else { code }
}

#[inline(always)]
fn decode_number(code: u64) -> Number {
    let number = if code < COARSE_CODE {
        decode::<FINE_MANTISSA>(code)
    } else {
        decode::<COARSE_MANTISSA>(code - COARSE_OFFSET)
    };
    number as Number
}

/// CompactEntry cells (see the module's head).
pub(super) struct CompactEntry;

impl CompactEntry {
    /// Whether places of a table of so many clusters tell positions apart.
    pub fn fits(clusters: usize, codes: &InverseHash) -> bool {
        clusters >= 4 && clusters.ilog2() - 1 + KEY_BITS >= codes.bits()
    }

    /// The name of a key among those of its cluster: a place without numbers.
    #[inline(always)]
    pub fn name(key: u64, clusters: usize) -> u64 {
        key << (clusters.ilog2() - 1) >> KEY_SHIFT << KEY_SHIFT
    }

    /// The first key of a cluster.
    pub fn first_key(cluster: usize, clusters: usize) -> u64 {
        ((cluster as u128) << 64).div_ceil(clusters as u128) as u64
    }

    /// The upper bits of the key of a place in the cluster with this first key: those that the
    /// module's head names.
    #[inline(always)]
    pub fn key(place: u64, first: u64, clusters: usize) -> u64 {
        let bits = clusters.ilog2();
        let beginning = first >> (64 - bits);
        let is_first = beginning & 1 == place >> 63;
        let beginning = if is_first { beginning } else { beginning + 1 };
        let rest = place >> KEY_SHIFT << KEY_SHIFT;
        (beginning >> 1) << (64 - (bits - 1)) | rest >> (bits - 1)
    }

    /// The place of an entry with this name.
    #[inline(always)]
    pub fn pack(name: u64, entry: &Entry) -> u64 {
        let work = encode::<{ Self::WORK_MANTISSA }>(entry.work).min(WORK_MASK);
        let (phi, delta) = (encode_number(entry.phi), encode_number(entry.delta));
        name | work << WORK_SHIFT | delta << NUMBER_BITS | phi
    }

    #[inline(always)]
    pub fn unpack(place: u64) -> Entry {
        let number = |place| decode_number(place & NUMBER_MASK);
        let work = decode::<{ Self::WORK_MANTISSA }>(place >> WORK_SHIFT & WORK_MASK);
        Entry { phi: number(place), delta: number(place >> NUMBER_BITS), work }
    }
}

impl Layout for CompactEntry {
    type Place = u64;

    const IN_CELL: usize = 2;
    const WORK_MANTISSA: u32 = 1;

    #[inline(always)]
    fn get(cell: u128, number: usize) -> u64 {
        (cell >> (64 * number)) as u64
    }

    #[inline(always)]
    fn set(cell: u128, number: usize, place: u64) -> u128 {
        let others = cell & !(u128::from(u64::MAX) << (64 * number));
        others | u128::from(place) << (64 * number)
    }

    #[inline(always)]
    fn is_empty(place: u64) -> bool {
        place & ((1 << WORK_SHIFT) - 1) == 0
    }

    #[inline(always)]
    fn is_same(a: u64, b: u64) -> bool {
        (a ^ b) >> KEY_SHIFT == 0
    }

    #[inline(always)]
    fn is_solved(place: u64) -> bool {
        place & NUMBER_MASK == 0 || place >> NUMBER_BITS & NUMBER_MASK == 0
    }

    #[inline(always)]
    fn work_rank(place: u64) -> u32 {
        (place >> WORK_SHIFT & WORK_MASK) as u32
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::index_of;
    use super::*;
    use crate::numbers::{INFINITY, MAX};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_come_back_nearly(
            key: u64,
            phi in prop_oneof![0..=INFINITY, 0..1u32 << 20],
            delta in prop_oneof![1..=MAX, 1..1u32 << 20],
            work in 0u64..1 << 40,
        ) {
            // A solved position has infinity on the other side.
            let delta = if phi == 0 { INFINITY } else { delta };
            let phi = if delta < INFINITY { phi.min(MAX) } else { phi };
            let name = CompactEntry::name(key, 1 << 10);
            let place = CompactEntry::pack(name, &Entry { phi, delta, work });
            let back = CompactEntry::unpack(place);
            prop_assert!(CompactEntry::is_same(place, name) && !CompactEntry::is_empty(place));
            prop_assert_eq!(CompactEntry::is_solved(place), phi == 0 || delta == 0);
            // The largest ones have no room to be rounded up.
            let reach = INFINITY / 32 * 31;
            let most = |number| number + number / if u64::from(number) < COARSE { 64 } else { 16 };
            prop_assert!((phi.min(reach)..=most(phi)).contains(&back.phi));
            prop_assert!((delta.min(reach)..=most(delta)).contains(&back.delta));
            prop_assert_eq!((back.phi == 0, back.phi == INFINITY), (phi == 0, phi == INFINITY));
            prop_assert_eq!(back.delta == INFINITY, delta == INFINITY);
            let reach = decode::<{ CompactEntry::WORK_MANTISSA }>(WORK_MASK);
            prop_assert!(back.work <= work && back.work >= (work - work / 3).min(reach));
        }

        #[test]
        fn keys_come_back_as_far_as_they_go(
            key: u64,
            clusters in prop_oneof![4usize..100, 4usize..1 << 40, Just(1 << 20), Just((1 << 20) - 1)],
        ) {
            let kept = (clusters.ilog2() - 1 + KEY_BITS).min(64);
            let cluster = index_of(key, clusters);
            let first = CompactEntry::first_key(cluster, clusters);
            let back = CompactEntry::key(CompactEntry::name(key, clusters), first, clusters);
            prop_assert_eq!((back ^ key).checked_shr(64 - kept).unwrap_or(0), 0);
        }

        #[test]
        fn places_of_a_cell_are_apart(a: u64, b: u64, c: u64) {
            let cell = CompactEntry::set(CompactEntry::set(0, 0, a), 1, b);
            prop_assert_eq!((CompactEntry::get(cell, 0), CompactEntry::get(cell, 1)), (a, b));
            let cell = CompactEntry::set(cell, 1, c);
            prop_assert_eq!((CompactEntry::get(cell, 0), CompactEntry::get(cell, 1)), (a, c));
        }
    }
}
