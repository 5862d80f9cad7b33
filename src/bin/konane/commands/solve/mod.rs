//! `konane solve`.

mod args;
mod checkpoint;
mod lines;
mod positions;
mod progress;
mod proof;
mod report;
mod sums;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
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
use proof::ProofResult;
use report::SolveReport;

use konane::analysis::Analyst;
use konane::checkpoint::{CheckpointError, CheckpointWriter};
use konane::proof::ProofWriter;
use konane::results::ResultsFile;
use konane::search::cluster::CoordinatorConfig;
use konane::search::run::{Limits, Reason};
use konane::tablebase::{Database, DatabaseError, DatabaseValues};
use konane::{
    Algorithm, Board, Position, Rules, SearchTable, Solution, SolveError, SolveOptions, Solver,
};

/// Solves and prints.
pub fn run(args: &SolveArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let options = options(args)?;
    if args.stdin.is_some() {
        return positions::run(args, options, stop);
    }
    if !args.add.is_empty() {
        return sums::run(args, stop);
    }
    let (board, position) = args.start.read()?;
    let board = args.experiment.board(board)?;
    let results = results_file(args, &board)?;
    let solver = Solver::new(&board, &position).options(options).results(results.as_ref());
    let files = Files::open(args, &board, &position, &solver)?;
    let directory = files.database.as_ref().map(|database| database.directory().to_owned());
    let answer = Answer {
        args,
        board: &board,
        position: &position,
        database: directory.as_deref(),
        results: results.as_ref(),
        printed: Mutex::default(),
    };
    let limits = args.search.limits.started_at(Instant::now(), stop);
    let Files { checkpoints, proof, database, trace } = files;
    let checkpoints = checkpoints.as_ref();
    let solver = solver.limits(limits).checkpoint_writer(checkpoints);
    tracing::debug!(
        "the search of {position} begins: {}, {}, {} of memory",
        options.algorithm.name(),
        output::counted(options.threads.get() as u64, "thread"),
        output::bytes(options.memory_bytes)
    );
    let found = search(&solver, checkpoints, database.as_ref(), proof, trace, &answer)?;
    output::log_end(&found.solution.report, found.solution.seconds);
    let exit = finish(found, database, options, limits, &answer)?;
    results.and_then(ResultsFile::into_error).map_or(Ok(exit), |error| Err(error.into()))
}

/// Opens the file of `--results`.
fn results_file<'a>(
    args: &SolveArgs,
    board: &'a Board,
) -> Result<Option<ResultsFile<'a>>, CliError> {
    let Some(path) = &args.results else { return Ok(None) };
    if args.algo == Algorithm::AlphaBeta {
        return Err(CliError::Usage(
            "--results is not for --algo ab, which has no proof numbers".to_owned(),
        ));
    }
    if board.rules() != Rules::Standard {
        let problem = "--results: games by the standard rules do not reach the position";
        return Err(CliError::Usage(problem.to_owned()));
    }
    let file = ResultsFile::open(path, board)?;
    Ok(Some(match args.checkpoint.checkpoint_interval {
        Some(interval) => file.interval(interval),
        None => file,
    }))
}

fn options(args: &SolveArgs) -> Result<SolveOptions, CliError> {
    let (algorithm, name) = (args.algo, args.algo.name());
    let threads = args.search.threads.of(name, Algorithm::parallel().map(Algorithm::name))?;
    let job_nodes = args.jobs.length(name, algorithm == Algorithm::PnsPdfpn)?;
    Ok(SolveOptions {
        algorithm,
        profile: args.profile,
        overrides: args.experiment.overrides(),
        memory_bytes: args.search.limits.memory.memory,
        threads,
        job_nodes: job_nodes.unwrap_or(CoordinatorConfig::LOCAL.job_nodes),
    })
}

/// Files of a search. They are opened before it, so that a file that cannot be used is reported in time.
struct Files {
    checkpoints: Option<CheckpointWriter>,
    proof: Option<ProofWriter>,
    database: Option<Database>,
    trace: Option<Trace>,
}

impl Files {
    fn open(
        args: &SolveArgs,
        board: &Board,
        position: &Position,
        solver: &Solver<'_>,
    ) -> Result<Self, CliError> {
        if args.proof.is_some() && !args.experiment.symmetry.is_all() {
            return Err(SolveError::ProofSymmetry.into());
        }
        output::must_differ(&[
            ("--checkpoint", args.checkpoint.checkpoint.as_deref()),
            ("--proof", args.proof.as_deref()),
            ("--results", args.results.as_deref()),
            ("--trace", args.trace.trace.as_deref()),
        ])?;
        output::must_be_open()?;
        let checkpoints = args.checkpoint.writer(solver)?;
        let proof = args.proof.as_deref().map(ProofWriter::create).transpose()?;
        if proof.is_some() || checkpoints.is_some() {
            args.search.threads.start_pool()?;
        }
        let database = database::open_named(&args.db, board.dimensions(), Some(position))?;
        let trace = Trace::begin(&args.trace)?;
        Ok(Files { checkpoints, proof, database, trace })
    }
}

/// Results of a search, and errors that do not affect its result.
struct Found<'a> {
    solution: Solution,
    /// The table, if moves are to be evaluated.
    table: Option<SearchTable>,
    proof: Option<ProofResult>,
    checkpoints: Option<RunCheckpoints<'a>>,
    database_error: Option<DatabaseError>,
    trace: Result<(), CliError>,
}

