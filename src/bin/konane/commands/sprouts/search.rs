//! Search of `sprouts solve` and `sprouts grundy`: arguments, solver state, database and JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::text;
use crate::args::{OutputArgs, SearchArgs, SearchMemoryArg, named};
use crate::exit::CliError;
use crate::output::{self, proof_number, short, time};
use crate::progress::ProgressDisplay;
use crate::trace::{ProgressJson, Trace};
use konane::MIN_MEMORY;
use konane::SolveError;
use konane::json::per_second;
use konane::record_file::Contents;
use konane::search::Value;
use konane::search::run::{Counters, Observer, Progress, Reason};
use konane::search::sums::{Atom, SearchOptions, SolverState};
use konane::sprouts::analysis::{Analyst, AnalystError};
use konane::sprouts::grundy_file::{GrundyFile, GrundyFileUse};
use konane::sprouts::misere::MisereSolver;
use konane::sprouts::{Position, Scratch, SearchFigures, Sprouts};

/// Help text about memory.
pub const HELP: &str = "\
--memory is the total for positions, moves and Grundy numbers; each thread needs about 2MiB more. \
When the memory is full, dfpn and pns-pdfpn drop data that can be recomputed, and continue.";

/// Rule of the misère game.
pub const MISERE: &str = "misère: the player who makes the last move loses";

/// Values of `--profile` with their help texts.
const PROFILES: &[((&str, SearchOptions), &str)] = &[
    (("tuned", SearchOptions::TUNED), "The fastest parameters known"),
    (
        ("paper", SearchOptions::PAPER),
        "As published by Čížek, Balko and Schmid: leaves count 1, sums of proof numbers",
    ),
];

/// Arguments of the subcommands that search.
#[derive(Debug, Args)]
pub struct SproutsSearchArgs {
    /// Parameters of the algorithm.
    #[arg(long, value_name = "NAME", default_value = "tuned",
          value_parser = named(PROFILES, |(name, _)| name))]
    pub profile: (&'static str, SearchOptions),
    /// Among equally promising moves, prefer those that leave fewer lives and a smaller heap, then
    /// more lands, then fewer moves [default: set by the profile].
    #[arg(long, value_name = "on|off", num_args = 0..=1, require_equals = true,
          default_missing_value = "on",
          value_parser = PossibleValuesParser::new(["on", "off"]).map(|text| text == "on"))]
    pub heuristic: Option<bool>,
    /// Choose among equally good moves at random, by this seed [default: the first one].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
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
    /// Look up Grundy numbers in this file, and add those that are found; created if it does not exist.
    /// The commands with --misere do the same with a file of outcomes.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
}

/// Returns an analyst with this memory and file, of the normal or the misère game.
pub fn analyst(
    memory: SearchMemoryArg,
    numbers: &NumbersArg,
    misere: bool,
) -> Result<Analyst, CliError> {
    let (memory, path) = (enough(memory)?, numbers.db.as_deref());
    let analyst = if misere { Analyst::misere(memory, path) } else { Analyst::new(memory, path) };
    let analyst = analyst.map_err(|error| match error {
        AnalystError::Table(error) => CliError::SproutsTable(error),
        AnalystError::Numbers(error) => error.into(),
    })?;
    if let Some((path, contents)) = path.zip(analyst.contents()) {
        warn_if_torn(path, contents);
    }
    Ok(analyst)
}

/// Returns the memory in bytes, if it suffices for a search.
pub fn enough(SearchMemoryArg { memory: bytes }: SearchMemoryArg) -> Result<u64, CliError> {
    match bytes {
        MIN_MEMORY.. => Ok(bytes),
        _ => Err(SolveError::TooLittleMemory { bytes }.into()),
    }
}

impl SproutsSearchArgs {
    /// Returns the options of the search.
    fn options(&self) -> SearchOptions {
        let (options, seed) = (self.profile.1, self.seed);
        SearchOptions { heuristic: self.heuristic.unwrap_or(options.heuristic), seed, ..options }
    }
}

