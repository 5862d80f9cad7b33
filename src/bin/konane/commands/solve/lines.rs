//! `konane solve --lines`: values of all moves and a line of best play, found with the table of the search.

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

    /// Returns the rows for the text of `solve`: names, and the moves of each.
    pub fn rows(&self) -> Vec<(&'static str, Vec<Move>)> {
        let of = |outcome| {
            let moves = self.analysis.moves.iter().filter(|judged| judged.outcome() == outcome);
            moves.map(|judged| judged.mv).collect()
        };
        let mut rows = vec![
            ("winning", of(Some(Value::Win))),
            ("losing", of(Some(Value::Loss))),
            ("undecided", of(None)),
            ("line", self.line.clone()),
        ];
        rows.retain(|(_, moves)| !moves.is_empty());
        rows
    }
}
