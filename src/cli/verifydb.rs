//! `konane verifydb`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::CliError;
use super::args::VerifydbArgs;
use super::build_progress::BuildProgress;
use super::database::{self, VerifyJson};
use super::exit::Exit;
use super::output;
use crate::endgame::Manifest;
use crate::endgame::verify::{VerifyError, VerifyReport, verify};

/// Checks and prints.
pub fn run(args: &VerifydbArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let progress = BuildProgress::new(args.quiet);
    let result =
        database::on_threads(args.threads, || verify(&args.directory, args.deep, &progress, stop))?;
    drop(progress);
    let seconds = begun.elapsed().as_secs_f64();
    match &result {
        _ if args.json => output::write_json(&object(args, &result, seconds))?,
        Ok(report) => output::write_text(&text(args, report))?,
        Err(VerifyError::Interrupted) => output::write_text("interrupted\n")?,
        Err(_) => {}
    }
    match result {
        Ok(_) => Ok(Exit::Answered),
        Err(VerifyError::Interrupted) => Ok(Exit::Interrupted),
        Err(error) => Err(error.into()),
    }
}

fn object(
    args: &VerifydbArgs,
    result: &Result<VerifyReport, VerifyError>,
    seconds: f64,
) -> VerifyJson {
    // What a database that did not pass says about itself, if it can be read.
    let manifest = Manifest::read(&args.directory).ok();
    let manifest = manifest.as_ref();
    let bytes = |manifest: &Manifest| manifest.layers.iter().map(|layer| layer.bytes).sum();
    let (valid, problem) = match result {
        Ok(_) => (Some(true), None),
        Err(VerifyError::Interrupted) => (None, Some("interrupted".to_string())),
        Err(error) => (Some(false), Some(error.to_string())),
    };
    VerifyJson {
        directory: args.directory.display().to_string(),
        board: manifest.map(|manifest| manifest.dimensions.to_string()),
        scope: manifest.map(|manifest| manifest.scope.name()),
        max_stones: manifest.map(Manifest::max_stones),
        positions: manifest.and_then(Manifest::total).map(|counts| counts.positions),
        bytes: manifest.map(bytes),
        deep: args.deep,
        valid,
        problem,
        seconds,
    }
}

fn text(args: &VerifydbArgs, report: &VerifyReport) -> String {
    let mut head = format!("{}, {} positions", report.dimensions, report.scope.name());
    if report.max_stones < report.dimensions.squares() {
        head += &format!(" with up to {} stones", report.max_stones);
    }
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
        ("files", format!("{}, {}", report.files, output::bytes(report.bytes))),
        ("time", output::time(report.seconds)),
    ];
    database::rows(&head, &rows)
}
