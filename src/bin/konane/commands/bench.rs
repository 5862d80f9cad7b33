//! `konane bench`: fixed work on one thread.
//!
//! The counts of nodes and expansions depend only on the program, not on the machine, the instruction set or
//! the time. Their sum is the signature. If it changes, a search or a counter has changed. The counts of the
//! items show which one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use crate::commands::sprouts::text;
use crate::exit::{CliError, Exit};
use crate::output;
use konane::json::per_second;
use konane::search::run::{Counters, Limits, Outcome, Reason};
use konane::search::sums::{DEFAULT_JOB_EXPANSIONS, SearchOptions, SolverState, Sum};
use konane::sprouts::{self, Scratch, Sprouts};
use konane::system::parse_number;
use konane::{Algorithm, Board, Dimensions, Perft, Position, SolveOptions, Solver};

/// Signature of this program: the sum of all counts of `konane bench`. A change that is meant to alter a search alters
/// this number, and the snapshot of the counts.
pub const SIGNATURE: u64 = 60_192_146;

/// `konane bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Compare the signature with this one; exit with 1 if it differs.
    #[arg(long, value_name = "SIGNATURE", value_parser = |text: &str| parse_number(text, 0, u64::MAX),
          allow_negative_numbers = true)]
    pub expect: Option<u64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// One item in the JSON of `bench`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchItemJson {
    /// Name of the item.
    pub name: String,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of expansions including repeated ones. Absent for items that do not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expansions: Option<u64>,
    /// Wall-clock time.
    pub seconds: f64,
    /// `nodes` divided by `seconds`.
    pub nodes_per_second: f64,
}

/// The JSON of `bench`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchJson {
    /// The items, in order.
    pub items: Vec<BenchItemJson>,
    /// Sum of all nodes and expansions; null if the run was interrupted.
    pub signature: Option<u64>,
    /// `interrupted` if the run was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Memory of each search. Fixed, because node counts depend on the table size.
const MEMORY: u64 = 64 << 20;

/// One item of the benchmark.
#[derive(Clone, Copy)]
enum BenchItem {
    /// Perft from the start of a board to a depth.
    Perft((u32, u32), u32),
    /// The winner of a board.
    Konane((u32, u32), Algorithm),
    /// The winner of Sprouts with this number of spots.
    Sprouts(u32, sprouts::Algorithm),
}

/// The items. They took about a second together on the machine on which they were chosen.
const ITEMS: &[BenchItem] = &[
    BenchItem::Perft((6, 6), 10),
    BenchItem::Perft((8, 8), 10),
    BenchItem::Konane((5, 6), Algorithm::Pns),
    BenchItem::Konane((5, 6), Algorithm::Pn2),
    BenchItem::Konane((5, 6), Algorithm::Dfpn),
    BenchItem::Konane((5, 7), Algorithm::Dfpn),
    BenchItem::Konane((6, 6), Algorithm::Dfpn),
    BenchItem::Konane((5, 6), Algorithm::AlphaBeta),
    BenchItem::Konane((5, 6), Algorithm::PnsPdfpn),
    BenchItem::Konane((5, 7), Algorithm::PnsPdfpn),
    BenchItem::Sprouts(8, sprouts::Algorithm::Dfpn),
    BenchItem::Sprouts(10, sprouts::Algorithm::Dfpn),
    BenchItem::Sprouts(8, sprouts::Algorithm::Pns),
    BenchItem::Sprouts(10, sprouts::Algorithm::Pns),
    BenchItem::Sprouts(8, sprouts::Algorithm::PnsPdfpn),
    BenchItem::Sprouts(10, sprouts::Algorithm::PnsPdfpn),
];

/// Runs the benchmark and prints the results.
pub fn run(args: &BenchArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let mut items = Vec::new();
    for bench_item in ITEMS {
        let item_begun = Instant::now();
        let Some((nodes, expansions)) = bench_item.run(stop)? else { break };
        let seconds = item_begun.elapsed().as_secs_f64();
        let item = BenchItemJson {
            name: bench_item.name(),
            nodes,
            expansions,
            seconds,
            nodes_per_second: per_second(nodes, seconds),
        };
        if !args.json {
            output::write_text(format!(
                "{:<15}{:>11} nodes{:>9} expansions{:>11}{:>8} nodes/s\n",
                item.name,
                output::grouped(nodes),
                expansions.map_or("-".to_owned(), output::grouped),
                output::time(seconds),
                output::short(item.nodes_per_second),
            ))?;
        }
        items.push(item);
    }
    let complete = items.len() == ITEMS.len();
    let counted = |item: &BenchItemJson| item.nodes + item.expansions.unwrap_or(0);
    let signature = complete.then(|| items.iter().map(counted).sum::<u64>());
    let seconds = begun.elapsed().as_secs_f64();
    if args.json {
        let reason = (!complete).then_some(Reason::Interrupted);
        output::write_json(&BenchJson { items, signature, reason, seconds })?;
    } else if let Some(signature) = signature {
        output::write_text(format!("total {}\nsignature: {signature}\n", output::time(seconds)))?;
    }
    match (signature, args.expect) {
        (None, _) => Ok(Exit::Interrupted),
        (Some(found), Some(expected)) if found != expected => {
            Err(CliError::Signature { found, expected })
        }
        _ => Ok(Exit::Answered),
    }
}

impl BenchItem {
    fn name(self) -> String {
        match self {
            BenchItem::Perft((ranks, files), depth) => format!("perft {ranks}x{files} {depth}"),
            BenchItem::Konane((ranks, files), algorithm) => format!("{algorithm} {ranks}x{files}"),
            BenchItem::Sprouts(spots, search) => format!("{} 0*{spots}", search.name()),
        }
    }

    /// Returns the nodes, and the expansions if they are counted. `None` if the item was interrupted.
    fn run(self, stop: &AtomicBool) -> Result<Option<(u64, Option<u64>)>, CliError> {
        let limits = Limits { stop: Some(stop), ..Limits::default() };
        let report = match self {
            BenchItem::Perft(size, depth) => {
                let board = board(size);
                // Too short to need a poll of the stop flag.
                let nodes = Perft::new(&board).count(&Position::start(&board), depth);
                return Ok((!stop.load(Ordering::Relaxed)).then_some((nodes, None)));
            }
            BenchItem::Konane(size, algorithm) => {
                let board = board(size);
                let options =
                    SolveOptions { algorithm, memory_bytes: MEMORY, ..SolveOptions::default() };
                let solver = Solver::new(&board, &Position::start(&board));
                solver.options(options).limits(limits).run()?.report
            }
            BenchItem::Sprouts(spots, algorithm) => {
                let position = text::read(&format!("0*{spots}"))?;
                let state = SolverState::new(Arc::new(Sprouts::new(MEMORY)), MEMORY);
                let state = state.map_err(CliError::SproutsTable)?;
                let atoms = state.game().atoms(&position, &mut Scratch::default())?;
                let root = Sum::new(state.game(), &atoms, 0);
                let (options, jobs) = (SearchOptions::TUNED, DEFAULT_JOB_EXPANSIONS);
                algorithm.search(&state, &root, options, jobs, 1, limits, &mut ())
            }
        };
        // An item that runs out of memory still counts its nodes.
        let is_complete = report.outcome != Outcome::Unknown(Reason::Interrupted);
        let Counters { nodes, expansions, .. } = report.counters;
        Ok(is_complete.then_some((nodes, Some(expansions))))
    }
}

fn board((ranks, files): (u32, u32)) -> Board {
    Board::new(Dimensions::new(ranks, files).expect("a valid size"))
}
