//! Tables of boards, each shared by all requests for its board.

use std::path::PathBuf;

use crate::args::database;
use konane::analysis::{AnalysisError, Analyst};
use konane::{Board, Dimensions, MIN_MEMORY, Rules};

/// Number of boards whose tables are kept after their last request.
const MAX_IDLE_TABLES: usize = 4;

/// An analyst for each of the latest boards.
pub struct BoardTables {
    databases: Vec<PathBuf>,
    results: Option<PathBuf>,
    memory: u64,
    /// Ordered by last use, the most recent one last.
    boards: Vec<BoardTable>,
}

/// The analyst of a board, which the requests for the board share.
struct BoardTable {
    board: Dimensions,
    /// Boards with other rules have separate tables.
    rules: Rules,
    memory: u64,
    analyst: Analyst,
}

impl BoardTables {
    /// Returns an empty collection, whose tables will have `memory` bytes together.
    pub fn new(databases: Vec<PathBuf>, results: Option<PathBuf>, memory: u64) -> Self {
        BoardTables { databases, results, memory, boards: Vec::new() }
    }

    /// Returns an analyst for a request. The tables of other boards are freed if they are too many and not in use.
    pub fn analyst(&mut self, board: &Board) -> Result<Analyst, AnalysisError> {
        let (dimensions, rules) = (board.dimensions(), board.rules());
        let same = |table: &BoardTable| (table.board, table.rules) == (dimensions, rules);
        let table = match self.boards.iter().position(same) {
            Some(index) => self.boards.remove(index),
            None => {
                while self.boards.len() >= MAX_IDLE_TABLES
                    && let Some(idle) =
                        self.boards.iter().position(|table| !table.analyst.is_shared())
                {
                    self.boards.remove(idle);
                }
                let used = self.boards.iter().map(|table| table.memory).sum();
                let memory = (self.memory.saturating_sub(used) / 2).max(MIN_MEMORY);
                let mut analyst = Analyst::on_board(board.clone(), memory)?;
                if let Some(results) = &self.results {
                    analyst = analyst.with_results(results)?;
                }
                if let Some(database) = database::find(&self.databases, dimensions)? {
                    analyst = analyst.with_database(database)?;
                }
                BoardTable { board: dimensions, rules, memory, analyst }
            }
        };
        self.boards.push(table);
        Ok(self.boards.last_mut().expect("the table was added").analyst.share())
    }
}
