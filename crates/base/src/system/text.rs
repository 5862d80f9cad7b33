//! Parsing and formatting of sizes, durations and counts, and parts of messages.
//!
//! No crate is used for this. Values have to be parsed exactly, but `bytesize` rounds sizes in floating point, and
//! `humantime` accepts neither `1.5h` nor a time without a unit. `indicatif` formats values with other units and digits
//! (`2 minutes`, `4.00 GiB`), and only the program depends on it.

use std::borrow::Borrow;
use std::time::Duration;

use pn_search::ErrorKind;

/// Units of memory. Single letters are powers of two, as in most programs that take sizes.
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

/// Units of time, in milliseconds.
const MILLISECONDS: &[(&str, u64)] =
    &[("MS", 1), ("S", 1_000), ("M", 60_000), ("MIN", 60_000), ("H", 3_600_000), ("D", 86_400_000)];

/// Suffixes of counts.
const POWERS: &[(&str, u64)] =
    &[("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000)];

/// Maximum time in seconds. The number of its milliseconds fits into 64 bits.
const MAX_SECONDS: u64 = u64::MAX / 1_000;

/// Maximum number of decimals that are evaluated. With more, the product of the decimals and a 64-bit factor might not
/// fit into 128 bits.
const MAX_DECIMALS: usize = 19;

/// Maximum number of characters that an error quotes.
const MAX_QUOTED: usize = 40;

/// Reason why a text is not a size, a duration or a count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Text that does not begin with a number such as 12 or 1.5.
    #[error("write a number and a unit, such as {0}")]
    Number(&'static str),
    /// Number followed by something other than a unit.
    #[error("{unit:?} is not a unit: write {known}")]
    Unit {
        /// The text after the number.
        unit: String,
        /// The units.
        known: &'static str,
    },
    /// Part of a time without a unit, or with a unit that is not smaller than that of the part before.
    #[error("{0:?}: write each part of a time with its unit, the largest first, such as 1h30m")]
    Order(String),
    /// Count that is not a whole number.
    #[error("it must be a whole number")]
    Fraction,
    /// Value of zero, or less than the smallest unit.
    #[error("it must be more than 0")]
    Zero,
    /// Value of more than 64 bits.
    #[error("it is too large")]
    TooLarge,
    /// Time whose milliseconds have more than 64 bits.
    #[error("it must be at most {MAX_SECONDS} seconds")]
    TooLong,
}

/// Error for a text that is not a number in the expected range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a whole number {}", if *.max == u64::MAX {
    format!("of at least {min}")
} else {
    format!("from {min} to {max}")
})]
pub struct NumberError {
    /// Minimum.
    pub min: u64,
    /// Maximum.
    pub max: u64,
}

impl UnitError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl NumberError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// Parses a size in bytes: `4GiB`, `512MiB`, `1.5GB`, `1000000`.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let known = "B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB or TiB (powers of 1024)";
    let (number, unit) = split_number(text.trim(), "4GiB or 512MiB")?;
    positive(scaled(number, factor(BYTES, unit, 1, known)?)?.0)
}

/// Parses a duration: `60s`, `5m`, `1.5h`, `500ms`, or several parts, `1h30m`. Without a unit, it is in
/// seconds.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let (mut sum, mut smallest, mut rest) = (0u64, u64::MAX, text.trim());
    loop {
        // A part ends where a number follows a unit.
        let number = rest.find(|c: char| !is_of_number(c)).unwrap_or(rest.len());
        let unit = rest[number..].find(is_of_number);
        let (part, more) = rest.split_at(unit.map_or(rest.len(), |unit| number + unit));
        let (number, unit) = split_number(part, "60s, 5m or 1h30m")?;
        let factor = factor(MILLISECONDS, unit, 1_000, "ms, s, m, h or d")?;
        let (amount, _) = scaled(number, factor).map_err(|_| UnitError::TooLong)?;
        if factor >= smallest || smallest < u64::MAX && part.ends_with(is_of_number) {
            return Err(UnitError::Order(quote(text)));
        }
        sum = sum.checked_add(amount).ok_or(UnitError::TooLong)?;
        if more.is_empty() {
            return positive(sum).map(Duration::from_millis);
        }
        (smallest, rest) = (factor, more);
    }
}

