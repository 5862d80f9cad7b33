//! `konane sprouts solve`.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::engine::{self, Engine, EngineArgs, SearchedJson, Start};
use super::text::{self, TextArg};
use crate::args::{JobArgs, named};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::trace::{Trace, TraceArgs};
use konane::json::{OrUnknown, or_unknown};
use konane::search::Value;
use konane::search::run::{Limits, Observer, Progress, Reason};
use konane::search::sums::{DEFAULT_JOB_EXPANSIONS, Sum};
use konane::sprouts::analysis::{Analysis, ChildValue, Goal, SurveyOptions, survey};
use konane::sprouts::{Algorithm, MAX_NIMBER, Scratch, split_heap};
use konane::system::{NumberError, parse_number};

/// `konane sprouts solve`.
#[derive(Debug, Args)]
#[command(after_help = format!("{}\n\n{}\n\n{}", text::HELP, engine::HELP, concat!(
    "Examples:\n",
    "  konane sprouts solve \"0*12\"\n",
    "  konane sprouts solve \"0*5\" --nimber 1 --json\n",
    "  konane sprouts solve \"0*7\" --lines\n",
    "  konane sprouts solve \"0.AB|AB+1a1a\" --algo pns\n",
    "  konane sprouts solve \"0*29\" --db sprouts.nimbers --memory 4GiB\n"
)))]
pub struct SolveArgs {
    #[command(flatten)]
    pub text: TextArg,
    /// The search algorithm; only dfpn and pns-pdfpn use more than one thread.
    #[arg(long, value_name = "NAME", default_value = "dfpn",
          value_parser = named(ALGORITHMS, Algorithm::name))]
    pub algo: Algorithm,
    /// Play the sum of the position and a nim heap of this size, which can be written behind the
    /// position as well: "0*5 + *1".
    #[arg(long, value_name = "K", default_value = "0", allow_negative_numbers = true,
          value_parser = parse_nimber)]
    pub nimber: u32,
    /// Say what becomes of every move. That is found after the outcome and by searches that are not
    /// counted, but within the same limits.
    #[arg(long)]
    pub lines: bool,
    #[command(flatten)]
    pub jobs: JobArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub trace: TraceArgs,
}

fn parse_nimber(text: &str) -> Result<u32, NumberError> {
    parse_number(text, 0, MAX_NIMBER.into()).map(|number| number as u32)
}

/// Values of the option, with their help texts.
pub const ALGORITHMS: &[(Algorithm, &str)] = &[
    (Algorithm::Dfpn, "Depth-first proof-number search"),
    (Algorithm::Pns, "Proof-number search on a graph"),
    (
        Algorithm::PnsPdfpn,
        "Proof-number search whose leaves are jobs for df-pn workers, \
                          for many cores",
    ),
];

impl SolveArgs {
    /// The position's text, and the heap beside it.
    fn couple(&self) -> Result<(&str, u32), CliError> {
        let (position, heap) = split_heap(&self.text.position);
        let heap = heap.map(parse_nimber).transpose().map_err(CliError::SproutsHeap)?;
        match heap {
            Some(_) if self.nimber > 0 => Err(CliError::TwoHeaps),
            heap => Ok((position.trim_ascii(), heap.unwrap_or(self.nimber))),
        }
    }
}

/// The JSON of `sprouts solve`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SproutsSolveJson {
    /// As it was written, without a heap.
    pub position: String,
    /// In canonical form; null if a limit was reached before it was found.
    pub canonical: Option<String>,
    /// The heap beside it.
    pub nimber: u32,
    /// `win`, `loss` or `unknown`, for the player to move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[schemars(with = "OrUnknown<Value>")]
    pub outcome: Option<Value>,
    /// The position after a winning move, with ` + *k` for a heap of k that is left; null if there is
    /// none or it is not known.
    pub best_move: Option<String>,
    /// With `--lines`: the positions after all moves, winning ones first and unknown ones last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<SproutsMoveJson>>,
    /// The root's proof number, while the outcome is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pn: Option<u32>,
    /// Its disproof number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dn: Option<u32>,
    /// `dfpn`, `pns` or `pns-pdfpn`.
    pub algorithm: String,
    /// Jobs of pns-pdfpn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u64>,
    /// The search.
    #[serde(flatten)]
    pub searched: SearchedJson,
}

/// A move in the JSON of `sprouts solve --lines`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SproutsMoveJson {
    /// The position after the move, with ` + *k` for a heap of k that is left.
    #[serde(rename = "move")]
    pub mv: String,
    /// `win`, `loss` or `unknown`, for the player who makes the move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[schemars(with = "OrUnknown<Value>")]
    pub outcome: Option<Value>,
}

/// Solves and prints.
pub fn run(args: &SolveArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let (algorithm, flags) = (args.algo, &args.engine);
    let threads =
        flags.search.threads.of(algorithm.name(), Algorithm::parallel().map(Algorithm::name))?;
    let (text, nimber) = args.couple()?;
    let result = solve(args, text, nimber, threads, stop);
    output::ended(flags.output.json, result, |reason| SproutsSolveJson {
        position: text.to_owned(),
        nimber,
        algorithm: algorithm.name().to_owned(),
        searched: SearchedJson::not_begun(flags, reason),
        ..SproutsSolveJson::default()
    })
}

