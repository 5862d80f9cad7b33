//! `konane play`: a game against the program, line by line.
//!
//! ```text
//! lines ─▶ session (whose turn it is, what a line does) ◀─▶ opponent (moves, and what it knows)
//!                 │                                              │
//!                 └─────────────── sentences ◀─────────────────┘
//! ```

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::args::PositionArgs;
use crate::args::analyst::AnalystArgs;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::repl::game::Game;
use crate::repl::opponent::Opponent;
use crate::repl::play::Session;
use crate::repl::talk;
use konane::Colour;
use konane::analysis::Level;
use konane::system::{NumberError, parse_duration, parse_number};

/// `konane play`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "The program says at each turn why it moves as it does, and claims nothing that is not proven. It\n",
    "needs no file; with a database or a proof it plays by that. It reads a move or one of the words\n",
    "moves, hint, board, position, undo, redo, new, search, save, load, draw, help and quit from each\n",
    "line of standard input. With --proof, the game begins at the position of the proof unless\n",
    "another is given.\n\n",
    "Examples:\n",
    "  konane play 6x6\n",
    "  konane play 8x8 --level 3 --side black\n",
    "  konane play 5x5 --proof 5x5.proof\n",
    "  konane play 4x5 --db db --side white\n"
))]
pub struct PlayArgs {
    #[command(flatten)]
    pub start: PositionArgs,
    #[command(flatten)]
    pub analyst: AnalystArgs,
    /// What you play [default: the side that loses; the one to move while nobody knows].
    #[arg(long, value_name = "SIDE")]
    pub side: Option<Side>,
    /// A weaker opponent: the program searches 4 to the power of N nodes for each of its moves, 4 on
    /// level 1, 1,048,576 on level 10, by no database and no proof. Without it: perfect where it can.
    #[arg(long, value_name = "1-10", value_parser = parse_level, allow_negative_numbers = true)]
    pub level: Option<Level>,
    /// Time for each of the program's moves and for a hint, such as 500ms or 10s.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_duration,
          allow_hyphen_values = true)]
    pub time: Duration,
}

/// The sides that people play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Side {
    /// Begins with the first removal.
    Black,
    /// Makes the second removal.
    White,
    /// Two people play.
    Both,
    /// The program plays against itself.
    None,
}

impl Side {
    /// Returns true if a person plays this colour.
    pub fn has(self, colour: Colour) -> bool {
        match self {
            Side::Both => true,
            Side::None => false,
            Side::Black => colour == Colour::Black,
            Side::White => colour == Colour::White,
        }
    }
}

impl From<Colour> for Side {
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Black => Side::Black,
            Colour::White => Side::White,
        }
    }
}

fn parse_level(text: &str) -> Result<Level, NumberError> {
    let level = parse_number(text, Level::MIN.into(), Level::MAX.into())?;
    Ok(Level::new(level as u32).expect("the number is of a level"))
}

/// Plays until the game is over, the input ends or somebody quits.
pub fn run(args: &PlayArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    // Before the files, so that bad input is found without them.
    let game = Game::read(args.start.board, &args.start.begin)?;
    let analyst = args.analyst.open(game.board())?;
    output::note_unchecked(&args.analyst.proof);
    let root =
        analyst.proofs().first().filter(|_| !args.start.begin.given()).map(|proof| proof.root());
    let game = root.map_or(game, |root| Game::new(analyst.board(), root));
    let files = args.analyst.proofs();
    let PlayArgs { level, time, .. } = *args;
    let mut opponent = Opponent { analyst, files, level, time, stop };
    opponent.must_cover(game.position())?;
    let known = opponent.winner(game.position())?;
    let loser = known.as_ref().map_or(game.position().to_move(), |&(winner, _)| !winner);
    let side = args.side.unwrap_or(loser.into());
    let mut session = Session::new(game, opponent, side);
    let introduction = session.introduction(known);
    talk(&mut session, introduction, stop)
}
