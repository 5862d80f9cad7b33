//! Numbers, counts, and amounts with units: bytes and durations, which are read exactly, without
//! rounding up. Bytes are also written here.

use std::time::Duration;

use super::quote::quote;
use crate::error::ErrorKind;

/// Units of memory; letters alone are powers of two, as in most programs that take sizes.
const BYTES: &[(&str, u64)] = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KIB", 1 << 10),
    ("MIB", 1 << 20),
    ("GIB", 1 << 30),
    ("TIB", 1 << 40),
    ("K", 1 << 10),
    ("M", 1 << 20),
    ("G", 1 << 30),
    ("T", 1 << 40),
];

/// Units of time in milliseconds.
const MILLISECONDS: &[(&str, u64)] =
    &[("MS", 1), ("S", 1_000), ("M", 60_000), ("MIN", 60_000), ("H", 3_600_000), ("D", 86_400_000)];

/// The longest time in seconds: its milliseconds have 64 bits.
const MAX_SECONDS: u64 = u64::MAX / 1_000;

/// Letters of counts, as powers of ten.
const POWERS: &[(&str, usize)] = &[("K", 3), ("M", 6), ("G", 9), ("T", 12)];

/// Why a text is not an amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Does not begin with a number such as 12 or 1.5.
    #[error("write a number and a unit, such as {0}")]
    Number(&'static str),
    /// Something follows the number that is no unit.
    #[error("{unit:?} is not a unit: write {known}")]
    Unit {
        /// What was written.
        unit: String,
        /// Units that there are.
        known: &'static str,
    },
    /// A further part of a time without a unit, or with one that is not smaller than that before.
    #[error("{0:?}: write each part of a time with its unit, the greatest first, such as 1h30m")]
    Order(String),
    /// A count that is not whole.
    #[error("it must be a whole number")]
    Fraction,
    /// Zero, or less than the smallest unit.
    #[error("it must be more than 0")]
    Zero,
    /// Beyond 64 bits.
    #[error("it is too large")]
    TooLarge,
    /// A time of which the milliseconds have more than 64 bits.
    #[error("it must be at most {MAX_SECONDS} seconds")]
    TooLong,
}

impl UnitError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// A number of bytes: `4GiB`, `512MiB`, `1.5GB`, `1000000`.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let known = "B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB or TiB (powers of 1024)";
    parse(text.trim(), BYTES, 1, "4GiB or 512MiB", known).and_then(|(bytes, _)| positive(bytes))
}

/// Bytes as text, in the largest binary unit of which there is at least one: `64 B`, `1000 MiB`,
/// `1.50 GiB`. The page (`words.js`) and the Python package (`konane/cluster/text.py`) write them in
/// the same way.
pub fn bytes_text(bytes: u64) -> String {
    let (mut amount, mut units) = (bytes as f64, ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].iter());
    let mut unit = "B";
    // The next unit is used where rounding to whole numbers would give 1024.
    while amount >= 1023.5
        && let Some(next) = units.next()
    {
        (amount, unit) = (amount / 1024.0, next);
    }
    let digits = format!("{amount:.2}");
    format!("{} {unit}", digits.strip_suffix(".00").unwrap_or(&digits))
}

/// A number in groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A span of time: `60s`, `5m`, `1.5h`, `500ms`, or several parts, `1h30m`; seconds without a unit.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let known = "ms, s, m, h or d";
    let (mut sum, mut least, mut rest) = (0u64, u64::MAX, text.trim());
    loop {
        // A part ends where a number follows its unit.
        let number = rest.find(|c: char| !is_of_number(c)).unwrap_or(rest.len());
        let unit = rest[number..].find(|c: char| is_of_number(c));
        let (part, more) = rest.split_at(unit.map_or(rest.len(), |unit| number + unit));
        let (amount, factor) = parse(part, MILLISECONDS, 1_000, "60s, 5m or 1h30m", known)
            .map_err(
                |error| if error == UnitError::TooLarge { UnitError::TooLong } else { error },
            )?;
        if factor >= least || least < u64::MAX && part.ends_with(is_of_number) {
            return Err(UnitError::Order(quote(text)));
        }
        sum = sum.checked_add(amount).ok_or(UnitError::TooLong)?;
        if more.is_empty() {
            break;
        }
        (least, rest) = (factor, more);
    }
    positive(sum).map(Duration::from_millis)
}

