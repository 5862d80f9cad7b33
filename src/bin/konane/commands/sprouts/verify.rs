//! `konane sprouts verify`.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::text;
use crate::args::OutputArgs;
use crate::exit::{CliError, Exit};
use crate::output::outcome_name;
use crate::output::{self, grouped};
use crate::progress::Progress;
use konane::search::Value;
use konane::search::run::Reason;
use konane::sprouts::Position;
use konane::sprouts::spr_file::SprReader;
use konane::sprouts::verify::{
    Finding, VerifyError, VerifyLimits, VerifyProgress, VerifyReport, verify,
};
use konane::system::{parse_bytes, parse_count, parse_duration};

/// `konane sprouts verify`.
#[derive(Debug, Args)]
#[command(after_help = text::HELP)]
pub struct VerifyArgs {
    /// The database.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Also decide who wins this position by the numbers of the database, which has to have those of its
    /// lands, or of the lands after its moves.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub root: Option<String>,
    /// Maximum number of positions searched to establish one number; an entry that needs more is
    /// undecided.
    #[arg(long, value_name = "N", default_value = "10000000", value_parser = parse_count,
          allow_negative_numbers = true)]
    pub max_work: u64,
    /// Give up after this time, such as 60s, 5m or 1h30m.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub time_limit: Option<Duration>,
    /// Memory for positions and their numbers.
    #[arg(short, long, value_name = "SIZE", default_value = "2GiB", value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The JSON of `sprouts verify`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerifySprJson {
    /// The file.
    pub file: String,
    /// Numbers in it; null if a limit or a signal ended the check before all were read.
    pub entries: Option<u64>,
    /// Entries that follow from the rules and from others.
    pub established: u64,
    /// Entries that contradict the rules or each other.
    pub wrong: u64,
    /// Entries that are neither, because `--max-work` was reached.
    pub undecided: u64,
    /// `true` if there are entries, every one is established and, with `--root`, the root is decided;
    /// `false` if an entry is wrong or there are none; null if only a limit or a signal left entries or
    /// the root undecided.
    pub valid: Option<bool>,
    /// Entries that are not established, the first ones.
    pub problems: Vec<Finding>,
    /// The limit that left something undecided (`--max-work` is a `node limit`), or `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// With `--root`: the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// With `--root`, for the player to move: `win`, `loss` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Positions that are not in the file and were searched.
    pub searched: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Checks and prints.
pub fn run(args: &VerifyArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let root: Option<Position> = args.root.as_deref().map(text::read).transpose()?;
    let entries = SprReader::open(&args.file)?;
    let limits = VerifyLimits {
        work: args.max_work,
        memory: args.memory,
        deadline: args.time_limit.and_then(|limit| begun.checked_add(limit)),
    };
    let progress = Progress::new(args.output.quiet);
    let report = verify(entries, root.as_ref(), limits, stop, &mut |now| show(&progress, now));
    drop(progress);
    let report = report.map_err(|error| match error {
        VerifyError::File(error) => error.into(),
        error @ VerifyError::Root { .. } => CliError::SprVerify(error),
    })?;
    let valid = report.is_valid();
    let value = report.root_lost.map(|lost| if lost { Value::Loss } else { Value::Win });
    let json = VerifySprJson {
        file: args.file.display().to_string(),
        entries: report.entries,
        established: report.established,
        wrong: report.wrong,
        undecided: report.undecided,
        valid,
        problems: report.findings.clone(),
        reason: report.reason,
        root: args.root.clone(),
        outcome: root.map(|_| outcome_name(value).to_owned()),
        searched: report.searched,
        seconds: begun.elapsed().as_secs_f64(),
    };
    output::answer(args.output.json, &json, |json| text(json, &report))?;
    Ok(match (report.reason, valid) {
        (Some(Reason::Interrupted), _) => Exit::Interrupted,
        (_, Some(false)) => Exit::Mismatch,
        (reason, _) => reason.into(),
    })
}

/// Shows on stderr how far the check is.
fn show(progress: &Progress, now: VerifyProgress) {
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

fn text(json: &VerifySprJson, report: &VerifyReport) -> String {
    let searched = grouped(json.searched);
    let mut rows = vec![
        ("entries", json.entries.map_or("not all read".to_owned(), grouped)),
        ("established", grouped(json.established)),
        ("searched", format!("{searched} positions that are not in the file")),
    ];
    if json.wrong > 0 {
        rows.push(("wrong", grouped(json.wrong)));
    }
    if json.undecided > 0 {
        rows.push(("undecided", grouped(json.undecided)));
    }
    if let (Some(root), Some(outcome)) = (&json.root, &json.outcome) {
        rows.push(("root", root.clone()));
        rows.push(("outcome", outcome.clone()));
    }
    let valid = match (json.valid, json.entries) {
        (Some(true), _) => "yes".to_owned(),
        (Some(false), Some(0)) => "no: without entries the file proves nothing".to_owned(),
        (Some(false), _) => "no".to_owned(),
        (None, _) => format!("unknown ({})", json.reason.map_or("no reason", Reason::text)),
    };
    let remedy = match json.reason {
        Some(Reason::NodeLimit) => "; --max-work allows more",
        Some(Reason::TimeLimit) => "; --time-limit allows more",
        Some(Reason::Memory) => "; --memory allows more",
        _ => "",
    };
    rows.push(("valid", if json.valid.is_none() { valid + remedy } else { valid }));
    for finding in &report.findings {
        rows.push(("", format!("line {}: {}: {}", finding.line, finding.land, finding.problem)));
    }
    let more = json.wrong + json.undecided - report.findings.len() as u64;
    if more > 0 {
        rows.push(("", format!("and {} more", grouped(more))));
    }
    output::rows(&json.file, &rows)
}
