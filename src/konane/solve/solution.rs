//! The result of a search, and errors that prevent one.

use serde::Serialize;

use super::{Algorithm, MIN_MEMORY, Solver};
use crate::checkpoint::CheckpointError;
use crate::error::ErrorKind;
use crate::json::{or_unknown, per_second};
use crate::konane::geometry::{Colour, Dimensions};
use crate::konane::moves::Move;
use crate::konane::position::{Phase, Position};
use crate::konane::profile::Profile;
use crate::konane::symmetry::Symmetry;
use crate::search::TreeError;
use crate::search::Value;
use crate::search::numbers::{INFINITY, Number};
use crate::search::run::{Counters, Outcome, Reason, Report};
use crate::search::table::{TableError, TableUse};

/// Result of a [`Solver`].
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Solution {
    /// Ranks x files.
    pub board: Dimensions,
    /// The position in which the search began.
    pub position: Position,
    /// The player to move.
    pub to_move: Colour,
    /// Kind of the next move.
    pub phase: Phase,
    /// The search algorithm.
    pub algorithm: Algorithm,
    /// Parameters of the algorithm.
    pub profile: Profile,
    /// The symmetries by which positions share a code; absent if these are all.
    #[serde(skip_serializing_if = "Symmetry::is_all")]
    pub symmetry: Symmetry,
    /// The changed parameters, as options of `konane solve`; absent if there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub overrides: String,
    /// Threads that searched.
    pub threads: u32,
    /// The result for the player to move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
    /// The player who wins.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Colour>"))]
    pub winner: Option<Colour>,
    /// Reason for an unknown outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Proof number of the position for the player to move, while the outcome is unknown. Absent for
    /// `ab`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pn: Option<Number>,
    /// Disproof number of the position for the player to move, while the outcome is unknown. Absent for
    /// `ab`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dn: Option<Number>,
    /// A winning move; null if every move loses. While the outcome is unknown, the best move so far,
    /// or null before there is one.
    pub best_move: Option<Move>,
    /// Positions evaluated.
    pub nodes: u64,
    /// Positions expanded, repeated expansions included.
    pub expansions: u64,
    /// Positions visited by the leaf solver near the end of games.
    pub leaf_positions: u64,
    /// Values taken from a database, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_hits: Option<u64>,
    /// `pn2` and `pns-pdfpn`: nodes of the first level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1_nodes: Option<u64>,
    /// `pn2` and `pns-pdfpn`: nodes of all second levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_nodes: Option<u64>,
    /// Wall-clock time of the search.
    pub seconds: f64,
    /// `nodes` divided by `seconds`.
    pub nodes_per_second: f64,
    /// Bytes of table and tree.
    pub memory_bytes: u64,
    /// The transposition table at the end.
    pub table: TableUse,
    /// The report of the search, with all counters.
    #[serde(skip)]
    pub report: Report,
}

impl Solution {
    /// Creates the solution of a solver from the report of its search.
    pub(crate) fn new(
        solver: &Solver<'_>,
        report: Report,
        table: TableUse,
        seconds: f64,
    ) -> Solution {
        let &Solver { board, position, ref options, .. } = solver;
        let to_move = position.to_move();
        let best = report.best.and_then(|code| position.move_to(board, code));
        let outcome = report.outcome.value();
        debug_assert!(outcome != Some(Value::Win) || best.is_some(), "a won root has a lost child");
        let reason = report.outcome.reason();
        let has_numbers = reason.is_some() && options.algorithm != Algorithm::AlphaBeta;
        let two_levels = matches!(options.algorithm, Algorithm::Pn2 | Algorithm::PnsPdfpn);
        let counters = &report.counters;
        Solution {
            board: board.dimensions(),
            position,
            to_move,
            phase: position.phase(board),
            algorithm: options.algorithm,
            profile: options.profile,
            symmetry: board.symmetry(),
            overrides: options.overrides.to_string().trim_start().to_owned(),
            threads: report.threads,
            outcome,
            winner: outcome.map(|value| to_move.winner(value)),
            reason,
            pn: has_numbers.then_some(report.phi),
            dn: has_numbers.then_some(report.delta),
            best_move: best.filter(|_| outcome != Some(Value::Loss)),
            nodes: counters.nodes,
            expansions: counters.expansions,
            leaf_positions: counters.leaf_positions,
            database_hits: solver.oracle.map(|_| counters.known_hits),
            l1_nodes: two_levels.then_some(counters.first_level),
            l2_nodes: two_levels.then_some(counters.second_level),
            seconds,
            nodes_per_second: per_second(counters.nodes, seconds),
            memory_bytes: report.memory_bytes,
            table,
            report,
        }
    }

    /// The solution of a position without a legal move: the player to move has lost.
    pub(super) fn of_finished_game(solver: &Solver<'_>) -> Solution {
        Solution::without_search(solver, Outcome::Known(Value::Loss), (INFINITY, 0), 1)
    }

    /// The solution of a search that was stopped before its first node.
    pub fn stopped(solver: &Solver<'_>, reason: Reason) -> Solution {
        Solution::without_search(solver, Outcome::Unknown(reason), (1, 1), 0)
    }

    fn without_search(
        solver: &Solver<'_>,
        outcome: Outcome,
        (phi, delta): (Number, Number),
        nodes: u64,
    ) -> Solution {
        let counters = Counters { nodes, ..Counters::default() };
        let report =
            Report { outcome, phi, delta, best: None, counters, memory_bytes: 0, threads: 1 };
        Solution::new(solver, report, TableUse::default(), 0.0)
    }
}

/// Error that prevents a search.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// Less than [`MIN_MEMORY`].
    #[error(
        "a memory of {bytes} B is too small to search with: at least {MIN_MEMORY} B (1 MiB) \
         are needed, and 1 GiB or more is sensible for 6x6 and beyond"
    )]
    TooLittleMemory {
        /// Bytes of memory in the options.
        bytes: u64,
    },
    /// More than can be addressed.
    #[error("{bytes} bytes are more than this system can address; ask for less memory")]
    TooMuchMemory {
        /// Bytes of memory in the options.
        bytes: u64,
    },
    /// The table cannot be created.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The memory of the tree cannot be allocated.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A proof is requested for a position that cannot occur by the rules of proof files
    /// ([`Position::is_standard`]).
    #[error(
        "proofs are about games that begin with two removals, so there is none about a position in \
         the jumping phase with fewer than two empty squares or with stones on squares of the other colour: \
         solve it without a proof"
    )]
    NotProvable,
    /// A proof by a search without all symmetries.
    #[error("in a proof, all symmetric positions have the same code: --proof needs --symmetry all")]
    ProofSymmetry,
    /// The checkpoint cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl SolveError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            SolveError::TooLittleMemory { .. }
            | SolveError::NotProvable
            | SolveError::ProofSymmetry => ErrorKind::Usage,
            SolveError::TooMuchMemory { .. } => ErrorKind::Resource,
            SolveError::Table(error) => error.kind(),
            SolveError::Tree(error) => error.kind(),
            SolveError::Checkpoint(error) => error.kind(),
        }
    }
}
