//! `konane solve --checkpoint`: arguments, messages and JSON of checkpoints.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use crate::exit::CliError;
use crate::output;
use crate::progress::ProgressDisplay;
use konane::Solver;
use konane::checkpoint::{CheckpointError, CheckpointWriter, Totals, WrittenCheckpoint};
use konane::search::run::Counters;
use konane::system::parse_duration;

/// Default of `--checkpoint-interval`. A checkpoint of 4 GiB takes well below a minute on one core
/// (docs/CHECKPOINT_FORMAT.md).
const INTERVAL: Duration = Duration::from_secs(600);

/// Arguments for checkpoints.
#[derive(Debug, Args)]
pub struct CheckpointArgs {
    /// Save the search to this file: every --checkpoint-interval, on Ctrl-C or SIGTERM, and
    /// when the search ends, by a limit or with an answer. The file is replaced atomically. A file of
    /// an earlier run is replaced only with --resume. The maximum size is printed at the start.
    #[arg(long, value_name = "FILE", group = "saved")]
    pub checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint, which must exist and be of the same board, position, algorithm
    /// and profile. --memory, --threads, limits and --db may differ; a smaller table keeps the
    /// entries of the highest replacement priority.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Time from one checkpoint to the next, and from one addition to --results to the next, such as 30s, 10m or 1h
    /// [default: 10m]. The search continues while a checkpoint is written.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true,
          requires = "saved")]
    pub checkpoint_interval: Option<Duration>,
}

impl CheckpointArgs {
    /// Returns the writer, if a file is named.
    pub fn writer(&self, solver: &Solver<'_>) -> Result<Option<CheckpointWriter>, CliError> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let interval = self.checkpoint_interval.unwrap_or(INTERVAL);
        Ok(Some(solver.checkpoints(path, self.resume, Some(interval))?))
    }
}

/// The checkpoints of a run.
pub struct RunCheckpoints<'a> {
    writer: &'a CheckpointWriter,
    /// Number of checkpoints that this run has written, and the last of these checkpoints.
    written: (u64, Option<WrittenCheckpoint>),
    /// Error of the last write.
    pub error: Option<CheckpointError>,
}

impl<'a> RunCheckpoints<'a> {
    /// Prints the file and the maximum size of checkpoints.
    pub fn new(writer: &'a CheckpointWriter, display: &ProgressDisplay) -> Self {
        let bound = output::bytes(writer.bound());
        let (file, every) = (writer.path().display(), writer.interval().unwrap_or(INTERVAL));
        let every = output::time(every.as_secs_f64());
        let text = format!("checkpoints: {file}, every {every}, at most {bound}");
        display.note(&text);
        tracing::info!("{text}");
        let before = writer.before();
        if before.runs > 0 {
            display.note(&format!("checkpoints: continuing after {}", totals_text(before)));
        }
        RunCheckpoints { writer, written: (0, None), error: None }
    }

    /// Prints the results of the writes since the last call.
    pub fn note_written(&mut self, display: &ProgressDisplay) {
        for result in self.writer.take_written() {
            match result {
                Ok(written) => {
                    let took = output::time(written.took.as_secs_f64());
                    let text = format!("checkpoint: {}, in {took}", size_text(&written));
                    display.note(&text);
                    tracing::info!("{text}");
                    self.written = (self.written.0 + 1, Some(written));
                    self.error = None;
                }
                Err(error) => {
                    display.aside(|| output::warn(&format!("no checkpoint was written: {error}")));
                    self.error = Some(error);
                }
            }
        }
    }
}

impl RunCheckpoints<'_> {
    /// Returns the counters of all runs together.
    pub fn totals(&self, counters: &Counters) -> Totals {
        self.writer.totals(counters)
    }

    /// Returns the object for the JSON of `solve`.
    pub fn json(&self) -> CheckpointJson {
        let (count, last) = self.written;
        CheckpointJson {
            file: self.writer.path().display().to_string(),
            resumed: self.writer.before().runs > 0,
            written: count,
            bytes: last.map(|written| written.bytes),
            entries: last.map(|written| written.entries),
            error: self.error.as_ref().map(ToString::to_string),
        }
    }

    /// Returns the rows for the text of `solve`.
    pub fn rows(&self, counters: &Counters) -> Vec<(&'static str, String)> {
        let mut rows = vec![("all runs", totals_text(&self.totals(counters)))];
        let file = self.writer.path().display();
        let text = match (&self.error, self.written.1) {
            (Some(error), _) => format!("not written ({error})"),
            (None, Some(written)) => format!("{file}, {}", size_text(&written)),
            (None, None) if self.writer.path().exists() => format!("{file}, unchanged"),
            (None, None) => "not needed".to_owned(),
        };
        rows.push(("checkpoint", text));
        rows
    }
}

/// The checkpoints of this run, in the JSON of `solve`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckpointJson {
    /// The file.
    pub file: String,
    /// True if this run resumed from it.
    pub resumed: bool,
    /// Number of times that this run has written it.
    pub written: u64,
    /// Size of the file; null if this run has not written it.
    pub bytes: Option<u64>,
    /// Number of table entries in the file.
    pub entries: Option<u64>,
    /// The error of the last write, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

fn size_text(written: &WrittenCheckpoint) -> String {
    format!("{}, {} entries", output::bytes(written.bytes), output::grouped(written.entries))
}

fn totals_text(totals: &Totals) -> String {
    let (nodes, time) = (output::grouped(totals.nodes), output::time(totals.seconds()));
    format!("{nodes} nodes, {time}, {}", output::counted(totals.runs, "run"))
}
