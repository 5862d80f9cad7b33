//! Exact dyadic fractions in fixed-point arithmetic.

use std::fmt;
use std::ops::Neg;
use std::str::FromStr;

use konane_base::serialize_as_text;

/// Number of binary digits after the point.
const FRACTION_BITS: u32 = 40;

/// Units in 1.
const ONE: i64 = 1 << FRACTION_BITS;

/// An exact number k/2^e with e at most 40 and an absolute value below 2^21. Its text is `-3`, `1/2` or `-5/4`.
///
/// Results outside of this range are `None`. Numbers that are games have a smaller range: see [`Self::MAX_GAME`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dyadic(i64);

impl Dyadic {
    /// The number 0.
    pub const ZERO: Dyadic = Dyadic(0);

    /// Maximum absolute value of a number as a game, 4096. An integer n needs n games, and positions of 64 squares have
    /// values of some dozens.
    pub const MAX_GAME: Dyadic = Dyadic(4096 * ONE);

    /// Returns `numerator` / 2^`exponent`.
    pub fn new(numerator: i64, exponent: u32) -> Option<Dyadic> {
        // Fractions such as 2^41/2^41 are reduced first.
        let reduction = numerator.trailing_zeros().min(exponent);
        let (numerator, exponent) =
            if numerator == 0 { (0, 0) } else { (numerator >> reduction, exponent - reduction) };
        let shift = FRACTION_BITS.checked_sub(exponent)?;
        Dyadic::checked(numerator.checked_mul(1 << shift)?)
    }

    /// Returns the number of `units`, if it is in the range.
    pub(super) fn checked(units: i64) -> Option<Dyadic> {
        // Four times the number has to fit as well: see `Stop`.
        (units.unsigned_abs() < 1 << 61).then_some(Dyadic(units))
    }

    /// The number with the decimals after its point. `None` if it is no fraction k/2^e, or has more than 38 decimals.
    fn of_decimal(integer: &str, decimals: &str) -> Option<Dyadic> {
        let is_number = !decimals.is_empty() && decimals.bytes().all(|b| b.is_ascii_digit());
        if !is_number || integer.contains('/') {
            return None;
        }
        let digits = decimals.trim_end_matches('0');
        // n/10^k is a fraction with the denominator 2^k exactly if 5^k divides n.
        let count = u32::try_from(digits.len()).ok().filter(|&count| count <= 38)?;
        let numerator: u128 = if count == 0 { 0 } else { digits.parse().ok()? };
        let fives = 5_u128.pow(count);
        let fraction = numerator.is_multiple_of(fives).then_some(numerator / fives)?;
        let fraction = Dyadic::new(i64::try_from(fraction).ok()?, count)?;
        let whole: Dyadic = integer.parse().ok()?;
        if integer.starts_with('-') { whole.minus(fraction) } else { whole.plus(fraction) }
    }

    /// The number in units of 2^-40.
    pub(super) fn units(self) -> i64 {
        self.0
    }

    /// Returns the sum.
    pub fn plus(self, other: Dyadic) -> Option<Dyadic> {
        Dyadic::checked(self.0 + other.0)
    }

    /// Returns the difference.
    pub fn minus(self, other: Dyadic) -> Option<Dyadic> {
        Dyadic::checked(self.0 - other.0)
    }

    /// Returns half of the number.
    pub fn half(self) -> Option<Dyadic> {
        (self.0 & 1 == 0).then_some(Dyadic(self.0 >> 1))
    }

    /// Returns the exponent of the denominator 2^e in lowest terms; 0 for an integer.
    pub fn exponent(self) -> u32 {
        FRACTION_BITS - self.0.trailing_zeros().min(FRACTION_BITS)
    }

    /// Returns the numerator in lowest terms.
    pub fn numerator(self) -> i64 {
        self.0 >> (FRACTION_BITS - self.exponent())
    }

    /// Returns 1/2^e for a number with the denominator 2^e.
    pub(super) fn unit_fraction(self) -> Dyadic {
        Dyadic(ONE >> self.exponent())
    }

