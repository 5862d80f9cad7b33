//! `konane solve --lines`: the values of all moves and a line of play, found after the search in its
//! table.

use crate::exit::CliError;
use crate::output;
use crate::progress::Progress;
use konane::analysis::{Analysis, Analyst};
use konane::search::Value;
use konane::search::run::Limits;
use konane::tablebase::Database;
use konane::{Board, Move, Position, SearchTable, Solution, SolveOptions};

/// Values of the moves of a solved position.
pub struct Lines {
    pub analysis: Analysis,
    pub line: Vec<Move>,
}

/// A finished search: its result, its table and its options.
pub struct Searched<'a> {
    pub solution: &'a Solution,
    pub table: Option<SearchTable>,
    pub options: SolveOptions,
    pub limits: Limits<'a>,
    pub database: Option<Database>,
}

impl Searched<'_> {
    /// Judges the moves within the nodes and the time that remain. If the search has reached a limit, nothing
    /// more is searched.
    pub fn lines(self, board: &Board, position: &Position, quiet: bool) -> Result<Lines, CliError> {
        let Searched { solution, table, options, limits, database } = self;
        let mut analyst = Analyst::after(board, table, options)?;
        if let Some(database) = database {
            analyst = analyst.with_database(database)?;
        }
        let spent = solution.nodes;
        let nodes = limits.nodes.map(|nodes| nodes.saturating_sub(spent));
        let limits = Limits { nodes, ..limits };
        let mut line = Vec::new();
        let analysis = match solution.winner {
            None => analyst.lookup_moves(position)?,
            Some(_) => {
                let shown = Progress::new(quiet);
                let analysis = analyst.analyse(position, limits, &mut |analysis| {
                    shown.update(|_| {
                        let (open, all) = (analysis.count(None), analysis.moves.len());
                        format!("{} of {all} moves decided", all - open)
                    });
                })?;
                line = analyst.line(position, limits)?;
                analysis
            }
        };
        Ok(Lines { analysis, line })
    }
}

impl Lines {
    /// For the text of `solve`.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        let outcomes =
            [("winning", Some(Value::Win)), ("losing", Some(Value::Loss)), ("undecided", None)];
        for (name, outcome) in outcomes {
            let moves = self.analysis.moves.iter().filter(|judged| judged.outcome() == outcome);
            let moves = moves.map(|judged| judged.mv.to_string());
            let moves: Vec<String> = moves.collect();
            if !moves.is_empty() {
                rows.push((name, output::wrapped(&moves, output::ROW_INDENT)));
            }
        }
        if !self.line.is_empty() {
            rows.push(("line", output::wrapped(&self.line, output::ROW_INDENT)));
        }
        rows
    }
}
