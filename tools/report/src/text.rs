//! Numbers as people read them, and tables in Markdown and CSV.

pub use konane::system::grouped;

/// What stands where there is no figure.
pub const NONE: &str = "–";

/// A row of a table: cells of anything that has a text.
#[macro_export]
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($cell.to_string()),*] };
}

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
    match seconds {
        s if s < 0.1 => format!("{} ms", figures(s * 1e3)),
        s if s < 7200.0 => format!("{} s", figures(s)),
        s => format!("{} h", figures(s / 3600.0)),
    }
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
    match number / f64::from(1 << 20) {
        mebibytes if mebibytes < 999.5 => format!("{} MiB", figures(mebibytes)),
        mebibytes => format!("{} GiB", figures(mebibytes / 1024.0)),
    }
}

/// A factor: `12.3 ×`.
pub fn factor(number: f64) -> String {
    format!("{} ×", figures(number))
}

/// The text of a number, or [`NONE`].
pub fn optional<T>(number: Option<T>, text: impl Fn(T) -> String) -> String {
    number.map_or(NONE.to_string(), text)
}

/// A table in Markdown; the headings stand in one text with `|` between them, those of columns that
/// are aligned to the right begin with `>`.
pub fn table(headings: &str, rows: &[Vec<String>]) -> String {
    let headings: Vec<&str> = headings.split('|').collect();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(
        &headings.iter().map(|name| name.trim_start_matches('>').to_string()).collect::<Vec<_>>(),
    );
    for name in &headings {
        text += if name.starts_with('>') { "|---:" } else { "|---" };
    }
    text += "|\n";
    for row in rows {
        assert_eq!(row.len(), headings.len(), "{row:?}");
        text += &line(row);
    }
    text
}

/// A table as CSV (RFC 4180, with line feeds) under a line of headings. A cell without a value is
/// empty.
///
/// # Panics
/// If a row has another number of cells than there are headings, or a cell would need quotes: ours
/// are numbers and names.
pub fn csv(headings: &str, rows: &[Vec<String>]) -> String {
    let mut text = format!("{headings}\n");
    for row in rows {
        assert_eq!(row.len(), headings.split(',').count(), "{row:?}");
        assert!(!row.iter().any(|cell| cell.contains([',', '"', '\n', '\r'])), "{row:?}");
        text += &format!("{}\n", row.join(","));
    }
    text
}

/// A number in a cell of CSV: six decimals, without zeros at the end; empty if there is none.
pub fn cell(number: impl Into<Option<f64>>) -> String {
    let text = number.into().map_or(String::new(), |number| format!("{number:.6}"));
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A count in a cell of CSV.
pub fn count(number: Option<u64>) -> String {
    number.map_or(String::new(), |number| number.to_string())
}

/// A page: every `{{name}}` of the template replaced by its text, without line feeds at the end.
///
/// # Panics
/// If the template and the texts do not have the same names.
pub fn page(template: &str, texts: &[(&str, String)]) -> String {
    let mut page = template.to_string();
    for (name, text) in texts {
        let place = format!("{{{{{name}}}}}");
        assert!(page.contains(&place), "no {place} in the template");
        page = page.replace(&place, text.trim_end());
    }
    assert!(!page.contains("{{"), "a place without a text: {page}");
    format!("{}\n", page.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_text() {
        let figures_of = [0.0, 0.0123, 0.1234, 9.996, 99.96, 1234.5].map(figures);
        assert_eq!(figures_of, ["0.00000", "0.0123", "0.123", "10.0", "100", "1,235"]);
        let times = [0.000_31, 0.25, 4432.66, 7200.0].map(time);
        assert_eq!(times, ["0.310 ms", "0.250 s", "4,433 s", "2.00 h"]);
        assert_eq!([0.0, 0.01].map(cpu_time), ["< 10 ms", "10.0 ms"]);
        assert_eq!([999.0, 1_234_567.0, 2.57e9].map(short), ["999", "1.23 M", "2.57 G"]);
        assert_eq!(bytes(f64::from(36 << 20)), "36.0 MiB");
        assert_eq!(bytes(f64::from(1 << 30)), "1.00 GiB");
        assert_eq!([0.25, 1200.0, 1.0 / 3.0].map(cell), ["0.25", "1200", "0.333333"]);
        assert_eq!(cell(None), "");
    }

    #[test]
    fn tables_and_pages() {
        assert_eq!(csv("a,b", &[row!["x", ""]]), "a,b\nx,\n");
        assert_eq!(table("a|>b", &[row!["x", 1]]), "| a | b |\n|---|---:|\n| x | 1 |\n");
        assert_eq!(page("a {{b}}\n\nc", &[("b", "x\n".to_string())]), "a x\n\nc\n");
    }
}
