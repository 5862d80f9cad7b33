//! `konane solve --checkpoint`: arguments, messages and JSON of checkpoints.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::progress::SearchProgress;
use crate::exit::CliError;
use crate::output;
use konane::checkpoint::{CheckpointError, CheckpointWriter, Totals, WrittenCheckpoint};
use konane::proof::ProofObserver;
use konane::search::certificate::CertificateProgress;
use konane::search::run::{CheckpointProgress, Counters, Observer, Progress};
use konane::system::parse_duration;
use konane::{Solution, Solver};

/// Default of `--checkpoint-interval`. A checkpoint of 4 GiB takes well below a minute of one
/// core (docs/CHECKPOINT_FORMAT.md).
const INTERVAL: Duration = Duration::from_secs(600);

/// Saving the search.
#[derive(Debug, Args)]
pub struct CheckpointArgs {
    /// Save what the search knows to this file: every --checkpoint-interval, on Ctrl-C or SIGTERM, and
    /// when the search ends, by a limit or with an answer. The file is replaced only by a whole new
    /// one. One that is there already is never written over without --resume. Its greatest size is
    /// printed at the start.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint, which must be there and be of the same board, position, algorithm
    /// and profile. --memory, --threads, limits and --db may differ; a smaller table keeps what is
    /// worth most.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Time from one checkpoint to the next, such as 30s, 10m or 1h [default: 10m]. The search continues
    /// while its table is written, and waits while its tree is written.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true,
          requires = "checkpoint")]
    pub checkpoint_interval: Option<Duration>,
}

impl CheckpointArgs {
    /// The writer that the arguments ask for.
    pub fn writer(&self, solver: &Solver<'_>) -> Result<Option<CheckpointWriter>, CliError> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let interval = self.checkpoint_interval.unwrap_or(INTERVAL);
        Ok(Some(solver.checkpoints(path, self.resume, Some(interval))?))
    }
}

/// Shows the progress of a search and of its checkpoints.
pub struct Watch<'a> {
    progress: SearchProgress,
    /// Called when the search has an answer, before its proof is collected.
    solved: &'a (dyn Fn(&Solution, Option<&Kept<'_>>) + Sync),
    writer: Option<&'a CheckpointWriter>,
    /// Number of checkpoints written by this run, and the last one of them.
    written: (u64, Option<WrittenCheckpoint>),
    /// Error of the last attempt.
    error: Option<CheckpointError>,
}

impl<'a> Watch<'a> {
    /// Prints the file and the maximum size of checkpoints. `solved` is called when the search has an
    /// answer, before a proof of it is collected.
    pub fn new(
        progress: SearchProgress,
        writer: Option<&'a CheckpointWriter>,
        solved: &'a (dyn Fn(&Solution, Option<&Kept<'_>>) + Sync),
    ) -> Self {
        if let Some(writer) = writer {
            let bound = output::bytes(writer.bound());
            let (file, every) = (writer.path().display(), writer.interval().unwrap_or(INTERVAL));
            let every = output::time(every.as_secs_f64());
            progress.note(&format!("checkpoints: {file}, every {every}, at most {bound}"));
            tracing::info!(%file, every, at_most = bound, "checkpoints");
            let before = writer.before();
            if before.runs > 0 {
                progress.note(&format!("checkpoints: going on after {}", totals_text(before)));
            }
        }
        Watch { progress, solved, writer, written: (0, None), error: None }
    }

    /// Prints the results of the attempts to write checkpoints since the last call.
    fn note_written(&mut self) {
        let results = self.writer.map(CheckpointWriter::take_written).unwrap_or_default();
        for result in results {
            match result {
                Ok(written) => {
                    let (bytes, entries) = (output::bytes(written.bytes), written.entries);
                    let entries = output::grouped(entries);
                    let took = output::time(written.took.as_secs_f64());
                    let paused = match written.paused {
                        Duration::ZERO => String::new(),
                        paused => format!(", search paused {}", output::time(paused.as_secs_f64())),
                    };
                    let text = format!("checkpoint: {bytes}, {entries} entries, in {took}{paused}");
                    self.progress.note(&text);
                    tracing::info!(?written, "checkpoint written");
                    self.written = (self.written.0 + 1, Some(written));
                    self.error = None;
                }
                Err(error) => {
                    self.progress
                        .aside(|| output::warn(&format!("no checkpoint was written: {error}")));
                    self.error = Some(error);
                }
            }
        }
    }

    /// Results of the checkpoints and of the trace, once the search is over.
    pub fn finish(mut self) -> (Option<Kept<'a>>, Result<(), CliError>) {
        self.note_written();
        let Watch { progress, writer, written, error, .. } = self;
        (writer.map(|writer| Kept { writer, written, error }), progress.finish())
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.note_written();
        self.progress.progress(progress);
    }

    fn checkpoint(&mut self, progress: &CheckpointProgress) {
        self.progress.checkpoint(progress);
    }
}

