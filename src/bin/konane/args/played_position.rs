//! Positions in the requests of `engine` and `explore`.

use konane::notation::{parse_line, parse_position_as};
use konane::{Board, Dimensions, Move, PhaseChoice, Position};

/// The position of a request: the one that it names, and the moves that follow.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "explore"),
    expect(dead_code, reason = "`engine` does not show the moves")
)]
pub struct PlayedPosition {
    /// The board.
    pub board: Board,
    /// The position before the moves.
    pub start: Position,
    /// The moves.
    pub moves: Vec<Move>,
    /// The position after the moves.
    pub position: Position,
}

impl PlayedPosition {
    /// Parses `board`, `position` (by default the start of the game) with its `phase` (by default `auto`), and
    /// `moves` ([`parse_line`]). Returns a message for the sender of the request if one of them is wrong.
    pub fn parse(
        board: &str,
        position: Option<&str>,
        phase: Option<&str>,
        moves: Option<&str>,
    ) -> Result<PlayedPosition, String> {
        let dimensions: Dimensions = board.parse().map_err(text)?;
        let phase = self::phase(phase)?;
        let (board, start) = match position {
            None if phase == PhaseChoice::Jump => {
                return Err("phase: jump requires a position".to_owned());
            }
            None => {
                let board = Board::new(dimensions);
                let start = Position::start(&board);
                (board, start)
            }
            Some(position) => parse_position_as(dimensions, position, phase).map_err(text)?,
        };
        let moves = parse_line(&board, &start, moves.unwrap_or_default()).map_err(text)?;
        let position = moves.iter().fold(start, |position, &mv| position.play(&board, mv));
        Ok(PlayedPosition { board, start, moves, position })
    }
}

/// Parses the phase of a position, by default `auto`.
pub fn phase(text: Option<&str>) -> Result<PhaseChoice, String> {
    let choice = text.map_or(Ok(PhaseChoice::Auto), str::parse);
    choice.map_err(|error| format!("phase: {error}"))
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
