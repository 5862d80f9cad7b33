//! `konane sprouts`.

mod canonical;
mod children;
mod db;
mod draw;
pub mod engine;
mod grundy;
mod play;
mod solve;
pub mod text;
mod verify;

use std::sync::atomic::AtomicBool;

use clap::{Args, Subcommand};

pub use canonical::CanonicalJson;
pub use children::{ChildrenJson, ValuesJson};
pub use db::{AddedJson, ExportJson, StatsJson};
pub use grundy::GrundyJson;
pub use verify::VerifySprJson;

use crate::exit::{CliError, Exit};

/// `konane sprouts`.
#[derive(Debug, Args)]
pub struct SproutsArgs {
    /// Subcommand.
    #[command(subcommand)]
    pub command: SproutsCommand,
}

/// The subcommands of `konane sprouts`.
#[derive(Debug, Subcommand)]
pub enum SproutsCommand {
    /// Find the winner of a position, or of its sum with a nim heap.
    Solve(solve::SolveArgs),
    /// Compute the Grundy number of a position.
    Grundy(grundy::GrundyArgs),
    /// Databases of Grundy numbers, as `solve --db` makes them.
    Db(db::DbArgs),
    /// Print the canonical form of a position: the same text for all ways to write it.
    Canonical(canonical::CanonicalArgs),
    /// Print the positions after every move, each once, in canonical form.
    Children(children::ChildrenArgs),
    /// Play against a perfect player on the terminal.
    Play(play::SproutsPlayArgs),
    /// Check a database of Grundy numbers (.spr) as a proof: every number has to follow from the
    /// rules and the numbers of smaller positions.
    Verify(verify::VerifyArgs),
    /// Draw a position as SVG: a panel for each region, a circle for each boundary.
    Draw(draw::SproutsDrawArgs),
}

/// Runs a subcommand.
pub fn run(args: &SproutsArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    match &args.command {
        SproutsCommand::Solve(args) => solve::run(args, stop),
        SproutsCommand::Grundy(args) => grundy::run(args, stop),
        SproutsCommand::Db(args) => db::run(args, stop),
        SproutsCommand::Canonical(args) => canonical::run(args),
        SproutsCommand::Children(args) => children::run(args, stop),
        SproutsCommand::Play(args) => play::run(args, stop),
        SproutsCommand::Verify(args) => verify::run(args, stop),
        SproutsCommand::Draw(args) => draw::run(args),
    }
}
