//! `konane results`: files of results, as written by `solve --results`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::args::{OutputArgs, SearchArgs, board};
use crate::exit::{CliError, Exit};
use crate::output::{self, CheckJson, grouped};
use crate::progress::ProgressDisplay;
use konane::results::{self, Solved, VerifiedResults};
use konane::search::Value;
use konane::search::run::Reason;
use konane::{Algorithm, Colour, Dimensions, Position, SolveOptions};

/// `konane results`.
#[derive(Debug, Args)]
pub struct ResultsArgs {
    /// Subcommand.
    #[command(subcommand)]
    pub command: ResultsCommand,
}

/// The subcommands of `konane results`.
#[derive(Debug, Subcommand)]
pub enum ResultsCommand {
    /// Print the positions of a file with their winners, or their number for each board.
    List(ListArgs),
    /// Add the outcomes of files to another file, which is created if it does not exist.
    Merge(MergeArgs),
    /// Solve positions of a file again, without using the file.
    Verify(VerifyArgs),
}

/// `konane results list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The file.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print the positions of this board, those with most stones first.
    #[arg(long, value_name = "RxF", value_parser = board)]
    pub board: Option<Dimensions>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `konane results merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The file to add to.
    #[arg(value_name = "INTO")]
    pub into: PathBuf,
    /// The files to read. They are not changed.
    #[arg(value_name = "FROM", required = true)]
    pub from: Vec<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `konane results verify`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "The limits are those of all searches together.\n\n",
    "Examples:\n",
    "  konane results verify 7x9.results --memory 4GiB --time-limit 10m\n",
    "  konane results verify 7x9.results --all --memory 16GiB\n"
))]
pub struct VerifyArgs {
    /// The file.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Number of positions, spread over the file from the fewest stones to the most.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        conflicts_with = "all",
        allow_negative_numbers = true
    )]
    pub sample: u64,
    /// Solve all positions. This takes about as long as the searches that wrote the file.
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The JSON of `results list`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ResultsListJson"))]
pub struct ListJson {
    /// The file.
    pub file: String,
    /// The boards in it, in order.
    pub boards: Vec<BoardJson>,
    /// With `--board`: the positions, those with most stones first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positions: Option<Vec<SolvedJson>>,
}

/// A board of a file of results.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ResultsBoardJson"))]
pub struct BoardJson {
    /// Ranks x files.
    pub board: Dimensions,
    /// Number of positions that are won for the side to move.
    pub won: u64,
    /// Number of positions that are lost for the side to move.
    pub lost: u64,
    /// The winner from the start; null if the file does not have it.
    pub winner: Option<Colour>,
}

/// A position of a file of results.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SolvedJson {
    /// The position.
    pub position: Position,
    /// The winner.
    pub winner: Colour,
}

/// The JSON of `results merge`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ResultsMergeJson"))]
pub struct MergeJson {
    /// The file.
    pub file: String,
    /// Number of outcomes that were added.
    pub added: u64,
}

/// The JSON of `results verify`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ResultsVerifyJson"))]
pub struct VerifyJson {
    /// The file.
    pub file: String,
    /// Number of positions of the file.
    pub records: u64,
    /// Number of positions that were solved again.
    pub solved: u64,
    /// The positions whose outcome in the file is wrong.
    pub wrong: Vec<Position>,
    /// Nodes of all searches.
    pub nodes: u64,
    #[serde(flatten)]
    pub check: CheckJson,
}

/// Runs the subcommand.
pub fn run(args: &ResultsArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    output::must_be_open()?;
    match &args.command {
        ResultsCommand::List(args) => list(args),
        ResultsCommand::Merge(args) => merge(args),
        ResultsCommand::Verify(args) => verify(args, stop),
    }
}

fn winner(solved: &Solved) -> Colour {
    let to_move = solved.position.to_move();
    if solved.value == Value::Win { to_move } else { !to_move }
}

fn list(args: &ListArgs) -> Result<Exit, CliError> {
    let (mut boards, mut positions) = (BTreeMap::new(), Vec::new());
    results::read(&args.file, |solved| {
        let board = solved.position.dimensions();
        let counts = BoardJson { board, won: 0, lost: 0, winner: None };
        let counts = boards.entry(board).or_insert(counts);
        *(if solved.value == Value::Win { &mut counts.won } else { &mut counts.lost }) += 1;
        if solved.position.occupied().count_ones() == board.squares() {
            counts.winner = Some(winner(&solved));
        }
        if args.board == Some(board) {
            positions.push(SolvedJson { position: solved.position, winner: winner(&solved) });
        }
    })?;
    positions.sort_by_key(|solved| std::cmp::Reverse(solved.position.occupied().count_ones()));
    let list = ListJson {
        file: args.file.display().to_string(),
        boards: boards.into_values().collect(),
        positions: args.board.is_some().then_some(positions),
    };
    output::answer(args.output.json, &list, |list| match &list.positions {
        Some(positions) => positions.iter().fold(String::new(), |mut text, solved| {
            let _ = writeln!(text, "{:5}  {}", solved.winner, solved.position);
            text
        }),
        None => {
            let row = |board: &BoardJson| {
                let winner =
                    board.winner.map_or(String::new(), |winner| format!("; {winner} wins"));
                let (won, lost) = (grouped(board.won), grouped(board.lost));
                (
                    board.board.to_string(),
                    format!("{won} won, {lost} lost for the side to move{winner}"),
                )
            };
            let rows: Vec<_> = list.boards.iter().map(row).collect();
            let rows: Vec<_> = rows.iter().map(|(name, text)| (&**name, text.clone())).collect();
            output::rows(&list.file, &rows)
        }
    })?;
    Ok(Exit::Answered)
}

fn merge(args: &MergeArgs) -> Result<Exit, CliError> {
    let mut solved = Vec::new();
    for file in &args.from {
        results::read(file, |record| solved.push(record))?;
    }
    let added = results::add(&args.into, &solved, |_| ())?;
    let merged = MergeJson { file: args.into.display().to_string(), added };
    output::answer(args.output.json, &merged, |MergeJson { file, added }| {
        output::rows(file, &[("added", output::counted(*added, "position"))])
    })?;
    Ok(Exit::Answered)
}

fn verify(args: &VerifyArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let threads = args.search.threads.of("dfpn", Algorithm::parallel().map(Algorithm::name))?;
    let options = SolveOptions {
        memory_bytes: args.search.limits.memory.memory,
        threads,
        ..SolveOptions::default()
    };
    let display = ProgressDisplay::new(args.output.quiet);
    let sample = (!args.all).then_some(args.sample);
    let limits = args.search.limits.started_at(begun, stop);
    let progress = |done, of| display.update(|_| format!("{done} of {of} positions"));
    let verified = results::verify(&args.file, sample, options, limits, progress)?;
    drop(display);
    let VerifiedResults { records, solved, nodes, ref wrong, reason } = verified;
    let problem = wrong.first().map(|position| format!("another player wins {position}"));
    let valid = (problem.is_some() || reason.is_none()).then_some(problem.is_none());
    let seconds = begun.elapsed().as_secs_f64();
    let check = CheckJson { valid, problem, reason, seconds };
    let file = args.file.display().to_string();
    let object = VerifyJson { file, records, solved, wrong: wrong.clone(), nodes, check };
    output::answer(args.output.json, &object, text)?;
    Ok(match (object.check.valid, reason) {
        (Some(false), _) => Exit::Mismatch,
        (_, Some(reason)) => reason.kind().into(),
        _ => Exit::Answered,
    })
}

fn text(object: &VerifyJson) -> String {
    let VerifyJson { records, solved, ref wrong, nodes, ref check, .. } = *object;
    let valid = match check.valid {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => format!("unknown ({})", check.reason.map_or("", Reason::text)),
    };
    let mut rows = vec![
        ("valid", valid),
        ("solved", format!("{} of {} positions", grouped(solved), grouped(records))),
        ("nodes", grouped(nodes)),
        ("time", output::time(check.seconds)),
    ];
    rows.extend(wrong.iter().map(|position| ("wrong", position.to_string())));
    output::rows(&object.file, &rows)
}