/// The game with the position to search.
pub struct SproutsStart {
    /// Store of all lands.
    pub game: Arc<Sprouts>,
    /// The position.
    pub position: Position,
    /// Lands of the position.
    pub atoms: Vec<Atom>,
    /// Canonical text of the position.
    pub canonical: String,
}

impl SproutsStart {
    /// Reads a position.
    pub fn new(text: &str, args: &SproutsSearchArgs) -> Result<SproutsStart, CliError> {
        let memory = enough(args.search.limits.memory)?;
        let position = text::read(text)?;
        let game = Arc::new(Sprouts::new(memory));
        let mut scratch = Scratch::default();
        let atoms = game.atoms(&position, &mut scratch)?;
        let canonical = game.text(&atoms);
        Ok(SproutsStart { game, position, atoms, canonical })
    }
}

/// A solver state with the Grundy numbers of the database, and the database that receives new ones.
pub struct SproutsSearch {
    /// Table and known values of all searches.
    pub state: SolverState<Sprouts>,
    /// Observer of the searches.
    pub observer: SproutsObserver,
    /// Options of the searches.
    pub options: SearchOptions,
    profile: &'static str,
}

impl SproutsSearch {
    /// Opens the database, if there is one.
    pub fn new(game: &Arc<Sprouts>, args: &SproutsSearchArgs) -> Result<Self, CliError> {
        let memory = args.search.limits.memory.memory;
        let state = SolverState::new(game.clone(), memory).map_err(CliError::SproutsTable)?;
        let path = args.numbers.db.as_deref();
        let open = |path| GrundyFile::open(path, game, state.knowledge());
        let database = path.map(open).transpose()?;
        if let Some((path, database)) = path.zip(database.as_ref()) {
            warn_if_torn(path, database.contents());
        }
        let display = ProgressDisplay::new(args.output.quiet);
        let table_capacity = state.table().capacity();
        let game = game.clone();
        let observer = SproutsObserver { game, display, database, table_capacity, trace: None };
        let (options, profile) = (args.options(), args.profile.0);
        Ok(SproutsSearch { state, observer, options, profile })
    }

    /// Returns the figures of a search that has just ended and began at `begun`. Later searches with the same
    /// solver state do not change them.
    pub fn figures(
        &self,
        counters: &Counters,
        memory_bytes: u64,
        threads: u32,
        begun: Instant,
    ) -> SearchFigures {
        let capacity = self.state.table().capacity();
        SearchFigures {
            profile: self.profile,
            heuristic: self.options.heuristic,
            threads,
            lands: self.observer.game.lands(),
            memory_bytes,
            ..SearchFigures::new(counters, capacity, begun.elapsed().as_secs_f64())
        }
    }

    /// Closes the database and the trace. Their errors are reported after the answer.
    pub fn close(self, figures: &mut SearchFigures) -> Result<(), CliError> {
        let SproutsObserver { database, trace, .. } = self.observer;
        let traced = trace.map_or(Ok(()), Trace::finish);
        figures.table.capacity = self.state.table().capacity();
        figures.database = database.map(GrundyFile::close).transpose()?;
        traced
    }
}

/// Prints a warning if the last record of a file is incomplete.
pub fn warn_if_torn(path: &Path, contents: &Contents) {
    if let Some(torn) = contents.torn {
        output::warn(&format!(
            "{}: the last {} bytes, from byte {}, are an incomplete record of a program that was \
             killed; they are ignored, and everything before them is valid",
            path.display(),
            torn.bytes,
            torn.place
        ));
    }
}

/// Shows progress, writes the trace, and adds Grundy numbers to the database when they are found.
pub struct SproutsObserver {
    game: Arc<Sprouts>,
    display: ProgressDisplay,
    database: Option<GrundyFile>,
    table_capacity: u64,
    /// Trace of the search.
    pub trace: Option<Trace>,
}