/// Searches, and collects and writes the proof.
fn search<'a>(
    solver: &Solver<'_>,
    checkpoints: Option<&'a CheckpointWriter>,
    database: Option<&Database>,
    proof: Option<ProofWriter>,
    trace: Option<Trace>,
    answer: &'a Answer<'a>,
) -> Result<Found<'a>, CliError> {
    let Answer { args, board, .. } = *answer;
    let display = ProgressDisplay::new(args.output.quiet);
    let mut observer = SolveObserver {
        run_checkpoints: checkpoints.map(|writer| RunCheckpoints::new(writer, &display)),
        display,
        trace,
        answer,
        solved: None,
    };
    let values = database.map(|database| DatabaseValues::new(database).with_board(board));
    let keep_table = args.lines;
    let mut solver = solver.clone();
    if let Some(values) = &values {
        solver = solver.oracle(values);
    }
    let (result, proof) = match proof {
        Some(writer) => proof::run(&solver, &mut observer, writer, keep_table),
        None => (solver.search(&mut observer), None),
    };
    let (checkpoints, trace) = observer.finish();
    let (solution, table) = match result {
        Err(SolveError::Checkpoint(CheckpointError::Interrupted { .. })) => {
            (Solution::stopped(&solver, Reason::Interrupted), None)
        }
        result => result?,
    };
    let database_error = values.and_then(DatabaseValues::into_error);
    Ok(Found { solution, table, proof, checkpoints, database_error, trace })
}

/// Evaluates the moves, if requested, prints the rest of the answer and returns the exit code.
fn finish(
    found: Found<'_>,
    database: Option<Database>,
    options: SolveOptions,
    limits: Limits<'_>,
    answer: &Answer<'_>,
) -> Result<Exit, CliError> {
    let Found { solution, table, proof, checkpoints, database_error, trace } = found;
    let Answer { args, board, .. } = *answer;
    if args.lines && proof.is_none() && solution.winner.is_some() {
        answer.print_early(&solution, checkpoints.as_ref());
    }
    let judge = || {
        let mut analyst = Analyst::after(board, table, options)?;
        if let Some(database) = database {
            analyst = analyst.with_database(database)?;
        }
        MovesAndLine::find(analyst, &solution, limits, args.output.quiet)
    };
    let lines = (args.lines && database_error.is_none()).then(judge).transpose();
    let (lines, lines_error) =
        lines.map_or_else(|error| (None, Some(error)), |lines| (lines, None));
    let (proof_result, run_checkpoints) = (proof.as_ref(), checkpoints.as_ref());
    answer.print_rest(&answer.report(&solution, proof_result, run_checkpoints, lines.as_ref()))?;
    if let Some(error) = database_error.map(CliError::from).or(lines_error.map(CliError::from)) {
        return Err(error);
    }
    if let Some(error) = checkpoints.and_then(|checkpoints| checkpoints.error)
        && solution.winner.is_none()
    {
        return Err(error.into());
    }
    trace?;
    match solution.reason {
        // The winner is known, but the search for the moves was interrupted.
        None if args.lines && limits.reached() == Some(Reason::Interrupted) => {
            Ok(Exit::Interrupted)
        }
        None => proof.map_or(Ok(Exit::Answered), ProofResult::into_exit),
        reason => Ok(reason.into()),
    }
}

/// The answer, which is printed in two parts: before and after a proof is collected and moves are evaluated.
struct Answer<'a> {
    args: &'a SolveArgs,
    board: &'a Board,
    position: &'a Position,
    /// Directory of the database.
    database: Option<&'a Path>,
    results: Option<&'a ResultsFile<'a>>,
    /// Result of printing the first part of the text, if it has been printed.
    printed: Mutex<Option<Result<(), CliError>>>,
}

impl Answer<'_> {
    fn report<'r>(
        &'r self,
        solution: &'r Solution,
        proof_result: Option<&'r ProofResult>,
        run_checkpoints: Option<&'r RunCheckpoints<'r>>,
        lines: Option<&'r MovesAndLine>,
    ) -> SolveReport<'r> {
        let Answer { args, board, database, results, .. } = *self;
        let results = results.map(ResultsFile::in_use);
        SolveReport {
            args,
            board,
            database,
            results,
            solution,
            proof_result,
            run_checkpoints,
            lines,
        }
    }

    /// Prints the result before further work that may run out of memory. JSON is a single object, which is printed when
    /// it is complete or when an allocation fails; then there is no proof.
    fn print_early(&self, solution: &Solution, checkpoints: Option<&RunCheckpoints<'_>>) {
        let proof = self.args.proof.as_deref().map(ProofResult::out_of_memory);
        let report = self.report(solution, proof.as_ref(), checkpoints, None);
        if self.args.output.json {
            out_of_memory::keep_answer(output::json(&report.json()).ok());
        } else {
            let printed = output::write_text(report.result_text());
            *self.printed.lock().expect("no thread panics while it holds this lock") =
                Some(printed);
        }
    }

    /// Prints the rest of the answer.
    fn print_rest(&self, report: &SolveReport<'_>) -> Result<(), CliError> {
        if self.args.output.json {
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
