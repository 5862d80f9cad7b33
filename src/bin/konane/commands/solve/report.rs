//! Output of `konane solve`: one JSON object, or text.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::Path;

use serde::Serialize;

use super::args::SolveArgs;
use super::checkpoint::{CheckpointJson, RunCheckpoints};
use super::lines::MovesAndLine;
use super::proof::{ProofJson, ProofResult};
use crate::output;
use crate::repl::board::{Style, draw};
use crate::terminal_text::TerminalText;
use konane::analysis::JudgedMove;
use konane::checkpoint::Totals;
use konane::results::ResultsUse;
use konane::search::run::Reason;
use konane::{Board, Move, Solution};

/// The JSON of `solve`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SolveJson<'a> {
    #[serde(flatten)]
    pub solution: &'a Solution,
    /// With `--lines`: all moves, winning ones first and unknown ones last. Absent if the database could not be
    /// read or the moves could not be evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<&'a [JudgedMove]>,
    /// With `--lines`: best play to the end, or as far as the winner is proven. Absent in the same cases as
    /// `moves`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<&'a [Move]>,
    /// With `--checkpoint`: all runs together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Totals>,
    /// With `--checkpoint`: the checkpoints of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointJson>,
    /// With `--results`: the use of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<ResultsUse>,
    /// With `--proof`: the proof; null if there is no result to prove.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Option<ProofJson>>,
}

impl<'a> SolveJson<'a> {
    /// Returns the object of a search without further results.
    pub fn new(solution: &'a Solution) -> Self {
        let (moves, line, total, checkpoint, results, proof) = (None, None, None, None, None, None);
        SolveJson { solution, moves, line, total, checkpoint, results, proof }
    }

    /// Adds the results of `--lines`.
    pub fn with_lines(self, lines: Option<&'a MovesAndLine>) -> Self {
        let (moves, line) = lines.map(|lines| (&*lines.analysis.moves, &*lines.line)).unzip();
        SolveJson { moves, line, ..self }
    }
}

/// Data for the output of `solve`.
pub struct SolveReport<'a> {
    pub args: &'a SolveArgs,
    pub board: &'a Board,
    /// Directory of the database.
    pub database: Option<&'a Path>,
    pub results: Option<ResultsUse>,
    pub solution: &'a Solution,
    pub proof_result: Option<&'a ProofResult>,
    pub run_checkpoints: Option<&'a RunCheckpoints<'a>>,
    pub lines: Option<&'a MovesAndLine>,
}

impl SolveReport<'_> {
    /// Returns the result as one JSON object.
    pub fn json(&self) -> SolveJson<'_> {
        SolveJson {
            total: self
                .run_checkpoints
                .map(|run_checkpoints| run_checkpoints.totals(&self.solution.report.counters)),
            checkpoint: self.run_checkpoints.map(RunCheckpoints::json),
            results: self.results.clone(),
            proof: self.args.proof.as_ref().map(|_| self.proof_result.map(ProofResult::json)),
            ..SolveJson::new(self.solution).with_lines(self.lines)
        }
    }

    /// Returns the result as text.
    pub fn text(&self) -> TerminalText {
        let mut text = self.result_text();
        text += self.details_text();
        text
    }

    /// Returns the first part of the text: the position and the result of the search.
    pub fn result_text(&self) -> TerminalText {
        let solution = self.solution;
        let (to_move, best) = (solution.to_move, solution.best_move);
        let mut rows: Vec<(&str, String)> = Vec::new();
        match solution.winner {
            Some(colour) => {
                rows.push(("winner", colour.to_string()));
                let none = if solution.position.count_moves(self.board) == 0 {
                    format!("none: {to_move} cannot move")
                } else {
                    format!("none: every move of {to_move} loses")
                };
                rows.push(("best move", best.map_or(none, |mv| mv.to_string())));
            }
            None => {
                let reason = solution.reason.map_or("", Reason::text);
                rows.push(("winner", format!("unknown ({reason})")));
                if let Some(best) = best {
                    rows.push(("best so far", format!("{best} (not proven)")));
                }
                rows.extend(solution.pn.zip(solution.dn).map(|(pn, dn)| output::root_row(pn, dn)));
            }
        }
        let rows = output::rows(&format!("{}, {to_move} to move", solution.board), &rows);
        // The board is drawn for people only.
        if io::stdout().is_terminal() {
            let mut text = draw(self.board, &solution.position, None, Style::of_stdout());
            text += "\n";
            text += &rows;
            text
        } else {
            rows.into()
        }
    }

    /// Returns the rest of the text: moves and counters.
    pub fn details_text(&self) -> String {
        let solution = self.solution;
        let mut rows: Vec<(&str, String)> = Vec::new();
        for (name, moves) in self.lines.iter().flat_map(|lines| lines.rows()) {
            rows.push((name, output::wrapped(&moves, output::ROW_INDENT)));
        }
        let symmetry = solution.symmetry;
        let mut profile = solution.profile.name().to_owned();
        if !symmetry.is_all() {
            profile += &format!(", symmetry {symmetry}");
        }
        if !solution.overrides.is_empty() {
            profile += &format!(", {}", solution.overrides);
        }
        let requested = self.args.search.threads.threads;
        let threads = match (solution.threads, requested) {
            (1, None | Some(1)) => String::new(),
            (threads, _) => format!(", {}", output::threads(threads, requested)),
        };
        rows.push(("algorithm", format!("{}, {profile}{threads}", solution.algorithm)));
        let mut nodes = output::grouped(solution.nodes);
        if let Some((first, second)) = solution.l1_nodes.zip(solution.l2_nodes) {
            let [first, second] = [first, second].map(output::grouped);
            let _ = write!(nodes, " ({first} first level, {second} second level)");
        }
        rows.push(("nodes", nodes));
        if let Some((database, hits)) = self.database.zip(solution.database_hits) {
            let hits = output::counted(hits, "value");
            rows.push(("database", format!("{hits} from {}", database.display())));
        }
        rows.push(("time", output::time(solution.seconds)));
        let table = &solution.table;
        // A finished game needs no search, so there is no table.
        if table.capacity > 0 {
            let speed = output::short(solution.nodes_per_second);
            rows.push(("speed", format!("{speed} nodes/s")));
            let fill = 100.0 * table.used as f64 / table.capacity as f64;
            let used = output::grouped(table.used);
            let capacity = output::grouped(table.capacity);
            let replaced = output::grouped(table.replaced);
            let text =
                format!("{used} of {capacity} entries in use ({fill:.1} %), {replaced} replaced");
            rows.push(("table", text));
            let memory = output::bytes(solution.memory_bytes);
            rows.push(("memory", memory));
        }
        if let Some(run_checkpoints) = self.run_checkpoints {
            rows.extend(run_checkpoints.rows(&solution.report.counters));
        }
        if let Some(ResultsUse { file, loaded, added, error }) = &self.results {
            let text = match error {
                Some(error) => format!("not written ({error})"),
                None => format!(
                    "{file}, {} read, {} added",
                    output::grouped(*loaded),
                    output::grouped(*added)
                ),
            };
            rows.push(("results", text));
        }
        if let Some(proof_result) = self.proof_result {
            rows.push(("proof", proof_result.text()));
        }
        output::row_lines(&rows)
    }
}
