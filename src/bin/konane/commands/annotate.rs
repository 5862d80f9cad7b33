//! `konane annotate`: a game record with every move judged.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::OutputArgs;
use crate::args::analyst::AnalystArgs;
use crate::exit::{CliError, Exit};
use crate::output::{self, EndedJson};
use crate::progress::Progress;
use crate::repl::game::RecordArgs;
use konane::analysis::{Analysis, Analyst};
use konane::json::{OrUnknown, or_unknown};
use konane::record::{Mark, Record, RecordedMove};
use konane::search::Value;
use konane::search::run::{Limits, Reason};
use konane::system::parse_duration;
use konane::{Colour, Dimensions, Move, Phase, Position};

/// How the comment of a judged move begins.
const BEFORE: &str = "before: ";
/// How it goes on.
const AFTER: &str = ", after: ";
/// What may follow.
const FORCED: &str = "; the only move";
const ONLY: &str = "; the only winning move";
const BETTER: &str = "; better: ";

/// `konane annotate`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Prints the record with a mark and a comment behind every move, and a summary as remarks:\n",
    "  ?  gives a won game away\n",
    "  !  the only legal move, or the only one that wins\n",
    "  ~  not decided within --time, before the move or after it\n",
    "The exit code is 3 if a move stays undecided.\n\n",
    "Examples:\n",
    "  konane annotate game.txt > judged.txt\n",
    "  konane annotate game.txt --db db --json\n",
    "  konane annotate - < game.txt\n"
))]
pub struct AnnotateArgs {
    /// The game record, as `play` and `analyse` save it; - for standard input.
    #[arg(value_name = "GAME")]
    pub game: PathBuf,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub analyst: AnalystArgs,
    /// Time to search each position of the game, such as 500ms or 10s.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration,
          allow_hyphen_values = true)]
    pub time: Duration,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The JSON of `annotate`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnnotationJson {
    /// Ranks x files.
    pub board: Dimensions,
    /// The position in which the game begins.
    pub position: Position,
    /// Kind of its moves.
    pub phase: Phase,
    /// Name of the player of Black; null if the record does not have it.
    pub black: Option<String>,
    /// Name of the player of White.
    pub white: Option<String>,
    /// The winner by the record, or by the rules at its end.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[schemars(with = "OrUnknown<Colour>")]
    pub result: Option<Colour>,
    /// The moves.
    pub moves: Vec<AnnotatedMoveJson>,
    /// Counts for each side.
    pub summary: SummaryJson,
    /// The limit that left moves undecided, or `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// A judged move.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnnotatedMoveJson {
    /// Number of the ply, from 1.
    pub ply: usize,
    /// The player who makes the move.
    pub side: Colour,
    /// The move.
    #[serde(rename = "move")]
    pub mv: Move,
    /// `?`, `!` or `~`; null for a move without a remark.
    pub mark: Option<char>,
    /// The winner of the position before it.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[schemars(with = "OrUnknown<Colour>")]
    pub before: Option<Colour>,
    /// The winner of the position after it.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[schemars(with = "OrUnknown<Colour>")]
    pub after: Option<Colour>,
    /// For a mistake: moves that would have won.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub better: Vec<Move>,
}

/// Counts for each side.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SummaryJson {
    /// Black.
    pub black: SideJson,
    /// White.
    pub white: SideJson,
}

/// Counts of the moves of a side.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct SideJson {
    /// Moves.
    pub moves: usize,
    /// Moves that gave a won game away.
    pub mistakes: usize,
    /// Moves that were the only ones, legal or winning.
    pub only: usize,
    /// Moves whose value is unknown.
    pub unknown: usize,
}

