//! The arguments of `konane solve`.

use std::path::PathBuf;

use clap::Args;

use super::checkpoint::CheckpointArgs;
use crate::args::PositionArgs;
use crate::args::{JobArgs, OutputArgs, SearchArgs, named};
use crate::trace::TraceArgs;
use konane::{Algorithm, Profile};

/// `konane solve`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "--memory is for table and tree together; it is reserved at once and used as the search goes\n",
    "on. pns and ab search on one thread.\n\n",
    "Examples:\n",
    "  konane solve 6x6\n",
    "  konane solve 5x7 --algo pn2 --json\n",
    "  konane solve 4x4 --position \"xoxo/ox1x/x1xo/oxox b\"\n",
    "  konane solve 6x6 --lines\n",
    "  konane solve 8x8 --memory 8GiB --time-limit 10m\n\n",
    "A long run with --checkpoint FILE can be stopped at any time; the same command with --resume\n",
    "continues it.\n"
))]
pub struct SolveArgs {
    #[command(flatten)]
    pub start: PositionArgs,
    /// The search algorithm.
    #[arg(long, value_name = "NAME", default_value = "dfpn",
          value_parser = named(ALGORITHMS, Algorithm::name))]
    pub algo: Algorithm,
    /// The algorithm's parameters.
    #[arg(long, value_name = "NAME", default_value = "tuned",
          value_parser = named(PROFILES, Profile::name))]
    pub profile: Profile,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub jobs: JobArgs,
    /// Take values from the database of the board in this directory, or from this database: a
    /// position that it covers is not searched.
    #[arg(long, value_name = "DIR")]
    pub db: Option<PathBuf>,
    /// Write a proof of the result to this file: the positions by which others can check it, with
    /// verify-proof or a program of their own. Collected after the search, on
    /// --threads or all cores.
    #[arg(long, value_name = "FILE")]
    pub proof: Option<PathBuf>,
    /// Afterwards judge every move, and give a line of best play; within the same limits. What is
    /// not decided by then is unknown.
    #[arg(long)]
    pub lines: bool,
    #[command(flatten)]
    pub checkpoint: CheckpointArgs,
    #[command(flatten)]
    pub trace: TraceArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Values of the option, with their help texts.
pub const ALGORITHMS: &[(Algorithm, &str)] = &[
    (Algorithm::Pns, "Proof-number search: the whole tree in memory"),
    (Algorithm::Pn2, "Two-level proof-number search: slower, in much less memory"),
    (Algorithm::Dfpn, "Depth-first proof-number search in a transposition table"),
    (Algorithm::AlphaBeta, "Alpha-beta with iterative deepening, for comparison"),
    (Algorithm::PnsPdfpn, "Proof-number search whose leaves are jobs for df-pn workers"),
];

/// Values of the option, with their help texts.
pub const PROFILES: &[(Profile, &str)] = &[
    (Profile::Tuned, "The fastest parameters known"),
    (Profile::Thesis, "The published ones, to reproduce published comparisons"),
];
