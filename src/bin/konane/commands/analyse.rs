//! `konane analyse`: the moves of a position with their values, and commands about the position.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::args::BeginArgs;
use crate::args::analyst::AnalystArgs;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::repl;
use crate::repl::analyse::AnalyseSession;
use crate::repl::command::{SessionKind, names};
use crate::repl::game::{KonaneGame, RecordArgs};
use konane::Dimensions;
use konane::system::parse_duration;

/// `konane analyse`.
#[derive(Debug, Args)]
#[command(after_help = format!("{}  {}\n{}", concat!(
    "Shows the board, every move with win, loss or unknown for the side that makes it, and a line\n",
    "of best play. Then each line of standard input is a move or one of these commands:\n",
), names(SessionKind::Analyse), concat!(
    "Values come from the rules, databases, proofs, and an exact search; values that are not proven\n",
    "within --time are unknown. --json prints one object per line: the first for the initial position,\n",
    "then one for each command. In a pipe, a failed command sets the exit code to 2, or to 4 for a\n",
    "file error.\n\n",
    "Examples:\n",
    "  konane analyse 6x6\n",
    "  konane analyse 7x7 --moves \"d4 d5\" --time 10s\n",
    "  konane analyse --game game.txt\n",
    "  printf 'c3\\nc4\\n' | konane analyse 5x5 --json\n"
)))]
pub struct AnalyseArgs {
    /// Ranks x files, such as 6x6; optional with --game if the record has its board.
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
    /// Search time for each position that is shown, such as 500ms or 10s.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration,
          allow_hyphen_values = true)]
    pub time: Duration,
    /// Print one JSON object per line instead of text.
    #[arg(long)]
    pub json: bool,
}

fn no_stdin(path: PathBuf) -> Result<PathBuf, &'static str> {
    match path.as_os_str() == "-" {
        true => Err("commands are read from standard input: name a file"),
        false => Ok(path),
    }
}

/// Runs the analysis.
pub fn run(args: &AnalyseArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    // The game is read before the other files are opened, so that invalid input is reported first.
    let game = match (&args.game, args.board) {
        (Some(file), board) => KonaneGame::from(args.record.read(file, board)?),
        (None, Some(board)) => KonaneGame::read(board, &args.begin)?,
        (None, None) => unreachable!("clap requires one of them"),
    };
    let analyst = args.analyst.open(game.board())?;
    output::note_trusted_proofs(&args.analyst.proof);
    let AnalyseArgs { time, json, .. } = *args;
    let mut session = AnalyseSession { game, analyst, time, json, stop };
    repl::run(&mut session, String::new(), stop)
}
