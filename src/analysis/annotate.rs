//! Judgement of the moves of a recorded game: [`Analyst::annotate`], [`GameAnnotation`].

use serde::{Serialize, Serializer};

use super::{Analysis, AnalysisError, Analyst};
use crate::json::or_unknown;
use crate::konane::record::{Mark, Record, RecordedMove};
use crate::konane::{Colour, Dimensions, Move, Phase, Position};
use crate::search::Value;
use crate::search::run::{Limits, Reason};

/// Parts of the comment on a move. `BEFORE` and `AFTER` are always present. At most one other part follows.
const BEFORE: &str = "before: ";
const AFTER: &str = ", after: ";
const FORCED: &str = "; the only move";
const ONLY: &str = "; the only winning move";
const BETTER: &str = "; better: ";

/// The judged moves of a game.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(rename = "AnnotationJson"))]
pub struct GameAnnotation {
    /// Ranks x files.
    pub board: Dimensions,
    /// The first position of the game.
    pub position: Position,
    /// Phase of this position.
    pub phase: Phase,
    /// Name of the player of Black; null if the record does not contain it.
    pub black: Option<String>,
    /// Name of the player of White.
    pub white: Option<String>,
    /// The winner according to the record, or to the rules at its end.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Colour>"))]
    pub result: Option<Colour>,
    /// The moves.
    pub moves: Vec<AnnotatedMove>,
    /// Counts for each side.
    pub summary: AnnotationSummary,
    /// The limit that left moves undecided, or `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Counts for each side.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(rename = "SummaryJson"))]
pub struct AnnotationSummary {
    /// Black.
    pub black: SideSummary,
    /// White.
    pub white: SideSummary,
}

/// Counts of the moves of a side.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(rename = "SideJson"))]
pub struct SideSummary {
    /// Moves.
    pub moves: usize,
    /// Moves that gave a won game away.
    pub mistakes: usize,
    /// Moves that were the only legal move or the only winning one.
    pub only: usize,
    /// Moves whose value is unknown.
    pub unknown: usize,
}

/// A judged move.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(rename = "AnnotatedMoveJson"))]
pub struct AnnotatedMove {
    /// Number of the ply, from 1.
    pub ply: usize,
    /// The player who makes the move.
    pub side: Colour,
    /// The move.
    #[serde(rename = "move")]
    pub mv: Move,
    /// `?`, `!` or `~`; null for a move without a mark.
    #[serde(serialize_with = "as_symbol")]
    #[cfg_attr(feature = "json-schema", schemars(with = "Option<char>"))]
    pub mark: Option<Mark>,
    /// The winner of the position before the move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Colour>"))]
    pub before: Option<Colour>,
    /// The winner of the position after the move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Colour>"))]
    pub after: Option<Colour>,
    /// True if the move is the only legal one.
    #[serde(skip)]
    pub forced: bool,
    /// For a mistake: moves that would have won.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub better: Vec<Move>,
}

fn as_symbol<S: Serializer>(mark: &Option<Mark>, serializer: S) -> Result<S::Ok, S::Error> {
    mark.map(Mark::symbol).serialize(serializer)
}

impl AnnotatedMove {
    /// Judges a move of the analysed position, from the values of the positions before and after it,
    /// each for the side to move there.
    fn new(
        ply: usize,
        mv: Move,
        analysis: &Analysis,
        before: Option<Value>,
        after: Option<Value>,
    ) -> Self {
        let side = analysis.position.to_move();
        let made = after.map(|value| !value);
        let others = |outcome| {
            analysis
                .moves
                .iter()
                .filter(move |judged| judged.mv != mv && judged.outcome() == outcome)
        };
        let forced = analysis.moves.len() == 1;
        let only = made == Some(Value::Win)
            && others(Some(Value::Loss)).count() + 1 == analysis.moves.len();
        let mark = match (before, made) {
            (Some(Value::Win), Some(Value::Loss)) => Some(Mark::Mistake),
            (None, _) | (_, None) => Some(Mark::Unknown),
            _ if forced || only => Some(Mark::Only),
            _ => None,
        };
        let better = match mark {
            Some(Mark::Mistake) => others(Some(Value::Win)).map(|judged| judged.mv).collect(),
            _ => Vec::new(),
        };
        let winner = |outcome: Option<Value>| outcome.map(|outcome| side.winner(outcome));
        let (before, after) = (winner(before), winner(made));
        AnnotatedMove { ply, side, mv, mark, before, after, forced, better }
    }

