//! Output on stdout and stderr.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::exit::{CliError, Exit};
use crate::startup;
use crate::terminal_text::{TerminalText, escape_json, escape_line, escape_text};
use crate::version::PROGRAM;
use konane::cgt::OutcomeClass;
use konane::file::NewFile;
use konane::json::finite;
use konane::search::Value;
use konane::search::numbers::Number;
use konane::search::run::{Reason, Report};
pub use konane::system::{bytes_text as bytes, counted, grouped, large, short, time_text as time};
use konane::{ErrorKind, Move};

/// Returns a value as one JSON object and a line feed, with the version of the program in the key `program`.
pub fn json(value: &impl Serialize) -> Result<String, CliError> {
    let (mut line, program) = (json_line(value)?, json_line(&PROGRAM)?);
    line.truncate(line.len() - "}\n".len());
    Ok(format!("{line},\"program\":{}}}\n", program.trim_end()))
}

/// Returns a value as one JSON object and a line feed. Control characters in its strings are escaped as in
/// `TerminalText`, but in the syntax of JSON.
pub fn json_line(value: &impl Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string(value).map_err(|error| CliError::Output(error.into()))?;
    Ok(escape_json(&text).into_owned() + "\n")
}

/// Logs the end of a search.
pub fn log_end(report: &Report, seconds: f64) {
    let outcome = match (report.outcome.value(), report.outcome.reason()) {
        (Some(value), _) => format!("the position is a {}", value.name()),
        (None, reason) => format!("unknown ({})", reason.map_or("", Reason::text)),
    };
    let nodes = counted(report.counters.nodes, "node");
    tracing::debug!("the search ends: {outcome}, {nodes} in {}", time(seconds));
}

/// Writes the answer as one JSON object or as text.
pub fn answer<T: Serialize>(
    as_json: bool,
    value: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<(), CliError> {
    if as_json { write_json(value) } else { write_text(text(value)) }
}

/// The JSON of a run that a limit or a signal ended before any result.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EndedJson {
    /// The limit, or `interrupted`.
    pub reason: Reason,
}

/// Result of a check, in the JSON of `verifydb` and `verify-proof`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckJson {
    /// True if the file or database is valid; null if the check was not completed.
    pub valid: Option<bool>,
    /// The problem, or the reason why the check was not completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The limit that was reached, or `interrupted`, if the check was not completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Wall-clock time.
    pub seconds: f64,
}

impl CheckJson {
    /// Returns the JSON of a check. `problem` returns the problem in a result, and `is_problem` is true for
    /// errors that prove the file invalid. Returns `None` if the result proves nothing about the file.
    pub fn new<T>(
        result: &Result<T, CliError>,
        problem: impl Fn(&T) -> Option<String>,
        is_problem: impl Fn(&CliError) -> bool,
        seconds: f64,
    ) -> Option<Self> {
        let (valid, problem) = match result {
            Ok(checked) => {
                let problem = problem(checked);
                (Some(problem.is_none()), problem)
            }
            Err(error) if is_problem(error) => (Some(false), Some(error.to_string())),
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                (None, Some(Reason::Interrupted.text().to_owned()))
            }
            Err(error @ CliError::Memory { .. }) => (None, Some(error.to_string())),
            Err(_) => return None,
        };
        let reason = result.as_ref().err().and_then(CliError::reason);
        Some(CheckJson { valid, problem, reason, seconds })
    }
}

/// With `--json`, writes the object of a run that ended with an error because of a limit or a signal. An
/// interruption prints no message on stderr. Other results are returned unchanged.
pub fn ended<T: Serialize>(
    as_json: bool,
    result: Result<Exit, CliError>,
    object: impl FnOnce(Reason) -> T,
) -> Result<Exit, CliError> {
    if let (true, Some(reason)) = (as_json, result.as_ref().err().and_then(CliError::reason)) {
        write_json(&object(reason))?;
    }
    match result {
        Err(CliError::Interrupted) => Ok(Exit::Interrupted),
        result => result,
    }
}

/// Writes the result of a run like [`answer`]. If a limit or a signal ended the run with an error, `--json`
/// writes the result of `object`.
pub fn report<T: Serialize>(
    as_json: bool,
    result: Result<T, CliError>,
    text: impl FnOnce(&T) -> String,
    object: impl FnOnce(Reason) -> T,
) -> Result<Exit, CliError> {
    let result = result.and_then(|value| answer(as_json, &value, text).map(|()| Exit::Answered));
    ended(as_json, result, object)
}

