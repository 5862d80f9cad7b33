//! `konane solve`.

mod args;
mod checkpoint;
mod lines;
mod positions;
mod progress;
mod proof;
mod report;
mod sums;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub use args::SolveArgs;
#[cfg(test)]
pub use report::SolveJson;

use crate::args::database;
use crate::exit::{CliError, Exit};
use crate::out_of_memory;
use crate::output;
use crate::progress::ProgressDisplay;
use crate::trace::Trace;
use checkpoint::RunCheckpoints;
use lines::MovesAndLine;
use progress::SolveObserver;
use proof::{ProofResult, SolveResult};
use report::SolveReport;

use konane::analysis::Analyst;
use konane::checkpoint::CheckpointError;
use konane::proof::ProofWriter;
use konane::search::cluster::CoordinatorConfig;
use konane::search::plain::oracle::Oracle;
use konane::search::run::Reason;
use konane::tablebase::DatabaseValues;
use konane::{Algorithm, Solution, SolveError, SolveOptions, Solver};

/// Solves and prints.
pub fn run(args: &SolveArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let (algorithm, name) = (args.algo, args.algo.name());
    let threads = args.search.threads.of(name, Algorithm::parallel().map(Algorithm::name))?;
    let two_levels = algorithm == Algorithm::PnsPdfpn;
    let job_nodes = args.jobs.length(name, two_levels)?;
    let job_nodes = job_nodes.unwrap_or(CoordinatorConfig::LOCAL.job_nodes);
    let (profile, memory_bytes) = (args.profile, args.search.limits.memory.memory);
    let overrides = args.experiment.overrides();
    let options = SolveOptions { algorithm, profile, overrides, memory_bytes, threads, job_nodes };
    if args.stdin.is_some() {
        return positions::run(args, options, stop);
    }
    if !args.add.is_empty() {
        return sums::run(args, stop);
    }
    let (board, position) = args.start.read()?;
    let board = args.experiment.board(board)?;
    if args.proof.is_some() && !args.experiment.symmetry.is_all() {
        return Err(SolveError::ProofSymmetry.into());
    }
    output::must_differ(&[
        ("--checkpoint", args.checkpoint.checkpoint.as_deref()),
        ("--proof", args.proof.as_deref()),
        ("--trace", args.trace.trace.as_deref()),
    ])?;
    // Before the search, so that an output that cannot be written is reported in time.
    output::must_be_open()?;
    let solver = Solver::new(&board, &position).options(options);
    let checkpoints = args.checkpoint.writer(&solver)?;
    let checkpoints = checkpoints.as_ref();
    let writer = args.proof.as_deref().map(ProofWriter::create).transpose()?;
    if writer.is_some() || checkpoints.is_some() {
        args.search.threads.start_pool()?;
    }
    let database = database::open_named(&args.db, board.dimensions(), Some(&position))?;
    let directory = database.as_ref().map(|database| database.directory().to_owned());
    let values = database.as_ref().map(|database| DatabaseValues::new(database).with_board(&board));
    let trace = Trace::begin(&args.trace)?;
    let begun = Instant::now();
    let limits = args.search.limits.started_at(begun, stop);
    tracing::debug!(?options, ?position, "search begins");
    // The answer is printed, or stored as JSON, before further work that may run out of memory.
    let early = EarlyAnswer::default();
    let solved = |solution: &Solution, run_checkpoints: Option<&RunCheckpoints<'_>>| {
        let proof_result = args.proof.as_deref().map(ProofResult::out_of_memory);
        early.answer(&SolveReport {
            args,
            board: &board,
            database: directory.as_deref(),
            solution,
            proof_result: proof_result.as_ref(),
            run_checkpoints,
            lines: None,
        });
    };
    let display = ProgressDisplay::new(args.output.quiet);
    let mut observer = SolveObserver {
        run_checkpoints: checkpoints.map(|writer| RunCheckpoints::new(writer, &display)),
        display,
        board: &board,
        position: &position,
        algorithm,
        trace,
        on_solved: &solved,
        solved: None,
    };
    let solver = solver.limits(limits).checkpoint_writer(checkpoints);
    let (result, proof_result) = match &values {
        Some(values) => search(&solver.clone().oracle(values), &mut observer, writer, args.lines),
        None => search(&solver, &mut observer, writer, args.lines),
    };
    let (run_checkpoints, traced) = observer.finish();
    let (solution, table) = match result {
        Err(SolveError::Checkpoint(CheckpointError::Interrupted { .. })) => {
            (Solution::stopped(&solver, Reason::Interrupted), None)
        }
        result => result?,
    };
    let database_error = values.and_then(DatabaseValues::into_error);
    tracing::debug!(?solution, "search ends");

    // Errors from here on do not affect the result of the search.
    if args.lines && proof_result.is_none() && solution.winner.is_some() {
        solved(&solution, run_checkpoints.as_ref());
    }
    let judge = || {
        let mut analyst = Analyst::after(&board, table, options)?;
        if let Some(database) = database {
            analyst = analyst.with_database(database)?;
        }
        MovesAndLine::find(analyst, &solution, limits, args.output.quiet)
    };
    let lines = (args.lines && database_error.is_none()).then(judge).transpose();
    let (lines, lines_error) = match lines {
        Ok(lines) => (lines, None),
        Err(error) => (None, Some(error)),
    };
    let report = SolveReport {
        args,
        board: &board,
        database: directory.as_deref(),
        solution: &solution,
        proof_result: proof_result.as_ref(),
        run_checkpoints: run_checkpoints.as_ref(),
        lines: lines.as_ref(),
    };
    early.rest(&report)?;
    if let Some(error) = database_error.map(CliError::from).or(lines_error.map(CliError::from)) {
        return Err(error);
    }
    if let Some(error) = run_checkpoints.and_then(|run_checkpoints| run_checkpoints.error)
        && solution.winner.is_none()
    {
        return Err(error.into());
    }
    traced?;
    match solution.reason {
        // The winner is known, but the search for the moves was interrupted.
        None if args.lines && stop.load(Ordering::Relaxed) => Ok(Exit::Interrupted),
        None => proof_result.map_or(Ok(Exit::Answered), ProofResult::into_exit),
        reason => Ok(reason.into()),
    }
}

