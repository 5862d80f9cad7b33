//! `konane sprouts solve`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::super::args::{parse_nodes, parse_threads, refuse_job_options};
use super::super::database::rows;
use super::super::exit::Exit;
use super::super::{CliError, output};
use super::session::{self, CountersJson, DatabaseJson, SearchArgs, Session, Start};
use crate::search::control::{Outcome, Reason};
use crate::search::game::Value;
use crate::search::impartial::{Sum, TwoLevelOptions, dfpn, dfs, pns, two_level};

/// `konane sprouts solve`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane sprouts solve \"0*12\"\n",
    "  konane sprouts solve \"0*5\" --nimber 1 --json\n",
    "  konane sprouts solve \"0.AB|AB+1a1a\" --algo pns\n",
    "  konane sprouts solve \"0*29\" --db sprouts.nimbers --memory 4GiB\n"
))]
pub struct SolveArgs {
    /// A position: 0*n for n spots, or any other, as SPOTS and GLOP write them.
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub position: String,
    /// The search algorithm; only dfpn and pns-pdfpn use more than one thread.
    #[arg(long, value_name = "NAME", default_value = "dfpn")]
    pub algo: AlgorithmArg,
    /// The jobs of pns-pdfpn.
    #[command(flatten)]
    pub jobs: JobArgs,
    /// Play the sum of the position and a nim heap of this size.
    #[arg(long, value_name = "K", default_value = "0", allow_negative_numbers = true,
          value_parser = parse_nimber)]
    pub nimber: u32,
    /// The search.
    #[command(flatten)]
    pub search: SearchArgs,
}

/// The jobs of the two-level search.
#[derive(Debug, Args)]
pub struct JobArgs {
    /// pns-pdfpn: iterations after which a worker hands a job back [default: 10000].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_nodes)]
    pub iterations: Option<u64>,
    /// pns-pdfpn: iterations of a thread after which it tells its numbers to the others [default:
    /// 1000].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_nodes)]
    pub updates: Option<u64>,
    /// pns-pdfpn: threads of each worker [default: 1]. There are --threads / N workers.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_threads)]
    pub threads_per_worker: Option<u32>,
}

impl JobArgs {
    /// The options, checked against the algorithm and the threads of the search.
    fn options(&self, algorithm: AlgorithmArg, threads: u32) -> Result<TwoLevelOptions, CliError> {
        let default = TwoLevelOptions::default();
        let given = [
            ("--iterations", self.iterations.is_some()),
            ("--updates", self.updates.is_some()),
            ("--threads-per-worker", self.threads_per_worker.is_some()),
        ];
        if algorithm != AlgorithmArg::PnsPdfpn {
            refuse_job_options(given, algorithm.name())?;
        }
        let each = self.threads_per_worker.unwrap_or(default.threads_per_worker);
        if each > threads {
            return Err(CliError::WorkerThreads { each, threads });
        }
        Ok(TwoLevelOptions {
            iterations: self.iterations.unwrap_or(default.iterations),
            updates: self.updates.unwrap_or(default.updates),
            threads_per_worker: each,
        })
    }
}

/// Largest heap that the command line takes.
const MOST_NIMBER: u64 = 1000;

fn parse_nimber(text: &str) -> Result<u32, super::super::units::NumberError> {
    super::super::units::parse_number(text, 0, MOST_NIMBER).map(|number| number as u32)
}

/// The searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlgorithmArg {
    /// Depth-first proof-number search.
    Dfpn,
    /// Proof-number search on a graph.
    Pns,
    /// Plain depth-first search, for small positions.
    Dfs,
    /// Proof-number search whose leaves are jobs for df-pn workers, for many cores.
    PnsPdfpn,
}

impl AlgorithmArg {
    fn name(self) -> &'static str {
        match self {
            AlgorithmArg::Dfpn => "dfpn",
            AlgorithmArg::Pns => "pns",
            AlgorithmArg::Dfs => "dfs",
            AlgorithmArg::PnsPdfpn => "pns-pdfpn",
        }
    }

    fn is_parallel(self) -> bool {
        matches!(self, AlgorithmArg::Dfpn | AlgorithmArg::PnsPdfpn)
    }
}