/// Judges and prints.
pub fn run(args: &AnnotateArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let record = match args.game.as_os_str() == "-" {
        false => args.record.read(&args.game)?,
        true => match args.record.read_stdin(stop)? {
            Some(record) => record,
            None => {
                let ended = Err(CliError::Interrupted);
                return output::ended(args.output.json, ended, EndedJson::new);
            }
        },
    };
    let mut analyst = args.analyst.open(&record.board())?;
    if !args.output.quiet {
        output::note_unchecked(&args.analyst.proof);
    }
    let progress = Progress::new(args.output.quiet);
    let all = record.moves.len() + 1;
    let mut limit = None;
    let judged = judge(&record, |ply, position| {
        progress.update(|_| format!("{} of {all} positions judged", all - 1 - ply));
        let deadline = Instant::now().checked_add(args.time);
        let limits = Limits { deadline, stop: Some(stop), ..Limits::default() };
        match record.moves.get(ply) {
            // No move of the last position was played, so its moves are not judged.
            None => last(&mut analyst, position, limits),
            Some(_) => {
                let analysis = analyst.analyse(position, limits, &mut |_| {})?;
                limit = limit.or(analysis.reason);
                Ok(analysis)
            }
        }
    })?;
    drop(progress);
    let summary =
        SummaryJson { black: side(&judged, Colour::Black), white: side(&judged, Colour::White) };
    let unknown = judged.iter().any(|judged| judged.mark == Some(Mark::Unknown));
    let reason = match stop.load(Ordering::Relaxed) {
        true => Some(Reason::Interrupted),
        // The position after the last move is judged without a reason.
        false if unknown => Some(limit.unwrap_or(Reason::TimeLimit)),
        false => None,
    };
    if args.output.json {
        output::write_json(&object(&record, &judged, summary, reason))?;
    } else {
        output::write_text(text(record, &judged, &summary))?;
    }
    Ok(reason.into())
}

/// Judges a position without its moves.
fn last(
    analyst: &mut Analyst,
    position: &Position,
    limits: Limits<'_>,
) -> Result<Analysis, CliError> {
    analyst.choose(position, limits)?;
    Ok(analyst.lookup_moves(position)?)
}

/// Judges the moves of a game. `analyse` is called once for each position, with the number of moves
/// before it, from the last position to the first: results near the end help the searches of earlier
/// positions.
fn judge<E>(
    record: &Record,
    mut analyse: impl FnMut(usize, &Position) -> Result<Analysis, E>,
) -> Result<Vec<Judged>, E> {
    let positions = record.positions();
    let analyses = positions.iter().enumerate().rev();
    let analyses = analyses.map(|(ply, position)| analyse(ply, position));
    let mut analyses = analyses.collect::<Result<Vec<_>, E>>()?;
    analyses.reverse();
    let values = values(record, &analyses);
    let moves = record.moves.iter().zip(&analyses).zip(values.windows(2));
    Ok(moves
        .map(|((recorded, analysis), values)| {
            Judged::new(recorded.mv, analysis, values[0], values[1])
        })
        .collect())
}

