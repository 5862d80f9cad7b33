//! The compact layout: two entries in a cell, for games with invertible keys.
//!
//! | bits | content |
//! |---|---|
//! | 0..10 | phi, rounded up by at most 1.6 % below 2¹⁸ and 6 % above |
//! | 10..20 | delta, rounded in the same way |
//! | 20..25 | work (search effort), with one bit after the leading one; at most 49 152 |
//! | 25..64 | 39 bits of the key |
//!
//! The cluster index determines the upper bits of the key, so only the rest is stored (quotienting,
//! Cleary 1984). The number of clusters need not be a power of two: cluster `i` of `n` holds the keys
//! from `i`/`n` to (`i` + 1)/`n` of all. Let `s` be the base-2 logarithm of `n`, rounded down. As the
//! range of a cluster is at most 2⁻ˢ of all keys, it overlaps at most two of the ranges that the upper
//! `s` bits divide the keys into, and these two are adjacent. With `n` = 3, so `s` = 1, the keys of
//! cluster 1 begin with 0 (from 1/3 to 1/2) or 1 (from 1/2 to 2/3). So the last of the `s` bits
//! distinguishes the two. That bit and the 38 bits after it are stored.
//! Together with the cluster index they determine the upper `s` + 38 bits of the key. If these bits
//! determine the code, two positions never have the same packed key.
//!
//! Phi and delta are rounded up. If they were rounded down, a search would often enter a node
//! because its stored number is below the threshold, and return at once because the number computed
//! from its children reaches the threshold. The result would be rounded down again when it is
//! stored, so the next visit to the parent would enter the node in vain again. The number of such
//! visits would multiply at every level above.
//!
//! phi and delta are never both zero in a stored entry, so a packed entry of zeros is an empty
//! slot.

use super::entry::Entry;
use super::keys::InverseHash;
use super::layout::{Layout, decode, encode};
use crate::numbers::{INFINITY, Number};

/// Bits of the key in a packed entry.
const KEY_BITS: u32 = 39;
const KEY_SHIFT: u32 = 64 - KEY_BITS;
const NUMBER_BITS: u32 = 10;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
const WORK_SHIFT: u32 = 2 * NUMBER_BITS;
const WORK_MASK: u64 = (1 << (KEY_SHIFT - WORK_SHIFT)) - 1;

/// Least number with coarse rounding.
const COARSE: u64 = 1 << 18;
/// Number of stored bits after the leading one, for numbers below [`COARSE`].
const FINE_MANTISSA: u32 = 6;
/// Number of stored bits after the leading one, for numbers from [`COARSE`] on.
const COARSE_MANTISSA: u32 = 4;
/// Code of [`COARSE`].
const COARSE_CODE: u64 = code(COARSE.ilog2(), FINE_MANTISSA);
/// Difference between [`COARSE_CODE`] and the code of [`COARSE`] if all numbers were coarse.
const COARSE_OFFSET: u64 = COARSE_CODE - code(COARSE.ilog2(), COARSE_MANTISSA);
/// Greatest code of a finite number, one below that of infinity.
const LARGEST: u64 = code(INFINITY.ilog2(), COARSE_MANTISSA) + COARSE_OFFSET - 1;
const _: () = assert!(LARGEST < NUMBER_MASK && INFINITY.is_power_of_two());

/// Result of [`encode`] for a power of two.
const fn code(exponent: u32, mantissa: u32) -> u64 {
    ((exponent - mantissa + 1) << mantissa) as u64
}

