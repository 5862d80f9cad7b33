//! What `konane solve` prints: one JSON object, or text.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::args::SolveArgs;
use super::checkpoint::{CheckpointJson, Kept, TotalJson};
use super::lines::Lines;
use super::proof::{ProofJson, Proving};
use crate::cli::board::{Style, draw};
use crate::cli::judged::JudgedMoveJson;
use crate::cli::output::{self, TableJson};
use crate::cli::terminal_text::TerminalText;
use crate::konane::notation::{format_move, format_position};
use crate::konane::{Algorithm, Board, Colour, Position, Solution};
use crate::search::run::Reason;

/// The JSON of `solve`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SolveJson {
    /// Ranks x files.
    pub board: String,
    /// The position in which the search began.
    pub position: String,
    /// `black` or `white`.
    pub to_move: String,
    /// `pns`, `pn2`, `dfpn`, `ab` or `pns-pdfpn`.
    pub algorithm: String,
    /// `tuned` or `thesis`.
    pub profile: String,
    /// Threads that searched.
    pub threads: usize,
    /// `black`, `white` or `unknown`.
    pub outcome: String,
    /// Why the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The root's proof number for the side to move, while the outcome is unknown; not for `ab`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pn: Option<u32>,
    /// Its disproof number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dn: Option<u32>,
    /// A winning move; null if there is none; the best so far if the outcome is unknown.
    pub best_move: Option<String>,
    /// With `--lines`, unless an error prevents it: all moves, winning ones first, those that are not
    /// decided last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<JudgedMoveJson>>,
    /// With `--lines`, unless an error prevents it: best play to the end, or as far as the winner is
    /// proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<String>>,
    /// Positions evaluated.
    pub nodes: u64,
    /// Positions expanded, again and again ones included.
    pub expansions: u64,
    /// Positions visited by exact searches near the end of games.
    pub settle_positions: u64,
    /// With `--db`: answers of the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_hits: Option<u64>,
    /// `pn2` and `pns-pdfpn`: nodes of the first level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1_nodes: Option<u64>,
    /// `pn2` and `pns-pdfpn`: nodes of all second levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_nodes: Option<u64>,
    /// Wall-clock time.
    pub seconds: f64,
    /// `nodes` by `seconds`.
    pub nodes_per_second: f64,
    /// Bytes of table and tree.
    pub memory_bytes: u64,
    /// The transposition table.
    pub table: TableJson,
    /// With `--checkpoint`: all runs together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<TotalJson>,
    /// With `--checkpoint`: what this run wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointJson>,
    /// With `--proof`: what became of it; null if there is no result to prove.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Option<ProofJson>>,
}

/// All that `solve` reports.
pub struct Report<'a> {
    pub args: &'a SolveArgs,
    pub board: &'a Board,
    pub position: &'a Position,
    pub threads: NonZeroUsize,
    /// The directory of the database.
    pub database: Option<&'a Path>,
    pub solution: &'a Solution,
    pub proving: Option<&'a Proving>,
    pub kept: Option<&'a Kept<'a>>,
    pub lines: Option<&'a Lines>,
    pub seconds: f64,
}

