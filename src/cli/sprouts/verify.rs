//! `konane sprouts verify`.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::text;
use crate::cli::exit::{CliError, Exit};
use crate::cli::flags::OutputArgs;
use crate::cli::output::{self, grouped};
use crate::cli::progress::Progress;
use crate::search::run::Reason;
use crate::sprouts::Position;
use crate::sprouts::spr_file::SprReader;
use crate::sprouts::verify::{VerifyError, VerifyLimits, VerifyReport, verify};
use crate::system::{parse_bytes, parse_count};

/// `konane sprouts verify`.
#[derive(Debug, Args)]
#[command(after_help = text::HELP)]
pub struct VerifyArgs {
    /// The database.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Also decide who wins this position by the numbers of the database.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub root: Option<String>,
    /// Positions that may be searched to establish one number.
    #[arg(long, value_name = "N", default_value = "10000000", value_parser = parse_count,
          allow_negative_numbers = true)]
    pub max_work: u64,
    /// Memory for positions and their numbers.
    #[arg(short, long, value_name = "SIZE", default_value = "2GiB", value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The JSON of `sprouts verify`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VerifySprJson {
    /// The file.
    pub file: String,
    /// Numbers in it; null if the check did not end.
    pub entries: Option<u64>,
    /// Those that follow from the rules and from others.
    pub established: Option<u64>,
    /// Whether there are entries, every one is established and, with `--root`, the root is decided;
    /// null if the check did not end.
    pub valid: Option<bool>,
    /// Entries that are not established, the first ones.
    pub problems: Vec<ProblemJson>,
    /// Why the check did not end; `no entries` if there was nothing to check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// With `--root`: the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// For the player to move: `win`, `loss` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Positions that are not in the file and were searched.
    pub searched: Option<u64>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// An entry that is not established.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProblemJson {
    /// Where it stands.
    pub line: u64,
    /// The land.
    pub position: String,
    /// What is wrong.
    pub problem: String,
}

/// Checks and prints.
pub fn run(args: &VerifyArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let root: Option<Position> = args.root.as_deref().map(text::read).transpose()?;
    let entries = SprReader::open(&args.file)?;
    let limits = VerifyLimits { work: args.max_work, memory: args.memory };
    let progress = Progress::new(args.output.quiet);
    progress.live(format!("checking {}", args.file.display()));
    let result = verify(entries, root.as_ref(), limits, stop);
    drop(progress);
    let (report, reason, error) = match result {
        Ok(report) => (Some(report), None, None),
        Err(VerifyError::File(error)) => return Err(error.into()),
        Err(VerifyError::Interrupted) => (None, Some(Reason::Interrupted), None),
        Err(error @ VerifyError::Memory(_)) => {
            (None, Some(Reason::Memory), Some(CliError::SprVerify(error)))
        }
    };
    let report = report.as_ref();
    let outcome = report.filter(|_| root.is_some()).map(|report| match report.root_lost {
        Some(true) => "loss",
        Some(false) => "win",
        None => "unknown",
    });
    let valid = report.map(|report| report.is_valid() && outcome != Some("unknown"));
    if args.output.json {
        let findings = report.map_or(&[][..], |report| &report.findings);
        let problems = findings.iter().map(|finding| ProblemJson {
            line: finding.line,
            position: finding.land.clone(),
            problem: finding.problem.to_string(),
        });
        output::write_json(&VerifySprJson {
            file: args.file.display().to_string(),
            entries: report.map(|report| report.entries),
            established: report.map(|report| report.established),
            valid,
            problems: problems.collect(),
            reason: match report {
                Some(report) if report.entries == 0 => Some("no entries".to_owned()),
                _ => reason.map(|reason| reason.text().to_owned()),
            },
            root: args.root.clone(),
            outcome: outcome.map(str::to_owned),
            searched: report.map(|report| report.searched),
            seconds: begun.elapsed().as_secs_f64(),
        })?;
    } else if let Some(report) = report {
        output::write_text(text(args, report, outcome, valid == Some(true)))?;
    } else if error.is_none() {
        output::write_text("interrupted\n")?;
    }
    match (error, valid) {
        (Some(error), _) => Err(error),
        (None, Some(false)) => Ok(Exit::Mismatch),
        (None, _) => Ok(reason.into()),
    }
}

fn text(
    args: &VerifyArgs,
    report: &VerifyReport,
    outcome: Option<&'static str>,
    valid: bool,
) -> String {
    let searched = grouped(report.searched);
    let mut rows = vec![
        ("entries", grouped(report.entries)),
        ("established", grouped(report.established)),
        ("searched", format!("{searched} positions that are not in the file")),
    ];
    if let (Some(root), Some(outcome)) = (&args.root, outcome) {
        rows.push(("root", root.clone()));
        rows.push(("outcome", outcome.into()));
    }
    rows.push(match (valid, report.entries) {
        (true, _) => ("valid", "yes".into()),
        (false, 0) => ("valid", "no: without entries the file proves nothing".into()),
        (false, _) => ("valid", "no".into()),
    });
    for finding in &report.findings {
        rows.push(("", format!("line {}: {}: {}", finding.line, finding.land, finding.problem)));
    }
    let more = report.entries - report.established - report.findings.len() as u64;
    if more > 0 {
        rows.push(("", format!("and {} more", grouped(more))));
    }
    output::rows(&args.file.display().to_string(), &rows)
}