    /// Returns the nearest floating-point number, for drawings.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// Returns the simplest number of the closed interval from `low` to `high`, both in units: the integer that is
    /// closest to 0, or else the number with the smallest denominator. `None` if the interval is empty or the number
    /// is out of range.
    pub(super) fn simplest(low: i64, high: i64) -> Option<Dyadic> {
        if low > high {
            return None;
        }
        if low <= 0 && high >= 0 {
            return Some(Dyadic::ZERO);
        }
        if high < 0 {
            return Dyadic::simplest(-high, low.checked_neg()?).map(Neg::neg);
        }
        for exponent in 0..=FRACTION_BITS {
            let step = ONE >> exponent;
            let candidate = low.checked_add(step - 1)? / step * step;
            if candidate <= high {
                return Dyadic::checked(candidate);
            }
        }
        None
    }
}

impl Neg for Dyadic {
    type Output = Dyadic;

    fn neg(self) -> Dyadic {
        Dyadic(-self.0)
    }
}

impl fmt::Display for Dyadic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numerator = self.numerator();
        f.pad(&match self.exponent() {
            0 => numerator.to_string(),
            exponent => format!("{numerator}/{}", 1u64 << exponent),
        })
    }
}

impl FromStr for Dyadic {
    type Err = ();

    /// Reads the [`Display`](fmt::Display) text, or a decimal such as `0.75`. The fraction need not be in lowest terms.
    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some((integer, decimals)) = text.split_once('.') {
            return Dyadic::of_decimal(integer, decimals).ok_or(());
        }
        let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
        let digits = numerator.strip_prefix('-').unwrap_or(numerator);
        let is_number =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !is_number(digits) || !is_number(denominator) {
            return Err(());
        }
        let denominator: u64 = denominator.parse().map_err(|_| ())?;
        if !denominator.is_power_of_two() {
            return Err(());
        }
        Dyadic::new(numerator.parse().map_err(|_| ())?, denominator.trailing_zeros()).ok_or(())
    }
}

serialize_as_text!(Dyadic: "A number, such as `-3` or `5/4`.");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_in_lowest_terms() {
        for (text, lowest) in [
            ("6/4", "3/2"),
            ("-2/2", "-1"),
            ("0/8", "0"),
            ("-5/4", "-5/4"),
            ("0.5", "1/2"),
            ("-3.1250", "-25/8"),
            ("-0.75", "-3/4"),
            ("2.0", "2"),
            ("0.00000000000000000000000000000000000000", "0"),
        ] {
            assert_eq!(text.parse::<Dyadic>().unwrap().to_string(), lowest);
        }
        for text in [
            "",
            "-",
            "1/3",
            "1/0",
            "/2",
            "1/",
            "1/-2",
            "+1",
            "--1",
            "0.1",
            "1.",
            ".5",
            "1/2.5",
            "1.5.5",
            "1.-5",
            "0.0000000000000000000000000000000000000001",
            "2097152",
            "1/2199023255552",
        ] {
            assert_eq!(text.parse::<Dyadic>(), Err(()), "{text}");
        }
    }

    #[test]
    fn results_out_of_range_are_none() {
        let large: Dyadic = "2097151".parse().unwrap();
        let small: Dyadic = "1/1099511627776".parse().unwrap();
        assert_eq!((large.plus(Dyadic::new(1, 0).unwrap()), small.half()), (None, None));
        assert_eq!((-large).minus(small).unwrap().plus(small), Some(-large));
        assert_eq!(Dyadic::new(i64::MIN, 0), None);
        assert_eq!(Dyadic::new(1 << 41, 41), Dyadic::new(1, 0));
    }

    proptest! {
        #[test]
        fn the_simplest_number_has_the_smallest_denominator(a in -4000i64..4000, b in -4000i64..4000) {
            // Interval in 1/64.
            let unit = ONE / 64;
            let (low, high) = (a.min(b), a.max(b));
            let found = Dyadic::simplest(low * unit, high * unit).unwrap();
            let inside = |n: i64, e: u32| (low << e..=high << e).contains(&(n * 64));
            let expected = (0..=6).find_map(|exponent| {
                let range = (low << exponent) / 64 - 1..=(high << exponent) / 64 + 1;
                range.filter(|&n| inside(n, exponent)).min_by_key(|n| n.abs()).map(|n| (n, exponent))
            });
            prop_assert_eq!(Some((found.numerator(), found.exponent())), expected);
        }
    }
}
