//! The command line's syntax. What the texts mean for a board is decided in `input`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

use super::units::{NumberError, parse_bytes, parse_duration, parse_number};
use super::{CliError, exit};
use crate::endgame::format::Scope;
use crate::konane::{Algorithm, Colour, Dimensions, Profile};

/// Most threads that a command accepts.
pub const MOST_THREADS: u32 = 1024;

/// Most plies that a game can have, rounded up: every ply removes a stone.
const MOST_PLIES: u32 = 64;

/// Most stones that a board can have.
const MOST_STONES: u32 = 64;

pub(super) fn parse_threads(text: &str) -> Result<u32, NumberError> {
    parse_number(text, 1, MOST_THREADS.into()).map(|number| number as u32)
}

/// Refuses options of the two-level search, of which some are given, with another algorithm.
pub(super) fn refuse_job_options(
    given: [(&'static str, bool); 3],
    algorithm: &'static str,
) -> Result<(), CliError> {
    match given.into_iter().find(|&(_, given)| given) {
        Some((option, _)) => Err(CliError::JobOption { option, algorithm }),
        None => Ok(()),
    }
}

fn parse_depth(text: &str) -> Result<u32, NumberError> {
    parse_number(text, 1, MOST_PLIES.into()).map(|number| number as u32)
}

fn parse_stones(text: &str) -> Result<u32, NumberError> {
    parse_number(text, 0, MOST_STONES.into()).map(|number| number as u32)
}

pub(super) fn parse_nodes(text: &str) -> Result<u64, NumberError> {
    parse_number(text, 1, u64::MAX)
}

fn parse_signature(text: &str) -> Result<u64, NumberError> {
    parse_number(text, 0, u64::MAX)
}

/// Solve Konane (Hawaiian checkers): find out who wins, from the start or from any position.
///
/// Boards are written ranks x files, such as 6x6 or 5x7, with up to 64 squares.
#[derive(Debug, Parser)]
#[command(name = "konane", version, arg_required_else_help = true, after_help = exit::HELP)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Log what the program does to stderr; the variable RUST_LOG chooses finely.
    #[arg(short, long, global = true, display_order = 100)]
    pub verbose: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find the winner of a board or position, and a winning move.
    Solve(SolveArgs),
    /// Count move sequences, or distinct positions, ply by ply.
    Perft(PerftArgs),
    /// Check a proof that `solve --proof` has written, by the rules of the game alone.
    VerifyProof(VerifyProofArgs),
    /// Play against a proof or a database on the terminal.
    Play(PlayArgs),
    /// Look up who wins a position, and what becomes of every move, in a database.
    Probe(ProbeArgs),
    /// Build a database of the values of all positions of a board, or of those with few stones.
    Builddb(BuilddbArgs),
    /// Check the files of a database.
    Verifydb(VerifydbArgs),
    /// Count the positions that games reach, ply by ply, with winners and terminals.
    Statespace(StatespaceArgs),
    /// Sprouts: solve positions, canonical forms, moves, databases of Grundy numbers.
    Sprouts(super::sprouts::args::SproutsArgs),
    /// Do a fixed amount of work on one thread; print speeds and a signature of node counts.
    Bench(BenchArgs),
    /// Print a shell completion script.
    Completions(CompletionsArgs),
    /// Print a manual page in roff.
    Man(ManArgs),
}

/// A board and where on it to begin.
#[derive(Debug, Args)]
pub struct PositionArgs {
    /// Ranks x files, such as 6x6.
    #[arg(value_name = "RxF")]
    pub board: Dimensions,
    /// Begin at this position: ranks from the top with / between them, x Black, o White, a number
    /// for that many empty squares, then b or w for the side to move: "xox/o1o/xox w".
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub position: Option<String>,
    /// Begin after these moves from the start: squares to remove, then jumps such as "c3-c1"
    /// (file letters from the left, rank numbers from the bottom): "a4 a3".
    #[arg(long, value_name = "MOVES", conflicts_with = "position", allow_hyphen_values = true)]
    pub moves: Option<String>,
}

/// `konane solve`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane solve 6x6\n",
    "  konane solve 5x7 --algo pn2 --json\n",
    "  konane solve 4x4 --position \"xoxo/ox1x/x1xo/oxox b\"\n",
    "  konane solve 8x8 --memory 8GiB --time-limit 10m\n\n",
    "A long run with --checkpoint FILE can be stopped at any time; the same command with --resume\n",
    "goes on where it was.\n"
))]
pub struct SolveArgs {
    /// The board and where to begin.
    #[command(flatten)]
    pub start: PositionArgs,
    /// The search algorithm.
    #[arg(long, value_name = "NAME", default_value = "dfpn")]
    pub algo: AlgorithmArg,
    /// The algorithm's parameters.
    #[arg(long, value_name = "NAME", default_value = "tuned")]
    pub profile: ProfileArg,
    /// Threads to search with: all cores unless given. pns and ab search on one.
    #[arg(short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = parse_threads)]
    pub threads: Option<u32>,
    /// pns-pdfpn: nodes that a worker may evaluate before it hands a job back [default: 10000].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_nodes)]
    pub iterations: Option<u64>,
    /// pns-pdfpn: expansions after which a worker tells its numbers to the others [default: 4096].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_nodes)]
    pub updates: Option<u64>,
    /// pns-pdfpn: threads of each worker [default: 1]. There are --threads / N workers.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_threads)]
    pub threads_per_worker: Option<u32>,
    /// Memory for table and tree together, at least 1MiB. It is reserved at once and used as the
    /// search goes on.
    #[arg(short, long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
    /// Give up after this time, such as 60s, 5m or 2h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub time_limit: Option<Duration>,
    /// Give up after this many nodes.
    #[arg(long, value_name = "N", value_parser = parse_nodes,
          allow_negative_numbers = true)]
    pub max_nodes: Option<u64>,
    /// Take values from the database of the board in this directory, or from this database: a
    /// position that it covers is not searched.
    #[arg(long, value_name = "DIR")]
    pub db: Option<PathBuf>,
    /// Write a proof of the result to this file: the positions by which others can check it, with
    /// verify-proof or a program of their own. Collected on all cores after the search.
    #[arg(long, value_name = "FILE")]
    pub proof: Option<PathBuf>,
    /// Save what the search knows to this file: every --checkpoint-interval, on Ctrl-C or SIGTERM, and
    /// when the search ends, by a limit or with an answer. The file is replaced only by a whole new
    /// one. One that is there already is never written over without --resume. Its greatest size is
    /// printed at the start.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint, which must be there and be of the same board, position, algorithm
    /// and profile. --memory, --threads, limits and --db may differ; a smaller table keeps what is
    /// worth most.
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Time from one checkpoint to the next, such as 30s, 10m or 1h [default: 10m]. The search goes on
    /// while they are written.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true,
          requires = "checkpoint")]
    pub checkpoint_interval: Option<Duration>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// Show no progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `konane verify-proof`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "A proof is a set of positions in which the side to move loses: whatever it does, there is a\n",
    "reply that leads to another position of the set or ends the game. That is what is checked.\n\n",
    "Exit code 1: the file reads well, but proves nothing. 4: it is damaged.\n\n",
    "Examples:\n",
    "  konane verify-proof 6x6.proof\n",
    "  konane verify-proof 6x6.proof --json --threads 1\n"
))]
pub struct VerifyProofArgs {
    /// The proof.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Threads to check with [default: all cores].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = parse_threads)]
    pub threads: Option<u32>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// Show no progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `konane play`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("knowledge").required(true))]
#[command(after_help = concat!(
    "The program plays the side that wins and says at each turn why it does. It reads a move or\n",
    "one of the words moves, board, undo, help and quit from each line of standard input.\n\n",
    "Examples:\n",
    "  konane play 5x5 --proof 5x5.proof\n",
    "  konane play 4x5 --db db --side white\n"
))]
pub struct PlayArgs {
    /// The board and where to begin; with --proof, the position of the proof unless another is
    /// given.
    #[command(flatten)]
    pub start: PositionArgs,
    /// Play by this proof.
    #[arg(long, value_name = "FILE", group = "knowledge")]
    pub proof: Option<PathBuf>,
    /// Play by the database of the board in this directory, or by this database.
    #[arg(long, value_name = "DIR", group = "knowledge")]
    pub db: Option<PathBuf>,
    /// The side that you play, with --db [default: the one that loses].
    #[arg(long, value_name = "SIDE", conflicts_with = "proof")]
    pub side: Option<SideArg>,
}

