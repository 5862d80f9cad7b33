//! `konane sprouts draw`.

use clap::Args;

use super::text::{self, TextArg};
use crate::exit::{CliError, Exit};
use crate::output::OutArg;
use konane::sprouts::draw::svg;

/// `konane sprouts draw`.
#[derive(Debug, Args)]
#[command(after_help = text::HELP)]
pub struct SproutsDrawArgs {
    #[command(flatten)]
    pub text: TextArg,
    #[command(flatten)]
    pub out: OutArg,
}

/// Draws the position without simplifying it.
pub fn run(args: &SproutsDrawArgs) -> Result<Exit, CliError> {
    args.out.write(&svg(&args.text.read()?))?;
    Ok(Exit::Answered)
}
