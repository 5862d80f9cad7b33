//! `konane sprouts children`.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::text::{self, TextArg};
use crate::cli::exit::{CliError, Exit};
use crate::cli::output;
use crate::sprouts::{Scratch, Sprouts};

/// `konane sprouts children`.
#[derive(Debug, Args)]
#[command(after_help = text::HELP)]
pub struct ChildrenArgs {
    #[command(flatten)]
    pub text: TextArg,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The JSON of `sprouts children`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChildrenJson {
    /// As it was written.
    pub position: String,
    /// The positions after its moves in canonical form, each once.
    pub children: Vec<String>,
}

/// Moves and prints.
pub fn run(args: &ChildrenArgs) -> Result<Exit, CliError> {
    let position = args.text.read()?;
    let game = Sprouts::new(text::MEMORY);
    let mut scratch = Scratch::default();
    let sum = game.atoms(&position, &mut scratch)?;
    let children = game.children(&sum, &mut scratch)?;
    let mut children: Vec<String> = children.iter().map(|child| game.text(child)).collect();
    children.sort_unstable();
    let json = ChildrenJson { position: args.text.position.trim_ascii().to_owned(), children };
    output::answer(args.json, &json, |json| {
        json.children.iter().map(|c| c.to_owned() + "\n").collect()
    })?;
    Ok(Exit::Answered)
}
