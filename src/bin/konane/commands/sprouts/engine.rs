//! The search of `sprouts solve` and `sprouts grundy`: its arguments, its workspace, its database and its
//! JSON.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::text;
use crate::args::{OutputArgs, SearchArgs, SearchMemoryArg};
use crate::exit::CliError;
use crate::output::{self, proof_number, short, speed, time};
use crate::progress::Progress as Shown;
use crate::trace::{ProgressJson, Trace};
use konane::LEAST_MEMORY;
use konane::SolveError;
use konane::search::run::{Counters, Observer, Progress, Reason};
use konane::search::sums::{Atom, SearchOptions, SolverState};
use konane::search::table::TableUse;
use konane::sprouts::analysis::{Analyst, AnalystError};
use konane::sprouts::grundy_db::Contents;
use konane::sprouts::grundy_file::{GrundyFile, GrundyFileUse};
use konane::sprouts::{Position, Scratch, Sprouts};

/// Help text about memory.
pub const HELP: &str = "\
--memory is for positions, moves and numbers together; each thread takes some 2MiB beside it. When \
it is full, dfpn and pns-pdfpn forget what they can find again, and go on.";

/// The parameters of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProfileArg {
    /// What is fastest.
    Tuned,
    /// As published by Cizek, Balko and Schmid: leaves count 1, sums of proof numbers.
    Paper,
}

impl ProfileArg {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            ProfileArg::Tuned => "tuned",
            ProfileArg::Paper => "paper",
        }
    }
}

/// Arguments of the subcommands that search.
#[derive(Debug, Args)]
pub struct EngineArgs {
    /// The algorithm's parameters.
    #[arg(long, value_name = "NAME", default_value = "tuned")]
    pub profile: ProfileArg,
    /// Among equally promising moves prefer those that leave fewer lives and a smaller heap, then
    /// more lands, then fewer moves [default: as the profile has it].
    #[arg(long, value_name = "on|off", num_args = 0..=1, require_equals = true,
          default_missing_value = "on",
          value_parser = PossibleValuesParser::new(["on", "off"]).map(|text| text == "on"))]
    pub heuristic: Option<bool>,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub numbers: NumbersArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A file of Grundy numbers.
#[derive(Debug, Args)]
pub struct NumbersArg {
    /// Take Grundy numbers from this file, and add those that are found; made if there is none.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
}

/// An analyst with this memory and file.
pub fn analyst(memory: SearchMemoryArg, numbers: &NumbersArg) -> Result<Analyst, CliError> {
    let (memory, path) = (enough(memory)?, numbers.db.as_deref());
    let analyst = Analyst::new(memory, path).map_err(|error| match error {
        AnalystError::Table(error) => CliError::SproutsTable(error),
        AnalystError::Numbers(error) => error.into(),
    })?;
    if let Some((path, contents)) = path.zip(analyst.contents()) {
        warn_of_cut(path, contents);
    }
    Ok(analyst)
}

/// The bytes, if a search can do with them.
fn enough(SearchMemoryArg { memory: bytes }: SearchMemoryArg) -> Result<u64, CliError> {
    match bytes {
        LEAST_MEMORY.. => Ok(bytes),
        _ => Err(SolveError::TooLittleMemory { bytes }.into()),
    }
}

impl EngineArgs {
    /// The options of the search.
    fn options(&self) -> SearchOptions {
        let profile = match self.profile {
            ProfileArg::Tuned => SearchOptions::TUNED,
            ProfileArg::Paper => SearchOptions::PAPER,
        };
        let heuristic = self.heuristic.unwrap_or(profile.heuristic);
        SearchOptions { heuristic, ..profile }
    }
}

/// The game with a position of it.
pub struct Start {
    /// All lands so far, by number.
    pub game: Sprouts,
    /// The position.
    pub position: Position,
    /// Its lands.
    pub atoms: Vec<Atom>,
    /// Its canonical text.
    pub canonical: String,
}

impl Start {
    /// Reads a position.
    pub fn new(text: &str, args: &EngineArgs) -> Result<Start, CliError> {
        let memory = enough(args.search.memory)?;
        let position = text::read(text)?;
        let game = Sprouts::new(memory);
        let mut scratch = Scratch::default();
        let atoms = game.atoms(&position, &mut scratch)?;
        let canonical = game.text(&atoms);
        Ok(Start { game, position, atoms, canonical })
    }
}

/// A workspace with the numbers of the database, and the database to add to.
pub struct Engine<'g> {
    /// Table and known values of all searches.
    pub workspace: SolverState<'g, Sprouts>,
    /// Observer of the searches.
    pub sink: Sink<'g>,
    /// Options of the searches.
    pub options: SearchOptions,
    profile: ProfileArg,
}

impl<'g> Engine<'g> {
    /// Opens the database, if there is one.
    pub fn new(game: &'g Sprouts, args: &EngineArgs) -> Result<Self, CliError> {
        let memory = args.search.memory.memory;
        let workspace = SolverState::new(game, memory).map_err(CliError::SproutsTable)?;
        let path = args.numbers.db.as_deref();
        let open = |path| GrundyFile::open(path, game, workspace.knowledge());
        let database = path.map(open).transpose()?;
        if let Some((path, database)) = path.zip(database.as_ref()) {
            warn_of_cut(path, database.contents());
        }
        let shown = Shown::new(args.output.quiet);
        let table_capacity = workspace.table().capacity();
        let sink = Sink { game, shown, database, table_capacity, trace: None };
        let (options, profile) = (args.options(), args.profile);
        Ok(Engine { workspace, sink, options, profile })
    }