/// Writes `object` with `--json`, otherwise the text of the result. Returns the result, or `None` if the
/// run was interrupted.
pub fn finish<T>(
    as_json: bool,
    object: &impl Serialize,
    result: Result<T, CliError>,
    text: impl FnOnce(&T) -> String,
) -> Result<Option<T>, CliError> {
    if as_json {
        write_json(object)?;
    }
    let write = |text: String| if as_json { Ok(()) } else { write_text(text) };
    match result {
        Ok(value) => write(text(&value)).map(|()| Some(value)),
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            write("interrupted\n".to_owned()).map(|()| None)
        }
        Err(error) => Err(error),
    }
}

/// Writes one JSON object and a line feed.
pub fn write_json(value: &impl Serialize) -> Result<(), CliError> {
    write_text(&json(value)?)
}

/// Writes to stdout. A closed pipe (`| head`) is not an error.
pub fn write_text(text: impl Into<TerminalText>) -> Result<(), CliError> {
    write_open(text).map(|_| ())
}

/// Suffixes of the temporary file and the lock file of an output file.
const SUFFIXES: [&[u8]; 2] = [b".tmp", b".lock"];

/// Returns an error if two files of a run are the same, or if one is a temporary or lock file of the other.
pub fn must_differ(files: &[(&'static str, Option<&Path>)]) -> Result<(), CliError> {
    let named =
        files.iter().filter_map(|&(name, path)| Some((name, path?, canonical_path(path?)?)));
    let named: Vec<(&'static str, &Path, PathBuf)> = named.collect();
    for (number, second) in named.iter().enumerate() {
        for first in &named[..number] {
            for ((one, _, at), (other, path, place)) in [(first, second), (second, first)] {
                let file = path.display();
                if at == place {
                    return Err(CliError::Usage(format!(
                        "{one} and {other} are the same file, {file}: one would overwrite the other; \
                         name two files"
                    )));
                }
                let [at, place] = [at, place].map(|path| path.as_os_str().as_encoded_bytes());
                if place.strip_prefix(at).is_some_and(|end| SUFFIXES.contains(&end)) {
                    return Err(CliError::Usage(format!(
                        "{other} is {file}, the name of a temporary file of {one}: one would overwrite \
                         the other; name another file"
                    )));
                }
            }
        }
    }
    Ok(())
}

/// Returns the canonical path of a file. The file need not exist, but its directory must.
fn canonical_path(path: &Path) -> Option<PathBuf> {
    let new_file = || {
        let parent = path.parent()?;
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        Some(fs::canonicalize(parent).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(new_file)
}

/// Returns an error if the name of a file is that of another kind of picture than SVG.
pub fn must_be_svg(argument: &str, path: &Path) -> Result<(), CliError> {
    match path.extension() {
        Some(extension) if !extension.eq_ignore_ascii_case("svg") => {
            let (path, other) = (path.display(), path.with_extension("svg"));
            Err(CliError::Usage(format!(
                "{argument} {path}: pictures are written as SVG only; name the file {}",
                other.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Argument for the destination of a picture.
#[derive(Clone, Debug, Args)]
pub struct OutArg {
    /// Write to this file, replacing its content, instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl OutArg {
    /// Writes the picture.
    pub fn write(&self, document: &str) -> Result<(), CliError> {
        let Some(path) = &self.out else { return write_text(document) };
        must_be_svg("--out", path)?;
        let mut file = NewFile::create(path, document.len())?;
        file.put(document.as_bytes())?;
        Ok(file.finish()?)
    }
}

/// Returns an outcome class as text: its letter and the winner.
pub fn class(class: OutcomeClass) -> String {
    let winner = match class {
        OutcomeClass::Left => "Black wins, as first and as second player",
        OutcomeClass::Right => "White wins, as first and as second player",
        OutcomeClass::Next => "the player who begins wins",
        OutcomeClass::Previous => "the player who begins loses",
    };
    format!("{}: {winner}", class.letter())
}

/// Returns a number of plies as text: `1 ply`, `2 plies`.
pub fn plies(count: u32) -> String {
    counted(count.into(), "ply")
}

/// Returns a move, followed by its remoteness in brackets if it is known: `c3 (7)`.
pub fn move_and_plies(mv: Move, remoteness: Option<u32>) -> String {
    mv.to_string() + &remoteness.map_or(String::new(), |plies| format!(" ({plies})"))
}

/// Returns an error if the program was started with standard output closed. Called before long work, whose
/// answer would be lost.
pub fn must_be_open() -> Result<(), CliError> {
    if startup::is_stdout_closed() {
        let text = "it is closed; open it or redirect it to a file";
        return Err(CliError::Output(io::Error::other(text)));
    }
    Ok(())
}

/// Writes to stdout. Returns false if the pipe is closed.
pub fn write_open(text: impl Into<TerminalText>) -> Result<bool, CliError> {
    must_be_open()?;
    let text = text.into();
    let mut out = io::stdout().lock();
    match out.write_all(text.as_str().as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(CliError::Output(error)),
    }
}

/// Writes an error of one line to stderr, and a tip as a second line. If stderr is closed, the exit code
/// still reports the error.
pub fn report_error(message: &str, tip: Option<&str>) {
    let tip = tip.map(|tip| format!("\n  tip: {}", escape_line(tip))).unwrap_or_default();
    write_stderr(&format!("error: {}{tip}\n", escape_line(message)));
}

/// Writes a warning of one line to stderr.
pub fn warn(message: &str) {
    note(&format!("warning: {message}"));
}

/// Writes a line to stderr.
pub fn note(line: &str) {
    write_stderr(&format!("{}\n", escape_line(line)));
}

/// Writes escaped text to stderr. All output on stderr except the live line of `progress` uses this
/// function. Errors are ignored, because a closed stderr should not stop the program.
pub fn write_stderr(text: &str) {
    let _ = io::stderr().write_all(escape_text(text).as_bytes());
}

/// Writer of the log to stderr. Each call of `write` receives one event of one line.
pub struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        note(String::from_utf8_lossy(event).trim_end_matches('\n'));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a note to stderr: these proofs are trusted. They are not verified, because that can take long.
pub fn note_trusted_proofs(proofs: &[PathBuf]) {
    for file in proofs {
        let file = file.display();
        note(&format!(
            "note: {file} is trusted without verification: konane verify-proof {file} verifies it"
        ));
    }
}

/// Column of the values in [`rows`].
pub const ROW_INDENT: usize = 14;

/// Returns a heading, and rows of names and values. Each row is one line, except for values that [`wrapped`]
/// has wrapped. Other line feeds, which come from file names, are escaped.
pub fn rows(head: &str, rows: &[(&str, String)]) -> String {
    format!("{}\n", escape_line(head)) + &row_lines(rows)
}

/// Returns rows of names and values.
pub fn row_lines(rows: &[(&str, String)]) -> String {
    let mut text = String::new();
    let line_break = format!("\n{:ROW_INDENT$}", "");
    for (name, value) in rows {
        let lines: Vec<_> = value.split(&line_break).map(escape_line).collect();
        text += &format!("  {name:<12}{}\n", lines.join(&line_break));
    }
    text
}

/// Returns words in lines of less than 80 columns. All lines but the first are indented by `indent` spaces.
pub fn wrapped(words: &[impl ToString], indent: usize) -> String {
    let (mut text, mut column) = (String::new(), indent);
    for (index, word) in words.iter().map(ToString::to_string).enumerate() {
        if index > 0 && column + word.len() >= 80 {
            text += &format!("\n{:indent$}", "");
            column = indent;
        } else if index > 0 {
            text.push(' ');
        }
        text += &word;
        column += word.len() + 1;
    }
    text
}

/// Returns the number of threads of a search as text: `2 threads`, or `2 threads (64 requested)` if fewer
/// than requested were used.
pub fn threads(searched: u32, requested: Option<u32>) -> String {
    let threads = counted(searched.into(), "thread");
    match requested {
        Some(requested) if requested > searched => format!("{threads} ({requested} requested)"),
        _ => threads,
    }
}

/// Returns the row with proof and disproof number of an unsolved root.
pub fn root_row(pn: Number, dn: Number) -> (&'static str, String) {
    let [pn, dn] = [pn, dn].map(|number| grouped(number.into()));
    ("root", format!("proof number {pn}, disproof number {dn}"))
}

/// Returns a proof or disproof number as text.
pub fn proof_number(number: Number) -> String {
    short(finite(number).map_or(f64::INFINITY, f64::from))
}

/// Returns `win`, `loss` or `unknown`.
pub fn outcome_name(outcome: Option<Value>) -> &'static str {
    outcome.map_or("unknown", Value::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_wrapped() {
        let words: Vec<String> = (10..60).map(|number| format!("a{number}")).collect();
        let text = wrapped(&words, 14);
        assert!(text.lines().count() > 2 && text.lines().all(|line| line.len() < 80), "{text}");
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), words);
        assert!(text.lines().skip(1).all(|line| line.starts_with("              a")), "{text}");
    }
}
