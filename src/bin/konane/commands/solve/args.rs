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
    "--memory is the total for table and tree. It is reserved at the start and used as the search\n",
    "proceeds. pns and ab use one thread.\n\n",
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
    /// Search algorithm.
    #[arg(long, value_name = "NAME", default_value = "dfpn",
          value_parser = named(ALGORITHMS, Algorithm::name))]
    pub algo: Algorithm,
    /// Parameters of the algorithm.
    #[arg(long, value_name = "NAME", default_value = "tuned",
          value_parser = named(PROFILES, Profile::name))]
    pub profile: Profile,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub jobs: JobArgs,
    /// Look up values in the database of the board in this directory, or in this database. Positions
    /// in the database are not searched.
    #[arg(long, value_name = "DIR")]
    pub db: Option<PathBuf>,
    /// Write a proof of the result to this file, which verify-proof or an independent program can
    /// verify. It is collected after the search, on --threads or all cores.
    #[arg(long, value_name = "FILE")]
    pub proof: Option<PathBuf>,
    /// After the search, find the value of every move and a line of best play within the same limits.
    /// Moves that are unsolved by then are reported as unknown.
    #[arg(long)]
    pub lines: bool,
    #[command(flatten)]
    pub checkpoint: CheckpointArgs,
    #[command(flatten)]
    pub trace: TraceArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Values of `--algo` with their help texts.
pub const ALGORITHMS: &[(Algorithm, &str)] = &[
    (Algorithm::Pns, "Proof-number search: the whole tree in memory"),
    (Algorithm::Pn2, "Two-level proof-number search: slower, in much less memory"),
    (Algorithm::Dfpn, "Depth-first proof-number search in a transposition table"),
    (Algorithm::AlphaBeta, "Alpha-beta with iterative deepening, for comparison"),
    (Algorithm::PnsPdfpn, "Proof-number search whose leaves are jobs for df-pn workers"),
];

/// Values of `--profile` with their help texts.
pub const PROFILES: &[(Profile, &str)] = &[
    (Profile::Tuned, "The fastest parameters known"),
    (Profile::Thesis, "The published parameters, to reproduce published comparisons"),
];
