//! `konane sprouts grundy`.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::search::{
    self, SproutsSearch, SproutsSearchArgs, SproutsStart, not_begun, rows, unknown,
};
use super::text::{self, TextArg};
use crate::exit::{CliError, Exit};
use crate::output;
use konane::search::sums::grundy;
use konane::sprouts::SearchFigures;

/// `konane sprouts grundy`.
#[derive(Debug, Args)]
#[command(after_help = format!("{}\n\n{}\n\n{}", text::HELP, search::HELP, concat!(
    "Examples:\n",
    "  konane sprouts grundy \"0*9\"\n",
    "  konane sprouts grundy \"0.AB|AB+1a1a\" --json\n"
)))]
pub struct GrundyArgs {
    #[command(flatten)]
    pub text: TextArg,
    #[command(flatten)]
    pub search: SproutsSearchArgs,
}

/// The JSON of `sprouts grundy`.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GrundyJson {
    /// The position as it was given.
    pub position: String,
    /// Canonical form; null if a limit was reached before it was computed.
    pub canonical: Option<String>,
    /// Grundy number; null if it is unknown.
    pub grundy: Option<u32>,
    /// Figures of the search.
    #[serde(flatten)]
    pub search: SearchFigures,
}

/// Computes and prints.
pub fn run(args: &GrundyArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let flags = &args.search;
    let threads = flags.search.threads.of("dfpn", ["dfpn"])?;
    output::ended(flags.output.json, compute(args, threads, stop), |reason| GrundyJson {
        position: args.text.position.clone(),
        search: not_begun(flags, reason),
        ..GrundyJson::default()
    })
}

fn compute(args: &GrundyArgs, threads: NonZeroUsize, stop: &AtomicBool) -> Result<Exit, CliError> {
    let flags = &args.search;
    let start = SproutsStart::new(&args.text.position, flags)?;
    let mut solver = SproutsSearch::new(&start.game, flags)?;
    let begun = Instant::now();
    let limits = flags.search.limits.started_at(begun, stop);
    let (state, observer) = (&solver.state, &mut solver.observer);
    let threads = threads.get() as u32;
    let report = grundy(state, &start.atoms, solver.options, threads, limits, observer);
    let reason = report.grundy.err();
    let figures = solver.figures(&report.counters, report.memory_bytes, report.threads, begun);
    let mut search = SearchFigures { reason, ..figures };
    let closed = solver.close(&mut search);
    let json = GrundyJson {
        position: args.text.position.clone(),
        canonical: Some(start.canonical),
        grundy: report.grundy.ok(),
        search,
    };
    output::answer(flags.output.json, &json, shown)?;
    closed.map(|()| reason.into())
}

fn shown(json: &GrundyJson) -> String {
    let number =
        json.grundy.map_or_else(|| unknown(json.search.reason), |number| number.to_string());
    let mut lines = vec![("Grundy", number)];
    lines.extend(json.canonical.clone().map(|canonical| ("canonical", canonical)));
    lines.extend(rows(&json.search, false));
    output::rows(&json.position, &lines)
}
