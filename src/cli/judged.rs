//! Positions that have been judged, as JSON: what `analyse --json` prints and the explorer answers.

use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, JudgedMove};
use crate::konane::notation::{format_move, format_position};
use crate::konane::{Board, Phase};
use crate::search::Value;
use crate::search::run::Reason;
use crate::sprouts::analysis::reason;

/// A position and its moves, as far as they are decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalysisJson {
    /// Ranks x files.
    pub board: String,
    /// The position.
    pub position: String,
    /// `black` or `white`.
    pub to_move: String,
    /// `removal` in the first two plies, `jump` from then on.
    pub phase: String,
    /// `win`, `loss` or `unknown`, for the side to move.
    pub outcome: String,
    /// `rules`, `database`, `proof` or `search`; none while the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Plies to the end when the winner hurries and the loser delays, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remoteness: Option<u32>,
    /// The outcome in a sentence.
    pub verdict: String,
    /// Whether the position and every move are decided.
    pub complete: bool,
    /// Why something is not decided, once the search has ended.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "reason")]
    pub reason: Option<Reason>,
    /// The canonical code: equal for equivalent positions. In decimal, as text, since it has 64 bits.
    pub code: String,
    /// All moves: winning ones first, those that are not decided last.
    pub moves: Vec<JudgedMoveJson>,
    /// Best play from the position, as far as it is decided, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<String>>,
    /// Where moves were played: the position before them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The moves that were played from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<Vec<String>>,
}

/// A move of a position that has been judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedMoveJson {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// `win`, `loss` or `unknown`, for the player who makes it.
    pub outcome: String,
    /// `rules`, `database`, `proof` or `search`; none while the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Moves that it leaves to the opponent.
    pub replies: u32,
    /// Plies to the end from the position after it, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remoteness: Option<u32>,
    /// The position after it.
    pub after: String,
}

/// `win`, `loss` or `unknown`.
pub fn outcome_name(outcome: Option<Value>) -> &'static str {
    outcome.map_or("unknown", Value::name)
}

/// `removal` or `jump`.
pub fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::FirstRemoval | Phase::SecondRemoval => "removal",
        Phase::Jumping => "jump",
    }
}

impl AnalysisJson {
    /// An analysis of a position of this board; nothing about a line or moves before it.
    pub fn new(board: &Board, analysis: &Analysis) -> Self {
        let (position, judgement) = (&analysis.position, analysis.judgement);
        AnalysisJson {
            board: board.dimensions().to_string(),
            position: format_position(board, position),
            to_move: position.to_move().name().to_owned(),
            phase: phase_name(position.phase(board)).to_owned(),
            outcome: outcome_name(analysis.outcome()).to_owned(),
            source: judgement.map(|judgement| judgement.source.name().to_owned()),
            remoteness: judgement.and_then(|judgement| judgement.remoteness),
            verdict: analysis.verdict(),
            complete: analysis.is_complete(),
            reason: analysis.reason,
            code: position.code(board).to_string(),
            moves: analysis.moves.iter().map(|judged| JudgedMoveJson::new(board, judged)).collect(),
            line: None,
            start: None,
            played: None,
        }
    }
}

impl JudgedMoveJson {
    fn new(board: &Board, judged: &JudgedMove) -> Self {
        let judgement = judged.judgement;
        JudgedMoveJson {
            mv: format_move(board.dimensions(), judged.mv),
            outcome: outcome_name(judged.outcome()).to_owned(),
            source: judgement.map(|judgement| judgement.source.name().to_owned()),
            replies: judged.replies,
            remoteness: judgement.and_then(|judgement| judgement.remoteness),
            after: format_position(board, &judged.after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyst;
    use crate::konane::Position;
    use crate::search::run::Limits;

    #[test]
    fn what_is_open_is_unknown_and_has_no_source() {
        let analyst = Analyst::new("8x8".parse().unwrap(), 1 << 20).unwrap();
        let start = Position::start(analyst.board());
        let open = analyst.look(&start).unwrap();
        let json = AnalysisJson::new(analyst.board(), &open);
        assert_eq!((json.outcome.as_str(), json.source, json.complete), ("unknown", None, false));
        assert!(json.moves.iter().all(|judged| judged.outcome == "unknown"));
        let mut analyst = Analyst::new("3x3".parse().unwrap(), 1 << 20).unwrap();
        let start = Position::start(analyst.board());
        let decided = analyst.analyse(&start, Limits::default(), &mut |_| {}).unwrap();
        let json = AnalysisJson::new(analyst.board(), &decided);
        assert_eq!((json.phase.as_str(), json.complete), ("removal", true));
        assert!(json.source.is_some() && json.moves.iter().all(|judged| judged.source.is_some()));
        let text = serde_json::to_string(&json).unwrap();
        assert!(!text.contains("null"), "{text}");
        assert_eq!(serde_json::from_str::<AnalysisJson>(&text).unwrap(), json);
    }
}
