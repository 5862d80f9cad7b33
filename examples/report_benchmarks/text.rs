//! Numbers as people read them, and tables in Markdown.

use std::fmt::Write as _;

pub use konane::cli::output::grouped;

/// Three significant figures, without an exponent; at most five decimals.
pub fn figures(number: f64) -> String {
    let decimals = match number.abs() {
        n if n < 0.00995 => 5,
        n if n < 0.0995 => 4,
        n if n < 0.9995 => 3,
        n if n < 9.995 => 2,
        n if n < 99.95 => 1,
        _ => return grouped(number.round() as u64),
    };
    format!("{number:.decimals$}")
}

/// A time with three figures: `0.81 ms`, `12.3 s`; from two hours on in hours.
pub fn time(seconds: f64) -> String {
    if seconds < 0.1 {
        return format!("{} ms", figures(seconds * 1e3));
    }
    if seconds < 7200.0 {
        return format!("{} s", figures(seconds));
    }
    format!("{} h", figures(seconds / 3600.0))
}

/// Processor time, which is measured in hundredths of a second.
pub fn cpu_time(seconds: f64) -> String {
    if seconds < 0.005 { "< 10 ms".to_string() } else { time(seconds) }
}

/// A number with three figures and a letter: `12.3 M`.
pub fn short(number: f64) -> String {
    let (factor, letter) = match number {
        n if n < 999.5 => return grouped(n.round() as u64),
        n if n < 999.5e3 => (1e3, "k"),
        n if n < 999.5e6 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    format!("{} {letter}", figures(number / factor))
}

/// Bytes in binary units, with three figures.
pub fn bytes(number: f64) -> String {
    let mebibytes = number / f64::from(1 << 20);
    if mebibytes < 999.5 {
        format!("{} MiB", figures(mebibytes))
    } else {
        format!("{} GiB", figures(mebibytes / 1024.0))
    }
}

/// A factor: `12.3 ×`.
pub fn factor(number: f64) -> String {
    format!("{} ×", figures(number))
}

/// A table in Markdown; `columns` are the headings, those that begin with `>` of columns that are
/// aligned to the right.
pub fn table(columns: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    text += &line(&mut columns.iter().map(|name| name.trim_start_matches('>').to_string()));
    for name in columns {
        let _ = write!(text, "|{}", if name.starts_with('>') { "---:" } else { "---" });
    }
    text += "|\n";
    for row in rows {
        assert_eq!(row.len(), columns.len(), "{row:?}");
        text += &line(&mut row.iter().cloned());
    }
    text
}

/// A table as CSV (RFC 4180, with line feeds). A cell without a value is empty.
///
/// # Panics
/// If a row has another number of cells than there are columns, or a cell would need quotes: ours
/// are numbers and names.
pub fn csv(columns: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = columns.join(",") + "\n";
    for row in rows {
        assert_eq!(row.len(), columns.len(), "{row:?}");
        assert!(!row.iter().any(|cell| cell.contains([',', '"', '\n', '\r'])), "{row:?}");
        text += &row.join(",");
        text.push('\n');
    }
    text
}

/// A number in a cell of CSV: six decimals, without zeros at the end; empty if there is none.
pub fn cell(number: Option<f64>) -> String {
    let Some(number) = number else {
        return String::new();
    };
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
