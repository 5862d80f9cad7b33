//! The arguments of `konane solve`.

use std::path::PathBuf;

use clap::Args;

use super::checkpoint::CheckpointArgs;
use crate::args::{JobArgs, OutputArgs, PositionArgs, SearchArgs, named};
use crate::exit::CliError;
use crate::trace::TraceArgs;
use konane::search::dfpn::VirtualLoss;
use konane::search::numbers::Combination;
use konane::search::pn2::Pn2Budget;
use konane::{Algorithm, Board, Overrides, Profile, Symmetry};

/// `konane solve`.
#[derive(Debug, Args)]
#[command(
    override_usage = "konane solve [OPTIONS] <RxF> [-]\n       konane solve [OPTIONS] --position <TEXT>"
)]
#[command(after_help = concat!(
    "--memory is the total for table and tree. It is reserved at the start and used as the search\n",
    "proceeds. pns and ab use one thread. With -, empty lines and text after a # are ignored.\n\n",
    "Examples:\n",
    "  konane solve 6x6\n",
    "  konane solve 5x7 --algo pn2 --json\n",
    "  konane solve --position \"x1xo/o1ox/xoxo/oxox b\"\n",
    "  konane solve 4x4 --json - < positions.txt\n",
    "  konane solve 6x6 --lines\n",
    "  konane solve --position \"xo2/2ox/1o1o/o1o1 b\" --add \"1x5 2xo1\" --add \"{2|-1}\"\n",
    "  konane solve 8x8 --memory 8GiB --time-limit 10m\n\n",
    "A long run with --checkpoint FILE can be stopped at any time; the same command with --resume\n",
    "continues it.\n"
))]
pub struct SolveArgs {
    #[command(flatten)]
    pub start: PositionArgs,
    /// Solve the positions on standard input, one per line, each within the limits.
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true, group = "phased",
          conflicts_with_all = ["position", "moves", "proof", "results", "checkpoint", "trace"])]
    pub stdin: Option<String>,
    /// Solve a sum: add a board and a position of the same --phase, such as "1x5 2xo1", or a game, such as "{2|-1}" or
    /// "*2". May be repeated. The player to move is that of the first position, and moves in one term. Components are
    /// evaluated first; those that take too many positions are searched by df-pn on one thread.
    #[arg(long, value_name = "TERM", allow_hyphen_values = true, group = "phased",
          conflicts_with_all = ["stdin", "threads", "algo", "profile", "job_length", "db", "results", "proof", "lines",
                                "checkpoint", "resume", "checkpoint_interval", "trace", "symmetry", "epsilon",
                                "combination", "pn2_budget", "virtual_loss", "seed"])]
    pub add: Vec<String>,
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
    /// in the database are not searched. May be repeated: the first database of the board is used.
    #[arg(long, value_name = "DIR")]
    pub db: Vec<PathBuf>,
    /// Treat the outcomes of this file as known, and add those of positions that take at least 49152 expansions: every
    /// --checkpoint-interval and at the end. The file is created if it does not exist; several searches of any boards may
    /// use it at the same time.
    #[arg(long, value_name = "FILE", group = "saved")]
    pub results: Option<PathBuf>,
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
    #[command(flatten)]
    pub experiment: ExperimentArgs,
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

/// Values of `--symmetry` with their help texts.
const SYMMETRIES: &[(Symmetry, &str)] = &[
    (Symmetry::All, "All reflections and rotations"),
    (Symmetry::Colours, "Those that keep the colour of every square, as in the thesis"),
    (Symmetry::None, "None"),
];

/// Options that change single parameters of the search.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Options for experiments")]
pub struct ExperimentArgs {
    /// Symmetries by which positions are equivalent. Proofs need all.
    #[arg(long, value_name = "NAME", default_value = "all",
          value_parser = named(SYMMETRIES, Symmetry::name))]
    pub symmetry: Symmetry,
    /// The ε of the 1+ε trick [default: that of the profile].
    #[arg(long, value_name = "NUMBER", value_parser = epsilon, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Disproof number of a node: sum, max, weak (maximum plus number of the other children), or mixed:W
    /// (maximum plus W/64 of the other numbers) [default: that of the profile].
    #[arg(long, value_name = "RULE", value_parser = str::parse::<Combination>)]
    combination: Option<Combination>,
    /// pn2: budget of a second-level search: size (of the first level's tree), or logistic:A,B,MINIMUM
    /// [default: that of the profile].
    #[arg(long, value_name = "RULE", value_parser = str::parse::<Pn2Budget>)]
    pn2_budget: Option<Pn2Budget>,
    /// dfpn on several threads: stored (Kaneko 2010), or selection:SHARE in 1/1024 of the number
    /// [default: that of the profile].
    #[arg(long = "virtual", value_name = "RULE", value_parser = str::parse::<VirtualLoss>)]
    virtual_loss: Option<VirtualLoss>,
    /// Choose among equally good moves at random, by this seed [default: the first one].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
}

impl ExperimentArgs {
    /// Returns the board with the symmetries of `--symmetry`.
    pub fn board(&self, board: Board) -> Result<Board, CliError> {
        let symmetry = self.symmetry;
        let board = board.with_symmetry(symmetry);
        board.map_err(|error| CliError::Usage(format!("--symmetry {symmetry}: {error}")))
    }

    /// Returns the changed parameters of the profile.
    pub fn overrides(&self) -> Overrides {
        let &ExperimentArgs { epsilon, combination, pn2_budget, virtual_loss, seed, .. } = self;
        Overrides { epsilon, combination, pn2_budget, virtual_loss, seed }
    }
}

fn epsilon(text: &str) -> Result<f64, String> {
    let epsilon = text.parse().ok().filter(|epsilon| (0.0..=16.0).contains(epsilon));
    epsilon.ok_or_else(|| "expected a number from 0 to 16, such as 0.15".to_owned())
}
