//! `konane verify-proof`.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use proof_check::rules::{Rules, Stones};
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use crate::args::RunArgs;
use crate::exit::{CliError, Exit};
use crate::output::{self, CheckJson};
use crate::progress::ProgressDisplay;
use konane::Colour;
use konane::proof::{ProofError, ProofHeader, ProofReader, Verification, verify};

/// `konane verify-proof`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "A proof is a set of positions in which the side to move loses: for each of its moves there is a\n",
    "reply that leads to another position of the set or ends the game. The command checks this.\n\n",
    "Exit code 1: the file is well formed but not a valid proof. 4: it is damaged or unreadable.\n\n",
    "Examples:\n",
    "  konane verify-proof 6x6.proof\n",
    "  konane verify-proof 6x6.proof --json --threads 1\n"
))]
pub struct VerifyProofArgs {
    /// The proof.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub run: RunArgs,
}

/// The JSON of `verify-proof`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VerifyProofJson {
    /// The file.
    pub file: String,
    /// Ranks x files; null if the file cannot be read.
    pub board: Option<String>,
    /// The proven position.
    pub root: Option<String>,
    /// The player who wins.
    pub winner: Option<Colour>,
    /// Number of positions in the proof.
    pub positions: Option<u64>,
    /// Size of the file in bytes.
    pub bytes: Option<u64>,
    /// 128-bit XXH3 checksum of the file, as printed by `xxhsum -H2`; null if the check was not completed or the file is
    /// damaged.
    pub xxh128: Option<String>,
    /// Number of moves of the loser that the proof answers; null if the file is not a valid proof.
    pub answered: Option<u64>,
    #[serde(flatten)]
    pub check: CheckJson,
}

/// Checks and prints.
pub fn run(args: &VerifyProofArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let mut header = None;
    let result = check(args, stop, &mut header);
    let seconds = begun.elapsed().as_secs_f64();
    let flaw = |checked: &Verification| checked.flaw.as_ref().map(ToString::to_string);
    let is_flaw = |error: &CliError| {
        use ProofError::{Damaged, NotAProof};
        matches!(error, CliError::Proof(NotAProof { .. } | Damaged { .. }))
    };
    let Some(check) = CheckJson::new(&result, flaw, is_flaw, seconds) else {
        return result.map(|_| Exit::File);
    };
    let object = object(args, header.as_ref(), result.as_ref().ok(), check);
    let text = |verification: &Verification| text(verification, seconds);
    Ok(match output::finish(args.run.output.json, &object, result, text)? {
        None => Exit::Interrupted,
        Some(verification) if verification.flaw.is_some() => Exit::Mismatch,
        Some(_) => Exit::Answered,
    })
}

/// Opens and checks the proof. `header` is set even if the rest of the file cannot be read.
fn check(
    args: &VerifyProofArgs,
    stop: &AtomicBool,
    header: &mut Option<(ProofHeader, u64)>,
) -> Result<Verification, CliError> {
    let mut reader = ProofReader::open(&args.file)?;
    *header = Some((*reader.header(), reader.bytes()));
    if let Some(bytes) = args.run.memory.available() {
        reader.limit_memory(bytes);
    }
    let progress = ProgressDisplay::new(args.run.output.quiet);
    progress.live("reading".to_owned());
    let checked = |done: u64, all: u64| {
        progress.part(done, all);
        progress
            .update(|_| format!("{} of {} positions", output::grouped(done), output::grouped(all)));
    };
    args.run.threads.install(|| verify(&mut reader, &checked, stop))?.map_err(|error| match error {
        ProofError::TooLarge { need, have, .. } => {
            let what = format!("checking {}", args.file.display());
            CliError::Memory { what, need, have }
        }
        other => other.into(),
    })
}

fn object(
    args: &VerifyProofArgs,
    header: Option<&(ProofHeader, u64)>,
    verification: Option<&Verification>,
    check: CheckJson,
) -> VerifyProofJson {
    VerifyProofJson {
        file: args.file.display().to_string(),
        board: header.map(|(header, _)| format!("{}x{}", header.ranks, header.files)),
        root: header.map(|(header, _)| {
            let root = Stones { occupied: header.root, to_move: header.to_move };
            Rules::new(header.ranks, header.files).position_text(&root)
        }),
        winner: header.map(|(header, _)| header.winner.into()),
        positions: header.map(|(header, _)| header.positions),
        bytes: header.map(|(_, bytes)| *bytes),
        // The file is read again only for JSON, and only if it is complete.
        xxh128: verification.filter(|_| args.run.output.json).and_then(|_| xxh128(&args.file).ok()),
        answered: verification
            .filter(|checked| checked.flaw.is_none())
            .map(|checked| checked.answered),
        check,
    }
}

/// Returns the checksum of a file in hexadecimal digits.
fn xxh128(path: &Path) -> io::Result<String> {
    let (mut file, mut hasher, mut buffer) = (File::open(path)?, Xxh3::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{:032x}", hasher.digest128())),
            read => hasher.update(&buffer[..read]),
        }
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
    output::rows(&head, &rows)
}
