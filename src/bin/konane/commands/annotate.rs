//! `konane annotate`: judges every move of a game record.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use crate::args::OutputArgs;
use crate::args::analyst::AnalystArgs;
use crate::exit::{CliError, Exit};
use crate::output::{self, EndedJson};
use crate::progress::ProgressDisplay;
use crate::repl::game::RecordArgs;
use konane::analysis::{AnalysisError, Analyst, AnnotatedMove, annotate};
use konane::json::or_unknown;
use konane::record::{Mark, Record, RecordedMove};
use konane::search::run::{Limits, Reason};
use konane::system::parse_duration;
use konane::{Colour, Dimensions, Phase, Position};

/// Parts of the comment on a move. `BEFORE` and `AFTER` are always present. At most one other part follows.
const BEFORE: &str = "before: ";
const AFTER: &str = ", after: ";
const FORCED: &str = "; the only move";
const ONLY: &str = "; the only winning move";
const BETTER: &str = "; better: ";

/// `konane annotate`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Prints the record with marks after its moves, comments on those with ? and !, and a summary as remarks:\n",
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
    /// The game record, as saved by `play` and `analyse`; - for standard input.
    #[arg(value_name = "GAME")]
    pub game: PathBuf,
    /// Board of a record without the header Board: ranks x files, such as 6x6.
    #[arg(long, value_name = "RxF")]
    pub board: Option<Dimensions>,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub analyst: AnalystArgs,
    /// Search time for each position of the game, such as 500ms or 10s.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration,
          allow_hyphen_values = true)]
    pub time: Duration,
    /// Comment on every move, not only on mistakes and only moves.
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The JSON of `annotate`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnnotationJson {
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
    #[cfg_attr(test, schemars(with = "konane::json::OrUnknown<Colour>"))]
    pub result: Option<Colour>,
    /// The moves.
    pub moves: Vec<AnnotatedMove>,
    /// Counts for each side.
    pub summary: SummaryJson,
    /// The limit that left moves undecided, or `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Counts for each side.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummaryJson {
    /// Black.
    pub black: SideJson,
    /// White.
    pub white: SideJson,
}

/// Counts of the moves of a side.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SideJson {
    /// Moves.
    pub moves: usize,
    /// Moves that gave a won game away.
    pub mistakes: usize,
    /// Moves that were the only legal move or the only winning one.
    pub only: usize,
    /// Moves whose value is unknown.
    pub unknown: usize,
}

/// Judges and prints.
pub fn run(args: &AnnotateArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let record = match args.game.as_os_str() == "-" {
        false => args.record.read(&args.game, args.board)?,
        true => match args.record.read_stdin(args.board, stop)? {
            Some(record) => record,
            None => {
                let ended = Err(CliError::Interrupted);
                return output::ended(args.output.json, ended, |reason| EndedJson { reason });
            }
        },
    };
    let mut analyst = args.analyst.open(&record.board())?;
    if !args.output.quiet {
        output::note_trusted_proofs(&args.analyst.proof);
    }
    let progress = ProgressDisplay::new(args.output.quiet);
    let all = record.moves.len() + 1;
    let mut judged = judge(&record, &mut analyst, |ply| {
        progress.update(|_| {
            let done = all - 1 - ply;
            progress.part(done as u64, all as u64);
            format!("{done} of {all} positions judged")
        });
        let deadline = Instant::now().checked_add(args.time);
        Limits { deadline, stop: Some(stop), ..Limits::default() }
    })?;
    drop(progress);
    if stop.load(Ordering::Relaxed) {
        judged.reason = Some(Reason::Interrupted);
    }
    if args.output.json {
        output::write_json(&judged)?;
    } else {
        output::write_text(text(record, &judged, args.all))?;
    }
    Ok(judged.reason.into())
}

/// Judges the moves of a record. `limits` receives the number of moves before a position, and returns the limits of its
/// search.
pub fn judge<'a>(
    record: &Record,
    analyst: &mut Analyst,
    mut limits: impl FnMut(usize) -> Limits<'a>,
) -> Result<AnnotationJson, AnalysisError> {
    let mut limit = None;
    let moves = annotate(record, |ply, position| {
        let limits = limits(ply);
        let analysis = if ply == record.moves.len() {
            // No move was played in the last position, so the values of its moves are not needed.
            analyst.solve(position, limits)?.0
        } else {
            analyst.analyse(position, limits, &mut |_| {})?
        };
        limit = limit.or(analysis.reason);
        Ok::<_, AnalysisError>(analysis)
    })?;
    let unknown = moves.iter().any(|judged| judged.mark == Some(Mark::Unknown));
    Ok(AnnotationJson {
        board: record.dimensions,
        position: record.start,
        phase: record.start.phase(&record.board()),
        black: record.black.clone(),
        white: record.white.clone(),
        result: record.result,
        summary: SummaryJson {
            black: side(&moves, Colour::Black),
            white: side(&moves, Colour::White),
        },
        moves,
        reason: limit.filter(|_| unknown),
    })
}

/// Returns the comment on a move.
fn comment(judged: &AnnotatedMove) -> String {
    let AnnotatedMove { before, after, mark, forced, better, .. } = judged;
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

fn side(judged: &[AnnotatedMove], side: Colour) -> SideJson {
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

/// Returns the record with marks, and the summary as remarks. Mistakes and only moves have a comment, or every move
/// if `all` is true.
fn text(mut record: Record, judged: &AnnotationJson, all: bool) -> String {
    let AnnotationJson { moves, summary, .. } = judged;
    for (recorded, judged) in record.moves.iter_mut().zip(moves) {
        let RecordedMove { mark, comments, .. } = recorded;
        *mark = judged.mark;
        comments.retain(|comment| !is_judgement(comment));
        if all || matches!(judged.mark, Some(Mark::Mistake | Mark::Only)) {
            comments.push(self::comment(judged));
        }
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
