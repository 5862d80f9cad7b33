//! Values of a position and its moves, as results: an [`Analysis`] has [`JudgedMove`]s, and a [`Judgement`] is a value
//! with its [`ValueSource`].

use serde::{Serialize, Serializer};

use crate::cgt::OutcomeClass;
use crate::json::{as_text, or_unknown};
use crate::konane::{Board, Colour, Dimensions, Move, Phase, Position};
use crate::search::Value;
use crate::search::run::Reason;
use crate::tablebase::values::remoteness::remoteness;

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub enum ValueSource {
    /// There is no move.
    Rules,
    /// A database.
    Database,
    /// A proof file.
    Proof,
    /// A search.
    Search,
}

impl ValueSource {
    /// `rules`, `database`, `proof` or `search`.
    pub const fn name(self) -> &'static str {
        match self {
            ValueSource::Rules => "rules",
            ValueSource::Database => "database",
            ValueSource::Proof => "proof",
            ValueSource::Search => "search",
        }
    }
}

/// A proven value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Outcome of a position for the player to move, or of a move for the player who makes it.
    pub outcome: Value,
    /// Origin of the value.
    pub source: ValueSource,
    /// Plies to the end of the game with best play, if known. That of a move counts the move.
    pub remoteness: Option<u32>,
}

/// The fields of a serialised judgement. Without a judgement, the only field is the outcome `unknown`.
#[derive(Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub struct JudgementFields {
    /// Outcome of a position for the player to move, or of a move for the player who makes it.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Value>"))]
    outcome: Option<Value>,
    /// Origin of the value. Absent if the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<ValueSource>,
    /// Plies to the end of the game with best play. That of a move counts the move. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    remoteness: Option<u32>,
}

impl JudgementFields {
    /// Serialises a judgement. For `#[serde(serialize_with)]`.
    pub fn serialize<S: Serializer>(
        judgement: &Option<Judgement>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let fields = JudgementFields {
            outcome: judgement.map(|judgement| judgement.outcome),
            source: judgement.map(|judgement| judgement.source),
            remoteness: judgement.and_then(|judgement| judgement.remoteness),
        };
        Serialize::serialize(&fields, serializer)
    }
}

/// A move and its value, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct JudgedMove {
    /// The move.
    #[serde(rename = "move")]
    pub mv: Move,
    /// The value of the move; `None` while it is unknown.
    #[serde(flatten, serialize_with = "JudgementFields::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "JudgementFields"))]
    pub judgement: Option<Judgement>,
    /// Number of moves that the opponent has after the move.
    pub replies: u32,
    /// The position after the move.
    pub after: Position,
}

impl JudgedMove {
    /// The outcome of the move for the player who makes it, if it is proven.
    pub fn outcome(&self) -> Option<Value> {
        self.judgement.map(|judgement| judgement.outcome)
    }
}

/// A position and its moves, as far as their values are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Analysis {
    /// Ranks x files.
    pub board: Dimensions,
    /// The position.
    pub position: Position,
    /// The player to move.
    pub to_move: Colour,
    /// Kind of the moves: `removal` if a move removes a stone, else `jump`.
    pub phase: Phase,
    /// The value of the position; `None` while it is unknown.
    #[serde(flatten, serialize_with = "JudgementFields::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "JudgementFields"))]
    pub judgement: Option<Judgement>,
    /// The player who wins.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Colour>"))]
    pub winner: Option<Colour>,
    /// Outcome class: L (Black wins), R (White wins), N (the next player wins) or P (the previous player wins). Absent
    /// unless a database has the values of the position with both sides to move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<OutcomeClass>,
    /// The result in a sentence.
    pub verdict: String,
    /// True if the values of the position and of every move are known.
    pub complete: bool,
    /// Reason for an unknown value. Absent if all values are known or no limit was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The canonical code as decimal text, since it has 64 bits. Positions of a board and a `phase`
    /// have the same code if a symmetry maps one to the other.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub code: u64,
    /// All moves: winning ones first, the quickest at the head, and the one with the fewest replies where the
    /// remoteness is equal or unknown; then losing ones, the greatest remoteness at the head if it is known for each of
    /// them, otherwise the one with the fewest winning replies; then those with unknown outcome.
    pub moves: Vec<JudgedMove>,
}

