//! `konane sprouts draw`.

use super::args::DrawArgs;
use crate::cli::CliError;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::sprouts::Position;
use crate::sprouts::draw::svg;

/// Draws the position as it is written.
pub fn run(args: &DrawArgs) -> Result<Exit, CliError> {
    let position: Position = args.position.parse()?;
    output::write_text(&svg(&position))?;
    Ok(Exit::Answered)
}