    /// Returns the comment on the move.
    fn comment(&self) -> String {
        let AnnotatedMove { before, after, mark, forced, better, .. } = self;
        let mut text = format!("{BEFORE}{}{AFTER}{}", winner_text(*before), winner_text(*after));
        if *forced {
            text += FORCED;
        } else if *mark == Some(Mark::Only) {
            text += ONLY;
        }
        if !better.is_empty() {
            let better: Vec<String> = better.iter().map(|mv| mv.to_string()).collect();
            text += BETTER;
            text += &better.join(" ");
        }
        text
    }
}

impl Analyst {
    /// Judges the moves of a game. `limits` receives the number of moves before a position, and returns the limits of
    /// its search.
    ///
    /// # Errors
    /// As [`Analyst::analyse`].
    pub fn annotate<'a>(
        &mut self,
        record: &Record,
        mut limits: impl FnMut(usize) -> Limits<'a>,
    ) -> Result<GameAnnotation, AnalysisError> {
        let mut limit = None;
        let moves = annotate(record, |ply, position| {
            let limits = limits(ply);
            let analysis = if ply == record.moves.len() {
                // No move was played in the last position, so the values of its moves are not needed.
                self.solve(position, limits)?.0
            } else {
                self.analyse(position, limits, &mut |_| {})?
            };
            limit = limit.or(analysis.reason);
            Ok::<_, AnalysisError>(analysis)
        })?;
        let unknown = moves.iter().any(|judged| judged.mark == Some(Mark::Unknown));
        let [black, white] = [Colour::Black, Colour::White].map(|side| summary(&moves, side));
        Ok(GameAnnotation {
            board: record.dimensions,
            position: record.start,
            phase: record.start.phase(&record.board()),
            black: record.black.clone(),
            white: record.white.clone(),
            result: record.result,
            summary: AnnotationSummary { black, white },
            moves,
            reason: limit.filter(|_| unknown),
        })
    }
}

impl GameAnnotation {
    /// Enters the marks and comments into the record of the game. Mistakes and only moves get a comment, or all moves if
    /// `all` is true. Comments of an earlier annotation are replaced.
    pub fn enter(&self, record: &mut Record, all: bool) {
        for (recorded, judged) in record.moves.iter_mut().zip(&self.moves) {
            let RecordedMove { mark, comments, .. } = recorded;
            *mark = judged.mark;
            comments.retain(|comment| !is_judgement(comment));
            if all || matches!(judged.mark, Some(Mark::Mistake | Mark::Only)) {
                comments.push(judged.comment());
            }
        }
    }
}

fn summary(judged: &[AnnotatedMove], side: Colour) -> SideSummary {
    let count = |mark: Option<Mark>| {
        let theirs = judged.iter().filter(|judged| judged.side == side);
        theirs.filter(|judged| mark.is_none() || judged.mark == mark).count()
    };
    SideSummary {
        moves: count(None),
        mistakes: count(Some(Mark::Mistake)),
        only: count(Some(Mark::Only)),
        unknown: count(Some(Mark::Unknown)),
    }
}

fn winner_text(winner: Option<Colour>) -> String {
    match winner {
        Some(colour) => format!("{colour} wins"),
        None => "unknown".to_owned(),
    }
}