/// A span of time from a number of seconds, in the same range as [`parse_duration`].
pub fn duration_from_seconds(seconds: f64) -> Result<Duration, UnitError> {
    if seconds > MAX_SECONDS as f64 {
        return Err(UnitError::TooLong);
    }
    // Fails for numbers below 0, and for NaN.
    let duration = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    if duration.is_zero() { Err(UnitError::Zero) } else { Ok(duration) }
}

/// A whole number of 1 or more: `500000`, `2.5M` (k, M, G, T: powers of 1000), `1e6`.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let example = "1000000, 2.5M or 1e6";
    let text = text.trim();
    let (number, unit) = split_number(text, example)?;
    let unknown = || {
        let unit = quote(unit);
        UnitError::Unit { unit, known: "k, M, G or T (powers of 1000), or e and a power of ten" }
    };
    let power = match unit.strip_prefix(['e', 'E']) {
        _ if unit.is_empty() => 0,
        None => find(POWERS, unit).ok_or_else(unknown)?,
        Some(digits) if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) => {
            return Err(unknown());
        }
        Some(digits) => digits.parse().map_err(|_| UnitError::TooLarge)?,
    };
    let (whole, fraction) = number;
    let fraction = fraction.trim_end_matches('0');
    let Some(zeros) = power.checked_sub(fraction.len()) else { return Err(UnitError::Fraction) };
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Err(UnitError::Zero);
    }
    // Beyond 20 digits there is no number of 64 bits.
    let number =
        (digits.len().saturating_add(zeros) <= 20).then(|| digits.to_owned() + &"0".repeat(zeros));
    number.and_then(|number| number.parse().ok()).ok_or(UnitError::TooLarge)
}

/// Why a text is not a number of the range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a whole number {}", if *.most == u64::MAX {
    format!("of at least {least}")
} else {
    format!("from {least} to {most}")
})]
pub struct NumberError {
    /// The least number that is accepted.
    pub least: u64,
    /// The greatest one.
    pub most: u64,
}

impl NumberError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// A whole number of a range, in decimal digits.
pub fn parse_number(text: &str, least: u64, most: u64) -> Result<u64, NumberError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { text.parse().ok() } else { None };
    number.filter(|number| (least..=most).contains(number)).ok_or(NumberError { least, most })
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

/// What stands before and behind a number's point, and what follows the number.
fn split_number<'a>(
    text: &'a str,
    example: &'static str,
) -> Result<((&'a str, &'a str), &'a str), UnitError> {
    let (number, unit) = text.split_at(text.find(|c| !is_of_number(c)).unwrap_or(text.len()));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || (number.contains('.') && fraction.is_empty()) {
        return Err(UnitError::Number(example));
    }
    Ok(((whole, fraction), unit.trim()))
}

fn find<T: Copy>(units: &[(&str, T)], unit: &str) -> Option<T> {
    let upper = unit.to_ascii_uppercase();
    units.iter().find(|(name, _)| *name == upper).map(|(_, factor)| *factor)
}

fn positive(amount: u64) -> Result<u64, UnitError> {
    if amount == 0 { Err(UnitError::Zero) } else { Ok(amount) }
}

