//! `konane play`: a game against the program, line by line.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;

use crate::args::PositionArgs;
use crate::args::analyst::AnalystArgs;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::repl;
use crate::repl::command::{SessionKind, names};
use crate::repl::game::KonaneGame;
use crate::repl::opponent::Opponent;
use crate::repl::play::{HumanSide, PlaySession};
use konane::analysis::Level;
use konane::system::{NumberError, parse_duration, parse_number};

/// `konane play`.
#[derive(Debug, Args)]
#[command(after_help = format!("{}  {}\n{}", concat!(
    "The program gives a reason for each of its moves and claims only what is proven. Databases and\n",
    "proofs are optional. Each line of standard input is a move or one of these commands:\n",
), names(SessionKind::Play), concat!(
    "With --proof, the game begins at the position of the proof unless another is given.\n\n",
    "Examples:\n",
    "  konane play 6x6\n",
    "  konane play 8x8 --level 3 --side black\n",
    "  konane play 5x5 --proof 5x5.proof\n",
    "  konane play 4x5 --db db --side white\n"
)))]
pub struct PlayArgs {
    #[command(flatten)]
    pub start: PositionArgs,
    #[command(flatten)]
    pub analyst: AnalystArgs,
    /// Side that you play [default: the side that can win, with --proof the side that loses; the side to
    /// move if the winner is unknown].
    #[arg(long, value_name = "SIDE")]
    pub side: Option<HumanSide>,
    /// Weaker opponent: the program searches 4 to the power of N nodes for each of its moves (4 on
    /// level 1, 1,048,576 on level 10) and uses neither database nor proof. Without this option it
    /// plays as well as it can.
    #[arg(long, value_name = "1-10", value_parser = parse_level, allow_negative_numbers = true)]
    pub level: Option<Level>,
    /// Time for each of the program's moves and for a hint, such as 500ms or 10s.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_duration,
          allow_hyphen_values = true)]
    pub time: Duration,
}

fn parse_level(text: &str) -> Result<Level, NumberError> {
    let level = parse_number(text, Level::MIN.into(), Level::MAX.into())?;
    Ok(Level::new(level as u32).expect("the number is of a level"))
}

/// Runs the game.
pub fn run(args: &PlayArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    // Before the files are opened, so that invalid input is reported first.
    let game = KonaneGame::read(args.start.board()?, &args.start.begin)?;
    let analyst = args.analyst.open(game.board())?;
    output::note_trusted_proofs(&args.analyst.proof);
    let root =
        analyst.proofs().first().filter(|_| !args.start.begin.given()).map(|proof| proof.root());
    let game = root.map_or(game, |root| KonaneGame::new(analyst.board(), root));
    let files = args.analyst.proofs();
    let PlayArgs { level, time, .. } = *args;
    let mut opponent = Opponent { analyst, files, level, time, stop };
    opponent.must_cover(game.position())?;
    let known = opponent.winner(game.position())?;
    let default = match known {
        None => game.position().to_move(),
        // The program shows how the proof wins.
        Some((winner, _)) if !args.analyst.proof.is_empty() => !winner,
        Some((winner, _)) => winner,
    };
    let side = args.side.unwrap_or(default.into());
    let mut session = PlaySession { game, opponent, side, seen: None };
    let introduction = session.introduction(known);
    repl::run(&mut session, introduction, stop)
}
