//! `konane verifydb`.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use crate::args::{RunArgs, database};
use crate::exit::{CliError, Exit};
use crate::output::{self, CheckJson};
use crate::progress::ProgressDisplay;
use konane::Dimensions;
use konane::file::FileError;
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
    /// The database directory, as written by builddb.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Also recompute every value from the values of the moves.
    #[arg(long)]
    pub deep: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

/// The JSON of `verifydb`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VerifyJson {
    /// The directory.
    pub directory: String,
    /// Ranks x files; null if the manifest cannot be read.
    pub board: Option<Dimensions>,
    /// Positions that the database covers.
    pub scope: Option<Scope>,
    /// Values in the database.
    pub metric: Option<Metric>,
    /// Maximum number of stones of the positions.
    pub max_stones: Option<u32>,
    /// Number of positions according to the manifest.
    pub positions: Option<u64>,
    /// Bytes of the files.
    pub bytes: Option<u64>,
    /// True if the check recomputes every value.
    pub deep: bool,
    #[serde(flatten)]
    pub check: CheckJson,
}

/// Checks and prints.
pub fn run(args: &VerifydbArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let result = check(args, stop);
    let seconds = begun.elapsed().as_secs_f64();
    let is_problem =
        |error: &CliError| matches!(error, CliError::Verify(error) if is_verdict(error));
    let Some(check) = CheckJson::new(&result, |_| None, is_problem, seconds) else {
        return result.map(|_| Exit::File);
    };
    let report = output::finish(args.run.output.json, &object(args, check), result, |report| {
        text(args, report)
    })?;
    Ok(report.map_or(Exit::Interrupted, |_| Exit::Answered))
}

/// Returns true for errors that prove the database invalid.
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
    // If the database cannot be read, the check returns a more specific error.
    let need = if args.deep { deep_memory(&args.directory).unwrap_or(0) } else { 0 };
    args.run
        .memory
        .must_suffice(need, || format!("the deep check of {}", args.directory.display()))?;
    let progress = ProgressDisplay::new(args.run.output.quiet);
    let verified =
        args.run.threads.install(|| verify(&args.directory, args.deep, &progress, stop))?;
    verified.map_err(CliError::Verify)
}

fn object(args: &VerifydbArgs, check: CheckJson) -> VerifyJson {
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
        check,
    }
}

fn text(args: &VerifydbArgs, report: &VerifiedDatabase) -> String {
    let Coverage { dimensions, scope, metric, max_stones } = report.coverage;
    let head = database::heading(dimensions, scope, max_stones, metric);
    let counts = &report.counts;
    let checked = if args.deep {
        format!("files, and {} values recomputed", output::grouped(report.recomputed))
    } else {
        "files; --deep recomputes the values".to_string()
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
