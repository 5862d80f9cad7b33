//! Verification of files of results by new searches.

use std::path::Path;

use super::{ResultsError, Solved, read};
use crate::konane::{Board, Position, SolveOptions, Solver};
use crate::search::run::{Limits, Outcome, Reason};
use crate::search::table::Table;

/// Result of [`verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedResults {
    /// Number of records of the file.
    pub records: u64,
    /// Number of positions that were solved again.
    pub solved: u64,
    /// Nodes of all searches.
    pub nodes: u64,
    /// The positions whose outcome in the file is wrong.
    pub wrong: Vec<Position>,
    /// The limit that ended the check, if it was not completed.
    pub reason: Option<Reason>,
}

/// Solves positions of a file again, from those with the fewest stones on: `sample` positions spread over the file, or
/// all. The outcomes of the file are not used, but the searches of a board share a table. The limits are those of all
/// searches together. Calls `progress` after each position with the number of positions that have been and that will be
/// solved.
///
/// # Errors
/// If the file cannot be read, or the search has too little or too much memory.
pub fn verify(
    path: &Path,
    sample: Option<u64>,
    options: SolveOptions,
    limits: Limits<'_>,
    mut progress: impl FnMut(u64, u64),
) -> Result<VerifiedResults, ResultsError> {
    let mut solved = Vec::new();
    read(path, |record| solved.push(record))?;
    let mut verified =
        VerifiedResults { records: solved.len() as u64, ..VerifiedResults::default() };
    solved.sort_by_key(|solved| {
        let Solved { position, .. } = solved;
        (position.dimensions(), position.occupied().count_ones(), position.occupied())
    });
    let count = sample.unwrap_or(verified.records).min(verified.records);
    let nth =
        |index| solved[(u128::from(index) * solved.len() as u128 / u128::from(count)) as usize];
    let mut of_board: Option<(Board, Table)> = None;
    for index in 0..count {
        let Solved { position, value } = nth(index);
        let is_same = |(board, _): &(Board, Table)| board.dimensions() == position.dimensions();
        if !of_board.as_ref().is_some_and(is_same) {
            // The memory of one table is released before the next one is created.
            drop(of_board.take());
            let board = position.board();
            let table = Solver::new(&board, &position).options(options).new_table()?;
            of_board = Some((board, table));
        }
        let (board, table) = of_board.as_ref().expect("it was created");
        let nodes = limits.nodes.map(|nodes| nodes.saturating_sub(verified.nodes));
        let solver = Solver::new(board, &position).options(options);
        let found = solver.limits(Limits { nodes, ..limits }).search_in(table, &mut ())?;
        verified.nodes += found.report.counters.nodes;
        match found.report.outcome {
            Outcome::Unknown(reason) => {
                verified.reason = Some(reason);
                break;
            }
            Outcome::Known(found) => {
                verified.solved += 1;
                verified.wrong.extend((found != value).then_some(position));
            }
        }
        progress(index + 1, count);
    }
    Ok(verified)
}
