//! `konane verify-proof`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::CliError;
use super::args::VerifyProofArgs;
use super::build_progress::BuildProgress;
use super::database;
use super::exit::Exit;
use super::output;
use crate::proof::rules::{Rules, Stones};
use crate::proof::{ProofError, ProofHeader, ProofReader, Verification, verify};

/// Before the first line of progress, and between two of them.
const INTERVAL: Duration = Duration::from_secs(10);

/// The JSON of `verify-proof`.
#[derive(Debug, Serialize)]
struct VerifyProofJson {
    /// The file.
    file: String,
    /// Ranks x files; null if the file does not say.
    board: Option<String>,
    /// The position that the proof is about.
    root: Option<String>,
    /// `black` or `white`.
    winner: Option<&'static str>,
    /// Positions of the proof.
    positions: Option<u64>,
    /// Length of the file.
    bytes: Option<u64>,
    /// Whether the proof is one; null if the check was interrupted.
    valid: Option<bool>,
    /// What is wrong, or `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// Wall-clock time.
    seconds: f64,
}

/// Checks and prints.
pub fn run(args: &VerifyProofArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let mut header = None;
    let result = check(args, stop, &mut header)?;
    let seconds = begun.elapsed().as_secs_f64();
    match &result {
        _ if args.json => output::write_json(&object(args, header.as_ref(), &result, seconds))?,
        Ok(verification) => output::write_text(&text(verification, seconds))?,
        Err(ProofError::Interrupted) => output::write_text("interrupted\n")?,
        Err(_) => {}
    }
    match result {
        Ok(Verification { flaw: None, .. }) => Ok(Exit::Answered),
        Ok(_) => Ok(Exit::Mismatch),
        Err(ProofError::Interrupted) => Ok(Exit::Interrupted),
        Err(error) => Err(error.into()),
    }
}

/// Opens and checks; the header is left for the report also if the rest cannot be read.
fn check(
    args: &VerifyProofArgs,
    stop: &AtomicBool,
    header: &mut Option<(ProofHeader, u64)>,
) -> Result<Result<Verification, ProofError>, CliError> {
    let mut reader = match ProofReader::open(&args.file) {
        Ok(reader) => reader,
        Err(error) => return Ok(Err(error)),
    };
    *header = Some((*reader.header(), reader.bytes()));
    let lines = BuildProgress::new(args.quiet);
    let (begun, next) = (Instant::now(), AtomicU64::new(INTERVAL.as_secs()));
    let progress = |done: u64, all: u64| {
        let (seconds, due) = (begun.elapsed().as_secs(), next.load(Ordering::Relaxed));
        let later = seconds + INTERVAL.as_secs();
        let mine = || next.compare_exchange(due, later, Ordering::Relaxed, Ordering::Relaxed);
        if seconds >= due && mine().is_ok() {
            let (done, all) = (output::grouped(done), output::grouped(all));
            lines.line(&format!("{done} of {all} positions"));
        }
    };
    database::on_threads(args.threads, || verify(&mut reader, &progress, stop))
}

fn object(
    args: &VerifyProofArgs,
    header: Option<&(ProofHeader, u64)>,
    result: &Result<Verification, ProofError>,
    seconds: f64,
) -> VerifyProofJson {
    let (valid, problem) = match result {
        Ok(Verification { flaw: None, .. }) => (Some(true), None),
        Ok(Verification { flaw: Some(flaw), .. }) => (Some(false), Some(flaw.to_string())),
        Err(ProofError::Interrupted) => (None, Some("interrupted".to_owned())),
        Err(error) => (Some(false), Some(error.to_string())),
    };
    VerifyProofJson {
        file: args.file.display().to_string(),
        board: header.map(|(header, _)| format!("{}x{}", header.ranks, header.files)),
        root: header.map(|(header, _)| {
            let root = Stones { occupied: header.root, to_move: header.to_move };
            Rules::new(header.ranks, header.files).position_text(&root)
        }),
        winner: header.map(|(header, _)| header.winner.name()),
        positions: header.map(|(header, _)| header.positions),
        bytes: header.map(|(_, bytes)| *bytes),
        valid,
        problem,
        seconds,
    }
}

fn text(verification: &Verification, seconds: f64) -> String {
    let Verification { header, root, bytes, answered, flaw } = verification;
    let head = format!("{}x{}, {} wins {root}", header.ranks, header.files, header.winner);
    let mut rows = Vec::new();
    match flaw {
        None => {
            rows.push(("valid", "yes".to_owned()));
            rows.push(("answered", format!("{} moves of the loser", output::grouped(*answered))));
        }
        Some(flaw) => {
            rows.push(("valid", "no".to_owned()));
            rows.push(("problem", flaw.to_string()));
        }
    }
    rows.push(("positions", output::grouped(header.positions)));
    rows.push(("file", output::bytes(*bytes)));
    rows.push(("time", output::time(seconds)));
    database::rows(&head, &rows)
}
