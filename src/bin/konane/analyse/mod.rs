//! `konane analyse`: the moves of a position with their values, and a conversation about it.

mod session;
mod text;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

pub use session::AnswerJson;

use super::analyst::AnalystArgs;
use super::exit::{CliError, Exit};
use super::game::{Game, RecordArgs};
use super::input::BeginArgs;
use super::output;
use super::talk::talk;
use konane::Dimensions;
use konane::system::parse_duration;
use session::Session;

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
