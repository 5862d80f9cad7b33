//! `konane sprouts solve`.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::search::{
    self, MISERE, MisereObserver, SproutsSearch, SproutsSearchArgs, SproutsStart, not_begun,
    outcome_row, rows, warn_if_torn,
};
use super::text::{self, TextArg};
use crate::args::{JobArgs, named, number};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::trace::{Trace, TraceArgs};
use clap::Args;
use konane::search::Value;
use konane::search::run::{Limits, Observer, Progress, Reason};
use konane::search::sums::{DEFAULT_JOB_EXPANSIONS, Sum};
use konane::sprouts::analysis::{Analysis, ChildValue, Goal, SurveyOptions, survey};
use konane::sprouts::misere::{MisereSolver, OutcomeFile};
use konane::sprouts::{Algorithm, MAX_NIMBER, Scratch, SproutsMove, SproutsSolution, split_heap};

/// `konane sprouts solve`.
#[derive(Debug, Args)]
#[command(after_help = format!("{}\n\n{}\n\n{}", text::HELP, search::HELP, concat!(
    "Examples:\n",
    "  konane sprouts solve \"0*12\"\n",
    "  konane sprouts solve \"0*5\" --nimber 1 --json\n",
    "  konane sprouts solve \"0*7\" --lines\n",
    "  konane sprouts solve \"0*12\" --misere\n",
    "  konane sprouts solve \"0.AB|AB+1a1a\" --algo pns\n",
    "  konane sprouts solve \"0*29\" --db sprouts.nimbers --memory 4GiB\n"
)))]
pub struct SproutsSolveArgs {
    #[command(flatten)]
    pub text: TextArg,
    /// Search algorithm. Only dfpn and pns-pdfpn use more than one thread.
    #[arg(long, value_name = "NAME", default_value = "dfpn",
          value_parser = named(ALGORITHMS, Algorithm::name))]
    pub algo: Algorithm,
    /// Solve the sum of the position and a Nim heap of this size. The heap can also be written after
    /// the position: "0*5 + *1".
    #[arg(long, value_name = "K", default_value = "0", allow_negative_numbers = true,
          value_parser = number(0, MAX_NIMBER))]
    pub nimber: u32,
    /// Solve the misère game: the player who makes the last move loses. The search is df-pn without Grundy
    /// numbers.
    #[arg(long, conflicts_with_all = ["algo", "nimber", "profile", "heuristic", "seed", "job_length"])]
    pub misere: bool,
    /// Print the outcome of every move, found by further searches within the same limits. The nodes of
    /// these searches are not counted.
    #[arg(long)]
    pub lines: bool,
    #[command(flatten)]
    pub jobs: JobArgs,
    #[command(flatten)]
    pub search: SproutsSearchArgs,
    #[command(flatten)]
    pub trace: TraceArgs,
}

/// Values of `--algo` with their help texts.
pub const ALGORITHMS: &[(Algorithm, &str)] = &[
    (Algorithm::Dfpn, "Depth-first proof-number search"),
    (Algorithm::Pns, "Proof-number search on a graph"),
    (
        Algorithm::PnsPdfpn,
        "Proof-number search whose leaves are jobs for df-pn workers, \
                          for many cores",
    ),
];

impl SproutsSolveArgs {
    /// Returns the text of the position, and the size of the heap.
    fn couple(&self) -> Result<(&str, u32), CliError> {
        let (position, heap) = split_heap(&self.text.position);
        let wrong = |error| CliError::Usage(format!("position: the size of the heap: {error}"));
        match heap.map(number(0, MAX_NIMBER)).transpose().map_err(wrong)? {
            Some(_) if self.nimber > 0 => Err(CliError::Usage(
                "there is a heap in the position and one in --nimber: give only one of them"
                    .to_owned(),
            )),
            heap => Ok((position.trim_ascii(), heap.unwrap_or(self.nimber))),
        }
    }
}