/// Returns the duration of a number of seconds, in the same range as [`parse_duration`].
pub fn duration_from_seconds(seconds: f64) -> Result<Duration, UnitError> {
    if seconds > MAX_SECONDS as f64 {
        return Err(UnitError::TooLong);
    }
    // Fails for numbers below 0, and for NaN.
    let duration = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    if duration.is_zero() { Err(UnitError::Zero) } else { Ok(duration) }
}

/// Parses a whole number of 1 or more: `500000`, `2.5M` (k, M, G, T: powers of 1000), `1e6`.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let known = "k, M, G or T (powers of 1000), or e and a power of ten";
    let (number, unit) = split_number(text.trim(), "1000000, 2.5M or 1e6")?;
    let power = unit.strip_prefix(['e', 'E']).filter(|power| is_number(power));
    let factor = match power {
        Some(power) => power.parse().ok().and_then(|power| 10u64.checked_pow(power)),
        None => Some(factor(POWERS, unit, 1, known)?),
    };
    match scaled(number, factor.ok_or(UnitError::TooLarge)?)? {
        (_, false) => Err(UnitError::Fraction),
        (count, true) => positive(count),
    }
}

/// Parses a whole number in decimal digits.
pub fn parse_number(text: &str, min: u64, max: u64) -> Result<u64, NumberError> {
    let number = if is_number(text) { text.parse().ok() } else { None };
    number.filter(|number| (min..=max).contains(number)).ok_or(NumberError { min, max })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

/// Splits a text into the digits before the decimal point, those after it, and the unit.
fn split_number<'a>(
    text: &'a str,
    example: &'static str,
) -> Result<((&'a str, &'a str), &'a str), UnitError> {
    let (number, unit) = text.split_at(text.find(|c| !is_of_number(c)).unwrap_or(text.len()));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if !is_number(whole) || !is_number(fraction) {
        return Err(UnitError::Number(example));
    }
    Ok(((whole, fraction), unit.trim()))
}

/// Returns the factor of a unit, ignoring case, or `default` without a unit.
fn factor(
    units: &[(&str, u64)],
    unit: &str,
    default: u64,
    known: &'static str,
) -> Result<u64, UnitError> {
    if unit.is_empty() {
        return Ok(default);
    }
    let found = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
    found.map(|&(_, factor)| factor).ok_or_else(|| UnitError::Unit { unit: quote(unit), known })
}

/// Returns the product of a decimal number and `factor`, rounded down, and true if the product is a whole number.
fn scaled((whole, fraction): (&str, &str), factor: u64) -> Result<(u64, bool), UnitError> {
    let fraction = fraction.trim_end_matches('0');
    let read = &fraction[..fraction.len().min(MAX_DECIMALS)];
    let decimals: u128 = format!("0{read}").parse().map_err(|_| UnitError::TooLarge)?;
    // The product is below 2^64 * 10^19, which is below 2^128.
    let (product, divisor) = (decimals * u128::from(factor), 10u128.pow(read.len() as u32));
    let whole = whole.parse().ok().and_then(|whole: u64| whole.checked_mul(factor));
    let sum = whole.and_then(|whole| whole.checked_add((product / divisor) as u64));
    let is_whole = read.len() == fraction.len() && product % divisor == 0;
    Ok((sum.ok_or(UnitError::TooLarge)?, is_whole))
}

fn positive(amount: u64) -> Result<u64, UnitError> {
    if amount == 0 { Err(UnitError::Zero) } else { Ok(amount) }
}

/// Returns a size in the largest binary unit that is not larger than the size: `64 B`, `1000 MiB`,
/// `1.50 GiB`. The web page formats sizes and counts in the same way (`words.js`).
pub fn bytes_text(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (amount, unit) = in_units(bytes as f64, 1024.0, &units);
    let digits = format!("{amount:.2}");
    format!("{} {unit}", digits.strip_suffix(".00").unwrap_or(&digits))
}

