//! `konane sprouts canonical`.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::text::{self, TextArg};
use crate::cli::exit::{CliError, Exit};
use crate::cli::output;
use crate::sprouts::{Scratch, Sprouts};

/// `konane sprouts canonical`.
#[derive(Debug, Args)]
#[command(after_help = text::HELP)]
pub struct CanonicalArgs {
    #[command(flatten)]
    pub text: TextArg,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The JSON of `sprouts canonical`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CanonicalJson {
    /// As it was written.
    pub position: String,
    /// The one text for all ways to write it.
    pub canonical: String,
}

/// Simplifies and prints.
pub fn run(args: &CanonicalArgs) -> Result<Exit, CliError> {
    let position = args.text.read()?;
    let game = Sprouts::new(text::MEMORY);
    let sum = game.atoms(&position, &mut Scratch::default()).map_err(text::too_large)?;
    let position = args.text.position.clone();
    let json = CanonicalJson { position, canonical: game.text(&sum) };
    output::answer(args.json, &json, |json| format!("{}\n", json.canonical))?;
    Ok(Exit::Answered)
}
