//! Transposition tables of the searches of a board ([`SearchTable`]).

use crate::konane::board::Board;
use crate::konane::zobrist::Zobrist;
use crate::search::alphabeta::ScoreTable;
use crate::search::table::{InverseHash, Table, TableError};

use super::Algorithm;

/// The table after a search.
#[derive(Debug)]
pub enum SearchTable {
    /// The table of a proof-number search.
    ProofNumbers(Table),
    /// The table of an α-β search.
    Scores(ScoreTable),
}

impl SearchTable {
    /// Returns a table for further proof-number searches of the board: this table if it has proof numbers, otherwise
    /// an empty table of the same size.
    pub(crate) fn into_proof_numbers(self, board: &Board) -> Result<Table, TableError> {
        match self {
            SearchTable::ProofNumbers(table) => Ok(table),
            SearchTable::Scores(scores) => {
                let bytes = scores.entries().bytes();
                // The memory of the scores is released before the new table is created.
                drop(scores);
                new_table(board, bytes)
            }
        }
    }
}

/// Creates a table for proof-number searches of a board. It may round proof numbers in order to store more
/// entries.
pub(crate) fn new_table(board: &Board, bytes: usize) -> Result<Table, TableError> {
    Table::with_inverse_hash(bytes, &codes_of_keys(board))
}

/// Returns a lower bound of the number of entries that fit into the table of a search.
pub(in crate::konane) fn table_capacity(board: &Board, bytes: usize, algorithm: Algorithm) -> u64 {
    let codes = (algorithm != Algorithm::AlphaBeta).then(|| codes_of_keys(board));
    Table::capacity_of(bytes, codes.as_ref())
}

fn codes_of_keys(board: &Board) -> InverseHash {
    Zobrist::new(board).codes().clone()
}
