//! `konane bench`: fixed work on one thread.
//!
//! The node counts depend on nothing but the program: not on the machine, the instruction set or
//! the time. Their sum is the signature; a change of it means that a search or a counter has
//! changed, wanted or not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::CliError;
use super::args::BenchArgs;
use super::exit::Exit;
use super::output::{self, BenchItemJson, BenchJson};
use crate::konane::{Algorithm, Board, Dimensions, Perft, Position, SolveOptions, Verdict, solve};
use crate::search::control::{Limits, Reason};

/// Memory of each search: node counts depend on the table's size.
const MEMORY: u64 = 64 << 20;

enum Work {
    Perft(u32),
    Solve(Algorithm),
}

/// Boards and what to do on them: less than a second where this was written, so a few seconds
/// anywhere.
const ITEMS: &[((u32, u32), Work)] = &[
    ((6, 6), Work::Perft(10)),
    ((8, 8), Work::Perft(10)),
    ((5, 6), Work::Solve(Algorithm::Pns)),
    ((5, 6), Work::Solve(Algorithm::Pn2)),
    ((5, 6), Work::Solve(Algorithm::Dfpn)),
    ((5, 7), Work::Solve(Algorithm::Dfpn)),
    ((6, 6), Work::Solve(Algorithm::Dfpn)),
    ((5, 6), Work::Solve(Algorithm::AlphaBeta)),
];

/// Works and prints.
pub fn run(args: &BenchArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let mut items = Vec::new();
    for &((ranks, files), ref work) in ITEMS {
        let board = Board::new(Dimensions::new(ranks, files).expect("a valid size"));
        let item_begun = Instant::now();
        let Some(nodes) = work.run(&board, stop)? else {
            break;
        };
        let seconds = item_begun.elapsed().as_secs_f64();
        let item = BenchItemJson {
            name: work.name(&board),
            nodes,
            seconds,
            nodes_per_second: output::speed(nodes, seconds),
        };
        if !args.json {
            output::write_text(&format!(
                "{:<14}{:>14} nodes  {:>9}  {:>7} nodes/s\n",
                item.name,
                output::grouped(nodes),
                output::time(seconds),
                output::short(item.nodes_per_second),
            ))?;
        }
        items.push(item);
    }
    let complete = items.len() == ITEMS.len();
    let signature = complete.then(|| items.iter().map(|item| item.nodes).sum::<u64>());
    let seconds = begun.elapsed().as_secs_f64();
    if args.json {
        output::write_json(&BenchJson { items, signature, seconds })?;
    } else if let Some(signature) = signature {
        output::write_text(&format!("total {}\nsignature: {signature}\n", output::time(seconds)))?;
    }
    match (signature, args.expect) {
        (None, _) => Ok(Exit::Interrupted),
        (Some(found), Some(expected)) if found != expected => {
            Err(CliError::Signature { found, expected })
        }
        _ => Ok(Exit::Answered),
    }
}

impl Work {
    fn name(&self, board: &Board) -> String {
        let board = board.dimensions();
        match self {
            Work::Perft(depth) => format!("perft {board} {depth}"),
            Work::Solve(algorithm) => format!("{algorithm} {board}"),
        }
    }

    /// The nodes that the work took, or nothing if it was interrupted.
    fn run(&self, board: &Board, stop: &AtomicBool) -> Result<Option<u64>, CliError> {
        let start = Position::start(board);
        match *self {
            Work::Perft(depth) => {
                // Short enough not to look at the flag in between.
                let nodes = Perft::new(board).count(&start, depth);
                Ok((!stop.load(Ordering::Relaxed)).then_some(nodes))
            }
            Work::Solve(algorithm) => {
                let options =
                    SolveOptions { algorithm, memory_bytes: MEMORY, ..SolveOptions::default() };
                let limits = Limits { stop: Some(stop), ..Limits::default() };
                let solution = solve(board, &start, &options, limits, &mut ())?;
                match solution.verdict {
                    Verdict::Unknown(Reason::Interrupted) => Ok(None),
                    // An item that runs out of memory still counts its nodes.
                    _ => Ok(Some(solution.report.counters.nodes)),
                }
            }
        }
    }
}
