//! `konane solve --lines`: values of all moves and a line of best play, found with the table of the search.

use crate::output;
use crate::progress::ProgressDisplay;
use konane::analysis::{Analysis, AnalysisError, Analyst, JudgedMove};
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
        let spent_in_all = |analyst: &Analyst| spent.saturating_add(analyst.nodes());
        let analysis = analyst.find_remoteness(analysis, remaining(spent_in_all(&analyst)))?;
        let line = analyst.line(position, remaining(spent_in_all(&analyst)))?;
        Ok(MovesAndLine { analysis, line })
    }

    /// Returns the rows for the text of `solve`: names, and the moves of each, with their remoteness if it is known.
    pub fn rows(&self) -> Vec<(&'static str, Vec<String>)> {
        let of = |outcome| -> Vec<String> {
            let moves = self.analysis.moves.iter().filter(|judged| judged.outcome() == outcome);
            let plies = |judged: &JudgedMove| judged.judgement?.remoteness;
            moves.map(|judged| output::move_and_plies(judged.mv, plies(judged))).collect()
        };
        let mut rows = vec![
            ("winning", of(Some(Value::Win))),
            ("losing", of(Some(Value::Loss))),
            ("undecided", of(None)),
            ("line", self.line.iter().map(Move::to_string).collect()),
        ];
        rows.retain(|(_, moves)| !moves.is_empty());
        rows
    }
}