/// An amount, rounded down, and the factor of its unit.
fn parse(
    text: &str,
    units: &[(&str, u64)],
    default_unit: u64,
    example: &'static str,
    known: &'static str,
) -> Result<(u64, u64), UnitError> {
    let ((whole, fraction), unit) = split_number(text, example)?;
    let factor = if unit.is_empty() {
        default_unit
    } else {
        let unknown = || UnitError::Unit { unit: quote(unit), known };
        find(units, unit).ok_or_else(unknown)?
    };
    let whole: u64 = whole.parse().map_err(|_| UnitError::TooLarge)?;
    let whole = whole.checked_mul(factor).ok_or(UnitError::TooLarge)?;
    // Nine decimals are finer than any unit here needs; the product stays below 2^64 * 10^9.
    let decimals = &fraction[..fraction.len().min(9)];
    let part = if decimals.is_empty() {
        0
    } else {
        let digits: u128 = decimals.parse().map_err(|_| UnitError::TooLarge)?;
        (digits * u128::from(factor) / 10u128.pow(decimals.len() as u32)) as u64
    };
    Ok((whole.checked_add(part).ok_or(UnitError::TooLarge)?, factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_read_back(count in 1u64.., part in 1u64..1000, zeros in 0usize..8) {
            prop_assert_eq!(parse_count(&count.to_string()), Ok(count));
            for (letter, power) in [("k", 3), ("M", 6), ("G", 9), ("t", 12)] {
                let expected = part.checked_mul(10u64.pow(power)).expect("below 10^15");
                prop_assert_eq!(parse_count(&format!("{part}{letter}")), Ok(expected));
                prop_assert_eq!(parse_count(&format!("{part}e{power}")), Ok(expected));
                // The same with the point three digits further to the left.
                let thousandths = format!("{}.{:03}{}", part / 10, part % 10 * 100, "0".repeat(zeros));
                prop_assert_eq!(parse_count(&format!("{thousandths}{letter}")), Ok(expected / 10));
            }
        }

        #[test]
        fn times_are_the_sum_of_their_parts(
            days in 0u64..9, hours in 0u64..99, minutes in 0u64..99, seconds in 0u64..99,
            milliseconds in 1u64..9999,
        ) {
            let text = format!("{days}d{hours}h {minutes}m{seconds} s{milliseconds}ms");
            let sum = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
            let expected = Duration::from_millis(sum * 1000 + milliseconds);
            prop_assert_eq!(parse_duration(&text), Ok(expected));
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in "[0-9.eEkMhmsd ]{0,12}", other: String) {
            for text in [&text, &other] {
                let _ = (parse_count(text), parse_duration(text), parse_bytes(text));
            }
        }
    }

    #[test]
    fn bytes_as_text() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (10 << 20, "10 MiB"),
            (1000 << 20, "1000 MiB"),
            (1023 << 20, "1023 MiB"),
            ((1 << 30) - 1, "1 GiB"),
            (3 << 29, "1.50 GiB"),
            (5 << 40, "5 TiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(bytes_text(bytes), text);
        }
    }

    proptest! {
        /// An amount that is given in whole units is repeated as it was written.
        #[test]
        fn whole_units_are_read_back(
            count in 1u64..1024,
            unit in prop::sample::select(vec!["B", "KiB", "MiB", "GiB", "TiB"]),
        ) {
            let text = format!("{count} {unit}");
            prop_assert_eq!(parse_bytes(&text).map(bytes_text), Ok(text));
        }
    }

    #[test]
    fn counts() {
        for (text, count) in [
            ("1", 1),
            ("007", 7),
            ("1M", 1_000_000),
            ("1m", 1_000_000),
            ("2.5G", 2_500_000_000),
            ("1e6", 1_000_000),
            ("1E0", 1),
            ("2.50e1", 25),
            ("12 k", 12_000),
            ("1.0", 1),
            ("0.001k", 1),
            ("18446744073709551615", u64::MAX),
            ("18.446744073709551615e18", u64::MAX),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text:?}");
        }
        for text in ["", "k", "-1", "+1", ".5", "1.", "ten", "٣", "e6"] {
            assert!(matches!(parse_count(text), Err(UnitError::Number(_))), "{text:?}");
        }
        for text in ["1x", "1e", "1e-3", "1e+3", "1 e6x", "1_000", "1,000", "1KiB", "1kk"] {
            assert!(matches!(parse_count(text), Err(UnitError::Unit { .. })), "{text:?}");
        }
        for text in ["0.5", "1.0001k", "2.55e1"] {
            assert_eq!(parse_count(text), Err(UnitError::Fraction), "{text:?}");
        }
        for text in ["0", "0.0k", "0e99999999999999999999"] {
            let zero = parse_count(text);
            assert!(
                matches!(zero, Err(UnitError::Zero | UnitError::TooLarge)),
                "{text:?}: {zero:?}"
            );
        }
        for text in ["18446744073709551616", "1e20", "1e99999999999999999999", "99999999T"] {
            assert_eq!(parse_count(text), Err(UnitError::TooLarge), "{text:?}");
        }
    }

    #[test]
    fn bytes() {
        for (text, bytes) in [
            ("1", 1),
            ("1000000", 1_000_000),
            ("512MiB", 512 << 20),
            ("4GiB", 4 << 30),
            ("4gib", 4 << 30),
            ("4G", 4 << 30),
            ("64 kB", 64_000),
            ("1.5GB", 1_500_000_000),
            ("0.5KiB", 512),
            ("1.0000000009999B", 1),
            ("18446744073709551615", u64::MAX),
            (" 2TiB ", 2 << 40),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text:?}");
        }
        let number = UnitError::Number("4GiB or 512MiB");
        for text in ["", "GiB", "-1", "+1", ".5", "1.", "1.2.3GiB", "four", "١"] {
            assert_eq!(parse_bytes(text), Err(number.clone()), "{text:?}");
        }
        for text in ["1GiBB", "1e9", "1 000", "1_000", "1,5GB", "5s", "1µB"] {
            assert!(matches!(parse_bytes(text), Err(UnitError::Unit { .. })), "{text:?}");
        }
        for text in ["18446744073709551616", "20000000TiB", "16777216TiB"] {
            assert_eq!(parse_bytes(text), Err(UnitError::TooLarge), "{text:?}");
        }
        for text in ["0", "0GiB", "0.0001B"] {
            assert_eq!(parse_bytes(text), Err(UnitError::Zero), "{text:?}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(parse_number("64", 1, 64), Ok(64));
        assert_eq!(parse_number("007", 1, 64), Ok(7));
        for text in ["", "0", "65", "-1", "+1", "1.0", "ten", "٣", " 1", "99999999999999999999"] {
            let error = parse_number(text, 1, 64).unwrap_err();
            assert_eq!(error.to_string(), "write a whole number from 1 to 64");
        }
        let error = parse_number("0", 1, u64::MAX).unwrap_err();
        assert_eq!(error.to_string(), "write a whole number of at least 1");
    }

    #[test]
    fn durations_from_seconds() {
        for (seconds, milliseconds) in [(0.001, 1), (1.5, 1_500), (1e10, 10_000_000_000_000)] {
            let expected = Ok(Duration::from_millis(milliseconds));
            assert_eq!(duration_from_seconds(seconds), expected, "{seconds}");
        }
        for seconds in [-1.0, 0.0, -0.0, 1e-12, -1e300, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(duration_from_seconds(seconds), Err(UnitError::Zero), "{seconds}");
        }
        for seconds in [1.85e16, 1e19, 1e300, f64::INFINITY] {
            assert_eq!(duration_from_seconds(seconds), Err(UnitError::TooLong), "{seconds}");
        }
    }

    #[test]
    fn durations() {
        for (text, milliseconds) in [
            ("60s", 60_000),
            ("60", 60_000),
            ("1.5", 1_500),
            ("5m", 300_000),
            ("5min", 300_000),
            ("2h", 7_200_000),
            ("1d", 86_400_000),
            ("500ms", 500),
            ("0.25 s", 250),
            ("90", 90_000),
            ("1.5h", 5_400_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("0h5m", 300_000),
            ("2m0.5s", 120_500),
        ] {
            let expected = Ok(Duration::from_millis(milliseconds));
            assert_eq!(parse_duration(text), expected, "{text:?}");
        }
        for text in ["", "s", "-5s", "1 minute", "0s", "0.1ms", "5GiB", "0h0m", "1h-5m", "h1m"] {
            assert!(parse_duration(text).is_err(), "{text:?}");
        }
        for text in [
            "18446744073709551616ms",
            "18446744073709552s",
            "99999999999999d",
            "18446744073709551s616ms",
        ] {
            assert_eq!(parse_duration(text), Err(UnitError::TooLong), "{text:?}");
        }
        for text in ["30m1h", "1m1m", "1h30", "1m30", "5s5", "1h30m20m", "90 1m"] {
            assert!(matches!(parse_duration(text), Err(UnitError::Order(_))), "{text:?}");
        }
    }

    #[test]
    fn grouped_digits() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