    /// Figures of a search that has just ended, and that began at `begun`. Later searches with the
    /// workspace do not change them.
    pub fn searched(
        &self,
        counters: &Counters,
        memory_bytes: u64,
        threads: u32,
        begun: Instant,
        reason: Option<Reason>,
    ) -> SearchedJson {
        let seconds = begun.elapsed().as_secs_f64();
        SearchedJson {
            reason,
            profile: self.profile.name().to_owned(),
            heuristic: self.options.heuristic,
            threads,
            expansions: counters.expansions,
            nodes: counters.nodes,
            generated: counters.generated,
            lands: self.sink.game.lands(),
            grundy_numbers: counters.grundy_numbers,
            seconds,
            expansions_per_second: speed(counters.expansions, seconds),
            memory_bytes,
            collections: counters.collections,
            table: TableUse {
                capacity: self.workspace.table().capacity(),
                used: counters.table_used,
                replaced: counters.table_replaced,
            },
            database: None,
        }
    }

    /// Closes the database and the trace. Their errors are for after the answer.
    pub fn close(self, searched: &mut SearchedJson) -> Result<(), CliError> {
        let Sink { database, trace, .. } = self.sink;
        let traced = trace.map_or(Ok(()), Trace::finish);
        searched.table.capacity = self.workspace.table().capacity();
        searched.database = database.map(GrundyFile::close).transpose()?;
        traced
    }
}

/// Warns that the end of a file was lost.
pub fn warn_of_cut(path: &Path, contents: &Contents) {
    if let Some(cut) = contents.torn {
        output::warn(&format!(
            "{}: the last {} bytes, from byte {}, were left by a program that was killed while it \
             wrote; they do not count, and what came before them is whole",
            path.display(),
            cut.bytes,
            cut.place
        ));
    }
}

/// Shows progress, records it, and writes Grundy numbers to the database as they are found.
pub struct Sink<'g> {
    game: &'g Sprouts,
    shown: Shown,
    database: Option<GrundyFile>,
    table_capacity: u64,
    /// Trace of the search.
    pub trace: Option<Trace>,
}

impl Observer for Sink<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.shown.update(|seconds| {
            let Counters { expansions, grundy_numbers, .. } = progress.counters;
            format!(
                "{} expansions, {}/s, pn {} dn {}, {} Grundy numbers, {} lands, {}",
                short(expansions as f64),
                short(speed(expansions, seconds)),
                proof_number(progress.phi),
                proof_number(progress.delta),
                short(grundy_numbers as f64),
                short(self.game.lands().into()),
                output::bytes(progress.memory_bytes),
            )
        });
        if let Some(trace) = &mut self.trace {
            let table_capacity = self.table_capacity;
            let progress = Progress { table_capacity, ..*progress };
            trace.write(&progress, |seconds| ProgressJson::new(&progress, seconds));
        }
    }

    fn grundy_numbers(&mut self, numbers: &[(Atom, u32)]) -> bool {
        self.database.as_mut().is_none_or(|database| database.add(self.game, numbers))
    }
}

/// The search in the JSON of `sprouts solve` and `sprouts grundy`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SearchedJson {
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// `tuned` or `paper`.
    pub profile: String,
    /// Whether ties between moves are broken by the order of the paper.
    pub heuristic: bool,
    /// Threads that searched.
    pub threads: u32,
    /// Couples expanded, repeated expansions included: the iterations of the papers.
    pub expansions: u64,
    /// Couples evaluated.
    pub nodes: u64,
    /// Lands whose moves were generated.
    pub generated: u64,
    /// Lands in memory at the end.
    pub lands: u32,
    /// Grundy numbers found.
    pub grundy_numbers: u64,
    /// Wall-clock time.
    pub seconds: f64,
    /// `expansions` divided by `seconds`.
    pub expansions_per_second: f64,
    /// Bytes of everything.
    pub memory_bytes: u64,
    /// How often the memory was full, and what could be found again was forgotten.
    pub collections: u64,
    /// The table of open couples.
    pub table: TableUse,
    /// With `--db`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<GrundyFileUse>,
}

impl SearchedJson {
    /// For people.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let grouped = output::grouped;
        let (lands, generated) = (grouped(self.lands.into()), grouped(self.generated));
        let memory = output::bytes(self.memory_bytes);
        let memory = match self.collections {
            0 => memory,
            1 => format!("{memory}; was full once, and collected"),
            times => format!("{memory}; was full {times} times, and collected"),
        };
        let mut rows = vec![
            ("expansions", grouped(self.expansions)),
            ("nodes", grouped(self.nodes)),
            ("lands", format!("{lands} in memory, moves of {generated} generated")),
            ("found", format!("{} Grundy numbers", grouped(self.grundy_numbers))),
            ("time", time(self.seconds)),
            ("speed", format!("{} expansions/s", short(self.expansions_per_second))),
            ("memory", memory),
        ];
        if let Some(GrundyFileUse { file, loaded, added }) = &self.database {
            let (loaded, added) = (grouped(*loaded), grouped(*added));
            rows.push(("database", format!("{loaded} numbers from {file}, {added} added")));
        }
        rows
    }

    /// Text of a result that is unknown, with the reason.
    pub fn unknown(&self) -> String {
        format!("unknown ({})", self.reason.map_or("no reason", Reason::text))
    }

    /// A search that a limit ended before it began.
    pub fn not_begun(args: &EngineArgs, reason: Reason) -> Self {
        SearchedJson {
            reason: Some(reason),
            profile: args.profile.name().to_owned(),
            heuristic: args.options().heuristic,
            ..SearchedJson::default()
        }
    }
}
