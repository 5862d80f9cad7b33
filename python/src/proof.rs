//! `prove` and `verify_proof`.

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use konane::proof::{self, ProofObserver, ProofReader, ProofWriter, ProveResult};
use konane::search::certificate::CertificateError;
use konane::system::memory_available;
use konane::{Colour, Progress, Reason, Value};
use pyo3::prelude::*;

use crate::argument::{PathArg, StrArg, name};
use crate::database::DatabaseArg;
use crate::error::Failure;
use crate::interrupt;
use crate::options::{
    LimitArgs, MemoryArg, NodesArg, ProgressCallback, SecondsArg, StartArg, ThreadCountArg,
    on_pool, path_text, threads_or_cores,
};
use crate::progress::{Latest, ProgressReporter};
use crate::results;
use crate::solve::{KonaneSearch, SearchArguments, last_progress};

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

/// Solves a board (``"6x6"``) or a ``Position`` and writes a proof file, by which the winner can be
/// checked independently: returns a ``Proof``. An existing file is replaced when the new one is complete.
///
/// The other arguments, the errors and the cost are those of ``solve``; collecting the positions takes
/// about as long again. If a limit is reached, or the disk is full, no file is written, and ``reason``
/// names the cause. Raises ``FileError`` before the search if the file cannot be created.
#[pyfunction]
#[pyo3(
    signature = (board, path, *, algo=StrArg::from("dfpn"), threads=None, memory=None, time_limit=None,
    max_nodes=None, db=None, progress=None, interval=None, profile=StrArg::from("tuned")),
    text_signature = "(board, path, *, algo='dfpn', threads=None, memory='1GiB', time_limit=None, \
    max_nodes=None, db=None, progress=None, interval=0.1, profile='tuned')"
)]
#[expect(clippy::too_many_arguments, reason = "each is a keyword")]
pub fn prove<'py>(
    py: Python<'py>,
    board: StartArg,
    path: PathArg<name::Path>,
    algo: StrArg<name::Algo>,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
    time_limit: Option<SecondsArg<name::TimeLimit>>,
    max_nodes: Option<NodesArg>,
    db: Option<DatabaseArg<'_>>,
    progress: Option<Bound<'py, PyAny>>,
    interval: Option<SecondsArg<name::Interval>>,
    profile: StrArg<name::Profile>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let limits = LimitArgs { nodes: max_nodes, time: time_limit };
    let search = KonaneSearch::new(
        py,
        board,
        SearchArguments { algo, threads, memory, limits, db, profile },
    )?;
    let pool = threads_or_cores(threads);
    let latest = Latest::default();
    let mut reporter = ProgressReporter::new(ProgressCallback::new(progress, interval)?, &latest);
    let object = |py, progress: &Progress, seconds| search.progress(py, progress, seconds);
    let period = reporter.period();
    let tick = || reporter.tick(object);
    let work = |stop: &AtomicBool| {
        on_pool(pool, || {
            // Before the search, so that a file that cannot be written is reported at once.
            let writer = ProofWriter::create(&path.0)?;
            let ProveResult { solution, proof } =
                search.run(stop, |solver| proof::prove(solver, &mut &latest))?;
            let stopped = |reason: Reason| reason.text().to_owned();
            let written = match proof {
                None => Err(solution.reason.map(stopped)),
                Some(Err(CertificateError::Stopped(reason))) => Err(Some(stopped(reason))),
                Some(Err(error)) => return Err(error.into()),
                // The winner is returned also if the disk is full.
                Some(Ok(proof)) => match writer.finish(&proof.header, &proof.certificate.codes) {
                    Ok(summary) => Ok((summary, proof.certificate.searched_again)),
                    Err(error) => Err(Some(error.to_string())),
                },
            };
            Ok::<_, Failure>((solution, written))
        })
    };
    let (solution, written) = interrupt::run(py, period, tick, work)???;
    let seconds = reporter.seconds();
    reporter.end(last_progress(&solution), object)?;
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
/// If a readable file does not prove its claim, ``valid`` is false, and ``problem`` describes the first error.
///
/// Takes about 10 microseconds and up to 24 bytes for each position. `threads` defaults to all cores,
/// `memory` to what the system has available. Raises ``FileError`` if the file is missing, damaged or
/// not a proof, and ``ResourceError`` if it does not fit into the memory.
#[pyfunction]
#[pyo3(signature = (path, *, threads=None, memory=None))]
pub fn verify_proof<'py>(
    py: Python<'py>,
    path: PathArg<name::Path>,
    threads: Option<ThreadCountArg>,
    memory: Option<MemoryArg>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let begun = Instant::now();
    let threads = threads_or_cores(threads);
    let checked = interrupt::run_without_progress(py, |stop| {
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