/// Returns true for a comment of an earlier run, which is replaced. Other comments are kept, even if they
/// begin in the same way.
fn is_judgement(comment: &str) -> bool {
    let winner = |text: &str| {
        let winners = [Some(Colour::Black), Some(Colour::White), None].map(winner_text);
        winners.iter().find_map(|winner| text.strip_prefix(winner.as_str()).map(str::to_owned))
    };
    let before = comment.strip_prefix(BEFORE).and_then(winner);
    let after = before.and_then(|rest| winner(rest.strip_prefix(AFTER)?));
    after.is_some_and(|rest| match rest.strip_prefix(BETTER) {
        // Every move contains the number of a rank.
        Some(moves) => moves.split(' ').all(|mv| mv.bytes().any(|byte| byte.is_ascii_digit())),
        None => ["", FORCED, ONLY].contains(&rest.as_str()),
    })
}

/// Judges the moves of a game. `analyse` is called once for each position, with the number of moves
/// before it, from the last position to the first: results near the end help the searches of earlier
/// positions.
///
/// # Errors
/// The first error of `analyse`.
fn annotate<E>(
    record: &Record,
    mut analyse: impl FnMut(usize, &Position) -> Result<Analysis, E>,
) -> Result<Vec<AnnotatedMove>, E> {
    let positions = record.positions();
    let analyses = positions.iter().enumerate().rev();
    let analyses = analyses.map(|(ply, position)| analyse(ply, position));
    let mut analyses = analyses.collect::<Result<Vec<_>, E>>()?;
    analyses.reverse();
    let values = values(record, &analyses);
    let moves = record.moves.iter().zip(&analyses).zip(values.windows(2));
    Ok(moves
        .zip(1..)
        .map(|(((recorded, analysis), values), ply)| {
            AnnotatedMove::new(ply, recorded.mv, analysis, values[0], values[1])
        })
        .collect())
}

