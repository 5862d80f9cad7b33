//! `konane statespace`.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use crate::args::RunArgs;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::progress::ProgressDisplay;
use konane::search::run::Reason;
use konane::tablebase::statespace::{
    MAX_SQUARES, Ply, PlyCounts, StateSpaceError, StateSpaceEvent, memory_needed, statespace,
};
use konane::{Board, Dimensions};

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
    #[command(flatten)]
    pub run: RunArgs,
}

/// The JSON of `statespace`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StateSpaceJson {
    /// Ranks x files.
    pub board: Dimensions,
    /// Counts of every ply; empty if the enumeration was not completed.
    pub plies: Vec<Ply>,
    /// Sums over all plies; null if the enumeration was not completed.
    pub total: Option<PlyCounts>,
    /// Reason why the enumeration was not completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Counts and prints.
pub fn run(args: &StatespaceArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let result = search(args, stop);
    let reason = match &result {
        Ok(_) => None,
        Err(CliError::StateSpace(StateSpaceError::Interrupted)) => Some(Reason::Interrupted),
        Err(CliError::Memory { .. } | CliError::StateSpace(StateSpaceError::Memory(_))) => {
            Some(Reason::Memory)
        }
        Err(_) => return result.map(|_| Exit::Answered),
    };
    let plies = result.as_deref().unwrap_or_default();
    let seconds = begun.elapsed().as_secs_f64();
    let object = StateSpaceJson {
        board: args.board,
        plies: plies.to_vec(),
        total: reason.is_none().then(|| sum(plies)),
        reason,
        seconds,
    };
    let plies =
        output::finish(args.run.output.json, &object, result, |plies| text(plies, seconds))?;
    Ok(plies.map_or(Exit::Interrupted, |_| Exit::Answered))
}

fn search(args: &StatespaceArgs, stop: &AtomicBool) -> Result<Vec<Ply>, CliError> {
    let board = Board::new(args.board);
    // For a board that is too large, `statespace` returns a more specific error.
    if args.board.squares() <= MAX_SQUARES {
        let what = || format!("the state space of {}", args.board);
        args.run.memory.must_suffice(memory_needed(&board), what)?;
    }
    let progress = ProgressDisplay::new(args.run.output.quiet);
    let mut show = |event: StateSpaceEvent<'_>| {
        match event {
            StateSpaceEvent::Work { done, of } => progress.part(done, of),
            StateSpaceEvent::Values { black, of } => {
                progress.step(&format!("winners: {black} of {of} black stones"));
            }
            StateSpaceEvent::Ply(ply) => {
                let positions = output::grouped(ply.counts.unique);
                progress.step(&format!("ply {}: {positions} positions", ply.ply));
            }
            StateSpaceEvent::Band { .. } => {}
        }
        ControlFlow::Continue(())
    };
    Ok(args.run.threads.install(|| statespace(&board, stop, &mut show))??)
}

fn sum(plies: &[Ply]) -> PlyCounts {
    plies.iter().map(|ply| ply.counts).sum()
}

fn text(plies: &[Ply], seconds: f64) -> String {
    let mut text = String::new();
    let heads = ["positions", "Black wins", "White wins", "terminals"];
    let [a, b, c, d] = heads;
    let _ = writeln!(text, "{:>5}  {a:>15}  {b:>15}  {c:>15}  {d:>13}", "ply");
    let mut row = |name: &str, counts: PlyCounts| {
        let PlyCounts { unique, black_wins, white_wins, terminals } = counts;
        let [a, b, c, d] = [unique, black_wins, white_wins, terminals].map(output::grouped);
        let _ = writeln!(text, "{name:>5}  {a:>15}  {b:>15}  {c:>15}  {d:>13}");
    };
    for ply in plies {
        row(&ply.ply.to_string(), ply.counts);
    }
    row("total", sum(plies));
    let _ = writeln!(text, "time {}", output::time(seconds));
    text
}