/// Part of the answer that is printed before a proof is collected and moves are evaluated.
#[derive(Default)]
struct EarlyAnswer {
    /// Result of printing the first part of the text, if it has been printed.
    printed: Mutex<Option<Result<(), CliError>>>,
}

impl EarlyAnswer {
    /// Prints the result. JSON is a single object, which is printed when it is complete or when an allocation
    /// fails.
    fn answer(&self, report: &SolveReport<'_>) {
        if report.args.output.json {
            out_of_memory::keep_answer(output::json(&report.json()).ok());
        } else {
            let printed = output::write_text(report.result_text());
            *self.printed.lock().expect("no thread panics while it holds this lock") =
                Some(printed);
        }
    }

    /// Prints the rest of the answer.
    fn rest(&self, report: &SolveReport<'_>) -> Result<(), CliError> {
        if report.args.output.json {
            let text = output::json(&report.json())?;
            out_of_memory::keep_answer(None);
            return output::write_text(&text);
        }
        let printed =
            self.printed.lock().expect("no thread panics while it holds this lock").take();
        match printed {
            Some(printed) => printed.and_then(|()| output::write_text(report.details_text())),
            None => output::write_text(report.text()),
        }
    }
}

/// Solves the position. If there is a writer, also collects and writes a proof, and returns the table only if
/// `keep_table` is true.
fn search<K: Oracle>(
    solver: &Solver<'_, K>,
    observer: &mut SolveObserver<'_>,
    writer: Option<ProofWriter>,
    keep_table: bool,
) -> (SolveResult, Option<ProofResult>) {
    match writer {
        Some(writer) => proof::run(solver, observer, writer, keep_table),
        None => (solver.search(observer), None),
    }
}