/// The values of the positions of a game, for the side to move in each: one value for each position,
/// from all that the analyses contain about it. An analysis also judges the position after the move
/// that was played, and the value of a position can decide the positions before and after it.
fn values(record: &Record, analyses: &[Analysis]) -> Vec<Option<Value>> {
    let mut values: Vec<_> = analyses.iter().map(Analysis::outcome).collect();
    // Each round decides another position or is the last one.
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

/// A move and what can be said about it.
struct Judged {
    mv: Move,
    side: Colour,
    /// Who wins before and after it.
    before: Option<Colour>,
    after: Option<Colour>,
    mark: Option<Mark>,
    /// It was the only legal move.
    forced: bool,
    /// Of a mistake: moves that would have won.
    better: Vec<Move>,
}

impl Judged {
    /// Judges a move of the analysed position, from the values of the positions before and after it,
    /// each for the side to move there.
    fn new(mv: Move, analysis: &Analysis, before: Option<Value>, after: Option<Value>) -> Self {
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
        let winner = |outcome: Value| if outcome == Value::Win { side } else { !side };
        let (before, after) = (before.map(winner), made.map(winner));
        Judged { mv, side, before, after, mark, forced, better }
    }

    /// What stands behind the move.
    fn comment(&self) -> String {
        let mut text =
            format!("{BEFORE}{}{AFTER}{}", winner_text(self.before), winner_text(self.after));
        if self.forced {
            text += FORCED;
        } else if self.mark == Some(Mark::Only) {
            text += ONLY;
        }
        if !self.better.is_empty() {
            let better = self.better.iter().map(|mv| mv.to_string());
            text += BETTER;
            text += &better.collect::<Vec<_>>().join(" ");
        }
        text
    }
}

fn winner_text(winner: Option<Colour>) -> String {
    match winner {
        Some(colour) => format!("{colour} wins"),
        None => "unknown".to_owned(),
    }
}

/// Whether a comment is that of an earlier run, which is replaced. What somebody else has written
/// stays, even if it begins like one.
fn is_judgement(comment: &str) -> bool {
    let winner = |text: &str| {
        let winners = [Some(Colour::Black), Some(Colour::White), None].map(winner_text);
        winners.iter().find_map(|winner| text.strip_prefix(winner.as_str()).map(str::to_owned))
    };
    let before = comment.strip_prefix(BEFORE).and_then(winner);
    let after = before.and_then(|rest| winner(rest.strip_prefix(AFTER)?));
    after.is_some_and(|rest| match rest.strip_prefix(BETTER) {
        // Every move has the number of a rank.
        Some(moves) => moves.split(' ').all(|mv| mv.bytes().any(|byte| byte.is_ascii_digit())),
        None => ["", FORCED, ONLY].contains(&rest.as_str()),
    })
}

fn side(judged: &[Judged], side: Colour) -> SideJson {
    let count = |mark: Option<Mark>| {
        let theirs = judged.iter().filter(|judged| judged.side == side);
        theirs.filter(|judged| mark.is_none() || judged.mark == mark).count()
    };
    SideJson {
        moves: count(None),
        mistakes: count(Some(Mark::Mistake)),
        only: count(Some(Mark::Only)),
        unknown: count(Some(Mark::Unknown)),
    }
}

fn object(
    record: &Record,
    judged: &[Judged],
    summary: SummaryJson,
    reason: Option<Reason>,
) -> AnnotationJson {
    let moves = judged.iter().enumerate().map(|(index, judged)| AnnotatedMoveJson {
        ply: index + 1,
        side: judged.side,
        mv: judged.mv,
        mark: judged.mark.map(Mark::symbol),
        before: judged.before,
        after: judged.after,
        better: judged.better.clone(),
    });
    AnnotationJson {
        board: record.dimensions,
        position: record.start,
        phase: record.start.phase(&record.board()),
        black: record.black.clone(),
        white: record.white.clone(),
        result: record.result,
        moves: moves.collect(),
        summary,
        reason,
    }
}

/// The record with marks and comments, and the summary as remarks.
fn text(mut record: Record, judged: &[Judged], summary: &SummaryJson) -> String {
    let comments: Vec<String> = judged.iter().map(Judged::comment).collect();
    for ((recorded, judged), comment) in record.moves.iter_mut().zip(judged).zip(comments) {
        let RecordedMove { mark, comments, .. } = recorded;
        *mark = judged.mark;
        comments.retain(|comment| !is_judgement(comment));
        comments.push(comment);
    }
    let mut text = record.to_string();
    text.push('\n');
    for (colour, side) in [(Colour::Black, &summary.black), (Colour::White, &summary.white)] {
        let SideJson { moves, mistakes, only, unknown } = side;
        text += &format!(
            "# {colour}: moves {moves}, gave a won game away (?) {mistakes}, only moves (!) {only}, \
             not decided (~) {unknown}\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use konane::Board;
    use konane::analysis::{Judgement, ValueSource};

    /// An analysis in a script: the outcome of the position, and those of moves for the player who
    /// makes them. `*` stands for all moves other than the one that is played.
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

    /// Winner before each move, mark, and winner after it, from scripted analyses of the positions.
    fn judged(script: [Scripted; 5]) -> Vec<String> {
        let record: Record = GAME.parse().unwrap();
        let board = Board::new(record.dimensions);
        let mut calls = Vec::new();
        let judged = judge(&record, |ply, position| {
            calls.push(ply);
            let played = record.moves.get(ply).map(|recorded| recorded.mv);
            Ok::<_, CliError>(scripted(&board, position, played, script[ply]))
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
    fn a_value_found_on_one_side_of_a_move_holds_on_the_other() {
        // A winning move wins, and from a lost position every move loses.
        let expected = ["unknown ~ unknown", "unknown ~ black", "black   black", "black   black"];
        // The value of the position after ply 3, from the analysis before that ply, and after it.
        let before = [UNKNOWN, UNKNOWN, (None, &[("c1-c3", Value::Win)][..]), UNKNOWN, UNKNOWN];
        let after = [UNKNOWN, UNKNOWN, UNKNOWN, (LOSS, &[][..]), UNKNOWN];
        assert_eq!(judged(before), expected);
        assert_eq!(judged(after), expected);
    }

    #[test]
    fn a_mistake_is_found_from_the_analyses_on_both_sides() {
        // The move loses by the analysis before it, the position is won by that of the move before.
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
