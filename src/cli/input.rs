//! From the texts of the command line to a board and a position on it.

use super::CliError;
use super::args::PositionArgs;
use crate::konane::notation::{parse_moves, parse_position};
use crate::konane::{Board, Position};

/// Builds the board and the position that the arguments describe.
pub fn start(args: &PositionArgs) -> Result<(Board, Position), CliError> {
    let board = Board::new(args.board);
    let position = match (&args.position, &args.moves) {
        (Some(text), _) => parse_position(&board, text).map_err(CliError::Position)?,
        (None, Some(text)) => parse_moves(&board, text).map_err(CliError::Moves)?,
        (None, None) => Position::start(&board),
    };
    Ok((board, position))
}
