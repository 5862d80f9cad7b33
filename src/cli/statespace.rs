//! `konane statespace`.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::Serialize;

use super::CliError;
use super::args::StatespaceArgs;
use super::build_progress::BuildProgress;
use super::database;
use super::exit::Exit;
use super::output;
use crate::endgame::resources::memory_available;
use crate::endgame::statespace::{
    MAX_SQUARES, Ply, Sink, StateSpaceError, memory_needed, statespace,
};
use crate::konane::Board;

/// The JSON of `statespace`.
#[derive(Serialize)]
struct StateSpaceJson {
    /// Ranks x files.
    board: String,
    /// What was found at every ply; nothing if the search was interrupted.
    plies: Vec<PlyJson>,
    /// The sums.
    total: TotalJson,
    /// Why there are no plies.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Wall-clock time.
    seconds: f64,
}

/// A ply in the JSON of `statespace`.
#[derive(Serialize)]
struct PlyJson {
    /// Moves made.
    ply: u32,
    /// Counts.
    #[serde(flatten)]
    counts: TotalJson,
}

/// Counts of positions.
#[derive(Serialize)]
struct TotalJson {
    /// Positions met for the first time, symmetric ones once.
    unique: u64,
    /// Those that Black wins.
    black_wins: u64,
    /// Those that White wins.
    white_wins: u64,
    /// Those without a move.
    terminals: u64,
}

impl From<&Ply> for TotalJson {
    fn from(ply: &Ply) -> Self {
        let Ply { unique, black_wins, white_wins, terminals, .. } = *ply;
        TotalJson { unique, black_wins, white_wins, terminals }
    }
}

/// Shows on stderr how the search gets on.
struct Progress {
    shown: BuildProgress,
}

impl Sink for Progress {
    fn swept(&mut self, black: u32, of: u32) {
        self.shown.line(&format!("winners: {black} of {of} black stones"));
    }

    fn ply(&mut self, ply: &Ply) {
        self.shown.line(&format!("ply {}: {} positions", ply.ply, output::grouped(ply.unique)));
    }
}

/// Searches and prints.
pub fn run(args: &StatespaceArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let board = Board::new(args.board);
    let have = args.memory.or_else(memory_available);
    // A board that is too large has an error of its own.
    if let (true, Some(have)) = (args.board.squares() <= MAX_SQUARES, have) {
        let need = memory_needed(&board);
        if need > have {
            return Err(CliError::StateSpaceMemory { board: args.board, need, have });
        }
    }
    let mut progress = Progress { shown: BuildProgress::new(args.quiet) };
    let result = database::on_threads(args.threads, || statespace(&board, stop, &mut progress))?;
    drop(progress);
    let seconds = begun.elapsed().as_secs_f64();
    let (plies, interrupted) = match result {
        Ok(plies) => (plies, false),
        Err(StateSpaceError::Interrupted) => (Vec::new(), true),
        Err(error) => return Err(error.into()),
    };
    if args.json {
        let json = StateSpaceJson {
            board: args.board.to_string(),
            plies: plies.iter().map(|ply| PlyJson { ply: ply.ply, counts: ply.into() }).collect(),
            total: (&sum(&plies)).into(),
            reason: interrupted.then_some("interrupted"),
            seconds,
        };
        output::write_json(&json)?;
    } else if interrupted {
        output::write_text("interrupted\n")?;
    } else {
        output::write_text(&text(&plies, seconds))?;
    }
    Ok(if interrupted { Exit::Interrupted } else { Exit::Answered })
}

fn sum(plies: &[Ply]) -> Ply {
    let add = |sum: Ply, ply: &Ply| Ply {
        ply: ply.ply,
        unique: sum.unique + ply.unique,
        black_wins: sum.black_wins + ply.black_wins,
        white_wins: sum.white_wins + ply.white_wins,
        terminals: sum.terminals + ply.terminals,
    };
    plies.iter().fold(Ply::default(), add)
}

fn text(plies: &[Ply], seconds: f64) -> String {
    let mut text = String::new();
    let heads = ["positions", "Black wins", "White wins", "terminals"];
    let [a, b, c, d] = heads;
    let _ = writeln!(text, "{:>5}  {a:>15}  {b:>15}  {c:>15}  {d:>13}", "ply");
    let mut row = |name: &str, ply: &Ply| {
        let counts = [ply.unique, ply.black_wins, ply.white_wins, ply.terminals];
        let [a, b, c, d] = counts.map(output::grouped);
        let _ = writeln!(text, "{name:>5}  {a:>15}  {b:>15}  {c:>15}  {d:>13}");
    };
    for ply in plies {
        row(&ply.ply.to_string(), ply);
    }
    row("total", &sum(plies));
    let _ = writeln!(text, "time {}", output::time(seconds));
    text
}
