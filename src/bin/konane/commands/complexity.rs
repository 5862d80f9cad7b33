//! `konane complexity`, and what `konane sprouts complexity` has in common with it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use crate::args::{OutputArgs, ThreadsArg, number};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::progress::ProgressDisplay;
use konane::complexity::{ComplexityEstimate, Samples};
use konane::search::run::Reason;
use konane::system::parse_number;
use konane::{Board, Dimensions, Position, konane_complexity};

/// Help text about the columns.
pub const HELP: &str = "\
The product of the numbers of children along a random game estimates the number of leaves of the game \
tree. The columns are the mean of these products, their standard deviation, and their 1st and 99th \
percentile, all as logarithms to base 10. The results depend on --samples and --seed, not on --threads.";

/// `konane complexity`.
#[derive(Debug, Args)]
#[command(after_help = format!("{HELP}\n\n{}", concat!(
    "Examples:\n",
    "  konane complexity 6x6\n",
    "  konane complexity 4x4 6x6 8x8 --samples 10000 --seed 2\n"
)))]
pub struct ComplexityArgs {
    /// Ranks x files of each board, such as 6x6.
    #[arg(value_name = "RxF", required = true)]
    pub boards: Vec<Dimensions>,
    #[command(flatten)]
    pub samples: SamplesArgs,
}

/// Random games, and the output.
#[derive(Clone, Copy, Debug, Args)]
pub struct SamplesArgs {
    /// Number of random games for each start, 1 to 1000000.
    #[arg(long, value_name = "N", default_value = "1000", value_parser = number(1, 1_000_000),
          allow_negative_numbers = true)]
    pub samples: u32,
    /// Seed of the random numbers.
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true,
          value_parser = |text: &str| parse_number(text, 0, u64::MAX))]
    pub seed: u64,
    #[command(flatten)]
    pub threads: ThreadsArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The JSON of `complexity` and `sprouts complexity`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComplexityJson {
    /// Number of random games for each start.
    pub samples: u32,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Estimates in the order of the starts; without those that a limit or a signal prevented.
    pub starts: Vec<StartComplexityJson>,
    /// The limit that was reached, or `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// The estimates for a start, in the JSON of `complexity` and `sprouts complexity`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartComplexityJson {
    /// The board, or the Sprouts position as it was given.
    pub start: String,
    /// Number of leaves of the game tree.
    pub game_tree: ComplexityEstimate,
    /// Number of leaves of the tree with Grundy numbers; absent for Konane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grundy_tree: Option<ComplexityEstimate>,
}

/// Estimates and prints.
pub fn run(args: &ComplexityArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let starts = args.boards.iter().map(|&board| (board.to_string(), Board::new(board))).collect();
    estimate_all(args.samples, starts, stop, |board, samples| {
        let start = Position::start(board);
        konane_complexity(board, &start, samples)
            .map(|game_tree| (game_tree, None))
            .ok_or(CliError::Interrupted)
    })
}

/// Prints the estimates of all starts. `estimate` returns those of the game tree and the tree with Grundy numbers.
pub fn estimate_all<S: Sync>(
    args: SamplesArgs,
    starts: Vec<(String, S)>,
    stop: &AtomicBool,
    estimate: impl Fn(
        &S,
        &Samples<'_>,
    ) -> Result<(ComplexityEstimate, Option<ComplexityEstimate>), CliError>
    + Sync,
) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let SamplesArgs { samples: count, seed, threads, output: OutputArgs { json, quiet } } = args;
    let width = starts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(5);
    let mut found = Vec::new();
    let one = |(name, start): &(String, S)| {
        let (progress, done) = (ProgressDisplay::new(quiet), AtomicU32::new(0));
        let on_sample = || {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress.update(|_| {
                progress.part(done.into(), count.into());
                format!("{done} of {count} random games of {name}")
            });
        };
        let samples = Samples { count, seed, stop, on_sample: &on_sample };
        threads.install(|| estimate(start, &samples))?
    };
    let mut estimate_starts = || {
        if !json {
            let head = ["mean", "deviation", "1 %", "99 %"].map(|name| format!("{name:>10}"));
            output::write_text(format!("{:width$}  leaves (log10){}\n", "start", head.concat()))?;
        }
        for start in &starts {
            let (game_tree, grundy_tree) = one(start)?;
            let estimates = StartComplexityJson { start: start.0.clone(), game_tree, grundy_tree };
            if !json {
                output::write_text(rows(&estimates, width))?;
            }
            found.push(estimates);
        }
        Ok(Exit::Answered)
    };
    let result = estimate_starts();
    let seconds = begun.elapsed().as_secs_f64();
    let mut object = ComplexityJson { samples: count, seed, starts: found, reason: None, seconds };
    if json && result.is_ok() {
        output::write_json(&object)?;
    }
    output::ended(json, result, |reason| {
        object.reason = Some(reason);
        object
    })
}

/// Returns a line for each tree.
fn rows(estimates: &StartComplexityJson, width: usize) -> String {
    let row = |start: &str, tree: &str, estimate: &ComplexityEstimate| {
        let &ComplexityEstimate {
            log10_mean: mean,
            log10_deviation,
            log10_percentile_1: first,
            log10_percentile_99: last,
        } = estimate;
        let deviation = log10_deviation.map_or("-".to_owned(), |log| format!("{log:.2}"));
        format!("{start:width$}  {tree:14}{mean:>10.2}{deviation:>10}{first:>10.2}{last:>10.2}\n")
    };
    let game_tree = row(&estimates.start, "game tree", &estimates.game_tree);
    let grundy_tree = estimates.grundy_tree.as_ref();
    game_tree + &grundy_tree.map_or_else(String::new, |tree| row("", "Grundy numbers", tree))
}
