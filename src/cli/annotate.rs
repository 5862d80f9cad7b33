//! `konane annotate`: a game record with every move judged.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::analyst::AnalystArgs;
use super::exit::{CliError, Exit};
use super::flags::OutputArgs;
use super::game::{read_record, read_record_of_stdin};
use super::output::{self, EndedJson};
use super::progress::Progress;
use crate::analysis::{Analysis, Analyst};
use crate::konane::record::{Mark, Record, RecordedMove};
use crate::konane::{Colour, Move, Position};
use crate::search::Value;
use crate::search::run::{Limits, Reason};
use crate::system::parse_duration;

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
    pub board: String,
    /// The position in which the game begins.
    pub position: String,
    /// Who plays Black; null if the record does not say it.
    pub black: Option<String>,
    /// Who plays White.
    pub white: Option<String>,
    /// `black`, `white` or `unknown`: the result of the record, or of the rules at its end.
    pub result: String,
    /// The moves.
    pub moves: Vec<AnnotatedMoveJson>,
    /// What each side has done.
    pub summary: SummaryJson,
    /// The limit that left moves undecided, or `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// A judged move.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnnotatedMoveJson {
    /// Counted from 1, from the beginning of the record.
    pub ply: usize,
    /// `black` or `white`.
    pub side: String,
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// `?`, `!` or `~`; null for a move of which there is nothing to say.
    pub mark: Option<char>,
    /// Who wins before it: `black`, `white` or `unknown`.
    pub before: String,
    /// Who wins after it.
    pub after: String,
    /// Of a mistake: moves that would have won.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub better: Vec<String>,
}

/// What each side has done.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SummaryJson {
    /// Black.
    pub black: SideJson,
    /// White.
    pub white: SideJson,
}

/// What a side has done.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct SideJson {
    /// Moves.
    pub moves: usize,
    /// Moves that gave a won game away.
    pub mistakes: usize,
    /// Moves that were the only ones, legal or winning.
    pub only: usize,
    /// Moves that are not decided.
    pub unknown: usize,
}

/// Judges and prints.
pub fn run(args: &AnnotateArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let record = match args.game.as_os_str() == "-" {
        false => read_record(&args.game)?,
        true => match read_record_of_stdin(stop)? {
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
    let positions = record.positions();
    let progress = Progress::new(args.output.quiet);
    let mut analyses = Vec::new();
    // From the end: what is found there helps with what comes before it.
    for (index, position) in positions.iter().enumerate().rev() {
        if let Some(seconds) = progress.due() {
            let (done, all) = (analyses.len(), positions.len());
            progress.show(seconds, format!("{done} of {all} positions judged"));
        }
        let deadline = Instant::now().checked_add(args.time);
        let limits = Limits { deadline, stop: Some(stop), ..Limits::default() };
        // The last one's moves were not played.
        let analysis = match record.moves.get(index) {
            None => last(&mut analyst, position, limits)?,
            Some(_) => analyst.analyse(position, limits, &mut |_| {})?,
        };
        analyses.push(analysis);
    }
    drop(progress);
    analyses.reverse();
    let judged: Vec<Judged> = record
        .moves
        .iter()
        .zip(analyses.windows(2))
        .map(|(recorded, pair)| Judged::new(recorded.mv, &pair[0], &pair[1]))
        .collect();
    let summary =
        SummaryJson { black: side(&judged, Colour::Black), white: side(&judged, Colour::White) };
    let unknown = judged.iter().any(|judged| judged.mark == Some(Mark::Unknown));
    let reason = match stop.load(Ordering::Relaxed) {
        true => Some(Reason::Interrupted),
        // The position after the last move is judged without a reason.
        false if unknown => {
            let reason = analyses.iter().find_map(|analysis| analysis.reason);
            Some(reason.unwrap_or(Reason::TimeLimit))
        }
        false => None,
    };
    if args.output.json {
        output::write_json(&object(&record, &judged, summary, reason))?;
    } else {
        output::write_text(&text(record, &judged, &summary))?;
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
    Ok(analyst.look(position)?)
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
    fn new(mv: Move, before: &Analysis, after: &Analysis) -> Self {
        let side = before.position.to_move();
        let made = before.moves.iter().find(|judged| judged.mv == mv);
        // Two sources: the value of the move, and what was found out from the next position.
        let made = made.and_then(|judged| judged.outcome());
        let made = made.or(after.outcome().map(|outcome| !outcome));
        // A winning move wins, even if the position was not decided in time.
        let outcome = before.outcome().or(made.filter(|&made| made == Value::Win));
        let winner = |outcome: Value| if outcome == Value::Win { side } else { !side };
        let winning = before.count(Some(Value::Win));
        let others =
            |outcome| before.moves.iter().filter(move |j| j.mv != mv && j.outcome() == outcome);
        let forced = before.moves.len() == 1;
        let only =
            made == Some(Value::Win) && others(Some(Value::Loss)).count() + 1 == before.moves.len();
        let mark = match (outcome, made) {
            (Some(Value::Win), Some(Value::Loss)) => Some(Mark::Mistake),
            (None, _) | (_, None) => Some(Mark::Unknown),
            _ if forced || only => Some(Mark::Only),
            _ => None,
        };
        let better = match mark {
            Some(Mark::Mistake) if winning > 0 => {
                others(Some(Value::Win)).map(|judged| judged.mv).collect()
            }
            _ => Vec::new(),
        };
        let (before, after) = (outcome.map(winner), made.map(winner));
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
    let name = |winner: Option<Colour>| winner.map_or("unknown", Colour::name).to_owned();
    let moves = judged.iter().enumerate().map(|(index, judged)| AnnotatedMoveJson {
        ply: index + 1,
        side: judged.side.name().to_owned(),
        mv: judged.mv.to_string(),
        mark: judged.mark.map(Mark::symbol),
        before: name(judged.before),
        after: name(judged.after),
        better: judged.better.iter().map(Move::to_string).collect(),
    });
    AnnotationJson {
        board: record.dimensions.to_string(),
        position: record.start.to_string(),
        black: record.black.clone(),
        white: record.white.clone(),
        result: name(record.result),
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
