//! `konane solve --lines`: values of all moves and a line of best play, found with the table of the search.

use crate::output;
use crate::progress::ProgressDisplay;
use konane::analysis::{Analysis, AnalysisError, Analyst};
use konane::search::Value;
use konane::search::run::Limits;
use konane::{Move, Solution};

/// Values of the moves of a solved position, and a line of best play.
pub struct MovesAndLine {
    pub analysis: Analysis,
    pub line: Vec<Move>,
}

impl MovesAndLine {
    /// Evaluates the moves within the limits that remain after the search. If the search has reached a limit,
    /// known values are returned without a further search.
    pub fn find(
        mut analyst: Analyst,
        solution: &Solution,
        limits: Limits<'_>,
        quiet: bool,
    ) -> Result<MovesAndLine, AnalysisError> {
        let (position, spent) = (&solution.position, solution.nodes);
        if solution.winner.is_none() {
            return Ok(MovesAndLine {
                analysis: analyst.lookup_moves(position)?,
                line: Vec::new(),
            });
        }
        // The limit applies to all searches of the run together.
        let remaining = |spent: u64| {
            let nodes = limits.nodes.map(|nodes| nodes.saturating_sub(spent));
            Limits { nodes, ..limits }
        };
        let display = ProgressDisplay::new(quiet);
        let analysis = analyst.analyse(position, remaining(spent), &mut |analysis| {
            display.update(|_| {
                let (open, all) = (analysis.count(None), analysis.moves.len());
                format!("{} of {all} moves decided", all - open)
            });
        })?;
        let line = analyst.line(position, remaining(spent.saturating_add(analyst.nodes())))?;
        Ok(MovesAndLine { analysis, line })
    }

    /// Returns the rows for the text of `solve`.
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
