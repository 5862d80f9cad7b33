//! `konane analyse`: the moves of a position with their values, and a conversation about it.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::BeginArgs;
use crate::args::analyst::AnalystArgs;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::repl::analyse::Session;
use crate::repl::game::{Game, RecordArgs};
use crate::repl::talk;
use konane::analysis::Analysis;
use konane::system::parse_duration;
use konane::{Dimensions, Move, Position};

/// `konane analyse`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Shows the board, every move with win, loss or unknown for the side that makes it, and a line\n",
    "of best play; then reads commands from standard input, one a line: a move, or one of\n",
    "  move undo redo new board moves hint search save load draw position help quit\n",
    "Values come from the rules, databases, proofs, and an exact search; what is not proven within\n",
    "--time is unknown. With --json one object a line: the first for the beginning, then one for\n",
    "each command. A line in a pipe that cannot be done makes the exit code 2, or 4 for a file.\n\n",
    "Examples:\n",
    "  konane analyse 6x6\n",
    "  konane analyse 7x7 --moves \"d4 d5\" --time 10s\n",
    "  konane analyse --game game.txt\n",
    "  printf 'c3\\nc4\\n' | konane analyse 5x5 --json\n"
))]
pub struct AnalyseArgs {
    /// Ranks x files, such as 6x6; with --game the record says it.
    #[arg(value_name = "RxF", required_unless_present = "game")]
    pub board: Option<Dimensions>,
    #[command(flatten)]
    pub begin: BeginArgs,
    /// Begin at the end of the game in this record.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["position", "moves"],
          value_parser = PathBufValueParser::new().try_map(no_stdin))]
    pub game: Option<PathBuf>,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub analyst: AnalystArgs,
    /// Time to search each position that is shown, such as 500ms or 10s.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration,
          allow_hyphen_values = true)]
    pub time: Duration,
    /// Print one JSON object a line instead of text.
    #[arg(long)]
    pub json: bool,
}

/// An analysis with moves before and after its position.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnalysisJson {
    #[serde(flatten)]
    pub analysis: Analysis,
    /// Best play from the position, as far as it is decided. Absent if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<Move>>,
    /// The position before the moves that were played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Position>,
    /// The moves that were played from `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<Vec<Move>>,
}

impl From<Analysis> for AnalysisJson {
    fn from(analysis: Analysis) -> Self {
        AnalysisJson { analysis, line: None, start: None, played: None }
    }
}

fn no_stdin(path: PathBuf) -> Result<PathBuf, &'static str> {
    match path.as_os_str() == "-" {
        true => Err("commands are read from standard input, so the game has to be in a file"),
        false => Ok(path),
    }
}

/// Shows and answers until the input ends or somebody quits.
pub fn run(args: &AnalyseArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    // Before the files, so that bad input is found without them.
    let game = match (&args.game, args.board) {
        (Some(file), expected) => Game::open(file, expected, args.record)?,
        (None, Some(board)) => Game::read(board, &args.begin)?,
        (None, None) => unreachable!("the arguments ask for one of them"),
    };
    let analyst = args.analyst.open(game.board())?;
    output::note_unchecked(&args.analyst.proof);
    talk(&mut Session::new(game, analyst, args.time, args.json, stop), String::new(), stop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use konane::analysis::Analyst;
    use konane::search::run::Limits;

    #[test]
    fn unknown_values_have_no_source() {
        let json = |analysis: Analysis| serde_json::to_value(AnalysisJson::from(analysis)).unwrap();
        let analyst = Analyst::new("8x8".parse().unwrap(), 1 << 20).unwrap();
        let start = Position::start(analyst.board());
        let open = json(analyst.lookup_moves(&start).unwrap());
        assert_eq!((&open["outcome"], &open["winner"]), (&"unknown".into(), &"unknown".into()));
        assert_eq!((open.get("source"), &open["complete"]), (None, &false.into()));
        let moves = open["moves"].as_array().unwrap();
        assert!(moves.iter().all(|mv| mv["outcome"] == "unknown" && mv.get("source").is_none()));
        let mut analyst = Analyst::new("3x3".parse().unwrap(), 1 << 20).unwrap();
        let start = Position::start(analyst.board());
        let decided = json(analyst.analyse(&start, Limits::default(), &mut |_| {}).unwrap());
        assert_eq!((&decided["phase"], &decided["complete"]), (&"removal".into(), &true.into()));
        assert_eq!((&decided["outcome"], &decided["winner"]), (&"loss".into(), &"white".into()));
        let moves = decided["moves"].as_array().unwrap();
        assert!(moves.iter().all(|mv| mv["source"].is_string()));
        assert!(!decided.to_string().contains("null"), "{decided}");
    }
}
