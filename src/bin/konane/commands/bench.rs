//! `konane bench`: fixed work on one thread.
//!
//! The counts of nodes and expansions depend on nothing but the program: not on the machine, the
//! instruction set or the time. Their sum is the signature; a change of it means that a search or a
//! counter has changed, wanted or not, and the counts of each piece of work say which.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::sprouts::text;
use crate::exit::{CliError, Exit};
use crate::output;
use konane::search::run::{Limits, Outcome, Reason, Report};
use konane::search::sums::{self, DEFAULT_JOB_EXPANSIONS, SearchOptions, SolverState, Sum};
use konane::sprouts::{Scratch, Sprouts};
use konane::system::{NumberError, parse_number};
use konane::{Algorithm, Board, Dimensions, Perft, Position, SolveOptions, Solver};

fn parse_signature(text: &str) -> Result<u64, NumberError> {
    parse_number(text, 0, u64::MAX)
}

/// `konane bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Compare the signature with this one; exit with 1 if it differs.
    #[arg(long, value_name = "SIGNATURE", value_parser = parse_signature,
          allow_negative_numbers = true)]
    pub expect: Option<u64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// One piece of work in the JSON of `bench`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BenchItemJson {
    /// What was done.
    pub name: String,
    /// Nodes that it took.
    pub nodes: u64,
    /// Expansions, repeated ones included, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expansions: Option<u64>,
    /// Wall-clock time.
    pub seconds: f64,
    /// `nodes` by `seconds`.
    pub nodes_per_second: f64,
}

impl BenchItemJson {
    /// Its part of the signature.
    pub fn counted(&self) -> u64 {
        self.nodes + self.expansions.unwrap_or(0)
    }
}

/// The JSON of `bench`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BenchJson {
    /// The pieces of work, in order.
    pub items: Vec<BenchItemJson>,
    /// Sum of all nodes and expansions; null if the run was interrupted.
    pub signature: Option<u64>,
    /// `interrupted` if the run was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Memory of each search: node counts depend on the table's size.
const MEMORY: u64 = 64 << 20;

#[derive(Clone, Copy)]
enum Work {
    /// Node counts from the start of a board.
    Perft((u32, u32), u32),
    /// The winner of a board.
    Konane((u32, u32), Algorithm),
    /// Who wins Sprouts from so many spots.
    Sprouts(u32, ImpartialSearch),
}

/// The searches for impartial games.
#[derive(Clone, Copy)]
enum ImpartialSearch {
    Dfpn,
    Pns,
    PnsPdfpn,
}

/// What there is to do: about a second where this was written, so a few seconds anywhere.
const ITEMS: &[Work] = &[
    Work::Perft((6, 6), 10),
    Work::Perft((8, 8), 10),
    Work::Konane((5, 6), Algorithm::Pns),
    Work::Konane((5, 6), Algorithm::Pn2),
    Work::Konane((5, 6), Algorithm::Dfpn),
    Work::Konane((5, 7), Algorithm::Dfpn),
    Work::Konane((6, 6), Algorithm::Dfpn),
    Work::Konane((5, 6), Algorithm::AlphaBeta),
    Work::Konane((5, 6), Algorithm::PnsPdfpn),
    Work::Konane((5, 7), Algorithm::PnsPdfpn),
    Work::Sprouts(8, ImpartialSearch::Dfpn),
    Work::Sprouts(10, ImpartialSearch::Dfpn),
    Work::Sprouts(8, ImpartialSearch::Pns),
    Work::Sprouts(10, ImpartialSearch::Pns),
    Work::Sprouts(8, ImpartialSearch::PnsPdfpn),
    Work::Sprouts(10, ImpartialSearch::PnsPdfpn),
];

/// Counts of a piece of work.
struct Counted {
    nodes: u64,
    /// Expansions, repeated ones included; nothing where none are counted.
    expansions: Option<u64>,
}

/// Works and prints.
pub fn run(args: &BenchArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let mut items = Vec::new();
    for work in ITEMS {
        let item_begun = Instant::now();
        let Some(Counted { nodes, expansions }) = work.run(stop)? else {
            break;
        };
        let seconds = item_begun.elapsed().as_secs_f64();
        let item = BenchItemJson {
            name: work.name(),
            nodes,
            expansions,
            seconds,
            nodes_per_second: output::speed(nodes, seconds),
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
    let signature = complete.then(|| items.iter().map(BenchItemJson::counted).sum::<u64>());
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

impl Work {
    fn name(self) -> String {
        match self {
            Work::Perft((ranks, files), depth) => format!("perft {ranks}x{files} {depth}"),
            Work::Konane((ranks, files), algorithm) => format!("{algorithm} {ranks}x{files}"),
            Work::Sprouts(spots, search) => format!("{} 0*{spots}", search.name()),
        }
    }

    /// What the work counted, or nothing if it was interrupted.
    fn run(self, stop: &AtomicBool) -> Result<Option<Counted>, CliError> {
        let limits = Limits { stop: Some(stop), ..Limits::default() };
        match self {
            Work::Perft(size, depth) => {
                let board = board(size);
                // Short enough not to look at the flag in between.
                let nodes = Perft::new(&board).count(&Position::start(&board), depth);
                Ok((!stop.load(Ordering::Relaxed)).then_some(Counted { nodes, expansions: None }))
            }
            Work::Konane(size, algorithm) => {
                let board = board(size);
                let options =
                    SolveOptions { algorithm, memory_bytes: MEMORY, ..SolveOptions::default() };
                let solver = Solver::new(&board, &Position::start(&board));
                let solution = solver.options(options).limits(limits).run()?;
                // An item that runs out of memory still counts its nodes.
                let interrupted = solution.reason == Some(Reason::Interrupted);
                let counters = solution.report.counters;
                Ok((!interrupted).then_some(Counted {
                    nodes: counters.nodes,
                    expansions: Some(counters.expansions),
                }))
            }
            Work::Sprouts(spots, search) => {
                let report = search.run(spots, limits)?;
                let interrupted = report.outcome == Outcome::Unknown(Reason::Interrupted);
                let counters = report.counters;
                Ok((!interrupted).then_some(Counted {
                    nodes: counters.nodes,
                    expansions: Some(counters.expansions),
                }))
            }
        }
    }
}

impl ImpartialSearch {
    fn name(self) -> &'static str {
        match self {
            ImpartialSearch::Dfpn => "dfpn",
            ImpartialSearch::Pns => "pns",
            ImpartialSearch::PnsPdfpn => "pns-pdfpn",
        }
    }

    fn run(self, spots: u32, limits: Limits<'_>) -> Result<Report, CliError> {
        let position = text::read(&format!("0*{spots}"))?;
        let game = Sprouts::new(MEMORY);
        let atoms = game.atoms(&position, &mut Scratch::default())?;
        let root = Sum::new(&game, &atoms, 0);
        let workspace = SolverState::new(&game, MEMORY).map_err(CliError::SproutsTable)?;
        let (workspace, options) = (&workspace, SearchOptions::TUNED);
        Ok(match self {
            ImpartialSearch::Dfpn => sums::dfpn(workspace, &root, options, 1, limits, &mut ()),
            ImpartialSearch::Pns => sums::pns(workspace, &root, options, limits, &mut ()),
            ImpartialSearch::PnsPdfpn => {
                let jobs = DEFAULT_JOB_EXPANSIONS;
                sums::two_level(workspace, &root, options, jobs, 1, limits, &mut ())
            }
        })
    }
}

fn board((ranks, files): (u32, u32)) -> Board {
    Board::new(Dimensions::new(ranks, files).expect("a valid size"))
}