/// The JSON of `sprouts solve`.
#[derive(Debug, Serialize)]
struct SolveJson {
    position: String,
    canonical: String,
    nimber: u32,
    /// `win`, `loss` or `unknown`, for the player to move.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dn: Option<u32>,
    algorithm: &'static str,
    profile: &'static str,
    heuristic: bool,
    threads: u32,
    /// Jobs of pns-pdfpn.
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<u64>,
    #[serde(flatten)]
    counters: CountersJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<DatabaseJson>,
}

/// Solves and prints.
pub fn run(args: &SolveArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let threads = match (args.algo, args.search.threads) {
        (algorithm, _) if algorithm.is_parallel() => args.search.threads(),
        (_, None | Some(1)) => 1,
        (algorithm, Some(_)) => return Err(CliError::OneThread(algorithm.name())),
    };
    let jobs = args.jobs.options(args.algo, threads)?;
    let start = Start::new(&args.position, &args.search)?;
    let mut session = Session::new(&start.game, &args.search)?;
    let options = args.search.options();
    let root = Sum::new(&start.game, &start.atoms, args.nimber);
    tracing::debug!(?options, ?root, "search begins");
    let begun = Instant::now();
    let limits = args.search.limits(stop);
    let (workspace, sink) = (&session.workspace, &mut session.sink);
    let report = match args.algo {
        AlgorithmArg::Dfpn => dfpn(workspace, &root, options, threads, limits, sink),
        AlgorithmArg::Pns => pns(workspace, &root, options, limits, sink),
        AlgorithmArg::Dfs => dfs(workspace, &root, limits, sink),
        AlgorithmArg::PnsPdfpn => two_level(workspace, &root, options, jobs, threads, limits, sink),
    };
    let seconds = begun.elapsed().as_secs_f64();
    tracing::debug!(?report, seconds, "search ends");

    let counters =
        CountersJson::new(&session, &start.game, &report.counters, report.memory_bytes, seconds);
    let (database, failure) = match session.close() {
        Ok(database) => (database, None),
        Err(error) => (None, Some(error)),
    };
    let (outcome, reason) = match report.outcome {
        Outcome::Known(Value::Win) => ("win", None),
        Outcome::Known(Value::Loss) => ("loss", None),
        Outcome::Unknown(reason) => ("unknown", Some(reason)),
    };
    // Depth-first search has no numbers.
    let open = (reason.is_some() && args.algo != AlgorithmArg::Dfs).then_some(());
    let json = SolveJson {
        position: args.position.clone(),
        canonical: start.canonical,
        nimber: args.nimber,
        outcome,
        reason: reason.map(Reason::text),
        pn: open.map(|()| report.phi),
        dn: open.map(|()| report.delta),
        algorithm: args.algo.name(),
        profile: args.search.profile.name(),
        heuristic: options.heuristic,
        threads,
        jobs: (args.algo == AlgorithmArg::PnsPdfpn).then_some(report.counters.jobs),
        counters,
        database,
    };
    if args.search.json {
        output::write_json(&json)?;
    } else {
        output::write_text(&text(&json))?;
    }
    session::exit(reason, failure)
}

fn text(json: &SolveJson) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    let outcome = match (json.outcome, json.reason) {
        ("win", _) => "win: the player to move wins".to_owned(),
        ("loss", _) => "loss: the player to move loses".to_owned(),
        (_, reason) => format!("unknown ({})", reason.unwrap_or("no reason")),
    };
    lines.push(("outcome", outcome));
    if let (Some(pn), Some(dn)) = (json.pn, json.dn) {
        let (pn, dn) = (output::grouped(pn.into()), output::grouped(dn.into()));
        lines.push(("root", format!("proof number {pn}, disproof number {dn}")));
    }
    lines.push(("canonical", json.canonical.clone()));
    let threads = match json.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    lines.push(("algorithm", format!("{}, {}, {threads}", json.algorithm, json.profile)));
    if let Some(jobs) = json.jobs {
        lines.push(("jobs", output::grouped(jobs)));
    }
    json.counters.rows(&mut lines);
    if let Some(database) = &json.database {
        lines.push(("database", database.text()));
    }
    let heap = if json.nimber > 0 { format!(" + *{}", json.nimber) } else { String::new() };
    rows(&format!("{}{heap}", json.position), &lines)
}
