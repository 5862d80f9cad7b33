//! `--trace FILE`: how a search got on, one JSON object a second.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize, Serialize};

use super::exit::CliError;
use super::output;
use crate::file::{FileError, create_regular};
use crate::search::numbers::{INFINITY, Number};
use crate::search::run::Progress;

/// Between two objects.
const PERIOD: Duration = Duration::from_secs(1);

/// Recording a search.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Write how the search gets on to this file, in place of what was there: one JSON object a
    /// second, and one at the end.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// A line of the file. Numbers are from the view of the side to move.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceJson {
    /// Since the search began.
    pub seconds: f64,
    /// Positions evaluated.
    pub nodes: u64,
    /// The root's proof number; null if infinite. Not for `ab`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pn: Option<Option<Number>>,
    /// Its disproof number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dn: Option<Option<Number>>,
    /// `ab`: depth of the current iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Table entries in use.
    pub table_used: u64,
    /// Table entries that fit.
    pub table_capacity: u64,
    /// The best move so far; null before there is one. Not for Sprouts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_move: Option<Option<String>>,
    /// The moves whose numbers are known, the most promising first. Not for Sprouts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<TraceMoveJson>>,
}

/// A move in a line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraceMoveJson {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// Its proof number; 0 if it is proven to win, null if infinite.
    pub pn: Option<Number>,
    /// Its disproof number; 0 if it is proven to lose, null if infinite.
    pub dn: Option<Number>,
}

/// A number, if it is finite.
pub fn finite(number: Number) -> Option<Number> {
    (number < INFINITY).then_some(number)
}

impl TraceJson {
    /// What progress says without the game: no moves.
    pub fn new(progress: &Progress) -> Self {
        TraceJson {
            seconds: 0.0,
            nodes: progress.counters.nodes,
            pn: Some(finite(progress.phi)),
            dn: Some(finite(progress.delta)),
            depth: None,
            table_used: progress.counters.table_used,
            table_capacity: progress.table_capacity,
            best_move: None,
            moves: None,
        }
    }
}

/// The file.
pub struct Trace {
    path: PathBuf,
    file: File,
    begun: Instant,
    next: Duration,
    /// Why nothing more is written.
    error: Option<FileError>,
}

impl Trace {
    /// Begins the file that the arguments ask for; time counts from now on.
    pub fn begin(args: &TraceArgs) -> Result<Option<Self>, CliError> {
        let Some(path) = args.trace.clone() else { return Ok(None) };
        let file = create_regular(&path)?;
        let (begun, next) = (Instant::now(), Duration::ZERO);
        Ok(Some(Trace { path, file, begun, next, error: None }))
    }

    /// Writes a line if it is time, or if this is the end. A file that cannot be written ends no
    /// search: that is said at once, and again by [`Trace::finish`].
    pub fn hear(&mut self, progress: &Progress, line: impl FnOnce() -> TraceJson) {
        let elapsed = self.begun.elapsed();
        if self.error.is_some() || elapsed < self.next && !progress.is_last {
            return;
        }
        // On whole seconds, whatever time the line itself takes.
        self.next = Duration::from_secs(elapsed.as_secs()) + PERIOD;
        let line = TraceJson { seconds: elapsed.as_secs_f64(), ..line() };
        let text = output::json(&line).expect("numbers and texts are JSON");
        let written = self.file.write_all(text.as_bytes());
        self.error = written.map_err(FileError::io("write", &self.path)).err();
        if let Some(error) = &self.error {
            output::warn(&format!("{error}; the search goes on without a trace"));
        }
    }

    /// What went wrong with the file, for after the answer.
    pub fn finish(self) -> Result<(), CliError> {
        self.error.map_or(Ok(()), |error| Err(error.into()))
    }
}