/// `konane probe`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane probe 4x5 --moves \"a4 a3\"\n",
    "  konane probe 4x5 --position \"xoxox/o1oxo/x1xox/oxoxo b\" --json\n",
    "  konane probe 4x5 --json - < positions.txt\n"
))]
pub struct ProbeArgs {
    /// The board and the position. With neither --position nor --moves, positions are read from
    /// standard input, one a line, unless it is a terminal; then the start is looked up.
    #[command(flatten)]
    pub start: PositionArgs,
    /// Read positions from standard input, even from a terminal.
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true,
          conflicts_with_all = ["position", "moves"])]
    pub stdin: Option<String>,
    /// The directory of databases, or of one.
    #[arg(long, value_name = "DIR", default_value = "db")]
    pub db: PathBuf,
    /// Print JSON instead of text: one object, or one a line for positions from standard input.
    #[arg(long)]
    pub json: bool,
}

/// `konane builddb`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "What was interrupted goes on when the same command is run again.\n\n",
    "Examples:\n",
    "  konane builddb 4x5\n",
    "  konane builddb 5x5 --out databases --threads 1\n",
    "  konane builddb 7x7 --max-stones 4 --memory 1GiB --plan\n"
))]
pub struct BuilddbArgs {
    /// Ranks x files, such as 6x6.
    #[arg(value_name = "RxF")]
    pub board: Dimensions,
    /// The directory for databases; each has a directory in it, such as db/6x6-complete.
    #[arg(short, long, value_name = "DIR", default_value = "db")]
    pub out: PathBuf,
    /// Which positions.
    #[arg(long, value_name = "NAME", default_value = "complete")]
    pub scope: ScopeArg,
    /// Only positions with up to this many stones.
    #[arg(long, value_name = "N", value_parser = parse_stones, allow_negative_numbers = true)]
    pub max_stones: Option<u32>,
    /// Memory that may be used [default: what the system has available].
    #[arg(short, long, value_name = "SIZE", value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: Option<u64>,
    /// Threads to build with [default: all cores].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = parse_threads)]
    pub threads: Option<u32>,
    /// Print what the build would need, and stop.
    #[arg(long, visible_alias = "dry-run")]
    pub plan: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// Show no progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `konane verifydb`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane verifydb db/4x5-complete\n",
    "  konane verifydb db/4x5-complete --deep --json\n"
))]
pub struct VerifydbArgs {
    /// The database: a directory that builddb has made.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Also compute every value again from those of the moves.
    #[arg(long)]
    pub deep: bool,
    /// Threads to check with [default: all cores].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = parse_threads)]
    pub threads: Option<u32>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// Show no progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `konane perft`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane perft 8x8 9\n",
    "  konane perft 6x6 5 --divide --moves \"c4 d4\"\n",
    "  konane perft 6x6 8 --unique\n"
))]
pub struct PerftArgs {
    /// The board and where to begin.
    #[command(flatten)]
    pub start: PositionArgs,
    /// Plies to count, 1 to 64.
    #[arg(value_name = "DEPTH", value_parser = parse_depth,
          allow_negative_numbers = true)]
    pub depth: u32,
    /// Show the count of each first move as well.
    #[arg(long, conflicts_with = "unique")]
    pub divide: bool,
    /// Count the positions that are first met at each ply, symmetric ones once. Keeps all of them
    /// in memory, about 16 bytes each.
    #[arg(long)]
    pub unique: bool,
    /// With --unique: count symmetric positions separately.
    #[arg(long, requires = "unique")]
    pub no_symmetry: bool,
    /// Threads to count with [default: all cores].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = parse_threads)]
    pub threads: Option<u32>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `konane statespace`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane statespace 4x5\n",
    "  konane statespace 5x5 --json --quiet\n"
))]
pub struct StatespaceArgs {
    /// Ranks x files, such as 5x6; up to 36 squares.
    #[arg(value_name = "RxF")]
    pub board: Dimensions,
    /// Threads to search with [default: all cores].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = parse_threads)]
    pub threads: Option<u32>,
    /// Memory that may be used [default: what the system has available].
    #[arg(short, long, value_name = "SIZE", value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: Option<u64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// Show no progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `konane bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Compare the signature with this one; exit with 1 if it differs.
    #[arg(long, value_name = "SIGNATURE", value_parser = parse_signature, allow_negative_numbers = true)]
    pub expect: Option<u64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `konane completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `konane man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The verb to describe; without it, the program as a whole.
    #[arg(value_name = "VERB")]
    pub verb: Option<String>,
}

