//! `konane perft`.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use crate::args::{BeginArgs, RunArgs, number};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::progress::ProgressDisplay;
use konane::{Dimensions, Move, Perft, PerftError, Phase, Position};

/// `konane perft`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane perft 8x8 9\n",
    "  konane perft 6x6 5 --divide --moves \"c4 d4\"\n",
    "  konane perft 6x6 8 --unique\n",
    "\n",
    "Lists of positions take at most --memory. If that is too little for the next ply, --unique ends\n",
    "there; other counts take longer.\n"
))]
pub struct PerftArgs {
    /// Ranks x files, such as 6x6.
    #[arg(value_name = "RxF")]
    pub board: Dimensions,
    #[command(flatten)]
    pub begin: BeginArgs,
    /// Plies to count, 1 to 64.
    #[arg(value_name = "DEPTH", value_parser = number(1, Perft::MAX_PLIES),
          allow_negative_numbers = true)]
    pub depth: u32,
    /// Also show the count of each first move.
    #[arg(long, conflicts_with = "unique")]
    pub divide: bool,
    /// Count every sequence one by one, to test move generation. Without this option, equal and
    /// symmetric positions of a ply are merged and their sequences counted together.
    #[arg(long, conflicts_with = "unique")]
    pub plain: bool,
    /// Count the distinct positions that are first reached at each ply, symmetric ones once. All of
    /// them are kept in memory.
    #[arg(long)]
    pub unique: bool,
    /// With --unique: count symmetric positions separately.
    #[arg(long, requires = "unique")]
    pub no_symmetry: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

/// A move and its count, in the JSON of `perft --divide`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DivideJson {
    /// The move.
    #[serde(rename = "move")]
    pub mv: Move,
    /// Number of move sequences that begin with it.
    pub nodes: u64,
}

/// The JSON of `perft`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PerftJson {
    /// Ranks x files.
    pub board: Dimensions,
    /// The first position.
    pub position: Position,
    /// Phase of this position.
    pub phase: Phase,
    /// Plies requested.
    pub depth: u32,
    /// Number of move sequences of 1, 2, ... plies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<u64>>,
    /// With `--unique`: number of positions first reached at plies 1, 2, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique: Option<Vec<u64>>,
    /// With `--unique`: true if symmetric positions are counted once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symmetry: Option<bool>,
    /// With `--divide`: the last count by first move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divide: Option<Vec<DivideJson>>,
    /// The reason why there are fewer counts than requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Counts and prints. Text is printed ply by ply.
pub fn run(args: &PerftArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    args.run.threads.install(|| count_plies(args, stop))?
}

fn count_plies(args: &PerftArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let (board, position) = args.begin.read_end(args.board)?;
    let (depth, perft) = (args.depth, Perft::new(&board));
    let progress = ProgressDisplay::new(args.run.output.quiet);
    // Writes text above the live line.
    let write = |text: String| match args.run.output.json {
        true => Ok(()),
        false => progress.aside(|| output::write_text(text)),
    };
    let head = if args.unique { "new positions" } else { "nodes" };
    write(format!("{:>5}  {head:>26}  time\n", "ply"))?;
    let (mut counts, mut divided, mut ended) = (Vec::new(), Vec::new(), None);
    let memory = args.run.memory.available().unwrap_or(u64::MAX);
    let unique = || perft.unique_plies(&position, !args.no_symmetry, memory, stop);
    let mut unique = args.unique.then(unique);
    for ply in 1..=depth {
        progress.endless();
        progress.live(format!("counting ply {ply} of {depth}"));
        let counted = match &mut unique {
            Some(plies) => match plies.next() {
                Some(count) => count.map(|count| (count, Vec::new())),
                None => break,
            },
            None => count(args, &perft, &position, ply, memory, &progress, stop),
        };
        match counted {
            Ok((count, moves)) => {
                counts.push(count);
                divided = moves;
                let (count, time) =
                    (output::grouped(count), output::time(begun.elapsed().as_secs_f64()));
                write(format!("{ply:>5}  {count:>26}  {time}\n"))?;
            }
            Err(reason) => {
                ended = Some(reason);
                break;
            }
        }
    }
    drop(unique);
    // Clears the live line before the answer is written.
    drop(progress);
    let divided = args.divide.then_some(divided).filter(|_| ended.is_none());
    if args.run.output.json {
        let (nodes, unique) = if args.unique { (None, Some(counts)) } else { (Some(counts), None) };
        let item = |(mv, nodes)| DivideJson { mv, nodes };
        output::write_json(&PerftJson {
            board: board.dimensions(),
            position,
            phase: position.phase(&board),
            depth,
            nodes,
            symmetry: unique.is_some().then_some(!args.no_symmetry),
            unique,
            divide: divided.map(|divided| divided.into_iter().map(item).collect()),
            reason: ended.map(|reason| reason.to_string()),
            seconds: begun.elapsed().as_secs_f64(),
        })?;
    } else if let Some(reason) = ended {
        let remedy = if reason == PerftError::Memory { ": --memory allows more" } else { "" };
        output::write_text(format!("{reason}{remedy}\n"))?;
    } else if let Some(divided) = divided {
        let mut text = format!("\nby first move, at depth {depth}:\n");
        for (mv, count) in divided {
            let _ = writeln!(text, "{:>9}  {:>22}", mv.to_string(), output::grouped(count));
        }
        output::write_text(&text)?;
    }
    Ok(ended.map_or(Exit::Answered, |reason| reason.kind().into()))
}

/// Counts the sequences of a length, and with `--divide` those of each first move.
fn count(
    args: &PerftArgs,
    perft: &Perft<'_>,
    position: &Position,
    ply: u32,
    memory: u64,
    progress: &ProgressDisplay,
    stop: &AtomicBool,
) -> Result<(u64, Vec<(Move, u64)>), PerftError> {
    let part = |done: u64, of: u64| progress.part(done, of);
    let moves = if args.plain {
        perft.divide_until(position, ply, &part, stop)?
    } else if args.divide && ply == args.depth {
        perft.merged_divide(position, ply, memory, &part, stop)?
    } else {
        return Ok((perft.merged(position, ply, memory, &part, stop)?, Vec::new()));
    };
    let add = |sum: u64, &(_, count): &(Move, u64)| sum.checked_add(count);
    let count = moves.iter().try_fold(0, add).ok_or(PerftError::TooMany)?;
    Ok((count, moves))
}
