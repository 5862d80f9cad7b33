//! Arrangement of entries in the cells of a cluster, as used by look-ups and stores.

/// Arrangement of entries in cells. A packed entry of zeros is an empty slot.
pub(super) trait Layout {
    /// A packed entry.
    type Packed: Copy;

    /// Number of entries in a cell.
    const PER_CELL: usize;
    /// Number of stored bits of the work (search effort) after its leading one.
    const WORK_MANTISSA: u32;

    /// Packed entry in slot `slot` of a cell, or zero.
    fn get(cell: u128, slot: usize) -> Self::Packed;

    /// Content of `cell` after `packed` has been written to slot `slot`.
    fn set(cell: u128, slot: usize, packed: Self::Packed) -> u128;

    fn is_empty(packed: Self::Packed) -> bool;

    /// Returns true if two packed entries or tags of one cluster belong to the same position.
    fn is_same(a: Self::Packed, b: Self::Packed) -> bool;

    fn is_solved(packed: Self::Packed) -> bool;

    /// Encoded work. More work never has a smaller code.
    fn work_rank(packed: Self::Packed) -> u32;

    /// Replacement priority: the encoded work, or for a solved position the code of twice the work.
    /// The entry of least priority is replaced.
    #[inline(always)]
    fn replacement_priority(packed: Self::Packed) -> u32 {
        let bonus = if Self::is_solved(packed) { 1 << Self::WORK_MANTISSA } else { 0 };
        Self::work_rank(packed) + bonus
    }
}

/// Encodes a number as an exponent and `MANTISSA` bits after the leading one, rounded down. The code
/// is exact for numbers below `2 << MANTISSA`. A greater number never has a smaller code.
#[inline(always)]
pub(super) fn encode<const MANTISSA: u32>(number: u64) -> u64 {
    if number < 2 << MANTISSA {
        return number;
    }
    let shift = 63 - number.leading_zeros() - MANTISSA;
    (u64::from(shift) << MANTISSA) + (number >> shift)
}

/// Returns the least number that [`encode`] maps to this code.
#[inline(always)]
pub(super) fn decode<const MANTISSA: u32>(code: u64) -> u64 {
    if code < 2 << MANTISSA {
        return code;
    }
    let shift = (code >> MANTISSA) - 1;
    (code - (shift << MANTISSA)) << shift
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<const MANTISSA: u32>(a: u64, b: u64) {
        let (coded, back) = (encode::<MANTISSA>(a), decode::<MANTISSA>(encode::<MANTISSA>(a)));
        assert!(back <= a && a - back < (back >> MANTISSA).max(1), "{a} became {back}");
        assert_eq!(encode::<MANTISSA>(back), coded);
        assert!(a > b || coded <= encode::<MANTISSA>(b));
        assert!(a >= 2 << MANTISSA || back == a);
    }

    proptest! {
        #[test]
        fn numbers_are_rounded_down_and_stay_in_order(a: u64, b: u64, shift in 0u32..64) {
            check::<1>(a >> shift, b >> shift);
            check::<3>(a >> shift, b >> shift);
            check::<4>(a >> shift, b >> shift);
            check::<6>(a >> shift, b >> shift);
        }
    }
}