impl Analysis {
    /// A position and its moves with unknown values.
    pub fn new(board: &Board, position: &Position) -> Self {
        let judged = |mv| {
            let after = position.play(board, mv);
            JudgedMove { mv, after, replies: after.count_moves(board), judgement: None }
        };
        let moves = position.moves(board).into_iter().map(judged).collect();
        Analysis {
            board: board.dimensions(),
            position: *position,
            to_move: position.to_move(),
            phase: position.phase(board),
            judgement: None,
            winner: None,
            class: None,
            verdict: String::new(),
            complete: false,
            reason: None,
            code: position.code(board),
            moves,
        }
    }

    /// The outcome for the side to move, if it is proven.
    pub fn outcome(&self) -> Option<Value> {
        self.judgement.map(|judgement| judgement.outcome)
    }

    /// Number of moves with this outcome for the side to move. `None` stands for an unknown outcome.
    pub fn count(&self, outcome: Option<Value>) -> usize {
        self.moves.iter().filter(|judged| judged.outcome() == outcome).count()
    }

    /// Returns true if the values of the position and of every move are known.
    pub fn is_complete(&self) -> bool {
        self.judgement.is_some() && self.count(None) == 0
    }

    /// Derives the value of the position from its moves: the position is won if one move wins, and lost if all moves
    /// lose. Also derives the remoteness, even if the outcome was known before.
    pub(super) fn conclude(&mut self) {
        if self.judgement.is_none() {
            let judgements = || self.moves.iter().filter_map(|judged| judged.judgement);
            let won = judgements().find(|judgement| judgement.outcome == Value::Win);
            let lost = (self.count(None) == 0).then(|| judgements().next()).flatten();
            self.judgement = won.or(lost).map(|judgement| {
                let source = judgement.source;
                let source =
                    if source == ValueSource::Rules { ValueSource::Search } else { source };
                Judgement { source, remoteness: None, ..judgement }
            });
        }
        let plies = self.plies();
        if let Some(judgement) = &mut self.judgement {
            judgement.remoteness = judgement.remoteness.or(plies);
        }
    }

    /// The remoteness of the position, if it follows from the moves.
    fn plies(&self) -> Option<u32> {
        let moves = self.moves.iter().map(|judged| judged.judgement?.remoteness);
        // A move that ends the game is the quickest one. Otherwise the remoteness of all moves is needed.
        if moves.clone().any(|plies| plies == Some(1)) {
            return Some(1);
        }
        Some(remoteness(moves.collect::<Option<Vec<_>>>()?))
    }

    /// Sorts the moves and sets the winner, the verdict and `complete`, which follow from the
    /// judgements.
    pub(super) fn finish(&mut self) {
        self.moves.sort_by_key(|judged| match judged.judgement {
            Some(Judgement { outcome: Value::Win, remoteness, .. }) => {
                (0, remoteness.unwrap_or(u32::MAX), judged.replies)
            }
            Some(Judgement { outcome: Value::Loss, remoteness, .. }) => {
                (1, !remoteness.unwrap_or(0), 0)
            }
            None => (2, 0, 0),
        });
        let to_move = self.to_move;
        self.winner = self.outcome().map(|value| to_move.winner(value));
        self.complete = self.is_complete();
        self.verdict = self.sentence();
    }