impl Report<'_> {
    fn best_move(&self) -> Option<String> {
        let mv = self.solution.best_move?;
        Some(format_move(self.board.dimensions(), mv))
    }

    /// The root's proof and disproof number, where the search has some and has not solved it.
    fn open_numbers(&self) -> Option<(u32, u32)> {
        let report = &self.solution.report;
        let open = self.solution.winner.is_none();
        (open && self.args.algo != Algorithm::AlphaBeta).then_some((report.phi, report.delta))
    }

    /// As one object.
    pub fn json(&self) -> SolveJson {
        let counters = &self.solution.report.counters;
        let two_levels = matches!(self.args.algo, Algorithm::Pn2 | Algorithm::PnsPdfpn);
        let table = &self.solution.table;
        SolveJson {
            board: self.board.dimensions().to_string(),
            position: format_position(self.board, self.position),
            to_move: self.position.to_move().name().to_owned(),
            algorithm: self.args.algo.name().to_owned(),
            profile: self.args.profile.name().to_owned(),
            threads: self.threads.get(),
            outcome: self.solution.winner.map_or("unknown", Colour::name).to_owned(),
            reason: self.solution.reason().map(|reason| reason.text().to_owned()),
            pn: self.open_numbers().map(|(pn, _)| pn),
            dn: self.open_numbers().map(|(_, dn)| dn),
            best_move: self.best_move(),
            moves: self.lines.map(|lines| lines.moves(self.board)),
            line: self.lines.map(|lines| lines.line(self.board)),
            nodes: counters.nodes,
            expansions: counters.expansions,
            settle_positions: counters.settle_positions,
            database_hits: self.database.map(|_| counters.known_hits),
            l1_nodes: two_levels.then_some(counters.first_level),
            l2_nodes: two_levels.then_some(counters.second_level),
            seconds: self.seconds,
            nodes_per_second: output::speed(counters.nodes, self.seconds),
            memory_bytes: self.solution.report.memory_bytes,
            table: TableJson {
                capacity: table.capacity,
                used: table.used,
                replaced: table.replaced,
            },
            total: self.kept.map(|kept| kept.totals(counters)),
            checkpoint: self.kept.map(Kept::json),
            proof: self.args.proof.as_ref().map(|_| self.proving.map(Proving::json)),
        }
    }

    /// For people.
    pub fn text(&self) -> TerminalText {
        let counters = &self.solution.report.counters;
        let to_move = self.position.to_move();
        let best = self.best_move();
        let mut rows: Vec<(&str, String)> = Vec::new();
        match self.solution.winner {
            Some(colour) => {
                rows.push(("winner", colour.to_string()));
                let none = if self.position.count_moves(self.board) == 0 {
                    format!("none: {to_move} cannot move")
                } else {
                    format!("none: every move of {to_move} loses")
                };
                rows.push(("best move", best.unwrap_or(none)));
            }
            None => {
                let reason = self.solution.reason().map_or("", Reason::text);
                rows.push(("winner", format!("unknown ({reason})")));
                if let Some(best) = best {
                    rows.push(("best so far", format!("{best} (not proven)")));
                }
                rows.extend(self.open_numbers().map(|(pn, dn)| output::root_row(pn, dn)));
            }
        }
        rows.extend(self.lines.iter().flat_map(|lines| lines.rows(self.board)));
        let profile = self.args.profile.name();
        let threads = match self.threads.get() {
            1 => String::new(),
            threads => format!(", {threads} threads"),
        };
        rows.push(("algorithm", format!("{}, {profile}{threads}", self.args.algo)));
        let mut nodes = output::grouped(counters.nodes);
        if matches!(self.args.algo, Algorithm::Pn2 | Algorithm::PnsPdfpn) {
            let first = output::grouped(counters.first_level);
            let second = output::grouped(counters.second_level);
            let _ = write!(nodes, " ({first} first level, {second} second level)");
        }
        rows.push(("nodes", nodes));
        if let Some(database) = self.database {
            let hits = output::grouped(counters.known_hits);
            let noun = if counters.known_hits == 1 { "value" } else { "values" };
            rows.push(("database", format!("{hits} {noun} from {}", database.display())));
        }
        rows.push(("time", output::time(self.seconds)));
        let table = &self.solution.table;
        // A game that is over takes no search, and then there is no table.
        if table.capacity > 0 {
            let speed = output::short(output::speed(counters.nodes, self.seconds));
            rows.push(("speed", format!("{speed} nodes/s")));
            let fill = 100.0 * table.used as f64 / table.capacity as f64;
            let used = output::grouped(table.used);
            let capacity = output::grouped(table.capacity);
            let replaced = output::grouped(table.replaced);
            let text =
                format!("{used} of {capacity} entries in use ({fill:.1} %), {replaced} replaced");
            rows.push(("table", text));
            let memory = output::bytes(self.solution.report.memory_bytes);
            rows.push(("memory", memory));
        }
        if let Some(kept) = self.kept {
            rows.extend(kept.rows(counters));
        }
        if let Some(proving) = self.proving {
            rows.push(("proof", proving.text()));
        }

        let rows = output::rows(&format!("{}, {to_move} to move", self.board.dimensions()), &rows);
        // Programs that read the text have no use for it.
        if io::stdout().is_terminal() {
            let mut text = draw(self.board, self.position, None, Style::of_stdout());
            text += "\n";
            text += &rows;
            text
        } else {
            rows.into()
        }
    }
}
