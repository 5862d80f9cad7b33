//! How entries stand in the cells of a cluster: what look-ups and stores have to know of it.

/// A layout of entries in cells. A place is what is kept of one entry; all bits zero are none.
pub(super) trait Layout {
    /// What stands in a place.
    type Place: Copy;

    /// Places in a cell.
    const IN_CELL: usize;
    /// Bits of the work after its leading one.
    const WORK_MANTISSA: u32;

    /// The place of this number in a cell.
    fn get(cell: u128, number: usize) -> Self::Place;

    /// The cell with another content of this place.
    fn set(cell: u128, number: usize, place: Self::Place) -> u128;

    fn is_empty(place: Self::Place) -> bool;

    /// Whether two places of one cluster hold, or name, the same position.
    fn is_same(a: Self::Place, b: Self::Place) -> bool;

    fn is_solved(place: Self::Place) -> bool;

    /// The encoded work: monotonic in the work itself.
    fn work_rank(place: Self::Place) -> u32;

    /// What replacement goes by: the work, and for a solved position twice as much.
    #[inline(always)]
    fn worth(place: Self::Place) -> u32 {
        let bonus = if Self::is_solved(place) { 1 << Self::WORK_MANTISSA } else { 0 };
        Self::work_rank(place) + bonus
    }
}

/// A number as an exponent and `MANTISSA` bits after the leading one, rounded down: below
/// `2 << MANTISSA` the number itself. Monotonic.
#[inline(always)]
pub(super) fn encode<const MANTISSA: u32>(number: u64) -> u64 {
    if number < 2 << MANTISSA {
        return number;
    }
    let shift = 63 - number.leading_zeros() - MANTISSA;
    (u64::from(shift) << MANTISSA) + (number >> shift)
}

/// The least number with this code.
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
        fn numbers_come_back_rounded_down_and_in_order(a: u64, b: u64, shift in 0u32..64) {
            check::<1>(a >> shift, b >> shift);
            check::<3>(a >> shift, b >> shift);
            check::<4>(a >> shift, b >> shift);
            check::<6>(a >> shift, b >> shift);
        }
    }
}