/// Solves and prints.
pub fn run(args: &SproutsSolveArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let (algorithm, flags) = (args.algo, &args.search);
    let threads =
        flags.search.threads.of(algorithm.name(), Algorithm::parallel().map(Algorithm::name))?;
    let (text, nimber) = args.couple()?;
    if args.misere && nimber > 0 {
        return Err(CliError::Usage(
            "a heap in the position has no use with --misere: Grundy numbers do not decide the misère game; \
             leave one of them out"
                .to_owned(),
        ));
    }
    output::must_differ(&[
        ("--db", flags.numbers.db.as_deref()),
        ("--trace", args.trace.trace.as_deref()),
    ])?;
    let result = match args.misere {
        true => solve_misere(args, text, threads, stop),
        false => solve(args, text, nimber, threads, stop),
    };
    output::ended(flags.output.json, result, |reason| SproutsSolution {
        position: text.to_owned(),
        nimber,
        misere: args.misere,
        algorithm: algorithm.name(),
        search: not_begun(flags, reason),
        ..SproutsSolution::default()
    })
}

fn solve(
    args: &SproutsSolveArgs,
    text: &str,
    nimber: u32,
    all: NonZeroUsize,
    stop: &AtomicBool,
) -> Result<Exit, CliError> {
    let (algorithm, flags) = (args.algo, &args.search);
    let two_levels = algorithm == Algorithm::PnsPdfpn;
    let job_expansions = args.jobs.length(algorithm.name(), two_levels)?;
    let job_expansions = job_expansions.unwrap_or(DEFAULT_JOB_EXPANSIONS);
    let start = SproutsStart::new(text, flags)?;
    let mut solver = SproutsSearch::new(&start.game, flags)?;
    let (options, threads) = (solver.options, all.get() as u32);
    let root = Sum::new(&*start.game, &start.atoms, nimber);
    tracing::debug!(
        "the search of {text} begins: {}, {}, {} of memory",
        algorithm.name(),
        output::counted(threads.into(), "thread"),
        output::bytes(flags.search.limits.memory.memory)
    );
    solver.observer.trace = Trace::begin(&args.trace)?;
    let begun = Instant::now();
    let limits = flags.search.limits.started_at(begun, stop);
    let (state, observer) = (&solver.state, &mut solver.observer);
    let report = algorithm.search(state, &root, options, job_expansions, threads, limits, observer);
    observer.progress(&Progress::from(&report));
    let reason = report.outcome.reason();
    let mut figures = solver.figures(&report.counters, report.memory_bytes, report.threads, begun);
    output::log_end(&report, figures.seconds);

    let options = SurveyOptions {
        goal: if args.lines { Goal::Outcomes } else { Goal::Winner },
        nimber,
        search: options,
        threads,
        from_file: 0,
        limits: Limits {
            // Without an outcome of the position, the moves are not searched.
            nodes: match reason {
                Some(_) => Some(0),
                None => limits.nodes.map(|nodes| nodes.saturating_sub(report.counters.nodes)),
            },
            ..limits
        },
    };
    let (position, mut scratch) = (&start.position, Scratch::default());
    let (state, observer) = (&solver.state, &mut solver.observer);
    // The trace covers only the search of the position itself.
    let trace = observer.trace.take();
    // The outcome is reported even if there is no memory for the moves.
    let moves = survey(state, position, options, &mut scratch, observer, &mut |_| {}).ok();
    observer.trace = trace;
    let moves = moves.as_ref();
    let closed = solver.close(&mut figures);
    let best = moves.and_then(|moves| moves.with(Some(Value::Win)).next());
    let json = SproutsSolution {
        position: text.to_owned(),
        canonical: Some(start.canonical),
        nimber,
        best_move: best.map(|child| child.position.clone()),
        moves: moves.filter(|_| args.lines).map(listed),
        ..SproutsSolution::new(algorithm, &report, figures)
    };
    let requested = flags.search.threads.threads;
    output::answer(flags.output.json, &json, |json| shown(json, moves, requested))?;
    let unknown =
        unknown_reason(moves).filter(|&reason| args.lines || reason == Reason::Interrupted);
    closed.map(|()| reason.or(unknown).into())
}

