//! `konane sprouts canonical`.

use clap::Args;
use serde::Serialize;

use super::text::{self, TextArg};
use crate::exit::{CliError, Exit};
use crate::output;
use konane::search::run::Reason;
use konane::sprouts::{Scratch, Sprouts};

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
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CanonicalJson {
    /// The position as it was given.
    pub position: String,
    /// Canonical form, the same for all notations of the position; null if a limit was reached.
    pub canonical: Option<String>,
    /// The limit that was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Computes and prints the canonical form.
pub fn run(args: &CanonicalArgs) -> Result<Exit, CliError> {
    let object = |canonical, reason| CanonicalJson {
        position: args.text.position.clone(),
        canonical,
        reason,
    };
    let result = canonical(args).map(|canonical| object(Some(canonical), None));
    let text =
        |json: &CanonicalJson| json.canonical.iter().map(|text| format!("{text}\n")).collect();
    output::report(args.json, result, text, |reason| object(None, Some(reason)))
}

fn canonical(args: &CanonicalArgs) -> Result<String, CliError> {
    let position = args.text.read()?;
    let game = Sprouts::new(text::MEMORY);
    let sum = game.atoms(&position, &mut Scratch::default()).map_err(text::too_large)?;
    Ok(game.text(&sum))
}
