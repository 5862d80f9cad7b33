//! `konane sprouts`.

mod canonical;
mod children;
mod complexity;
mod db;
mod draw;
mod grundy;
mod play;
pub mod search;
mod solve;
pub mod text;
mod verify;

use std::sync::atomic::AtomicBool;

use clap::{Args, Subcommand};

#[cfg(test)]
pub use canonical::CanonicalJson;
#[cfg(test)]
pub use children::{ChildrenJson, ValuesJson};
#[cfg(test)]
pub use db::{AddedJson, ExportJson, StatsJson};
#[cfg(test)]
pub use grundy::GrundyJson;
#[cfg(test)]
pub use verify::VerifySprJson;

use crate::exit::{CliError, Exit};

/// `konane sprouts`.
#[derive(Debug, Args)]
pub struct SproutsCommandArgs {
    /// Subcommand.
    #[command(subcommand)]
    pub command: SproutsCommand,
}

/// The subcommands of `konane sprouts`.
#[derive(Debug, Subcommand)]
pub enum SproutsCommand {
    /// Find the winner of a position, or of its sum with a nim heap.
    Solve(solve::SproutsSolveArgs),
    /// Compute the Grundy number of a position.
    Grundy(grundy::GrundyArgs),
    /// Merge, import, export and inspect databases of Grundy numbers, as written by `solve --db`.
    Db(db::DbArgs),
    /// Print the canonical form of a position, which is the same for all its notations.
    Canonical(canonical::CanonicalArgs),
    /// Print the distinct positions after each move, in canonical form.
    Children(children::ChildrenArgs),
    /// Estimate the size of the game tree from random games, without and with Grundy numbers.
    Complexity(complexity::SproutsComplexityArgs),
    /// Play against a perfect player on the terminal.
    Play(play::SproutsPlayArgs),
    /// Verify a database of Grundy numbers (.spr) as a proof: every number must follow from the rules
    /// and the numbers of smaller positions.
    Verify(verify::VerifyArgs),
    /// Draw a position as SVG: a panel for each region, a circle for each boundary.
    Draw(draw::SproutsDrawArgs),
}

/// Runs a subcommand.
pub fn run(args: &SproutsCommandArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    match &args.command {
        SproutsCommand::Solve(args) => solve::run(args, stop),
        SproutsCommand::Grundy(args) => grundy::run(args, stop),
        SproutsCommand::Db(args) => db::run(args, stop),
        SproutsCommand::Canonical(args) => canonical::run(args),
        SproutsCommand::Children(args) => children::run(args, stop),
        SproutsCommand::Complexity(args) => complexity::run(args, stop),
        SproutsCommand::Play(args) => play::run(args, stop),
        SproutsCommand::Verify(args) => verify::run(args, stop),
        SproutsCommand::Draw(args) => draw::run(args),
    }
}
