//! `prove` and `verify_proof`.

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use konane::proof::{self, ProofObserver, ProofReader, ProofWriter, ProveResult};
use konane::search::certificate::CertificateError;
use konane::search::plain::oracle::Oracle;
use konane::system::memory_available;
use konane::{Colour, Progress, Reason, Solver, Value};
use pyo3::prelude::*;

use crate::argument::{File, Text, name};
use crate::database::Source;
use crate::error::Failure;
use crate::interrupt;
use crate::options::{
    Bounds, Listener, Memory, Nodes, Seconds, Start, Threads, on_pool, path_text, threads_or_cores,
};
use crate::progress::{Latest, Teller};
use crate::results;
use crate::solve::{Means, RunWith, Search, last_progress};

/// Solves a position and collects its proof.
struct Prove<'a>(&'a Latest<Progress<'static>>);

impl RunWith<ProveResult> for Prove<'_> {
    fn run_with<K: Oracle>(mut self, solver: &Solver<'_, K>) -> Result<ProveResult, Failure> {
        Ok(proof::prove(solver, &mut self.0)?)
    }
}

impl ProofObserver for &Latest<Progress<'static>> {}

#[derive(IntoPyObject)]
struct ProofFields<'py> {
    solution: Bound<'py, PyAny>,
    outcome: &'static str,
    winner: &'static str,
    path: Option<OsString>,
    positions: Option<u64>,
    bytes: Option<u64>,
    searched_again: Option<u64>,
    reason: Option<String>,
    seconds: f64,
}

/// Solves a board (``"6x6"``) or a ``Position`` and writes a proof file, with which others can check
/// the winner: returns a ``Proof``. An existing file is replaced when the new one is complete.
///
/// The other arguments, the errors and the cost are those of ``solve``; collecting the positions takes
/// about as long again. If a limit is reached, or the disk is full, no file is written, and ``reason``
/// says why. Raises ``FileError`` if it is known before the search that the file cannot be written.
#[pyfunction]
#[pyo3(
    signature = (board, path, *, algo=Text::from("dfpn"), threads=None, memory=None, time_limit=None,
    max_nodes=None, db=None, progress=None, interval=None, profile=Text::from("tuned")),
    text_signature = "(board, path, *, algo='dfpn', threads=None, memory='1GiB', time_limit=None, \
    max_nodes=None, db=None, progress=None, interval=0.1, profile='tuned')"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn prove<'py>(
    py: Python<'py>,
    board: Start,
    path: File<name::Path>,
    algo: Text<name::Algo>,
    threads: Option<Threads>,
    memory: Option<Memory>,
    time_limit: Option<Seconds<name::TimeLimit>>,
    max_nodes: Option<Nodes>,
    db: Option<Source<'_>>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<Seconds<name::Interval>>,
    profile: Text<name::Profile>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let bounds = Bounds { nodes: max_nodes, time: time_limit };
    let search = Search::new(py, board, Means { algo, threads, memory, bounds, db, profile })?;
    let listener = Listener::new(progress, interval)?;
    let pool = threads_or_cores(threads);
    let latest = Latest::default();
    let mut teller = Teller::new(listener, &latest);
    let object = |py, progress: &Progress, seconds| search.progress(py, progress, seconds);
    let period = teller.period();
    let tick = || teller.tick(object);
    let work = |stop: &AtomicBool| {
        on_pool(pool, || {
            // Before the search, so that a file that cannot be written is found out in time.
            let writer = ProofWriter::create(&path.0)?;
            let ProveResult { solution, proof } = search.run(stop, Prove(&latest))?;
            let stopped = |reason: Reason| reason.text().to_owned();
            let written = match proof {
                None => Err(solution.reason.map(stopped)),
                Some(Err(CertificateError::Stopped(reason))) => Err(Some(stopped(reason))),
                Some(Err(error)) => return Err(error.into()),
                // A full disk takes no winner away.
                Some(Ok(proof)) => match writer.finish(&proof.header, &proof.certificate.codes) {
                    Ok(summary) => Ok((summary, proof.certificate.searched_again)),
                    Err(error) => Err(Some(error.to_string())),
                },
            };
            Ok::<_, Failure>((solution, written))
        })
    };
    let (solution, written) = interrupt::run(py, period, tick, work)???;
    let seconds = teller.seconds();
    teller.end(last_progress(&solution), object)?;
    let summary = written.as_ref().ok();
    let fields = ProofFields {
        outcome: solution.outcome.map_or("unknown", Value::name),
        winner: solution.winner.map_or("unknown", Colour::name),
        path: summary.map(|(summary, _)| path_text(&summary.path)),
        positions: summary.map(|(summary, _)| summary.positions),
        bytes: summary.map(|(summary, _)| summary.bytes),
        searched_again: summary.map(|(_, again)| *again),
        solution: results::make(py, "Solution", results::dict(py, &solution)?)?,
        reason: written.err().flatten(),
        seconds,
    };
    results::make(py, "Proof", fields)
}

#[derive(IntoPyObject)]
struct VerificationFields {
    valid: bool,
    problem: Option<String>,
    board: String,
    root: String,
    winner: &'static str,
    positions: u64,
    answered: u64,
    bytes: u64,
    seconds: f64,
}

/// Checks a proof file by the rules of the game alone, without the solver: returns a ``Verification``.
/// If a readable file does not prove its claim, ``valid`` is false, and ``problem`` says why.
///
/// Takes about 10 microseconds and up to 24 bytes for each position. `threads` defaults to all cores,
/// `memory` to what the system has available. Raises ``FileError`` if the file is missing, damaged or
/// not a proof, and ``ResourceError`` if it does not fit into the memory.
#[pyfunction]
#[pyo3(signature = (path, *, threads=None, memory=None))]
pub fn verify_proof<'py>(
    py: Python<'py>,
    path: File<name::Path>,
    threads: Option<Threads>,
    memory: Option<Memory>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let begun = Instant::now();
    let threads = threads_or_cores(threads);
    let checked = interrupt::run_silent(py, |stop| {
        on_pool(threads, || {
            let mut reader = ProofReader::open(&path.0)?;
            if let Some(bytes) = memory.map(|memory| memory.0).or_else(memory_available) {
                reader.limit_memory(bytes);
            }
            proof::verify(&mut reader, &|_, _| {}, stop)
        })
    })???;
    let fields = VerificationFields {
        valid: checked.flaw.is_none(),
        problem: checked.flaw.map(|flaw| flaw.to_string()),
        board: format!("{}x{}", checked.header.ranks, checked.header.files),
        root: checked.root,
        winner: checked.header.winner.name(),
        positions: checked.header.positions,
        answered: checked.answered,
        bytes: checked.bytes,
        seconds: begun.elapsed().as_secs_f64(),
    };
    results::make(py, "Verification", fields)
}
