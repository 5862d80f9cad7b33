//! The syntax of `konane sprouts`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::db::DbArgs;
use super::grundy::GrundyArgs;
use super::solve::SolveArgs;
use crate::cli::units::{parse_bytes, parse_number};

/// How positions are written, for the help of every verb.
pub(super) const TEXT: &str = "\
Positions: 0*12 is twelve isolated spots. In general, lands joined by +, their regions by |, \
boundaries by . and vertices side by side: 0, 1, 2, 3 curve ends of a spot that occurs once, a \
letter for a spot that occurs twice, in lower case within a boundary, else in upper case: \
\"0*2.AB|1AB\". A finished position is !. Texts with } and ] are read in the older form of GLOP.";

/// `konane sprouts`.
#[derive(Debug, Args)]
pub struct SproutsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SproutsCommand,
}

/// The verbs of `konane sprouts`.
#[derive(Debug, Subcommand)]
pub enum SproutsCommand {
    /// Find out whether the player to move wins a position, or its sum with a nim heap.
    Solve(SolveArgs),
    /// Compute the Grundy number of a position.
    Grundy(GrundyArgs),
    /// Databases of Grundy numbers, as `solve --db` makes them.
    Db(DbArgs),
    /// Print the canonical form of a position: the same text for all ways to write it.
    #[command(after_help = TEXT)]
    Canonical(PositionArgs),
    /// Print the positions after every move, each once, in canonical form.
    #[command(after_help = TEXT)]
    Children(PositionArgs),
    /// Check a database of Grundy numbers (.spr) as a proof: every number has to follow from the
    /// rules and the numbers of smaller positions.
    #[command(after_help = TEXT)]
    Verify(VerifyArgs),
    /// Draw a position as SVG: a panel for each region, a circle for each boundary.
    #[command(after_help = TEXT)]
    Draw(DrawArgs),
}

/// A position, and how to print the answer.
#[derive(Debug, Args)]
pub struct PositionArgs {
    /// The position.
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub position: String,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

fn parse_work(text: &str) -> Result<u64, crate::cli::units::NumberError> {
    parse_number(text, 1, u64::MAX)
}

/// `konane sprouts verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The database.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Also decide who wins this position by the numbers of the database.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub root: Option<String>,
    /// Positions that may be searched to establish one number.
    #[arg(long, value_name = "N", default_value = "10000000", value_parser = parse_work,
          allow_negative_numbers = true)]
    pub max_work: u64,
    /// Memory for positions and their numbers.
    #[arg(short, long, value_name = "SIZE", default_value = "2GiB", value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `konane sprouts draw`.
#[derive(Debug, Args)]
pub struct DrawArgs {
    /// The position.
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub position: String,
}
