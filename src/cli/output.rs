//! What goes to stdout: the JSON objects, and helpers for the text that people read.

use std::io::{self, Write};

use serde::Serialize;

use super::CliError;
use super::checkpoint::{CheckpointJson, TotalJson};

/// The table in the JSON of `solve`.
#[derive(Debug, Serialize)]
pub struct TableJson {
    /// Entries that fit.
    pub capacity: u64,
    /// Entries in use.
    pub used: u64,
    /// Entries dropped for others.
    pub replaced: u64,
}

/// The JSON of `solve`.
#[derive(Debug, Serialize)]
pub struct SolveJson {
    /// Ranks x files.
    pub board: String,
    /// The position in which the search began.
    pub position: String,
    /// `black` or `white`.
    pub to_move: &'static str,
    /// `pns`, `pn2`, `dfpn` or `ab`.
    pub algorithm: &'static str,
    /// `tuned` or `thesis`.
    pub profile: &'static str,
    /// Threads that searched.
    pub threads: usize,
    /// `black`, `white` or `unknown`.
    pub outcome: &'static str,
    /// Why the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The root's proof number for the side to move, while the outcome is unknown; not for `ab`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pn: Option<u32>,
    /// Its disproof number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dn: Option<u32>,
    /// A winning move; null if there is none; the best so far if the outcome is unknown.
    pub best_move: Option<String>,
    /// Positions evaluated.
    pub nodes: u64,
    /// Positions expanded, again and again ones included.
    pub expansions: u64,
    /// Positions visited by exact searches near the end of games.
    pub settle_positions: u64,
    /// With `--db`: answers of the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_hits: Option<u64>,
    /// PN²: nodes of the first level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1_nodes: Option<u64>,
    /// PN²: nodes of all second levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_nodes: Option<u64>,
    /// Wall-clock time.
    pub seconds: f64,
    /// `nodes` by `seconds`.
    pub nodes_per_second: f64,
    /// Bytes of table and tree.
    pub memory_bytes: u64,
    /// The transposition table.
    pub table: TableJson,
    /// With `--checkpoint`: all runs together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<TotalJson>,
    /// With `--checkpoint`: what this run wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointJson>,
    /// With `--proof`: what became of it; null if there is no result to prove.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Option<ProofJson>>,
}

/// The proof in the JSON of `solve`.
#[derive(Debug, Serialize)]
pub struct ProofJson {
    /// The file.
    pub file: String,
    /// Positions in it; null if it was not written.
    pub positions: Option<u64>,
    /// Its length.
    pub bytes: Option<u64>,
    /// Positions that had to be searched again.
    pub searched_again: Option<u64>,
    /// Why it was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Wall-clock time after the search.
    pub seconds: f64,
}

/// A move and its count, in the JSON of `perft --divide`.
#[derive(Debug, Serialize)]
pub struct DivideJson {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// Move sequences that begin with it.
    pub nodes: u64,
}

/// The JSON of `perft`.
#[derive(Debug, Serialize)]
pub struct PerftJson {
    /// Ranks x files.
    pub board: String,
    /// The position in which the count began.
    pub position: String,
    /// Plies asked for.
    pub depth: u32,
    /// Move sequences of 1, 2, ... plies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<u64>>,
    /// With `--unique`: positions first met at plies 1, 2, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique: Option<Vec<u64>>,
    /// With `--unique`: whether symmetric positions counted once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symmetry: Option<bool>,
    /// With `--divide`: the last count by first move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divide: Option<Vec<DivideJson>>,
    /// Why there are fewer counts than asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// One piece of work in the JSON of `bench`.
#[derive(Debug, Serialize)]
pub struct BenchItemJson {
    /// What was done.
    pub name: String,
    /// Nodes that it took.
    pub nodes: u64,
    /// Wall-clock time.
    pub seconds: f64,
    /// `nodes` by `seconds`.
    pub nodes_per_second: f64,
}

/// The JSON of `bench`.
#[derive(Debug, Serialize)]
pub struct BenchJson {
    /// The pieces of work, in order.
    pub items: Vec<BenchItemJson>,
    /// Sum of all node counts; null if the run was interrupted.
    pub signature: Option<u64>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// One JSON object and a line feed.
pub fn json(value: &impl Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string(value).map_err(|error| CliError::Output(error.into()))?;
    Ok(text + "\n")
}

/// Writes one JSON object and a line feed.
pub fn write_json(value: &impl Serialize) -> Result<(), CliError> {
    write_text(&json(value)?)
}

/// Writes to stdout. A reader that has gone away (`| head`) is no error: it has what it wanted.
pub fn write_text(text: &str) -> Result<(), CliError> {
    write_open(text).map(|_| ())
}

/// Writes to stdout; false if the reader has gone away.
pub fn write_open(text: &str) -> Result<bool, CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(CliError::Output(error)),
    }
}

/// Writes an error to stderr. If that is gone too, the exit code has to say it.
pub fn complain(message: &str) {
    let _ = io::stderr().write_all(format!("error: {message}\n").as_bytes());
}

/// Writes a warning to stderr. If that is gone, there is nobody to warn.
pub fn warn(message: &str) {
    let _ = io::stderr().write_all(format!("warning: {message}\n").as_bytes());
}

/// Nodes by seconds; finite for any time.
pub fn speed(nodes: u64, seconds: f64) -> f64 {
    (nodes as f64 / seconds.max(1e-9)).round()
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

/// A number with three figures and a letter: `12.3 M`.
pub fn short(number: f64) -> String {
    let mut rest = number;
    for letter in ["", " k", " M", " G"] {
        if rest < 999.5 {
            let decimals = match rest {
                _ if letter.is_empty() => 0,
                r if r < 9.995 => 2,
                r if r < 99.95 => 1,
                _ => 0,
            };
            return format!("{rest:.decimals$}{letter}");
        }
        rest /= 1000.0;
    }
    format!("{rest:.3} T")
}

/// Bytes in binary units: `1.50 GiB`.
pub fn bytes(number: u64) -> String {
    let mut rest = number as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if rest < 1023.5 {
            let digits = format!("{rest:.2}");
            let digits = digits.strip_suffix(".00").unwrap_or(&digits);
            return format!("{digits} {unit}");
        }
        rest /= 1024.0;
    }
    format!("{rest:.2} TiB")
}

/// A time as people read it: `8.12 ms`, `0.812 s`, `2 min 5 s`, `3 h 12 min`.
pub fn time(seconds: f64) -> String {
    if seconds < 0.1 {
        return format!("{:.2} ms", seconds * 1000.0);
    }
    if seconds < 10.0 {
        return format!("{seconds:.3} s");
    }
    if seconds < 120.0 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds as u64;
    if whole < 7200 {
        format!("{} min {} s", whole / 60, whole % 60)
    } else {
        format!("{} h {} min", whole / 3600, whole % 3600 / 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(999.0), "999");
        assert_eq!(short(1234.0), "1.23 k");
        assert_eq!(short(12_345_678.0), "12.3 M");
        assert_eq!(short(999_600.0), "1.00 M");
        assert_eq!(short(2.5e12), "2.500 T");
        assert_eq!(bytes(64), "64 B");
        assert_eq!(bytes(1 << 30), "1 GiB");
        assert_eq!(bytes(3 << 29), "1.50 GiB");
        assert_eq!(time(0.0004), "0.40 ms");
        assert_eq!(time(0.8123), "0.812 s");
        assert_eq!(time(125.4), "2 min 5 s");
        assert_eq!(time(11_520.0), "3 h 12 min");
        assert_eq!(speed(5, 0.0), 5e9);
    }
}