/// Divides a number until it rounds to less than `base`, and returns it with its unit.
fn in_units<'a>(mut number: f64, base: f64, units: &[&'a str]) -> (f64, &'a str) {
    let mut index = 0;
    while number >= base - 0.5 && index + 1 < units.len() {
        (number, index) = (number / base, index + 1);
    }
    (number, units[index])
}

/// Returns a time in seconds as text: `8.12 ms`, `0.812 s`, `2 min 5 s`, `3 h 12 min`.
pub fn time_text(seconds: f64) -> String {
    let whole = seconds as u64;
    match seconds {
        ..0.1 => format!("{:.2} ms", seconds * 1000.0),
        ..10.0 => format!("{seconds:.3} s"),
        ..120.0 => format!("{seconds:.1} s"),
        ..7200.0 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Returns a number with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    match number {
        ..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

/// Formats a number like [`grouped`], or with four significant digits if it has more than 64 bits.
pub fn large(number: u128) -> String {
    u64::try_from(number).map_or_else(|_| format!("{:.3e}", number as f64), grouped)
}

/// Returns a number with three significant digits and a unit letter: `12.3 M`, or `infinite`.
pub fn short(number: f64) -> String {
    if number.is_infinite() {
        return "infinite".to_owned();
    }
    let (number, letter) = in_units(number, 1000.0, &["", " k", " M", " G", " T"]);
    let decimals = match (letter, number) {
        ("", _) => 0,
        (" T", _) => 3,
        (_, ..9.995) => 2,
        (_, ..99.95) => 1,
        _ => 0,
    };
    format!("{number:.decimals$}{letter}")
}

/// Returns a number with its noun: `1 thread`, `2 threads`, `2 plies`.
pub fn counted(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (count, Some(stem)) => format!("{} {stem}ies", grouped(count)),
        (count, None) => format!("{} {noun}s", grouped(count)),
    }
}

/// Returns the beginning of a text, followed by `…` if it is cut.
pub fn quote(text: &str) -> String {
    let mut characters = text.chars();
    let mut quoted: String = characters.by_ref().take(MAX_QUOTED).collect();
    if characters.next().is_some() {
        quoted.push('…');
    }
    quoted
}

/// Returns a list of alternatives: `a, b or c`.
pub fn alternatives<S: Borrow<str>>(names: &[S]) -> String {
    match names {
        [] => String::new(),
        [only] => only.borrow().to_owned(),
        [first @ .., last] => format!("{} or {}", first.join(", "), last.borrow()),
    }
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
                // A tenth of the number, with decimals and trailing zeros.
                let tenth = format!("{}.{:03}{}", part / 10, part % 10 * 100, "0".repeat(zeros));
                prop_assert_eq!(parse_count(&format!("{tenth}{letter}")), Ok(expected / 10));
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
        fn no_text_makes_a_parser_panic(text in "[0-9.eEkMhmsd ]{0,12}", other: String) {
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
        /// An amount of whole units is formatted as it was written.
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
    fn counts_as_text() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!((large(1 << 64), large(1000)), ("1.845e19".into(), "1,000".into()));
        assert_eq!((counted(1, "ply"), counted(2, "ply")), ("1 ply".into(), "2 plies".into()));
        assert_eq!(counted(1024, "thread"), "1,024 threads");
        for (number, text) in [
            (0.0, "0"),
            (999.0, "999"),
            (1234.0, "1.23 k"),
            (12_345_678.0, "12.3 M"),
            (999_600.0, "1.00 M"),
            (2.5e12, "2.500 T"),
            (f64::INFINITY, "infinite"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn times_as_text() {
        for (seconds, text) in [
            (0.0004, "0.40 ms"),
            (0.8123, "0.812 s"),
            (119.9, "119.9 s"),
            (125.4, "2 min 5 s"),
            (11_520.0, "3 h 12 min"),
        ] {
            assert_eq!(time_text(seconds), text);
        }
    }
}
