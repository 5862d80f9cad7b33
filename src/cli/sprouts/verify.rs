//! `konane sprouts verify`.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::Serialize;

use super::args::VerifyArgs;
use crate::cli::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{self, grouped};
use crate::sprouts::Position;
use crate::sprouts::spr_file::SprReader;
use crate::sprouts::verify::{VerifyError, VerifyLimits, VerifyReport, verify};

/// The JSON of `sprouts verify`.
#[derive(Debug, Serialize)]
struct VerifyJson<'a> {
    file: String,
    entries: u64,
    established: u64,
    /// Whether every entry is established and, with `--root`, the root is decided.
    valid: bool,
    problems: Vec<ProblemJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<&'a str>,
    /// For the player to move: `win`, `loss` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    searched: u64,
    seconds: f64,
}

/// An entry that is not established.
#[derive(Debug, Serialize)]
struct ProblemJson {
    line: u64,
    position: String,
    problem: String,
}

/// Checks and prints.
pub fn run(args: &VerifyArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let root: Option<Position> = args.root.as_deref().map(str::parse).transpose()?;
    let entries = SprReader::open(&args.file)?;
    let limits = VerifyLimits { work: args.max_work, memory: args.memory };
    let report = match verify(entries, root.as_ref(), limits, stop) {
        Ok(report) => report,
        Err(VerifyError::Interrupted) => {
            output::complain("interrupted");
            return Ok(Exit::Interrupted);
        }
        Err(VerifyError::File(error)) => return Err(error.into()),
        Err(error @ VerifyError::Memory(_)) => return Err(CliError::SprVerify(error)),
    };
    let outcome = args.root.as_ref().map(|_| match report.root_lost {
        Some(true) => "loss",
        Some(false) => "win",
        None => "unknown",
    });
    let valid = report.is_valid() && outcome != Some("unknown");
    if args.json {
        let problems = report.findings.iter().map(|finding| ProblemJson {
            line: finding.line,
            position: finding.land.clone(),
            problem: finding.problem.to_string(),
        });
        output::write_json(&VerifyJson {
            file: args.file.display().to_string(),
            entries: report.entries,
            established: report.established,
            valid,
            problems: problems.collect(),
            root: args.root.as_deref(),
            outcome,
            searched: report.searched,
            seconds: begun.elapsed().as_secs_f64(),
        })?;
    } else {
        output::write_text(&text(args, &report, outcome, valid))?;
    }
    Ok(if valid { Exit::Answered } else { Exit::Mismatch })
}

fn text(
    args: &VerifyArgs,
    report: &VerifyReport,
    outcome: Option<&'static str>,
    valid: bool,
) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "{name:<12}{value}").expect("strings take any text");
    };
    line("file", args.file.display().to_string());
    line("entries", grouped(report.entries));
    line("established", grouped(report.established));
    line("searched", format!("{} positions that are not in the file", grouped(report.searched)));
    if let (Some(root), Some(outcome)) = (&args.root, outcome) {
        line("root", root.clone());
        line("outcome", outcome.into());
    }
    line("valid", if valid { "yes".into() } else { "no".into() });
    for finding in &report.findings {
        line("", format!("line {}: {}: {}", finding.line, finding.land, finding.problem));
    }
    let more = report.entries - report.established - report.findings.len() as u64;
    if more > 0 {
        line("", format!("and {} more", grouped(more)));
    }
    text
}