/// [`Algorithm`] as clap lists it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum AlgorithmArg {
    /// Proof-number search: the whole tree in memory.
    Pns,
    /// Two-level proof-number search: slower, in much less memory.
    Pn2,
    /// Depth-first proof-number search in a transposition table.
    Dfpn,
    /// Alpha-beta with iterative deepening, for comparison.
    Ab,
    /// Proof-number search whose leaves are jobs for df-pn workers.
    PnsPdfpn,
}

impl From<AlgorithmArg> for Algorithm {
    fn from(arg: AlgorithmArg) -> Algorithm {
        match arg {
            AlgorithmArg::Pns => Algorithm::Pns,
            AlgorithmArg::Pn2 => Algorithm::Pn2,
            AlgorithmArg::Dfpn => Algorithm::Dfpn,
            AlgorithmArg::Ab => Algorithm::AlphaBeta,
            AlgorithmArg::PnsPdfpn => Algorithm::PnsPdfpn,
        }
    }
}

/// [`Colour`] as clap lists it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SideArg {
    /// Begins with the first removal.
    Black,
    /// Makes the second removal.
    White,
}

impl From<SideArg> for Colour {
    fn from(arg: SideArg) -> Colour {
        match arg {
            SideArg::Black => Colour::Black,
            SideArg::White => Colour::White,
        }
    }
}

/// [`Scope`] as clap lists it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ScopeArg {
    /// Every set of stones with either side to move.
    Complete,
    /// The positions that a game from the start can reach.
    Reachable,
}

impl From<ScopeArg> for Scope {
    fn from(arg: ScopeArg) -> Scope {
        match arg {
            ScopeArg::Complete => Scope::Complete,
            ScopeArg::Reachable => Scope::Reachable,
        }
    }
}

/// [`Profile`] as clap lists it.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ProfileArg {
    /// The fastest parameters known.
    Tuned,
    /// The published ones, to reproduce published comparisons.
    Thesis,
}

impl From<ProfileArg> for Profile {
    fn from(arg: ProfileArg) -> Profile {
        match arg {
            ProfileArg::Tuned => Profile::Tuned,
            ProfileArg::Thesis => Profile::Thesis,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
