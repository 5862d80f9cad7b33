//! `konane puzzle`.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::Args;

use crate::args::{OutputArgs, board, database, environment, named, number};
use crate::exit::{CliError, Exit};
use crate::output::{self, EndedJson};
use crate::progress::ProgressDisplay;
use konane::analysis::{Analyst, Difficulty, Puzzle, Puzzles};
use konane::search::run::Limits;
use konane::system::{parse_bytes, parse_duration, parse_number};
use konane::{Board, Dimensions};

/// `konane puzzle`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Exactly one move wins, and another one leaves the opponent fewer replies. The positions are those of random\n",
    "games; the same seed gives the same ones. The difficulty is the number of positions of the proof.\n\n",
    "Examples:\n",
    "  konane puzzle\n",
    "  konane puzzle --board 5x6 --count 10 --json\n",
    "  konane puzzle --board 6x6 --difficulty hard --seed 2 --db db\n"
))]
pub struct PuzzleArgs {
    /// Ranks x files.
    #[arg(long, value_name = "RxF", default_value = "5x6", value_parser = board)]
    pub board: Dimensions,
    /// Number of puzzles, 1 to 10000.
    #[arg(long, value_name = "N", default_value = "1", value_parser = number(1, 10_000),
          allow_negative_numbers = true)]
    pub count: u32,
    /// Difficulty [default: any].
    #[arg(long, value_name = "NAME", value_parser = named(DIFFICULTIES, Difficulty::name))]
    pub difficulty: Option<Difficulty>,
    /// Seed of the random numbers.
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true,
          value_parser = |text: &str| parse_number(text, 0, u64::MAX))]
    pub seed: u64,
    /// Look up values in the database of the board in this directory, or in this database. May be repeated.
    #[arg(long, value_name = "DIR")]
    pub db: Vec<PathBuf>,
    /// Memory for search results, at least 1MiB.
    #[arg(short, long, value_name = "SIZE", default_value = environment::or(environment::MEMORY, "64MiB"), value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
    /// Stop after this time, such as 60s, 5m or 1h30m. Few boards with fewer than 16 squares have puzzles.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration,
          allow_hyphen_values = true)]
    pub time_limit: Duration,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Values of `--difficulty` with their help texts.
const DIFFICULTIES: &[(Difficulty, &str)] = &[
    (Difficulty::Easy, "A proof of fewer than 16 positions"),
    (Difficulty::Medium, "16 to 63 positions"),
    (Difficulty::Hard, "64 positions or more"),
];

/// Prints the puzzles when they are found.
pub fn run(args: &PuzzleArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let deadline = Instant::now().checked_add(args.time_limit);
    let limits = Limits { deadline, stop: Some(stop), ..Limits::default() };
    // One thread, so that the puzzles depend on the seed alone.
    let mut analyst = Analyst::on_board(Board::new(args.board), args.memory)?;
    if let Some(database) = database::open_named(&args.db, args.board, None)? {
        analyst = analyst.with_database(database)?;
    }
    let progress = ProgressDisplay::new(args.output.quiet);
    let mut puzzles = Puzzles::new(args.seed);
    for number in 1..=args.count {
        progress.live(format!("looking for puzzle {number} of {}", args.count));
        let Some(puzzle) = puzzles.next(&mut analyst, args.difficulty, limits)? else {
            let reason = limits.reached();
            drop(progress);
            match reason {
                Some(reason) if args.output.json => output::write_json(&EndedJson { reason })?,
                _ => {
                    let found = number - 1;
                    output::warn(&format!("only {found} of {} puzzles were found", args.count));
                }
            }
            return Ok(reason.into());
        };
        let print = || output::answer(args.output.json, &puzzle, |puzzle| text(number, puzzle));
        progress.aside(print)?;
    }
    Ok(Exit::Answered)
}

fn text(number: u32, puzzle: &Puzzle) -> String {
    let Puzzle { position, to_move, moves, solution, proof_positions, difficulty, .. } = puzzle;
    format!(
        "{number}. {position}\n   {to_move} to move, {moves} moves, {}. Solution: {solution}, with a proof of \
         {proof_positions} positions.\n",
        difficulty.name()
    )
}
