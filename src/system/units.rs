//! Numbers, and amounts with units: bytes and durations. Read exactly, without rounding up.

use std::time::Duration;

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
    /// Zero, or less than the smallest unit.
    #[error("it must be more than 0")]
    Zero,
    /// Beyond 64 bits.
    #[error("it is too large")]
    TooLarge,
}

/// A number of bytes: `4GiB`, `512MiB`, `1.5GB`, `1000000`.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let known = "B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB or TiB (powers of 1024)";
    parse(text, BYTES, 1, "4GiB or 512MiB", known)
}

/// A span of time: `60s`, `5m`, `2h`, `500ms`; seconds without a unit.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let known = "ms, s, m, h or d";
    parse(text, MILLISECONDS, 1_000, "60s or 5m", known).map(Duration::from_millis)
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

/// A whole number of a range, in decimal digits.
pub fn parse_number(text: &str, least: u64, most: u64) -> Result<u64, NumberError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { text.parse().ok() } else { None };
    number.filter(|number| (least..=most).contains(number)).ok_or(NumberError { least, most })
}

fn parse(
    text: &str,
    units: &[(&str, u64)],
    default_unit: u64,
    example: &'static str,
    known: &'static str,
) -> Result<u64, UnitError> {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let (number, unit) = text.split_at(text.find(|c| !is_number(c)).unwrap_or(text.len()));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || (number.contains('.') && fraction.is_empty()) {
        return Err(UnitError::Number(example));
    }
    let unit = unit.trim_start();
    let factor = if unit.is_empty() {
        default_unit
    } else {
        let upper = unit.to_ascii_uppercase();
        let found = units.iter().find(|(name, _)| *name == upper);
        found.ok_or_else(|| UnitError::Unit { unit: unit.chars().take(20).collect(), known })?.1
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
    match whole.checked_add(part) {
        None => Err(UnitError::TooLarge),
        Some(0) => Err(UnitError::Zero),
        Some(amount) => Ok(amount),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            let expected = Ok(Duration::from_millis(milliseconds));
            assert_eq!(parse_duration(text), expected, "{text:?}");
        }
        for text in ["", "s", "-5s", "1 minute", "0s", "0.1ms", "5GiB", "1h30m"] {
            assert!(parse_duration(text).is_err(), "{text:?}");
        }
    }
}
