//! `konane sprouts grundy`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::super::database::rows;
use super::super::exit::Exit;
use super::super::{CliError, output};
use super::session::{self, CountersJson, DatabaseJson, SearchArgs, Session, Start};
use crate::search::control::Reason;
use crate::search::impartial::grundy;

/// `konane sprouts grundy`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  konane sprouts grundy \"0*9\"\n",
    "  konane sprouts grundy \"0.AB|AB+1a1a\" --json\n"
))]
pub struct GrundyArgs {
    /// A position: 0*n for n spots, or any other, as SPOTS and GLOP write them.
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub position: String,
    /// The search.
    #[command(flatten)]
    pub search: SearchArgs,
}

/// The JSON of `sprouts grundy`.
#[derive(Debug, Serialize)]
struct GrundyJson {
    position: String,
    canonical: String,
    /// Null if it is not known.
    grundy: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    profile: &'static str,
    heuristic: bool,
    threads: u32,
    #[serde(flatten)]
    counters: CountersJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<DatabaseJson>,
}

/// Computes and prints.
pub fn run(args: &GrundyArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let start = Start::new(&args.position, &args.search)?;
    let mut session = Session::new(&start.game, &args.search)?;
    let (options, threads) = (args.search.options(), args.search.threads());
    let begun = Instant::now();
    let limits = args.search.limits(stop);
    let (workspace, sink) = (&session.workspace, &mut session.sink);
    let report = grundy(workspace, &start.atoms, options, threads, limits, sink);
    let seconds = begun.elapsed().as_secs_f64();
    let counters =
        CountersJson::new(&session, &start.game, &report.counters, report.memory_bytes, seconds);
    let (database, failure) = match session.close() {
        Ok(database) => (database, None),
        Err(error) => (None, Some(error)),
    };
    let reason = report.grundy.err();
    let json = GrundyJson {
        position: args.position.clone(),
        canonical: start.canonical,
        grundy: report.grundy.ok(),
        reason: reason.map(Reason::text),
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

fn text(json: &GrundyJson) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    let number = match (json.grundy, json.reason) {
        (Some(number), _) => number.to_string(),
        (None, reason) => format!("unknown ({})", reason.unwrap_or("no reason")),
    };
    lines.push(("Grundy", number));
    lines.push(("canonical", json.canonical.clone()));
    json.counters.rows(&mut lines);
    if let Some(database) = &json.database {
        lines.push(("database", database.text()));
    }
    rows(&json.position, &lines)
}