impl ProofObserver for Watch<'_> {
    fn solved(&mut self, solution: &Solution) {
        self.note_written();
        let kept = self.writer.map(|writer| Kept {
            writer,
            written: self.written,
            error: self.error.take(),
        });
        self.progress.aside(|| (self.solved)(solution, kept.as_ref()));
        self.error = kept.and_then(|kept| kept.error);
    }

    fn collecting(&mut self, progress: &CertificateProgress) {
        self.note_written();
        self.progress.collecting(progress);
    }
}

/// Results of the checkpoints of a run.
pub struct Kept<'a> {
    writer: &'a CheckpointWriter,
    written: (u64, Option<WrittenCheckpoint>),
    /// Error of the last attempt.
    pub error: Option<CheckpointError>,
}

impl Kept<'_> {
    /// All runs together.
    pub fn totals(&self, counters: &Counters) -> TotalJson {
        let totals = self.writer.totals(counters);
        TotalJson {
            nodes: totals.nodes,
            expansions: totals.expansions,
            leaf_positions: totals.leaf_positions,
            seconds: totals.seconds(),
            runs: totals.runs,
        }
    }

    /// For the JSON of `solve`.
    pub fn json(&self) -> CheckpointJson {
        let (count, last) = self.written;
        CheckpointJson {
            file: self.writer.path().display().to_string(),
            resumed: self.writer.before().runs > 0,
            written: count,
            bytes: last.map(|written| written.bytes),
            entries: last.map(|written| written.entries),
            tree_nodes: last.map(|written| written.tree_nodes),
            error: self.error.as_ref().map(ToString::to_string),
        }
    }

    /// For the text of `solve`.
    pub fn rows(&self, counters: &Counters) -> Vec<(&'static str, String)> {
        let mut rows = vec![("all runs", totals_text(&self.writer.totals(counters)))];
        let file = self.writer.path().display();
        let text = match (&self.error, self.written.1) {
            (Some(error), _) => format!("not written ({error})"),
            (None, Some(written)) => {
                let (bytes, entries) = (output::bytes(written.bytes), written.entries);
                format!("{file}, {bytes}, {} entries", output::grouped(entries))
            }
            (None, None) if self.writer.path().exists() => format!("{file}, as it was"),
            (None, None) => "none was needed".to_owned(),
        };
        rows.push(("checkpoint", text));
        rows
    }
}

/// All runs, in the JSON of `solve`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TotalJson {
    /// Positions evaluated.
    pub nodes: u64,
    /// Positions expanded.
    pub expansions: u64,
    /// Positions visited by the leaf solver near the end of games.
    pub leaf_positions: u64,
    /// Time that the searches took.
    pub seconds: f64,
    /// Runs, this one included.
    pub runs: u64,
}

/// The checkpoints of this run, in the JSON of `solve`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckpointJson {
    /// The file.
    pub file: String,
    /// Whether this run went on from it.
    pub resumed: bool,
    /// How often this run wrote it.
    pub written: u64,
    /// Its length; null if this run did not write it.
    pub bytes: Option<u64>,
    /// Entries of the table in it.
    pub entries: Option<u64>,
    /// Nodes of the tree in it.
    pub tree_nodes: Option<u64>,
    /// Why the last one was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

fn totals_text(totals: &Totals) -> String {
    let (nodes, time) = (output::grouped(totals.nodes), output::time(totals.seconds()));
    let noun = if totals.runs == 1 { "run" } else { "runs" };
    format!("{nodes} nodes, {time}, {} {noun}", totals.runs)
}
