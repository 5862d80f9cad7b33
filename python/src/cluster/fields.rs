//! Results of searches, with the fields of the program's JSON.

use konane::checkpoint::CheckpointWriter;
use konane::search::numbers::Number;
use konane::sprouts::Algorithm;
use konane::sprouts::cluster::ClusterSolution;
use konane::sprouts::grundy_file::GrundyFileUse;
use konane::{Profile, Reason, Solution};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Failure;
use crate::results;
use crate::sprouts::outcome;

/// Returns the fields of a search of Konane, with the totals of all runs if there are checkpoints.
///
/// # Errors
/// If Python has not enough memory.
pub fn konane_fields(
    py: Python<'_>,
    checkpoints: Option<&CheckpointWriter>,
    found: &Solution,
) -> Result<Py<PyDict>, Failure> {
    let fields = results::dict(py, found)?;
    if let Some(writer) = checkpoints {
        let total = results::dict(py, &writer.totals(&found.report.counters))?;
        fields.set_item("total", total)?;
    }
    Ok(fields.unbind())
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
    pn: Option<Number>,
    dn: Option<Number>,
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

/// Returns the fields of a search of Sprouts. `position` is the text that was given.
///
/// # Errors
/// If Python has not enough memory.
pub fn sprouts_fields(
    py: Python<'_>,
    position: String,
    nimber: u32,
    found: ClusterSolution,
) -> Result<Py<PyDict>, Failure> {
    let ClusterSolution { report, canonical, contradiction, lands, numbers } = found;
    let (outcome, reason) = outcome(&report);
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
        pn: reason.map(|_| report.phi),
        dn: reason.map(|_| report.delta),
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
