//! Exit codes.

use std::process::ExitCode;

/// How a run ended. The numbers are part of the program's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The question was answered.
    Answered = 0,
    /// A check that was asked for failed (`bench --expect`, `verify-proof`).
    Mismatch = 1,
    /// Bad usage or bad input; nothing was computed.
    BadInput = 2,
    /// A limit was reached without an answer.
    Limit = 3,
    /// A file is missing, damaged or of another version, or cannot be written.
    File = 4,
    /// Stopped by a signal: 128 + SIGINT, as shells count.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// The paragraph about exit codes that ends the help of every verb.
pub const HELP: &str = "\
Exit codes: 0 answered, 1 a requested check failed, 2 bad usage or bad input, 3 a limit was \
reached without an answer, 4 a file is missing, damaged or cannot be written, 130 interrupted.";
