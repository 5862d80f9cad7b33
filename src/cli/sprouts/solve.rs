//! `konane sprouts solve`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use super::session::{self, EngineArgs, SearchedJson, Session, Start};
use super::text::{self, TextArg};
use crate::cli::exit::{CliError, Exit};
use crate::cli::flags::JobArgs;
use crate::cli::output;
use crate::cli::trace::{Trace, TraceArgs};
use crate::search::plain::game::Value;
use crate::search::run::{Observer, Outcome, Progress};
use crate::search::sums::{Sum, TwoLevelOptions, dfpn, pns, two_level};
use crate::system::{NumberError, parse_number};

/// `konane sprouts solve`.
#[derive(Debug, Args)]
#[command(after_help = format!("{}\n\n{}\n\n{}", text::HELP, session::HELP, concat!(
    "Examples:\n",
    "  konane sprouts solve \"0*12\"\n",
    "  konane sprouts solve \"0*5\" --nimber 1 --json\n",
    "  konane sprouts solve \"0.AB|AB+1a1a\" --algo pns\n",
    "  konane sprouts solve \"0*29\" --db sprouts.nimbers --memory 4GiB\n"
)))]
pub struct SolveArgs {
    #[command(flatten)]
    pub text: TextArg,
    /// The search algorithm; only dfpn and pns-pdfpn use more than one thread.
    #[arg(long, value_name = "NAME", default_value = "dfpn")]
    pub algo: AlgorithmArg,
    /// Play the sum of the position and a nim heap of this size.
    #[arg(long, value_name = "K", default_value = "0", allow_negative_numbers = true,
          value_parser = parse_nimber)]
    pub nimber: u32,
    #[command(flatten)]
    pub jobs: JobArgs,
    #[command(flatten)]
    pub engine: EngineArgs,
    #[command(flatten)]
    pub trace: TraceArgs,
}

/// Largest heap that the command line takes.
const MOST_NIMBER: u64 = 1000;

fn parse_nimber(text: &str) -> Result<u32, NumberError> {
    parse_number(text, 0, MOST_NIMBER).map(|number| number as u32)
}

/// The searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlgorithmArg {
    /// Depth-first proof-number search.
    Dfpn,
    /// Proof-number search on a graph.
    Pns,
    /// Proof-number search whose leaves are jobs for df-pn workers, for many cores.
    PnsPdfpn,
}

impl AlgorithmArg {
    fn name(self) -> &'static str {
        match self {
            AlgorithmArg::Dfpn => "dfpn",
            AlgorithmArg::Pns => "pns",
            AlgorithmArg::PnsPdfpn => "pns-pdfpn",
        }
    }

    fn is_parallel(self) -> bool {
        matches!(self, AlgorithmArg::Dfpn | AlgorithmArg::PnsPdfpn)
    }
}

/// The JSON of `sprouts solve`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SproutsSolveJson {
    /// As it was written.
    pub position: String,
    /// In canonical form.
    pub canonical: String,
    /// The heap beside it.
    pub nimber: u32,
    /// `win`, `loss` or `unknown`, for the player to move.
    pub outcome: String,
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

/// Solves and prints.
pub fn run(args: &SolveArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let (algorithm, engine) = (args.algo, &args.engine);
    let all = engine.search.threads.of(algorithm.name(), algorithm.is_parallel())?;
    let two_levels = algorithm == AlgorithmArg::PnsPdfpn;
    let each = args.jobs.threads_per_worker(algorithm.name(), two_levels, all)?;
    let default = TwoLevelOptions::default();
    let jobs = TwoLevelOptions {
        iterations: args.jobs.iterations.unwrap_or(default.iterations),
        updates: args.jobs.updates.unwrap_or(default.updates),
        threads_per_worker: each.get() as u32,
    };
    let start = Start::new(&args.text, engine)?;
    let mut session = Session::new(&start.game, engine, all)?;
    let (options, threads) = (session.options, all.get() as u32);
    let root = Sum::new(&start.game, &start.atoms, args.nimber);
    tracing::debug!(?options, ?root, "search begins");
    session.sink.trace = Trace::begin(&args.trace)?;
    let begun = Instant::now();
    let limits = engine.search.limits(begun, stop);
    let (workspace, sink) = (&session.workspace, &mut session.sink);
    let report = match algorithm {
        AlgorithmArg::Dfpn => dfpn(workspace, &root, options, threads, limits, sink),
        AlgorithmArg::Pns => pns(workspace, &root, options, limits, sink),
        AlgorithmArg::PnsPdfpn => two_level(workspace, &root, options, jobs, threads, limits, sink),
    };
    let seconds = begun.elapsed().as_secs_f64();
    sink.progress(&Progress::from(&report));
    tracing::debug!(?report, seconds, "search ends");

    let (outcome, reason) = match report.outcome {
        Outcome::Known(Value::Win) => ("win", None),
        Outcome::Known(Value::Loss) => ("loss", None),
        Outcome::Unknown(reason) => ("unknown", Some(reason)),
    };
    let (searched, closed) =
        session.close((&report.counters, report.memory_bytes, seconds), reason);
    let open = reason.is_some();
    let json = SproutsSolveJson {
        position: args.text.position.clone(),
        canonical: start.canonical,
        nimber: args.nimber,
        outcome: outcome.to_owned(),
        pn: open.then_some(report.phi),
        dn: open.then_some(report.delta),
        algorithm: algorithm.name().to_owned(),
        jobs: two_levels.then_some(report.counters.jobs),
        searched,
    };
    output::answer(engine.output.json, &json, shown)?;
    closed.map(|()| reason.into())
}

fn shown(json: &SproutsSolveJson) -> String {
    let searched = &json.searched;
    let outcome = match json.outcome.as_str() {
        "win" => "win: the player to move wins".to_owned(),
        "loss" => "loss: the player to move loses".to_owned(),
        _ => searched.unknown(),
    };
    let mut lines = vec![("outcome", outcome)];
    lines.extend(json.pn.zip(json.dn).map(|(pn, dn)| output::root_row(pn, dn)));
    lines.push(("canonical", json.canonical.clone()));
    let threads = match searched.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    lines.push(("algorithm", format!("{}, {}, {threads}", json.algorithm, searched.profile)));
    lines.extend(json.jobs.map(|jobs| ("jobs", output::grouped(jobs))));
    lines.extend(searched.rows());
    let heap = if json.nimber > 0 { format!(" + *{}", json.nimber) } else { String::new() };
    output::rows(&format!("{}{heap}", json.position), &lines)
}
