//! `konane solve`.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::CliError;
use super::args::{SolveArgs, refuse_job_options};
use super::checkpoint::{self, Kept, Watch};
use super::exit::Exit;
use super::output::{self, SolveJson, TableJson};
use super::progress::SearchProgress;
use super::proof::{self, Proving};
use super::{database, input};
use crate::endgame::Database;
use crate::endgame::known::DatabaseValues;
use crate::konane::notation::{format_move, format_position};
use crate::konane::{
    Algorithm, Board, JobOptions, Position, Solution, SolveOptions, Verdict, solve_saving,
};
use crate::proof::ProofWriter;
use crate::search::control::{Limits, Reason};
use crate::search::table::ENTRY_BYTES;

/// Solves and prints.
pub fn run(args: &SolveArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let threads = threads(args)?;
    let (board, position) = input::start(&args.start)?;
    let options = SolveOptions {
        algorithm: args.algo.into(),
        profile: args.profile.into(),
        memory_bytes: args.memory,
        threads,
        jobs: jobs(args, threads)?,
    };
    // Before the search, so that a file that cannot be written is found out in time.
    let keeper = checkpoint::keeper(args, (&board, &position, &options))?;
    let keeper = keeper.as_ref();
    let writer = args.proof.as_deref().map(ProofWriter::create).transpose()?;
    let database = args.db.as_deref().map(|directory| database::open(directory, args.start.board));
    let database = database.transpose()?;
    let values = database.as_ref().map(DatabaseValues::new);
    let begun = Instant::now();
    let limits = Limits {
        nodes: args.max_nodes,
        // A time beyond what the clock can tell is no limit.
        deadline: args.time_limit.and_then(|limit| begun.checked_add(limit)),
        stop: Some(stop),
    };
    let capacity = options.memory_plan().table / ENTRY_BYTES as u64;
    tracing::debug!(?options, ?position, "search begins");
    let progress = SearchProgress::new(&board, &position, capacity, args.quiet);
    let mut watch = Watch::new(progress, keeper, &options);
    let solver = (&board, &position, &options);
    let (result, proving) = match (&values, writer) {
        (Some(values), Some(writer)) => {
            proof::run(solver, values, limits, &mut watch, writer, keeper)
        }
        (None, Some(writer)) => proof::run(solver, &(), limits, &mut watch, writer, keeper),
        (Some(values), None) => {
            (solve_saving(&board, &position, &options, values, limits, &mut watch, keeper), None)
        }
        (None, None) => {
            (solve_saving(&board, &position, &options, &(), limits, &mut watch, keeper), None)
        }
    };
    let proving_seconds = proving.as_ref().map_or(0.0, Proving::seconds);
    let elapsed = begun.elapsed().as_secs_f64() - proving_seconds;
    let kept = watch.finish();
    let solution = result?;
    // Neither reading nor writing checkpoints is searching.
    let seconds = kept.as_ref().and_then(Kept::seconds).unwrap_or(elapsed);
    tracing::debug!(?solution, seconds, "search ends");

    let report = Report {
        args,
        board: &board,
        position: &position,
        algorithm: options.algorithm,
        threads,
        database: database.as_ref(),
        solution: &solution,
        proving: proving.as_ref(),
        kept: kept.as_ref(),
        seconds,
    };
    if args.json {
        output::write_json(&report.json())?;
    } else {
        output::write_text(&report.text())?;
    }
    if let Some(error) = values.and_then(DatabaseValues::into_error) {
        return Err(error.into());
    }
    if let Some(error) = kept.and_then(|kept| kept.error)
        && matches!(solution.verdict, Verdict::Unknown(_))
    {
        return Err(error.into());
    }
    Ok(match solution.verdict {
        Verdict::Winner(_) => return proving.map_or(Ok(Exit::Answered), Proving::into_exit),
        Verdict::Unknown(Reason::Interrupted) => Exit::Interrupted,
        Verdict::Unknown(_) => Exit::Limit,
    })
}

/// The threads to search with: as many as asked for, or as there are cores.
fn threads(args: &SolveArgs) -> Result<NonZeroUsize, CliError> {
    let algorithm: Algorithm = args.algo.into();
    let asked = args.threads.and_then(|threads| NonZeroUsize::new(threads as usize));
    if algorithm.is_parallel() {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(asked.unwrap_or_else(cores))
    } else if asked.is_some_and(|threads| threads > NonZeroUsize::MIN) {
        Err(CliError::SolveThreads { algorithm })
    } else {
        Ok(NonZeroUsize::MIN)
    }
}

