//! `konane sprouts complexity`.

use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::text::{self, MEMORY};
use crate::commands::complexity::{HELP, SamplesArgs, estimate_all};
use crate::exit::{CliError, Exit};
use konane::sprouts::sprouts_complexity;

/// Help text about the tree with Grundy numbers.
const TREES: &str = "\
Isomorphic children of a position count once. In the tree with Grundy numbers, the nodes are couples of a \
position and a nim heap. The complexity of a sum of lands is the sum of the complexities of the couples that \
have to be searched to decide it; every land is assumed to have the Grundy number 1, the mean of those \
that searches find.";

/// `konane sprouts complexity`.
#[derive(Debug, Args)]
#[command(after_help = format!("{}\n\n{HELP}\n\n{TREES}\n\n{}", text::HELP, concat!(
    "Examples:\n",
    "  konane sprouts complexity \"0*20\"\n",
    "  konane sprouts complexity \"0*5\" \"0*10\" --samples 10000 --seed 2\n"
)))]
pub struct SproutsComplexityArgs {
    /// The positions: 0*n for n spots, or any position in the notation of SPOTS and GLOP.
    #[arg(value_name = "TEXT", required = true, value_parser = text::trimmed)]
    pub positions: Vec<String>,
    #[command(flatten)]
    pub samples: SamplesArgs,
}

/// Estimates and prints.
pub fn run(args: &SproutsComplexityArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let read = |text: &String| Ok((text.clone(), text::read(text)?));
    let starts = args.positions.iter().map(read).collect::<Result<_, CliError>>()?;
    estimate_all(args.samples, starts, stop, |position, samples| {
        match sprouts_complexity(position, MEMORY, samples) {
            Ok(trees) => Ok((trees.game_tree, Some(trees.grundy_tree))),
            Err(_) if stop.load(Ordering::Relaxed) => Err(CliError::Interrupted),
            Err(error) => Err(text::too_large(error)),
        }
    })
}
