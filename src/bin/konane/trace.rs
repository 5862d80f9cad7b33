//! `--trace FILE`: progress of a search as JSON lines, one per second.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use crate::exit::CliError;
use crate::output;
use konane::file::{FileError, create_regular};
use konane::json::finite;
use konane::search::numbers::Number;
use konane::search::run::Progress;
use konane::search::table::TableUse;
use konane::{Algorithm, Board, Move, Position, RootMove};

/// Time between two lines.
const PERIOD: Duration = Duration::from_secs(1);

/// Argument for the trace of a search.
#[derive(Debug, Args)]
pub struct TraceArgs {
    /// Write a progress trace to this file, replacing its content: one JSON object per second, and
    /// one at the end.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// Progress of a search: a line of a trace, and the event `progress` of a search.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProgressJson {
    /// Wall-clock time since the search began.
    pub seconds: f64,
    /// Positions evaluated; for Sprouts, couples (a land plus a nim heap).
    pub nodes: u64,
    /// Proof number of the root for the player to move: 0 if it has won, null if infinite. Absent for
    /// `ab`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pn: Option<Option<Number>>,
    /// Disproof number of the root: 0 if the player to move has lost, null if infinite. Absent for `ab`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dn: Option<Option<Number>>,
    /// `ab`: depth of the current iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The transposition table.
    pub table: TableUse,
    /// Konane: the best move so far; null before there is one. Absent for Sprouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_move: Option<Option<Move>>,
    /// Konane: the moves whose numbers are known, the most promising first. Absent for Sprouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<RootMove>>,
}

impl ProgressJson {
    /// Returns the progress of a Sprouts search, which has no moves.
    pub fn new(progress: &Progress, seconds: f64) -> Self {
        ProgressJson {
            seconds,
            nodes: progress.counters.nodes,
            pn: Some(finite(progress.phi)),
            dn: Some(finite(progress.delta)),
            depth: None,
            table: progress.table(),
            best_move: None,
            moves: None,
        }
    }

    /// Returns the progress of a Konane search from `position`.
    pub fn of_konane(
        progress: &Progress,
        seconds: f64,
        board: &Board,
        position: &Position,
        algorithm: Algorithm,
    ) -> Self {
        let best_move = Some(progress.best.and_then(|code| position.move_to(board, code)));
        let moves = Some(position.root_moves(board, progress));
        let json = ProgressJson { best_move, moves, ..ProgressJson::new(progress, seconds) };
        match algorithm {
            Algorithm::AlphaBeta => {
                ProgressJson { pn: None, dn: None, depth: Some(progress.depth), ..json }
            }
            _ => json,
        }
    }
}

/// Writer of a trace file.
pub struct Trace {
    path: PathBuf,
    file: File,
    begun: Instant,
    next: Duration,
    /// The first error. After an error, nothing is written.
    error: Option<FileError>,
}

impl Trace {
    /// Creates the file, if one is named, and starts the clock.
    pub fn begin(args: &TraceArgs) -> Result<Option<Self>, CliError> {
        let Some(path) = args.trace.clone() else { return Ok(None) };
        let file = create_regular(&path)?;
        let (begun, next) = (Instant::now(), Duration::ZERO);
        Ok(Some(Trace { path, file, begun, next, error: None }))
    }

    /// Writes a line every second and at the end. An error does not end the search: it is reported as a
    /// warning, and returned by [`Trace::finish`].
    pub fn write(&mut self, progress: &Progress, line: impl FnOnce(f64) -> ProgressJson) {
        let elapsed = self.begun.elapsed();
        if self.error.is_some() || elapsed < self.next && !progress.is_last {
            return;
        }
        // Lines are due on whole seconds, independent of the time that a line takes.
        self.next = Duration::from_secs(elapsed.as_secs()) + PERIOD;
        let text =
            output::json_line(&line(elapsed.as_secs_f64())).expect("numbers and texts are JSON");
        let written = self.file.write_all(text.as_bytes());
        self.error = written.map_err(FileError::io("write", &self.path)).err();
        if let Some(error) = &self.error {
            output::warn(&format!("{error}; the search continues without a trace"));
        }
    }

    /// Returns the write error, which is reported after the answer.
    pub fn finish(self) -> Result<(), CliError> {
        self.error.map_or(Ok(()), |error| Err(error.into()))
    }
}
