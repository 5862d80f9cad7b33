//! What the verbs on databases share.

use std::path::Path;

use serde::Serialize;

use super::CliError;
use super::output;
use crate::endgame::{Database, DatabaseOptions};
use crate::konane::Dimensions;

/// Opens the database of a board in a directory, or the directory's own.
pub fn open(directory: &Path, board: Dimensions) -> Result<Database, CliError> {
    let database = Database::find(directory, board, DatabaseOptions::default())?;
    tracing::debug!(?database, "database opened");
    Ok(database)
}

/// Runs on so many threads; one for each core if there is no number.
pub fn on_threads<T: Send>(
    threads: Option<u32>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, CliError> {
    // 0 leaves the choice to rayon.
    let threads = threads.unwrap_or(0) as usize;
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(CliError::Threads)?;
    Ok(pool.install(work))
}

/// Rows of names and values, as `solve` has them.
pub fn rows(head: &str, rows: &[(&str, String)]) -> String {
    let mut text = format!("{head}\n");
    for (name, value) in rows {
        text += &format!("  {name:<12}{value}\n");
    }
    text
}

/// A number that may have more than 64 bits, in groups of three digits.
pub fn large(number: u128) -> String {
    match u64::try_from(number) {
        Ok(number) => output::grouped(number),
        Err(_) => format!("{:.3e}", number as f64),
    }
}

/// A move in the JSON of `probe`.
#[derive(Debug, Serialize)]
pub struct MoveJson {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// `win` or `loss`, for the side to move in the position asked about.
    pub outcome: &'static str,
}

/// The JSON of `probe`.
#[derive(Debug, Serialize)]
pub struct ProbeJson {
    /// Ranks x files.
    pub board: String,
    /// The position.
    pub position: String,
    /// `black` or `white`.
    pub to_move: &'static str,
    /// `win` or `loss`, for the side to move.
    pub outcome: &'static str,
    /// All moves, winning ones first.
    pub moves: Vec<MoveJson>,
}

/// The JSON of `builddb --plan`.
#[derive(Debug, Serialize)]
pub struct PlanJson {
    /// Ranks x files.
    pub board: String,
    /// `complete` or `reachable`.
    pub scope: &'static str,
    /// The layers: up to this number of stones.
    pub max_stones: u32,
    /// Where the files will be.
    pub directory: String,
    /// Whether the database is there already.
    pub finished: bool,
    /// Positions whose value will be known, as far as that can be told before.
    pub positions: u128,
    /// Positions in the files, after reduction by symmetry.
    pub stored_positions: u128,
    /// Memory needed at most.
    pub memory_bytes: u64,
    /// Memory that may be used; null if the system does not say.
    pub memory_limit: Option<u64>,
    /// The files, estimated.
    pub disk_bytes: u64,
    /// The most on the disk while building.
    pub disk_peak_bytes: u64,
    /// Free disk space; null if the system does not say.
    pub disk_limit: Option<u64>,
    /// Time, estimated.
    pub seconds: f64,
    /// Threads that the estimate is for.
    pub threads: usize,
}

/// The JSON of `builddb`.
#[derive(Debug, Serialize)]
pub struct BuildJson {
    /// Ranks x files.
    pub board: String,
    /// `complete` or `reachable`.
    pub scope: &'static str,
    /// The layers: up to this number of stones.
    pub max_stones: u32,
    /// Where the files are.
    pub directory: String,
    /// Positions whose value is known; null if the build was interrupted.
    pub positions: Option<u64>,
    /// Those with Black to move that Black wins.
    pub black_to_move_wins: Option<u64>,
    /// Those with White to move that White wins.
    pub white_to_move_wins: Option<u64>,
    /// Bytes of the files.
    pub bytes: Option<u64>,
    /// Why there is no database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Wall-clock time.
    pub seconds: f64,
    /// The most memory in use; null if the system does not say.
    pub peak_memory_bytes: Option<u64>,
}

/// The JSON of `verifydb`.
#[derive(Debug, Serialize)]
pub struct VerifyJson {
    /// The directory.
    pub directory: String,
    /// Ranks x files; null if the manifest cannot be read.
    pub board: Option<String>,
    /// `complete` or `reachable`.
    pub scope: Option<&'static str>,
    /// The layers: up to this number of stones.
    pub max_stones: Option<u32>,
    /// Positions that the database says it has.
    pub positions: Option<u64>,
    /// Bytes of the files.
    pub bytes: Option<u64>,
    /// Whether every value was to be computed again.
    pub deep: bool,
    /// Whether all is well; null if the check was interrupted.
    pub valid: Option<bool>,
    /// What is wrong, or `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Wall-clock time.
    pub seconds: f64,
}
