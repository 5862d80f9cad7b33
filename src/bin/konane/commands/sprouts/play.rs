//! `konane sprouts play`.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;

use super::search::{NumbersArg, analyst};
use super::text::{self, TextArg};
use crate::args::{SearchMemoryArg, ThreadsArg};
use crate::exit::{CliError, Exit};
use crate::repl::command::{SessionKind, names};
use crate::repl::sprouts::{SproutsSession, SproutsSide};
use konane::system::parse_duration;

/// `konane sprouts play`.
#[derive(Debug, Args)]
#[command(after_help = format!("{}\n\n{}  {}\n\n{}", text::HELP, concat!(
    "The program plays perfectly as long as it finds the winner within --time, and gives reasons for\n",
    "its moves. In a game from isolated spots, a move can be written with their numbers: 1(9)1[2-5] is\n",
    "a curve from spot 1 back to it, on which the new spot 9 lies, around spots 2 to 5 (notation of the\n",
    "World Game of Sprouts Association).\n",
    "Each line of standard input is a move or one of these commands:\n",
), names(SessionKind::Sprouts), concat!(
    "Examples:\n",
    "  konane sprouts play \"0*5\"\n",
    "  konane sprouts play \"0*11\" --side first --time 30s\n"
)))]
pub struct SproutsPlayArgs {
    #[command(flatten)]
    pub text: TextArg,
    /// Play the misère game: the player who makes the last move loses.
    #[arg(long)]
    pub misere: bool,
    /// Player that you control [default: the one that loses].
    #[arg(long, value_name = "SIDE")]
    pub side: Option<SproutsSide>,
    /// Time for each move of the program and for a hint, such as 500ms, 10s or 5m.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration,
          allow_hyphen_values = true)]
    pub time: Duration,
    #[command(flatten)]
    pub threads: ThreadsArg,
    #[command(flatten)]
    pub memory: SearchMemoryArg,
    #[command(flatten)]
    pub numbers: NumbersArg,
}

/// Runs the game.
pub fn run(args: &SproutsPlayArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let start = args.text.read()?;
    let threads = args.threads.of("dfpn", ["dfpn"])?;
    let analyst = analyst(args.memory, &args.numbers, args.misere)?.threads(threads);
    SproutsSession::run(start, analyst, args.time, args.side, stop)
}
