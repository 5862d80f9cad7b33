//! `konane sprouts solve`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::super::database::rows;
use super::super::exit::Exit;
use super::super::{CliError, output};
use super::session::{self, CountersJson, DatabaseJson, SearchArgs, Session, Start};
use crate::search::control::{Outcome, Reason};
use crate::search::game::Value;
use crate::search::impartial::{Sum, dfpn, dfs, pns};

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
    /// The search algorithm; only dfpn uses more than one thread.
    #[arg(long, value_name = "NAME", default_value = "dfpn")]
    pub algo: AlgorithmArg,
    /// Play the sum of the position and a nim heap of this size.
    #[arg(long, value_name = "K", default_value = "0", allow_negative_numbers = true,
          value_parser = parse_nimber)]
    pub nimber: u32,
    /// The search.
    #[command(flatten)]
    pub search: SearchArgs,
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
}

impl AlgorithmArg {
    fn name(self) -> &'static str {
        match self {
            AlgorithmArg::Dfpn => "dfpn",
            AlgorithmArg::Pns => "pns",
            AlgorithmArg::Dfs => "dfs",
        }
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
    #[serde(flatten)]
    counters: CountersJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<DatabaseJson>,
}

/// Solves and prints.
pub fn run(args: &SolveArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let threads = match (args.algo, args.search.threads) {
        (AlgorithmArg::Dfpn, _) => args.search.threads(),
        (_, None | Some(1)) => 1,
        (algorithm, Some(_)) => return Err(CliError::OneThread(algorithm.name())),
    };
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
    json.counters.rows(&mut lines);
    if let Some(database) = &json.database {
        lines.push(("database", database.text()));
    }
    let heap = if json.nimber > 0 { format!(" + *{}", json.nimber) } else { String::new() };
    rows(&format!("{}{heap}", json.position), &lines)
}