fn solve(
    args: &SolveArgs,
    text: &str,
    nimber: u32,
    all: NonZeroUsize,
    stop: &AtomicBool,
) -> Result<Exit, CliError> {
    let (algorithm, flags) = (args.algo, &args.engine);
    let two_levels = algorithm == Algorithm::PnsPdfpn;
    let job_expansions = args.jobs.length(algorithm.name(), two_levels)?;
    let job_expansions = job_expansions.unwrap_or(DEFAULT_JOB_EXPANSIONS);
    output::must_differ(&[
        ("--db", flags.numbers.db.as_deref()),
        ("--trace", args.trace.trace.as_deref()),
    ])?;
    let start = Start::new(text, flags)?;
    let mut engine = Engine::new(&start.game, flags)?;
    let (options, threads) = (engine.options, all.get() as u32);
    let root = Sum::new(&start.game, &start.atoms, nimber);
    tracing::debug!(?options, ?root, "search begins");
    engine.sink.trace = Trace::begin(&args.trace)?;
    let begun = Instant::now();
    let limits = flags.search.limits(begun, stop);
    let (workspace, sink) = (&engine.workspace, &mut engine.sink);
    let report = algorithm.search(workspace, &root, options, job_expansions, threads, limits, sink);
    sink.progress(&Progress::from(&report));
    let reason = report.outcome.reason();
    let (counters, memory) = (&report.counters, report.memory_bytes);
    let mut searched = engine.searched(counters, memory, report.threads, begun, reason);
    tracing::debug!(?report, searched.seconds, "search ends");

    let options = SurveyOptions {
        goal: if args.lines { Goal::Outcomes } else { Goal::Winner },
        nimber,
        search: options,
        threads,
        from_file: 0,
        limits: Limits {
            // The outcome of the position comes first: without it, nothing is searched for the moves.
            nodes: match reason {
                Some(_) => Some(0),
                None => limits.nodes.map(|most| most.saturating_sub(report.counters.nodes)),
            },
            ..limits
        },
    };
    let (position, mut scratch) = (&start.position, Scratch::default());
    let (workspace, sink) = (&engine.workspace, &mut engine.sink);
    // The trace is of the search of the position itself.
    let trace = sink.trace.take();
    // The outcome is reported even if there is no memory for the moves.
    let moves =
        survey(workspace, &start.game, position, options, &mut scratch, sink, &mut |_| {}).ok();
    sink.trace = trace;
    tracing::debug!(?moves, "moves");
    let moves = moves.as_ref();
    let closed = engine.close(&mut searched);
    let open = reason.is_some();
    let json = SproutsSolveJson {
        position: text.to_owned(),
        canonical: Some(start.canonical),
        nimber,
        outcome: report.outcome.value(),
        best_move: moves
            .and_then(|moves| Some(moves.with(Some(Value::Win)).next()?.position.clone())),
        moves: moves
            .filter(|_| args.lines)
            .map(|moves| moves.children.iter().map(SproutsMoveJson::from).collect()),
        pn: open.then_some(report.phi),
        dn: open.then_some(report.delta),
        algorithm: algorithm.name().to_owned(),
        jobs: two_levels.then_some(report.counters.jobs),
        searched,
    };
    let requested = flags.search.threads.threads;
    output::answer(flags.output.json, &json, |json| shown(json, moves, requested))?;
    let left = left(moves).filter(|&left| args.lines || left == Reason::Interrupted);
    closed.map(|()| reason.or(left).into())
}

/// Reason for which a move is unknown.
fn left(moves: Option<&Analysis>) -> Option<Reason> {
    moves.map_or(Some(Reason::Memory), |moves| moves.reason)
}

impl From<&ChildValue> for SproutsMoveJson {
    fn from(child: &ChildValue) -> SproutsMoveJson {
        SproutsMoveJson { mv: child.position.clone(), outcome: child.outcome }
    }
}

fn shown(json: &SproutsSolveJson, moves: Option<&Analysis>, requested: Option<u32>) -> String {
    let searched = &json.searched;
    let outcome = match json.outcome {
        Some(Value::Win) => "win: the player to move wins".to_owned(),
        Some(Value::Loss) => "loss: the player to move loses".to_owned(),
        None => searched.unknown(),
    };
    let mut lines = vec![("outcome", outcome)];
    let is_over = json.canonical.as_deref() == Some("!");
    let best = match (json.best_move.as_ref(), json.outcome) {
        (Some(best), _) => Some(best.clone()),
        (None, Some(Value::Win)) => {
            Some(format!("unknown ({})", left(moves).map_or("", Reason::text)))
        }
        (None, Some(Value::Loss)) if is_over => Some("none: no move is left".to_owned()),
        (None, Some(Value::Loss)) => Some("none: every move loses".to_owned()),
        (None, None) => None,
    };
    lines.extend(best.map(|best| ("best move", best)));
    let lists = [(Some(Value::Win), "winning"), (Some(Value::Loss), "losing"), (None, "unknown")];
    for (outcome, name) in lists {
        let moves = json.moves.iter().flatten().filter(|mv| mv.outcome == outcome);
        // The name stands before the first.
        let names = std::iter::once(name).chain(std::iter::repeat(""));
        lines.extend(names.zip(moves).map(|(name, mv)| (name, mv.mv.clone())));
    }
    lines.extend(json.pn.zip(json.dn).map(|(pn, dn)| output::root_row(pn, dn)));
    lines.extend(json.canonical.clone().map(|canonical| ("canonical", canonical)));
    let threads = output::threads(searched.threads, requested);
    lines.push(("algorithm", format!("{}, {}, {threads}", json.algorithm, searched.profile)));
    lines.extend(json.jobs.map(|jobs| ("jobs", output::grouped(jobs))));
    lines.extend(searched.rows());
    let heap = if json.nimber > 0 { format!(" + *{}", json.nimber) } else { String::new() };
    output::rows(&format!("{}{heap}", json.position), &lines)
}