/// Encodes phi or delta, rounded up.
#[inline(always)]
fn encode_number(number: Number) -> u64 {
    let widened = u64::from(number);
    let code = if widened < COARSE {
        encode::<FINE_MANTISSA>(widened)
    } else {
        encode::<COARSE_MANTISSA>(widened) + COARSE_OFFSET
    };
    let up = u64::from(decode_number(code) < number);
    // The number of an open position must not become infinite.
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

/// The compact layout (see the module's head).
pub(super) struct CompactEntry;

impl CompactEntry {
    /// Returns true if compact entries of a table with `clusters` clusters identify positions.
    pub fn fits(clusters: usize, inverse: &InverseHash) -> bool {
        clusters >= 4 && clusters.ilog2() - 1 + KEY_BITS >= inverse.bits()
    }

    /// Tag of a key: a packed entry without numbers. It identifies the key among the keys of its
    /// cluster.
    #[inline(always)]
    pub fn tag(key: u64, clusters: usize) -> u64 {
        key << (clusters.ilog2() - 1) >> KEY_SHIFT << KEY_SHIFT
    }

    /// Least key of a cluster.
    pub fn first_key(cluster: usize, clusters: usize) -> u64 {
        ((cluster as u128) << 64).div_ceil(clusters as u128) as u64
    }

    /// Upper `s` + 38 bits of the key of a packed entry (see the module's head). `first` is the
    /// least key of the cluster.
    #[inline(always)]
    pub fn key(packed: u64, first: u64, clusters: usize) -> u64 {
        let bits = clusters.ilog2();
        let beginning = first >> (64 - bits);
        let is_first = beginning & 1 == packed >> 63;
        let beginning = if is_first { beginning } else { beginning + 1 };
        let rest = packed >> KEY_SHIFT << KEY_SHIFT;
        (beginning >> 1) << (64 - (bits - 1)) | rest >> (bits - 1)
    }

    /// Packs an entry with this tag.
    #[inline(always)]
    pub fn pack(tag: u64, entry: &Entry) -> u64 {
        let work = encode::<{ Self::WORK_MANTISSA }>(entry.work).min(WORK_MASK);
        let (phi, delta) = (encode_number(entry.phi), encode_number(entry.delta));
        tag | work << WORK_SHIFT | delta << NUMBER_BITS | phi
    }

    #[inline(always)]
    pub fn unpack(packed: u64) -> Entry {
        let number = |packed| decode_number(packed & NUMBER_MASK);
        let work = decode::<{ Self::WORK_MANTISSA }>(packed >> WORK_SHIFT & WORK_MASK);
        Entry { phi: number(packed), delta: number(packed >> NUMBER_BITS), work }
    }
}

impl Layout for CompactEntry {
    type Packed = u64;

    const PER_CELL: usize = 2;
    const WORK_MANTISSA: u32 = 1;

    #[inline(always)]
    fn get(cell: u128, slot: usize) -> u64 {
        (cell >> (64 * slot)) as u64
    }

    #[inline(always)]
    fn set(cell: u128, slot: usize, packed: u64) -> u128 {
        let others = cell & !(u128::from(u64::MAX) << (64 * slot));
        others | u128::from(packed) << (64 * slot)
    }

    #[inline(always)]
    fn is_empty(packed: u64) -> bool {
        packed & ((1 << WORK_SHIFT) - 1) == 0
    }

    #[inline(always)]
    fn is_same(a: u64, b: u64) -> bool {
        (a ^ b) >> KEY_SHIFT == 0
    }

    #[inline(always)]
    fn is_solved(packed: u64) -> bool {
        packed & NUMBER_MASK == 0 || packed >> NUMBER_BITS & NUMBER_MASK == 0
    }

    #[inline(always)]
    fn work_rank(packed: u64) -> u32 {
        (packed >> WORK_SHIFT & WORK_MASK) as u32
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
        fn entries_are_rounded_within_bounds(
            key: u64,
            phi in prop_oneof![0..=INFINITY, 0..1u32 << 20],
            delta in prop_oneof![1..=MAX, 1..1u32 << 20],
            work in 0u64..1 << 40,
        ) {
            // If phi is 0, delta is infinite. Otherwise both are finite.
            let delta = if phi == 0 { INFINITY } else { delta };
            let phi = if delta < INFINITY { phi.min(MAX) } else { phi };
            let tag = CompactEntry::tag(key, 1 << 10);
            let packed = CompactEntry::pack(tag, &Entry { phi, delta, work });
            let back = CompactEntry::unpack(packed);
            prop_assert!(CompactEntry::is_same(packed, tag) && !CompactEntry::is_empty(packed));
            prop_assert_eq!(CompactEntry::is_solved(packed), phi == 0 || delta == 0);
            // The greatest finite numbers are rounded down, because they must not become infinite.
            let reach = INFINITY / 32 * 31;
            let max = |number| number + number / if u64::from(number) < COARSE { 64 } else { 16 };
            prop_assert!((phi.min(reach)..=max(phi)).contains(&back.phi));
            prop_assert!((delta.min(reach)..=max(delta)).contains(&back.delta));
            prop_assert_eq!((back.phi == 0, back.phi == INFINITY), (phi == 0, phi == INFINITY));
            prop_assert_eq!(back.delta == INFINITY, delta == INFINITY);
            let reach = decode::<{ CompactEntry::WORK_MANTISSA }>(WORK_MASK);
            prop_assert!(back.work <= work && back.work >= (work - work / 3).min(reach));
        }

        #[test]
        fn upper_bits_of_keys_are_recovered_from_tags(
            key: u64,
            clusters in prop_oneof![4usize..100, 4usize..1 << 40, Just(1 << 20), Just((1 << 20) - 1)],
        ) {
            let kept = (clusters.ilog2() - 1 + KEY_BITS).min(64);
            let cluster = index_of(key, clusters);
            let first = CompactEntry::first_key(cluster, clusters);
            let back = CompactEntry::key(CompactEntry::tag(key, clusters), first, clusters);
            prop_assert_eq!((back ^ key).checked_shr(64 - kept).unwrap_or(0), 0);
        }

        #[test]
        fn slots_of_a_cell_do_not_overlap(a: u64, b: u64, c: u64) {
            let cell = CompactEntry::set(CompactEntry::set(0, 0, a), 1, b);
            prop_assert_eq!((CompactEntry::get(cell, 0), CompactEntry::get(cell, 1)), (a, b));
            let cell = CompactEntry::set(cell, 1, c);
            prop_assert_eq!((CompactEntry::get(cell, 0), CompactEntry::get(cell, 1)), (a, c));
        }
    }
}
