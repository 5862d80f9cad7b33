//! What a leader's search has found, as the fields that the program's JSON has.

use konane::checkpoint::Keeper;
use konane::sprouts::Algorithm;
use konane::sprouts::cluster::ClusterSolution;
use konane::sprouts::grundy_file::GrundyFileUse;
use konane::{Profile, Reason, Solution, SolveOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::position::PyPosition;
use crate::results::ProofNumber;
use crate::solve::outcome;
use crate::sprouts::outcome as sprouts_outcome;

#[derive(IntoPyObject)]
struct KonaneFields {
    board: String,
    position: String,
    to_move: &'static str,
    algorithm: &'static str,
    profile: &'static str,
    outcome: &'static str,
    reason: Option<&'static str>,
    pn: Option<ProofNumber>,
    dn: Option<ProofNumber>,
    best_move: Option<String>,
    nodes: u64,
    expansions: u64,
    settle_positions: u64,
    l1_nodes: u64,
    l2_nodes: u64,
    memory_bytes: u64,
    table: TableFields,
    total: Option<TotalFields>,
}

#[derive(IntoPyObject)]
struct TableFields {
    capacity: u64,
    used: u64,
    replaced: u64,
}

#[derive(IntoPyObject)]
struct TotalFields {
    nodes: u64,
    expansions: u64,
    settle_positions: u64,
    seconds: f64,
    runs: u64,
}

/// Those of a search of Konane, of all runs too if it is kept.
///
/// # Errors
/// If Python has no memory.
pub fn konane_fields(
    py: Python<'_>,
    start: &PyPosition,
    options: &SolveOptions,
    keeper: Option<&Keeper>,
    found: &Solution,
) -> PyResult<Py<PyDict>> {
    let (report, table) = (&found.report, &found.table);
    let counters = &report.counters;
    let open = found.winner.is_none();
    let total = keeper.map(|keeper| {
        let totals = keeper.totals(counters);
        TotalFields {
            nodes: totals.nodes,
            expansions: totals.expansions,
            settle_positions: totals.settle_positions,
            seconds: totals.seconds(),
            runs: totals.runs,
        }
    });
    let fields = KonaneFields {
        board: start.dimensions().to_string(),
        position: start.text(),
        to_move: start.position.to_move().name(),
        algorithm: options.algorithm.name(),
        profile: options.profile.name(),
        outcome: outcome(found),
        reason: found.reason.map(Reason::text),
        pn: open.then(|| report.phi.into()),
        dn: open.then(|| report.delta.into()),
        best_move: found.best_move.map(|mv| start.move_text(mv)),
        nodes: counters.nodes,
        expansions: counters.expansions,
        settle_positions: counters.settle_positions,
        l1_nodes: counters.first_level,
        l2_nodes: counters.second_level,
        memory_bytes: report.memory_bytes,
        table: TableFields { capacity: table.capacity, used: table.used, replaced: table.replaced },
        total,
    };
    Ok(fields.into_pyobject(py)?.unbind())
}

#[derive(IntoPyObject)]
struct SproutsFields {
    position: String,
    canonical: String,
    nimber: u32,
    algorithm: &'static str,
    profile: &'static str,
    outcome: &'static str,
    reason: Option<&'static str>,
    contradiction: Option<String>,
    pn: Option<ProofNumber>,
    dn: Option<ProofNumber>,
    nodes: u64,
    expansions: u64,
    jobs: u64,
    lands: u32,
    grundy_numbers: u64,
    memory_bytes: u64,
    checkpoint: Option<NumbersFields>,
}

#[derive(IntoPyObject)]
struct NumbersFields {
    file: Option<String>,
    loaded: u64,
    added: u64,
    error: Option<String>,
}

/// Those of a search of Sprouts, of a position as it was written.
///
/// # Errors
/// If Python has no memory.
pub fn sprouts_fields(
    py: Python<'_>,
    position: String,
    nimber: u32,
    found: ClusterSolution,
) -> PyResult<Py<PyDict>> {
    let ClusterSolution { report, canonical, contradiction, lands, numbers } = found;
    let (outcome, reason) = sprouts_outcome(&report);
    let counters = &report.counters;
    let checkpoint = numbers.map(|numbers| match numbers {
        Ok(GrundyFileUse { file, loaded, added }) => {
            NumbersFields { file: Some(file), loaded, added, error: None }
        }
        Err(error) => {
            NumbersFields { file: None, loaded: 0, added: 0, error: Some(error.to_string()) }
        }
    });
    let fields = SproutsFields {
        position,
        canonical,
        nimber,
        algorithm: Algorithm::PnsPdfpn.name(),
        profile: Profile::Tuned.name(),
        outcome,
        reason: reason.map(Reason::text),
        contradiction: contradiction.map(|contradiction| contradiction.to_string()),
        pn: reason.map(|_| report.phi.into()),
        dn: reason.map(|_| report.delta.into()),
        nodes: counters.nodes,
        expansions: counters.expansions,
        jobs: counters.jobs,
        lands,
        grundy_numbers: counters.grundy_numbers,
        memory_bytes: report.memory_bytes,
        checkpoint,
    };
    Ok(fields.into_pyobject(py)?.unbind())
}
