//! Arguments that several subcommands share.

pub mod analyst;
pub mod database;
pub mod environment;
pub mod played_position;

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};

use crate::exit::CliError;
use konane::notation::{PositionError, dimensions_of, parse_line, parse_position_as};
use konane::search::run::Limits;
use konane::system::{
    NumberError, alternatives, memory_available, parse_bytes, parse_count, parse_duration,
    parse_number, quote, start_in_pool, thread_pool,
};
use konane::{Board, Dimensions, DimensionsError, Move, PhaseChoice, Position};

/// Maximum number of threads.
pub const MAX_THREADS: u32 = 1024;

/// Returns a parser of whole numbers from `min` to `max`.
pub fn number(min: u32, max: u32) -> impl Fn(&str) -> Result<u32, NumberError> + Clone {
    move |text| parse_number(text, min.into(), max.into()).map(|number| number as u32)
}

/// Parses a board.
pub fn board(text: &str) -> Result<Dimensions, String> {
    match text {
        "-" => Err("write a board; positions on standard input follow it, as in \
                    `konane solve 4x4 -`"
            .to_owned()),
        _ => text.parse().map_err(|error: DimensionsError| error.to_string()),
    }
}

/// Returns a parser of library values by their names. Each value has a help text.
pub fn named<T>(
    values: &'static [(T, &'static str)],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names = values.iter().map(move |&(value, help)| PossibleValue::new(name(value)).help(help));
    PossibleValuesParser::new(names).map(move |text| {
        let (value, _) = values.iter().find(|&&(value, _)| name(value) == text).expect("a name");
        *value
    })
}

/// Form of the output.
#[derive(Clone, Copy, Debug, Args)]
pub struct OutputArgs {
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// Show no progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Number of threads.
#[derive(Clone, Copy, Debug, Args)]
pub struct ThreadsArg {
    /// Threads to use [default: KONANE_THREADS, or all cores].
    #[arg(short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = number(1, MAX_THREADS))]
    pub threads: Option<u32>,
}

impl ThreadsArg {
    /// Returns the requested number of threads, by default the number of cores, or 1 if the algorithm is not
    /// in `parallel`.
    pub fn of(
        self,
        algorithm: &'static str,
        parallel: impl IntoIterator<Item = &'static str>,
    ) -> Result<NonZeroUsize, CliError> {
        let parallel: Vec<&str> = parallel.into_iter().collect();
        if parallel.contains(&algorithm) {
            let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
            let threads = self.or_environment()?;
            Ok(threads.and_then(|n| NonZeroUsize::new(n as usize)).unwrap_or_else(cores))
        } else if self.threads.is_some_and(|threads| threads > 1) {
            let parallel = alternatives(&parallel);
            Err(CliError::Usage(format!(
                "--threads: {algorithm} searches on one thread; choose --algo {parallel} for more"
            )))
        } else {
            Ok(NonZeroUsize::MIN)
        }
    }

    /// Runs `work` on a pool with this number of threads.
    pub fn install<T: Send>(self, work: impl FnOnce() -> T + Send) -> Result<T, CliError> {
        Ok(self.build()?.install(work))
    }

    /// Starts a pool with this number of threads.
    pub fn build(self) -> Result<rayon::ThreadPool, CliError> {
        self.pool()?.spawn_handler(start_in_pool).build().map_err(CliError::Threads)
    }

    /// Starts the global pool with this number of threads, for work that cannot run in
    /// [`ThreadsArg::install`]. May be called once. Rayon would start the pool at its first use, and panic if
    /// the threads cannot be started.
    pub fn start_pool(self) -> Result<(), CliError> {
        self.pool()?.spawn_handler(start_in_pool).build_global().map_err(CliError::Threads)
    }

    fn pool(self) -> Result<rayon::ThreadPoolBuilder, CliError> {
        // With 0, rayon selects the number.
        Ok(thread_pool(self.or_environment()?.unwrap_or(0) as usize))
    }

    fn or_environment(self) -> Result<Option<u32>, CliError> {
        self.threads.map_or_else(environment::threads, |threads| Ok(Some(threads)))
    }
}

/// Memory limit of a subcommand that can estimate the memory that it needs.
#[derive(Clone, Copy, Debug, Args)]
pub struct MemoryLimitArg {
    /// Memory limit [default: the memory that the system has available].
    #[arg(short, long, value_name = "SIZE", value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: Option<u64>,
}

impl MemoryLimitArg {
    /// Returns the limit, by default the available memory. `None` if the system does not report it.
    pub fn available(self) -> Option<u64> {
        self.memory.or_else(memory_available)
    }

    /// Returns an error if `what` needs more memory than is available.
    pub fn must_suffice(self, need: u64, what: impl FnOnce() -> String) -> Result<(), CliError> {
        match self.available() {
            Some(have) if need > have => Err(CliError::Memory { what: what(), need, have }),
            _ => Ok(()),
        }
    }
}

/// Threads, memory limit and output of a subcommand that computes.
#[derive(Clone, Copy, Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub threads: ThreadsArg,
    #[command(flatten)]
    pub memory: MemoryLimitArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Memory of a search.
#[derive(Clone, Copy, Debug, Args)]
pub struct SearchMemoryArg {
    /// Memory for the search, at least 1MiB.
    #[arg(short, long, value_name = "SIZE", default_value = environment::or(environment::MEMORY, "1GiB"), value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
}

/// Threads and limits of a search.
#[derive(Clone, Copy, Debug, Args)]
pub struct SearchArgs {
    #[command(flatten)]
    pub threads: ThreadsArg,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Limits of a search.
#[derive(Clone, Copy, Debug, Args)]
pub struct LimitArgs {
    #[command(flatten)]
    pub memory: SearchMemoryArg,
    /// Stop after this time, such as 60s, 5m or 1h30m.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub time_limit: Option<Duration>,
    /// Stop after this number of nodes, such as 500000, 2.5M or 1e6.
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true)]
    pub max_nodes: Option<u64>,
}

