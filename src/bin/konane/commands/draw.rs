//! `konane draw`.

use clap::Args;

use crate::args::PositionArgs;
use crate::exit::{CliError, Exit};
use crate::output::OutArg;
use crate::repl::game::KonaneGame;

/// `konane draw`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "The last of --moves is marked: a ring where a stone was removed, an arrow along a jump.\n\n",
    "Examples:\n",
    "  konane draw 6x6 --moves \"d3 d4 f3-d3\" --out game.svg\n",
    "  konane draw 4x4 --position \"xoxo/ox1x/x1xo/oxox b\" > position.svg\n"
))]
pub struct DrawArgs {
    #[command(flatten)]
    pub start: PositionArgs,
    #[command(flatten)]
    pub out: OutArg,
}

/// Draws the position.
pub fn run(args: &DrawArgs) -> Result<Exit, CliError> {
    let game = KonaneGame::read(args.start.board()?, &args.start.begin)?;
    args.out.write(&game.svg())?;
    Ok(Exit::Answered)
}