/// The jobs of the two-level search.
fn jobs(args: &SolveArgs, threads: NonZeroUsize) -> Result<JobOptions, CliError> {
    let algorithm: Algorithm = args.algo.into();
    let given = [
        ("--iterations", args.iterations.is_some()),
        ("--updates", args.updates.is_some()),
        ("--threads-per-worker", args.threads_per_worker.is_some()),
    ];
    if algorithm != Algorithm::PnsPdfpn {
        refuse_job_options(given, algorithm.name())?;
    }
    let default = JobOptions::default();
    let each = args.threads_per_worker.and_then(|each| NonZeroUsize::new(each as usize));
    let each = each.unwrap_or(default.threads);
    if each > threads {
        return Err(CliError::WorkerThreads {
            each: each.get() as u32,
            threads: threads.get() as u32,
        });
    }
    Ok(JobOptions {
        nodes: args.iterations.unwrap_or(default.nodes),
        update_expansions: args.updates.unwrap_or(default.update_expansions),
        threads: each,
    })
}

struct Report<'a> {
    args: &'a SolveArgs,
    board: &'a Board,
    position: &'a Position,
    algorithm: Algorithm,
    threads: NonZeroUsize,
    database: Option<&'a Database>,
    solution: &'a Solution,
    proving: Option<&'a Proving>,
    kept: Option<&'a Kept<'a>>,
    seconds: f64,
}

impl Report<'_> {
    fn best_move(&self) -> Option<String> {
        let mv = self.solution.best_move?;
        Some(format_move(self.board.dimensions(), mv))
    }

    fn profile(&self) -> &'static str {
        match self.args.profile {
            super::args::ProfileArg::Tuned => "tuned",
            super::args::ProfileArg::Thesis => "thesis",
        }
    }

    /// The root's proof and disproof number, where the search has some and has not solved it.
    fn open_numbers(&self) -> Option<(u32, u32)> {
        let report = &self.solution.report;
        let open = matches!(self.solution.verdict, Verdict::Unknown(_));
        (open && self.algorithm != Algorithm::AlphaBeta).then_some((report.phi, report.delta))
    }

    fn json(&self) -> SolveJson {
        let (outcome, reason) = match self.solution.verdict {
            Verdict::Winner(colour) => (colour.name(), None),
            Verdict::Unknown(reason) => ("unknown", Some(reason.text())),
        };
        let counters = &self.solution.report.counters;
        let two_levels = matches!(self.algorithm, Algorithm::Pn2 | Algorithm::PnsPdfpn);
        let table = &self.solution.table;
        SolveJson {
            board: self.board.dimensions().to_string(),
            position: format_position(self.board, self.position),
            to_move: self.position.to_move().name(),
            algorithm: self.algorithm.name(),
            profile: self.profile(),
            threads: self.threads.get(),
            outcome,
            reason,
            pn: self.open_numbers().map(|(pn, _)| pn),
            dn: self.open_numbers().map(|(_, dn)| dn),
            best_move: self.best_move(),
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

    fn text(&self) -> String {
        let counters = &self.solution.report.counters;
        let to_move = self.position.to_move();
        let best = self.best_move();
        let mut rows: Vec<(&str, String)> = Vec::new();
        match self.solution.verdict {
            Verdict::Winner(colour) => {
                rows.push(("winner", colour.to_string()));
                let none = if self.position.count_moves(self.board) == 0 {
                    format!("none: {to_move} cannot move")
                } else {
                    format!("none: every move of {to_move} loses")
                };
                rows.push(("best move", best.unwrap_or(none)));
            }
            Verdict::Unknown(reason) => {
                rows.push(("winner", format!("unknown ({})", reason.text())));
                if let Some(best) = best {
                    rows.push(("best so far", format!("{best} (not proven)")));
                }
                if let Some((pn, dn)) = self.open_numbers() {
                    let (pn, dn) = (output::grouped(pn.into()), output::grouped(dn.into()));
                    rows.push(("root", format!("proof number {pn}, disproof number {dn}")));
                }
            }
        }
        let profile = self.profile();
        let threads = match self.threads.get() {
            1 => String::new(),
            threads => format!(", {threads} threads"),
        };
        rows.push(("algorithm", format!("{}, {profile}{threads}", self.algorithm)));
        let mut nodes = output::grouped(counters.nodes);
        if matches!(self.algorithm, Algorithm::Pn2 | Algorithm::PnsPdfpn) {
            let first = output::grouped(counters.first_level);
            let second = output::grouped(counters.second_level);
            let _ = write!(nodes, " ({first} first level, {second} second level)");
        }
        rows.push(("nodes", nodes));
        if let Some(database) = self.database {
            let hits = output::grouped(counters.known_hits);
            let directory = database.directory().display();
            let noun = if counters.known_hits == 1 { "value" } else { "values" };
            rows.push(("database", format!("{hits} {noun} from {directory}")));
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

        let board = self.board.dimensions();
        let mut text = format!("{board}, {to_move} to move\n");
        for (name, value) in rows {
            let _ = writeln!(text, "  {name:<12}{value}");
        }
        text
    }
}