/// Solves the misère game and prints.
fn solve_misere(
    args: &SproutsSolveArgs,
    text: &str,
    threads: NonZeroUsize,
    stop: &AtomicBool,
) -> Result<Exit, CliError> {
    let flags = &args.search;
    let memory = search::enough(flags.search.limits.memory)?;
    let position = text::read(text)?;
    let solver = MisereSolver::new(memory).map_err(CliError::SproutsTable)?;
    let path = flags.numbers.db.as_deref();
    let file = path.map(|path| OutcomeFile::open(path, &solver)).transpose()?;
    if let Some((path, file)) = path.zip(file.as_ref()) {
        warn_if_torn(path, file.contents());
    }
    let mut observer = MisereObserver::new(&solver, flags.output.quiet);
    observer.trace = Trace::begin(&args.trace)?;
    let begun = Instant::now();
    let limits = flags.search.limits.started_at(begun, stop);
    let report = solver.solve(&position, threads, limits, &mut observer)?;
    observer.progress(&Progress::from(&report));
    let traced = observer.trace.take().map_or(Ok(()), Trace::finish);
    drop(observer);
    let reason = report.outcome.reason();
    let mut figures = solver.figures(&report, begun);
    let goal = if args.lines { Goal::Outcomes } else { Goal::Winner };
    let nodes = limits.nodes.map(|nodes| nodes.saturating_sub(report.counters.nodes));
    let limits = Limits { nodes, ..limits };
    // The outcome is reported even if there is no memory for the moves.
    let moves = solver.analyse_moves(&position, &report, goal, threads, limits, &mut |_| {}).ok();
    let moves = moves.as_ref();
    let saved = file.map(|file| file.save(&solver, Some(&position))).transpose();
    let closed = saved.map(|saved| figures.database = saved).map_err(CliError::from);
    let best = moves.and_then(|moves| moves.with(Some(Value::Win)).next());
    let json = SproutsSolution {
        position: text.to_owned(),
        canonical: Some(solver.canonical(&position)?),
        misere: true,
        best_move: best.map(|child| child.position.clone()),
        moves: moves.filter(|_| args.lines).map(listed),
        ..SproutsSolution::new(Algorithm::Dfpn, &report, figures)
    };
    let requested = flags.search.threads.threads;
    output::answer(flags.output.json, &json, |json| shown(json, moves, requested))?;
    let unknown =
        unknown_reason(moves).filter(|&reason| args.lines || reason == Reason::Interrupted);
    closed.and(traced).map(|()| reason.or(unknown).into())
}

/// Returns the moves of an analysis for the answer.
fn listed(moves: &Analysis) -> Vec<SproutsMove> {
    let listed = |child: &ChildValue| {
        let (position, outcome) = (child.position.clone(), child.outcome);
        SproutsMove { position, outcome }
    };
    moves.children.iter().map(listed).collect()
}

/// Returns the reason why a move is unknown, if one is.
fn unknown_reason(moves: Option<&Analysis>) -> Option<Reason> {
    moves.map_or(Some(Reason::Memory), |moves| moves.reason)
}

fn shown(json: &SproutsSolution, moves: Option<&Analysis>, requested: Option<u32>) -> String {
    let search = &json.search;
    let mut lines = vec![outcome_row(json.outcome, search.reason)];
    if json.misere {
        lines.push(("game", MISERE.to_owned()));
    }
    let is_over = json.canonical.as_deref() == Some("!");
    let best = match (json.best_move.as_ref(), json.outcome) {
        (Some(best), _) => Some(best.clone()),
        (None, Some(_)) if is_over => Some("none: no move is left".to_owned()),
        (None, Some(Value::Win)) => {
            Some(format!("unknown ({})", unknown_reason(moves).map_or("", Reason::text)))
        }
        (None, Some(Value::Loss)) => Some("none: every move loses".to_owned()),
        (None, None) => None,
    };
    lines.extend(best.map(|best| ("best move", best)));
    let lists = [(Some(Value::Win), "winning"), (Some(Value::Loss), "losing"), (None, "unknown")];
    for (outcome, name) in lists {
        let moves = json.moves.iter().flatten().filter(|mv| mv.outcome == outcome);
        // Only the first row of a list has the name.
        let names = std::iter::once(name).chain(std::iter::repeat(""));
        lines.extend(names.zip(moves).map(|(name, mv)| (name, mv.position.clone())));
    }
    lines.extend(json.pn.zip(json.dn).map(|(pn, dn)| output::root_row(pn, dn)));
    lines.extend(json.canonical.clone().map(|canonical| ("canonical", canonical)));
    let threads = output::threads(search.threads, requested);
    lines.push(("algorithm", format!("{}, {}, {threads}", json.algorithm, search.profile)));
    lines.extend(json.jobs.map(|jobs| ("jobs", output::grouped(jobs))));
    lines.extend(rows(search, json.misere));
    let heap = if json.nimber > 0 { format!(" + *{}", json.nimber) } else { String::new() };
    output::rows(&format!("{}{heap}", json.position), &lines)
}
