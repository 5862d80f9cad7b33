//! `konane verifydb`.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::database;
use crate::args::{MemoryLimitArg, OutputArgs, ThreadsArg};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::progress::Progress;
use konane::Dimensions;
use konane::file::FileError;
use konane::search::run::Reason;
use konane::tablebase::{
    Coverage, DatabaseError, Manifest, Metric, Scope, VerifiedDatabase, deep_memory, verify,
};

/// `konane verifydb`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane verifydb db/4x5-complete\n",
    "  konane verifydb db/4x5-complete --deep --json\n"
))]
pub struct VerifydbArgs {
    /// The database: a directory that builddb has made.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Also compute every value again from those of the moves.
    #[arg(long)]
    pub deep: bool,
    #[command(flatten)]
    pub threads: ThreadsArg,
    #[command(flatten)]
    pub memory: MemoryLimitArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The JSON of `verifydb`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerifyJson {
    /// The directory.
    pub directory: String,
    /// Ranks x files; null if the manifest cannot be read.
    pub board: Option<Dimensions>,
    /// Positions that the database covers.
    pub scope: Option<Scope>,
    /// Values that the database has.
    pub metric: Option<Metric>,
    /// The layers: up to this number of stones.
    pub max_stones: Option<u32>,
    /// Positions of the database by its manifest.
    pub positions: Option<u64>,
    /// Bytes of the files.
    pub bytes: Option<u64>,
    /// True if every value was to be computed again.
    pub deep: bool,
    /// True if the database is valid; null if the check did not end.
    pub valid: Option<bool>,
    /// The problem, or why the check did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The limit that was reached, or `interrupted`, if the check did not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Checks and prints.
pub fn run(args: &VerifydbArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let result = check(args, stop);
    let seconds = begun.elapsed().as_secs_f64();
    let (valid, problem) = match &result {
        Ok(_) => (Some(true), None),
        Err(CliError::Verify(error)) if is_verdict(error) => (Some(false), Some(error.to_string())),
        Err(CliError::Verify(DatabaseError::Interrupted)) => (None, Some("interrupted".to_owned())),
        Err(error @ CliError::Memory { .. }) => (None, Some(error.to_string())),
        // Nothing is known about the database, or there is none.
        Err(_) => return result.map(|_| Exit::File),
    };
    let reason = result.as_ref().err().and_then(CliError::reason);
    let object = object(args, (valid, problem, reason), seconds);
    let report = output::finish(args.output.json, &object, result, |report| text(args, report))?;
    Ok(report.map_or(Exit::Interrupted, |_| Exit::Answered))
}

/// Returns true for errors that show that the database is wrong. All others leave that open.
fn is_verdict(error: &DatabaseError) -> bool {
    use FileError::{Damaged, NotAFile, OtherKind};
    matches!(
        error,
        DatabaseError::WrongValue { .. }
            | DatabaseError::MissingLayer { .. }
            | DatabaseError::File(Damaged { .. } | NotAFile { .. } | OtherKind { .. })
    )
}

fn check(args: &VerifydbArgs, stop: &AtomicBool) -> Result<VerifiedDatabase, CliError> {
    // If the database cannot be read, the check returns a better error.
    let need = if args.deep { deep_memory(&args.directory).unwrap_or(0) } else { 0 };
    args.memory.must_suffice(need, || format!("the deep check of {}", args.directory.display()))?;
    let progress = Progress::new(args.output.quiet);
    let verified = args.threads.install(|| verify(&args.directory, args.deep, &progress, stop))?;
    verified.map_err(CliError::Verify)
}

fn object(
    args: &VerifydbArgs,
    (valid, problem, reason): (Option<bool>, Option<String>, Option<Reason>),
    seconds: f64,
) -> VerifyJson {
    // The manifest of a database that failed the check may still be readable.
    let manifest = Manifest::read(&args.directory).ok();
    let manifest = manifest.as_ref();
    let bytes = |manifest: &Manifest| manifest.layers.iter().map(|layer| layer.bytes).sum();
    VerifyJson {
        directory: args.directory.display().to_string(),
        board: manifest.map(|manifest| manifest.dimensions),
        scope: manifest.map(|manifest| manifest.scope),
        metric: manifest.map(|manifest| manifest.metric()),
        max_stones: manifest.map(Manifest::max_stones),
        positions: manifest.and_then(Manifest::total).map(|counts| counts.positions),
        bytes: manifest.map(bytes),
        deep: args.deep,
        valid,
        problem,
        reason,
        seconds,
    }
}

fn text(args: &VerifydbArgs, report: &VerifiedDatabase) -> String {
    let Coverage { dimensions, scope, metric, max_stones } = report.coverage;
    let head = database::heading(dimensions, scope, max_stones, metric);
    let counts = &report.counts;
    let checked = if args.deep {
        format!(
            "files, and {} values from those of their moves",
            output::grouped(report.recomputed)
        )
    } else {
        "files; --deep computes the values again".to_string()
    };
    let [black, white] =
        [counts.black_to_move_wins, counts.white_to_move_wins].map(output::grouped);
    let rows = [
        ("valid", "yes".to_string()),
        ("checked", checked),
        ("positions", output::grouped(counts.positions)),
        ("Black wins", format!("{black} with Black to move")),
        ("White wins", format!("{white} with White to move")),
        ("files", format!("{}, {}", max_stones + 1, output::bytes(report.bytes))),
        ("time", output::time(report.seconds)),
    ];
    output::rows(&head, &rows)
}