/// The values of the positions of a game, each for the side to move. The value of a position follows from all
/// analyses: the analysis of a position also judges the position after the move that was played, and the value of
/// a position can determine the values of the positions before and after it.
fn values(record: &Record, analyses: &[Analysis]) -> Vec<Option<Value>> {
    let mut values: Vec<_> = analyses.iter().map(Analysis::outcome).collect();
    // A round that determines no further value is the last one.
    loop {
        let earlier = values.clone();
        for (ply, recorded) in record.moves.iter().enumerate() {
            let of_others = || analyses[ply].moves.iter().filter(|judged| judged.mv != recorded.mv);
            let do_others_lose = of_others().all(|judged| judged.outcome() == Some(Value::Loss));
            let played = analyses[ply].moves.iter().find(|judged| judged.mv == recorded.mv);
            let after = values[ply + 1]
                .or(played.and_then(|judged| judged.outcome()).map(|outcome| !outcome))
                .or(match values[ply] {
                    // Every move from a lost position loses; a won position has a winning move.
                    Some(Value::Loss) => Some(Value::Win),
                    Some(Value::Win) if do_others_lose => Some(Value::Loss),
                    _ => None,
                });
            values[ply + 1] = after;
            values[ply] = values[ply].or(match after {
                Some(Value::Loss) => Some(Value::Win),
                Some(Value::Win) if do_others_lose => Some(Value::Loss),
                _ => None,
            });
        }
        if values == earlier {
            return values;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    use super::super::{Judgement, ValueSource};
    use crate::konane::Board;

    /// A scripted analysis: the outcome of the position, and the outcomes of some of its moves, each for the player who
    /// makes the move. `*` stands for all moves except the one that is played in the game.
    type Scripted = (Option<Value>, &'static [(&'static str, Value)]);

    const WIN: Option<Value> = Some(Value::Win);
    const LOSS: Option<Value> = Some(Value::Loss);
    const UNKNOWN: Scripted = (None, &[]);

    /// The first four plies of a game on 5x5.
    const GAME: &str = "Board: 5x5\n\n1. c3 c4 2. c1-c3 a4-c4\n";

    fn scripted(
        board: &Board,
        position: &Position,
        played: Option<Move>,
        (outcome, moves): Scripted,
    ) -> Analysis {
        let judgement =
            |outcome| Judgement { outcome, source: ValueSource::Search, remoteness: None };
        let mut analysis = Analysis::new(board, position);
        analysis.judgement = outcome.map(judgement);
        for judged in &mut analysis.moves {
            let text = judged.mv.to_string();
            let is_meant = |name: &str| name == text || name == "*" && Some(judged.mv) != played;
            let outcome = moves.iter().find(|(name, _)| is_meant(name)).map(|&(_, value)| value);
            judged.judgement = outcome.map(judgement);
        }
        analysis
    }

    /// For each move of the game, the winner before the move, the mark, and the winner after the move, from scripted
    /// analyses of the positions.
    fn judged(script: [Scripted; 5]) -> Vec<String> {
        let record: Record = GAME.parse().unwrap();
        let board = Board::new(record.dimensions);
        let mut calls = Vec::new();
        let judged = annotate(&record, |ply, position| {
            calls.push(ply);
            let played = record.moves.get(ply).map(|recorded| recorded.mv);
            Ok::<_, Infallible>(scripted(&board, position, played, script[ply]))
        });
        assert_eq!(calls, [4, 3, 2, 1, 0]);
        let judged = judged.unwrap();
        for pair in judged.windows(2) {
            assert_eq!(pair[0].after, pair[1].before, "one value for each position");
        }
        let name = |winner: Option<Colour>| winner.map_or("unknown", Colour::name);
        let texts = judged.iter().map(|judged| {
            let mark = judged.mark.map_or(' ', Mark::symbol);
            format!("{} {mark} {}", name(judged.before), name(judged.after))
        });
        texts.collect()
    }

    #[test]
    fn the_value_after_a_move_comes_from_the_analysis_before_or_after_it() {
        // c1-c3 wins. So the position before it is won for Black, and White's reply a4-c4 loses, as every move of a
        // lost position does.
        let expected = ["unknown ~ unknown", "unknown ~ black", "black   black", "black   black"];
        // The value of the position after ply 3 comes from the analysis before that ply, or from the one after it.
        let before = [UNKNOWN, UNKNOWN, (None, &[("c1-c3", Value::Win)][..]), UNKNOWN, UNKNOWN];
        let after = [UNKNOWN, UNKNOWN, UNKNOWN, (LOSS, &[][..]), UNKNOWN];
        assert_eq!(judged(before), expected);
        assert_eq!(judged(after), expected);
    }

    #[test]
    fn a_mistake_is_found_from_the_analyses_on_both_sides() {
        // By the analysis before c4, c4 loses. By the analysis before c3, c3 loses, so the position before c4 is won.
        let script = [
            (None, &[("c3", Value::Loss)][..]),
            (None, &[("c4", Value::Loss), ("b3", Value::Win)][..]),
            UNKNOWN,
            UNKNOWN,
            UNKNOWN,
        ];
        assert_eq!(judged(script)[..2], ["unknown ~ white", "white ? black"]);
    }

    #[test]
    fn values_are_carried_over_several_plies() {
        // The last position is lost for Black, and Black's other moves lose as well.
        let others_lose: Scripted = (None, &[("*", Value::Loss)]);
        let script = [others_lose, UNKNOWN, others_lose, UNKNOWN, (LOSS, &[][..])];
        assert_eq!(judged(script), ["white   white"; 4]);
        // The first position is won for Black, whose other moves lose.
        let script = [(WIN, &[("*", Value::Loss)][..]), UNKNOWN, others_lose, UNKNOWN, UNKNOWN];
        assert_eq!(
            judged(script),
            ["black ! black", "black   black", "black ! black", "black   black"]
        );
    }

    #[test]
    fn a_position_without_a_value_stays_unknown() {
        assert_eq!(judged([UNKNOWN; 5]), ["unknown ~ unknown"; 4]);
        // A won position does not decide a move that is not its only one.
        let script = [UNKNOWN, UNKNOWN, (WIN, &[][..]), UNKNOWN, UNKNOWN];
        let expected = ["unknown ~ unknown", "unknown ~ black", "black ~ unknown"];
        assert_eq!(judged(script)[..3], expected);
    }
}
