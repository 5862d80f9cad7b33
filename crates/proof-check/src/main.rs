//! `proof-check FILE`: the checker as a program.

#![forbid(unsafe_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use proof_check::{ProofError, ProofReader, verify};

const HELP: &str = "\
Check a proof of who wins a position of Konane, by the rules of the game

usage: proof-check [--memory BYTES] FILE

  --memory BYTES  maximum memory for the check; without it there is no limit
  --help          print this text
  --version       print the version

Exit codes: 0 valid, 1 not valid, 2 bad usage, 3 more memory needed than --memory allows,
4 file missing, unreadable, damaged, or of another format
";

const NOT_VALID: u8 = 1;
const USAGE: u8 = 2;
const LIMIT: u8 = 3;
const FILE: u8 = 4;

fn main() -> ExitCode {
    let (mut file, mut memory) = (None, None);
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("-h" | "--help") => return print(HELP, 0),
            Some("-V" | "--version") => {
                return print(concat!("proof-check ", env!("CARGO_PKG_VERSION"), "\n"), 0);
            }
            Some("--memory") => {
                let bytes = arguments.next().and_then(|bytes| bytes.to_str()?.parse::<u64>().ok());
                if bytes.is_none() {
                    return fail("--memory: expected a number of bytes", USAGE);
                }
                memory = bytes;
            }
            Some(option) if option.starts_with('-') => {
                return fail(&format!("unknown option '{option}': see --help"), USAGE);
            }
            _ if file.is_some() => {
                let second = argument.display();
                return fail(&format!("unexpected argument '{second}': give one file"), USAGE);
            }
            _ => file = Some(PathBuf::from(argument)),
        }
    }
    let Some(file) = file else { return fail("no file: see --help", USAGE) };
    match check(&file, memory) {
        Ok((text, code)) => print(&text, code),
        Err(error @ ProofError::TooLarge { .. }) => fail(&error.to_string(), LIMIT),
        Err(error) => fail(&error.to_string(), FILE),
    }
}

/// Checks a proof file. Returns the output and the exit code.
fn check(file: &Path, memory: Option<u64>) -> Result<(String, u8), ProofError> {
    let mut reader = ProofReader::open(file)?;
    reader.limit_memory(memory.unwrap_or(u64::MAX));
    let verification = verify(&mut reader, &|_, _| {}, &AtomicBool::new(false))?;
    let header = verification.header;
    Ok(match verification.flaw {
        Some(flaw) => (format!("not valid: {flaw}\n"), NOT_VALID),
        None => {
            let text = format!(
                "valid: {} wins {} on the {}x{} board\n\
                 {} positions, {} moves of the loser answered\n",
                header.winner,
                verification.root,
                header.ranks,
                header.files,
                header.positions,
                verification.answered,
            );
            (text, 0)
        }
    })
}

/// Prints to stdout and returns the exit code.
fn print(text: &str, code: u8) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => code.into(),
        Err(error) => fail(&format!("cannot write to standard output: {error}"), FILE),
    }
}

/// Prints to stderr and returns the exit code.
fn fail(message: &str, code: u8) -> ExitCode {
    // If the message cannot be written, the exit code still reports the failure.
    let _ = writeln!(std::io::stderr(), "proof-check: {message}");
    code.into()
}