impl Observer for SproutsObserver {
    fn progress(&mut self, progress: &Progress) {
        self.display.update(|seconds| {
            let Counters { expansions, grundy_numbers, .. } = progress.counters;
            format!(
                "{} expansions, {}/s, pn {} dn {}, {} Grundy numbers, {} lands, {}",
                short(expansions as f64),
                short(per_second(expansions, seconds)),
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
        self.database.as_mut().is_none_or(|database| database.add(&self.game, numbers))
    }
}

/// Shows progress of a search of the misère game, and writes the trace.
pub struct MisereObserver<'s> {
    solver: &'s MisereSolver,
    display: ProgressDisplay,
    /// Trace of the search.
    pub trace: Option<Trace>,
}

impl<'s> MisereObserver<'s> {
    /// Creates an observer without a trace.
    pub fn new(solver: &'s MisereSolver, quiet: bool) -> Self {
        MisereObserver { solver, display: ProgressDisplay::new(quiet), trace: None }
    }
}

impl Observer for MisereObserver<'_> {
    fn progress(&mut self, progress: &Progress) {
        let progress = Progress { memory_bytes: self.solver.bytes(), ..*progress };
        self.display.update(|seconds| {
            let expansions = progress.counters.expansions;
            format!(
                "{} expansions, {}/s, pn {} dn {}, {} lands, {}",
                short(expansions as f64),
                short(per_second(expansions, seconds)),
                proof_number(progress.phi),
                proof_number(progress.delta),
                short(self.solver.game().lands().lands().into()),
                output::bytes(progress.memory_bytes),
            )
        });
        if let Some(trace) = &mut self.trace {
            trace.write(&progress, |seconds| ProgressJson::new(&progress, seconds));
        }
    }
}

/// Returns the rows with the figures of a search, of the misère game or the other one.
pub fn rows(search: &SearchFigures, misere: bool) -> Vec<(&'static str, String)> {
    let grouped = output::grouped;
    let (lands, generated) = (grouped(search.lands.into()), grouped(search.generated));
    let memory = output::bytes(search.memory_bytes);
    let memory = match search.collections {
        0 => memory,
        1 => format!("{memory}; was full once, garbage collected"),
        times => format!("{memory}; was full {times} times, garbage collected"),
    };
    let mut rows = vec![
        ("expansions", grouped(search.expansions)),
        ("nodes", grouped(search.nodes)),
        ("lands", format!("{lands} in memory, moves of {generated} generated")),
        ("time", time(search.seconds)),
        ("speed", format!("{} expansions/s", short(search.expansions_per_second))),
        ("memory", memory),
    ];
    if !misere {
        rows.insert(3, ("found", format!("{} Grundy numbers", grouped(search.grundy_numbers))));
    }
    if let Some(GrundyFileUse { file, loaded, added }) = &search.database {
        let (loaded, added) = (grouped(*loaded), grouped(*added));
        let records = if misere { "outcomes" } else { "numbers" };
        rows.push(("database", format!("{loaded} {records} from {file}, {added} added")));
    }
    rows
}

/// Returns the figures of a search that a limit ended before it began.
pub fn not_begun(args: &SproutsSearchArgs, reason: Reason) -> SearchFigures {
    SearchFigures {
        reason: Some(reason),
        profile: args.profile.0,
        heuristic: args.options().heuristic,
        ..SearchFigures::default()
    }
}

/// Returns the text of an unknown result with its reason.
pub fn unknown(reason: Option<Reason>) -> String {
    format!("unknown ({})", reason.map_or("no reason", Reason::text))
}

/// Returns the row with the outcome.
pub fn outcome_row(outcome: Option<Value>, reason: Option<Reason>) -> (&'static str, String) {
    let text = match outcome {
        Some(Value::Win) => "win: the player to move wins".to_owned(),
        Some(Value::Loss) => "loss: the player to move loses".to_owned(),
        None => unknown(reason),
    };
    ("outcome", text)
}