impl LimitArgs {
    /// Returns the limits of a search that begins at `begun`.
    pub fn started_at(self, begun: Instant, stop: &AtomicBool) -> Limits<'_> {
        Limits {
            nodes: self.max_nodes,
            // A time that the clock cannot represent is no limit.
            deadline: self.time_limit.and_then(|limit| begun.checked_add(limit)),
            stop: Some(stop),
            ..Limits::default()
        }
    }
}

/// Jobs of the two-level search.
#[derive(Clone, Copy, Debug, Args)]
pub struct JobArgs {
    /// pns-pdfpn: length of a worker's job in nodes, for Sprouts in expansions [default: 10000].
    #[arg(long, visible_alias = "iterations", value_name = "N", allow_negative_numbers = true,
          value_parser = parse_count)]
    pub job_length: Option<u64>,
}

impl JobArgs {
    /// Returns the length of a job, if given.
    ///
    /// # Errors
    /// If it is given for an algorithm without jobs.
    pub fn length(self, algorithm: &'static str, has_jobs: bool) -> Result<Option<u64>, CliError> {
        match self.job_length {
            Some(_) if !has_jobs => Err(CliError::Usage(format!(
                "--job-length is for --algo pns-pdfpn, not for {algorithm}"
            ))),
            length => Ok(length),
        }
    }
}

/// A board and a position on it.
#[derive(Debug, Args)]
pub struct PositionArgs {
    /// Ranks x files, such as 6x6; optional with --position.
    #[arg(value_name = "RxF", required_unless_present = "position", value_parser = board)]
    pub board: Option<Dimensions>,
    #[command(flatten)]
    pub begin: BeginArgs,
}

/// A position on a board, by default the start position. `--phase` is for `--position`, and for options that another
/// struct adds to the group.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("phased").multiple(true))]
pub struct BeginArgs {
    /// Begin at this position: ranks from the top with / between them, x Black, o White, a number
    /// for that many empty squares, then b or w for the side to move: "xox/o1o/xox w". Diagrams with one rank
    /// per line are read, too.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, group = "phased")]
    pub position: Option<String>,
    /// Phase of --position: auto (a removal is next if fewer than two squares are empty) or jump (the
    /// players jump, as in "1ox b", also written "1ox b jump") [default: auto].
    #[arg(
        long,
        value_name = "PHASE",
        value_parser = named(PHASES, PhaseChoice::name),
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        requires = "phased"
    )]
    pub phase: PhaseChoice,
    /// Play these moves at the beginning, from --position or from the start: squares to remove, then jumps
    /// such as "c3-c1" (file letters from the left, rank numbers from the bottom), with spaces or
    /// commas between them: "a4 a3".
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true)]
    pub moves: Option<String>,
}

impl PositionArgs {
    /// Returns the board: the given one, or that of the position.
    pub fn board(&self) -> Result<Dimensions, CliError> {
        self.board.map_or_else(|| self.begin.board(), Ok)
    }

    /// Returns the board and the position after the moves.
    pub fn read(&self) -> Result<(Board, Position), CliError> {
        self.begin.read_end(self.board()?)
    }
}

impl BeginArgs {
    /// Returns the board of the position's text.
    pub fn board(&self) -> Result<Dimensions, CliError> {
        let Some(text) = &self.position else {
            return Err(CliError::Usage("no board: write one, such as 6x6".to_owned()));
        };
        if text.trim().is_empty() {
            return Err(CliError::Position(PositionError::Empty));
        }
        dimensions_of(text).ok_or_else(|| {
            let text = quote(text);
            CliError::Usage(format!("--position: no board has the ranks and files of {text}"))
        })
    }

    /// Returns true if any of the options is given.
    pub fn given(&self) -> bool {
        self.position.is_some() || self.moves.is_some()
    }

    /// Returns the board and the position after the moves.
    pub fn read_end(&self, board: Dimensions) -> Result<(Board, Position), CliError> {
        let (board, begin, moves) = self.read(board)?;
        let position = moves.iter().fold(begin, |position, &mv| position.play(&board, mv));
        Ok((board, position))
    }

    /// Returns the board, the position before the moves, and the moves.
    pub fn read(&self, board: Dimensions) -> Result<(Board, Position, Vec<Move>), CliError> {
        let (board, begin) = match &self.position {
            Some(text) => parse_position_as(board, text, self.phase).map_err(CliError::Position)?,
            None => {
                let board = Board::new(board);
                let start = Position::start(&board);
                (board, start)
            }
        };
        let moves = self.moves.as_deref().unwrap_or_default();
        let moves = parse_line(&board, &begin, moves)
            .map_err(|error| CliError::Usage(format!("--moves: {error}")))?;
        Ok((board, begin, moves))
    }
}

/// Values of `--phase` with their help texts.
pub const PHASES: &[(PhaseChoice, &str)] = &[
    (PhaseChoice::Auto, "By the number of empty squares"),
    (PhaseChoice::Jump, "The jumping phase"),
];
