//! Sprouts positions on the command line.

use std::convert::Infallible;

use clap::Args;

use crate::exit::CliError;
use konane::sprouts::{MovesError, Position};

/// Help text about the notation of positions.
pub const HELP: &str = "\
Positions: 0*12 is twelve isolated spots. In general, lands joined by +, their regions by |, \
boundaries by . and vertices side by side: 0, 1, 2, 3 curve ends of a spot that occurs once, a \
letter for a spot that occurs twice, in lower case within a boundary, else in upper case: \
\"0*2.AB|1AB\". A finished position is !. Texts with } and ] are read in the older form of GLOP.";

/// Memory limit in bytes of subcommands without `--memory`. Typical positions need a small part of it.
pub const MEMORY: u64 = 2 << 30;

/// A position.
#[derive(Debug, Args)]
pub struct TextArg {
    /// The position: 0*n for n spots, or any position in the notation of SPOTS and GLOP.
    #[arg(value_name = "TEXT", allow_hyphen_values = true, value_parser = trimmed)]
    pub position: String,
}

impl TextArg {
    /// Parses the position.
    pub fn read(&self) -> Result<Position, CliError> {
        read(&self.position)
    }
}

/// Trims the text, which is repeated in the answer.
pub fn trimmed(text: &str) -> Result<String, Infallible> {
    Ok(text.trim_ascii().to_owned())
}

/// Parses a position.
pub fn read(text: &str) -> Result<Position, CliError> {
    text.parse().map_err(|error| CliError::SproutsText { text: text.to_owned(), error })
}

/// Returns the error of subcommands without `--memory` for a position that needs too much memory.
pub fn too_large(_: impl Into<MovesError>) -> CliError {
    CliError::SproutsTooLarge
}