    /// The verdict in one or two sentences.
    fn sentence(&self) -> String {
        let (side, other) = (self.position.to_move(), !self.position.to_move());
        let of = |count: usize, verb: &str| match (count, self.moves.len()) {
            (1, 1) => format!("the only move {verb}s"),
            (n, all) if n == all => format!("all {all} moves {verb}"),
            (1, all) => format!("1 of {all} moves {verb}s"),
            (n, all) => format!("{n} of {all} moves {verb}"),
        };
        let (wins, losses) = (self.count(Some(Value::Win)), self.count(Some(Value::Loss)));
        let open = match self.count(None) {
            0 => String::new(),
            1 => ", 1 is not decided yet".to_owned(),
            open => format!(", {open} are not decided yet"),
        };
        let plies = |judgement: Judgement| match judgement.remoteness {
            Some(1) => " in 1 ply".to_owned(),
            Some(plies) => format!(" in {plies} plies"),
            None => String::new(),
        };
        match self.judgement {
            Some(_) if self.moves.is_empty() => format!("{side} cannot move. {other} has won."),
            Some(judgement) if judgement.outcome == Value::Win => {
                let moves = match wins {
                    0 => "it is not known yet by which move".to_owned(),
                    _ => of(wins, "win") + &open,
                };
                format!("{side} wins{}: {moves}.", plies(judgement))
            }
            Some(judgement) => {
                format!("{side} loses{}: {}.", plies(judgement), of(self.moves.len(), "lose"))
            }
            None if losses == 0 => match self.moves.len() {
                1 => "Not decided yet: 1 move to look at.".to_owned(),
                count => format!("Not decided yet: {count} moves to look at."),
            },
            None => format!("Not decided yet: {}{open}.", of(losses, "lose")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::notation::parse_position;

    /// An analysis of a position whose moves are given these outcomes. The outcomes need not be true.
    fn analysis(board: &str, text: &str, outcomes: &[Option<Value>]) -> Analysis {
        let board = Board::new(board.parse().unwrap());
        let position = parse_position(&board, text).unwrap();
        let mut analysis = Analysis::new(&board, &position);
        assert_eq!(analysis.moves.len(), outcomes.len(), "{text}");
        for (judged, outcome) in analysis.moves.iter_mut().zip(outcomes) {
            judged.judgement = outcome.map(|outcome| Judgement {
                outcome,
                source: ValueSource::Search,
                remoteness: None,
            });
        }
        analysis.conclude();
        analysis.finish();
        analysis
    }

    const START: &str = "xoxo/oxox/xoxo/oxox b";

    #[test]
    fn unknown_moves_are_not_counted_as_lost() {
        let lost = Some(Value::Loss);
        let four = analysis("4x4", START, &[lost, None, lost, None]);
        assert_eq!(four.outcome(), None);
        assert_eq!(four.verdict, "Not decided yet: 2 of 4 moves lose, 2 are not decided yet.");
        let open: Vec<_> = four.moves.iter().map(|judged| judged.outcome()).collect();
        assert_eq!(open, [lost, lost, None, None]);
        let four = analysis("4x4", START, &[None; 4]);
        assert_eq!(four.verdict, "Not decided yet: 4 moves to look at.");
        let one = analysis("1x5", "xo3 b", &[None]);
        assert_eq!(one.verdict, "Not decided yet: 1 move to look at.");
    }

    #[test]
    fn one_winning_move_wins_and_all_losing_moves_lose() {
        let (won, lost) = (Some(Value::Win), Some(Value::Loss));
        let four = analysis("4x4", START, &[lost, won, None, None]);
        assert_eq!(four.outcome(), won);
        assert!(!four.is_complete());
        assert_eq!(four.verdict, "Black wins: 1 of 4 moves wins, 2 are not decided yet.");
        assert_eq!(four.moves[0].outcome(), won);
        let four = analysis("4x4", START, &[lost; 4]);
        assert_eq!(four.outcome(), lost);
        assert!(four.is_complete());
        assert_eq!(four.verdict, "Black loses: all 4 moves lose.");
    }
}
