//! `konane sprouts verify`.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use super::text;
use crate::args::{OutputArgs, environment};
use crate::exit::{CliError, Exit};
use crate::output::{self, grouped, outcome_name};
use crate::progress::ProgressDisplay;
use konane::record_file;
use konane::search::run::Reason;
use konane::sprouts::Position;
use konane::sprouts::misere;
use konane::sprouts::misere::OUTCOMES;
use konane::sprouts::spr_file::SprReader;
use konane::sprouts::verify::{
    Finding, RootOutcome, VerifyError, VerifyLimits, VerifyProgress, VerifyReport, verify,
};
use konane::system::{parse_bytes, parse_count, parse_duration};

/// `konane sprouts verify`.
#[derive(Debug, Args)]
#[command(after_help = text::HELP)]
pub struct VerifyArgs {
    /// A .spr file, or a file of outcomes as written by `solve --misere --db`.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Also find the outcome of this position from the numbers of the database, which must contain its
    /// lands, or the lands after its moves.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub root: Option<String>,
    /// Maximum number of positions to search for one number. Entries that need more are undecided.
    #[arg(long, value_name = "N", default_value = "10000000", value_parser = parse_count,
          allow_negative_numbers = true)]
    pub max_work: u64,
    /// Stop after this time, such as 60s, 5m or 1h30m.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub time_limit: Option<Duration>,
    /// Memory for positions and their numbers.
    #[arg(short, long, value_name = "SIZE", default_value = environment::or(environment::MEMORY, "2GiB"), value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The JSON of `sprouts verify`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VerifySprJson {
    /// The file.
    pub file: String,
    #[serde(flatten)]
    pub report: VerifyReport,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Checks and prints.
pub fn run(args: &VerifyArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let root: Option<Position> = args.root.as_deref().map(text::read).transpose()?;
    let limits = VerifyLimits {
        work: args.max_work,
        memory: args.memory,
        deadline: args.time_limit.and_then(|limit| begun.checked_add(limit)),
    };
    let progress = ProgressDisplay::new(args.output.quiet);
    let (root, show) = (root.as_ref(), &mut |now| show(&progress, now));
    let report = match record_file::is_of_kind(&args.file, OUTCOMES)? {
        true => misere::verify(&args.file, root, limits, stop, show),
        false => verify(SprReader::open(&args.file)?, root, limits, stop, show),
    };
    drop(progress);
    let mut report = report.map_err(|error| match error {
        VerifyError::File(error) => error.into(),
        VerifyError::Outcomes(error) => error.into(),
        error @ VerifyError::Root { .. } => CliError::SprVerify(error),
    })?;
    if let (Some(root), Some(text)) = (&mut report.root, &args.root) {
        // The text as the user wrote it.
        root.root.clone_from(text);
    }
    let (valid, reason) = (report.valid, report.reason);
    let (file, seconds) = (args.file.display().to_string(), begun.elapsed().as_secs_f64());
    output::answer(args.output.json, &VerifySprJson { file, report, seconds }, text)?;
    Ok(match (reason, valid) {
        (Some(Reason::Interrupted), _) => Exit::Interrupted,
        (_, Some(false)) => Exit::Mismatch,
        (reason, _) => reason.into(),
    })
}

/// Shows the progress of the check on stderr.
fn show(progress: &ProgressDisplay, now: VerifyProgress) {
    progress.update(|_| {
        let (entries, searched) = (grouped(now.entries), grouped(now.searched));
        match now.checked {
            None => format!("{entries} entries read"),
            Some(checked) if checked == now.entries => {
                format!("root, {searched} positions searched")
            }
            Some(checked) => {
                progress.part(checked, now.entries);
                let checked = grouped(checked);
                format!("{checked} of {entries} entries checked, {searched} positions searched")
            }
        }
    });
}

fn text(VerifySprJson { file, report, .. }: &VerifySprJson) -> String {
    let VerifyReport { entries, established, wrong, undecided, searched, .. } = *report;
    let mut rows = vec![
        ("entries", entries.map_or("not all were read".to_owned(), grouped)),
        ("established", grouped(established)),
        ("searched", format!("{} positions that are not in the file", grouped(searched))),
    ];
    let open = [("wrong", wrong), ("undecided", undecided)].into_iter().filter(|&(_, n)| n > 0);
    rows.extend(open.map(|(name, count)| (name, grouped(count))));
    if let Some(RootOutcome { root, outcome }) = &report.root {
        rows.push(("root", root.clone()));
        rows.push(("outcome", outcome_name(*outcome).to_owned()));
    }
    let remedy = match report.reason {
        Some(Reason::NodeLimit) => "; --max-work allows more",
        Some(Reason::TimeLimit) => "; --time-limit allows more",
        Some(Reason::Memory) => "; --memory allows more",
        _ => "",
    };
    let valid = match (report.valid, entries) {
        (Some(true), _) => "yes".to_owned(),
        (Some(false), Some(0)) => "no: without entries the file proves nothing".to_owned(),
        (Some(false), _) => "no".to_owned(),
        (None, _) => {
            format!("unknown ({}){remedy}", report.reason.map_or("no reason", Reason::text))
        }
    };
    rows.push(("valid", valid));
    for Finding { line, land, problem } in &report.problems {
        rows.push(("", format!("line {line}: {land}: {problem}")));
    }
    let more = wrong + undecided - report.problems.len() as u64;
    if more > 0 {
        rows.push(("", format!("and {} more", grouped(more))));
    }
    output::rows(file, &rows)
}
