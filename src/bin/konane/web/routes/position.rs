//! `GET /api/v1/konane/position`: a position with the value of every move; `GET /api/v1/konane/line`: best
//! play from it.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::SharedExplorer;
use super::parse::{PlayedPosition, time};
use crate::repl::analyse::AnalysisJson;
use crate::web::params::Params;
use crate::web::reply::ApiResult;
use crate::web::turns::Turn;
use konane::analysis::{Analysis, AnalysisError, Analyst};
use konane::{Move, Position};

/// The first evaluation of all moves takes at most the time of the request divided by this number.
const EASY_DIVISOR: u32 = 4;

/// The parameters of both.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PositionRequest {
    /// Ranks x files.
    board: String,
    /// The position, by default the start of the game.
    position: Option<String>,
    /// The phase of the position: `auto` (default: by the number of empty squares) or
    /// `jump`.
    phase: Option<String>,
    /// Moves that follow the position.
    moves: Option<String>,
    /// Milliseconds to search for unknown values: 200, at most 2000. The remoteness may take as long again. Results are
    /// kept, so a repeated request continues the search.
    time: Option<u64>,
}

/// Returns the values that are known after the time.
pub async fn position(
    State(explorer): SharedExplorer,
    Params(request): Params<PositionRequest>,
) -> ApiResult<AnalysisJson> {
    let PositionRequest { board, position, phase, moves, time: milliseconds } = request;
    let played = PlayedPosition::read(&board, &position, &phase, &moves)?;
    let time = time(milliseconds)?;
    let judged = explorer.boards.with(played.board.clone(), move |analyst, turn| {
        let analysis = judge(analyst, &played.position, turn, time)?;
        // Half of these limits are for the remoteness.
        let analysis = analyst.find_remoteness(analysis, turn.limits(2 * time))?;
        let mut json = AnalysisJson::from(analysis);
        if moves.is_some() {
            (json.start, json.played) = (Some(played.start), Some(played.moves));
        }
        Ok(json)
    });
    judged.await.map(Json)
}

/// Evaluates all moves in a part of the time. If the position is still unknown, a search of the position uses
/// the rest of the time and all threads. This search prefers moves that are likely to win. If it finds that the
/// position is lost, it has also solved all moves.
fn judge(
    analyst: &mut Analyst,
    position: &Position,
    turn: &Turn,
    time: Duration,
) -> Result<Analysis, AnalysisError> {
    let (limits, easy) = (turn.limits(time), turn.limits(time / EASY_DIVISOR));
    let analysis = analyst.analyse(position, easy, &mut |_| {})?;
    if analysis.is_complete() {
        return Ok(analysis);
    }
    if analysis.judgement.is_none() {
        analyst.choose(position, limits)?;
    }
    analyst.analyse(position, limits, &mut |_| {})
}

/// The answer of `line`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineJson {
    /// Moves that keep the outcome, as far as it is decided.
    pub line: Vec<Move>,
    /// True if the line reaches the end of the game.
    pub complete: bool,
}

/// Returns best play as far as it is known.
pub async fn line(
    State(explorer): SharedExplorer,
    Params(request): Params<PositionRequest>,
) -> ApiResult<LineJson> {
    let PositionRequest { board, position, phase, moves, time: milliseconds } = request;
    let played = PlayedPosition::read(&board, &position, &phase, &moves)?;
    let time = time(milliseconds)?;
    let line = explorer.boards.with(played.board.clone(), move |analyst, turn| {
        let (analysis, _) = analyst.solve(&played.position, turn.limits(time))?;
        analyst.find_remoteness(analysis, turn.limits(time))?;
        let line = analyst.line(&played.position, turn.limits(time))?;
        let play = |position: Position, &mv: &_| position.play(&played.board, mv);
        let end = line.iter().fold(played.position, play);
        let complete = end.count_moves(&played.board) == 0;
        Ok(LineJson { line, complete })
    });
    line.await.map(Json)
}
