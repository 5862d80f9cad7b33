//! What `sprouts solve` and `sprouts grundy` share: the position, the engine and the database.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::super::CliError;
use super::super::args::{parse_nodes, parse_threads};
use super::super::exit::Exit;
use super::super::output::{self, TableJson, short, speed, time};
use super::super::progress::number;
use super::super::ticker::Ticker;
use super::super::units::{parse_bytes, parse_duration};
use crate::konane::SolveError;
use crate::konane::solve::LEAST_MEMORY;
use crate::search::control::{Limits, Reason};
use crate::search::impartial::{
    Atom, Counters, MAX_GRUNDY, Observer, Progress, SearchOptions, Workspace,
};
use crate::sprouts::nimber_db::{Contents, Entry, NimberDb, NimberDbError};
use crate::sprouts::{Position, Scratch, Sprouts};

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

/// Flags of the verbs that search.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The algorithm's parameters.
    #[arg(long, value_name = "NAME", default_value = "tuned")]
    pub profile: ProfileArg,
    /// Among equally promising moves prefer those that leave fewer lives and a smaller heap, then
    /// more lands, then fewer moves [default: as the profile has it].
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on")]
    pub heuristic: Option<Switch>,
    /// Threads to search with [default: all cores]; the results are the same for all numbers.
    #[arg(short, long, value_name = "N", allow_negative_numbers = true,
          value_parser = parse_threads)]
    pub threads: Option<u32>,
    /// Memory for positions, moves and numbers together, at least 1MiB; each thread takes some 2MiB
    /// beside it. When it is full, dfpn and pns-pdfpn forget what they can find again, and go on.
    #[arg(short, long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_bytes,
          allow_hyphen_values = true)]
    pub memory: u64,
    /// Give up after this time, such as 60s, 5m or 2h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub time_limit: Option<Duration>,
    /// Give up after this many nodes.
    #[arg(long, value_name = "N", value_parser = parse_nodes, allow_negative_numbers = true)]
    pub max_nodes: Option<u64>,
    /// Take Grundy numbers from this file, and add those that are found; made if there is none.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Show no progress.
    #[arg(short, long)]
    pub quiet: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

impl SearchArgs {
    /// The options of the search.
    pub fn options(&self) -> SearchOptions {
        let profile = match self.profile {
            ProfileArg::Tuned => SearchOptions::TUNED,
            ProfileArg::Paper => SearchOptions::PAPER,
        };
        let heuristic = self.heuristic.map_or(profile.heuristic, |switch| switch == Switch::On);
        SearchOptions { heuristic, ..profile }
    }

    /// Threads to search with.
    pub fn threads(&self) -> u32 {
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        self.threads.unwrap_or_else(cores)
    }

    /// The limits of a search that begins now.
    pub fn limits<'a>(&self, stop: &'a AtomicBool) -> Limits<'a> {
        Limits {
            nodes: self.max_nodes,
            // A time beyond what the clock can tell is no limit.
            deadline: self.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            stop: Some(stop),
        }
    }
}

/// The game with a position of it.
pub struct Start {
    /// The lands that have been met.
    pub game: Sprouts,
    /// The position's lands.
    pub atoms: Vec<Atom>,
    /// The position's canonical text.
    pub canonical: String,
}

impl Start {
    /// Reads a position.
    pub fn new(text: &str, args: &SearchArgs) -> Result<Start, CliError> {
        if args.memory < LEAST_MEMORY {
            return Err(SolveError::TooLittleMemory { bytes: args.memory }.into());
        }
        let position: Position = text.parse()?;
        let game = Sprouts::new(args.memory);
        let mut scratch = Scratch::default();
        let atoms = game.atoms(&position, &mut scratch)?;
        let canonical = game.text(&atoms);
        Ok(Start { game, atoms, canonical })
    }
}

/// A workspace with the numbers of the database, and the database to add to.
pub struct Session<'g> {
    /// What searches share.
    pub workspace: Workspace<'g, Sprouts>,
    /// What hears of progress.
    pub sink: Sink<'g>,
    /// Numbers that the database had, and what was cut off its end.
    pub loaded: Option<Contents>,
}

impl<'g> Session<'g> {
    /// Opens the database, if there is one.
    pub fn new(game: &'g Sprouts, args: &SearchArgs) -> Result<Self, CliError> {
        let workspace = Workspace::new(game, args.memory).map_err(CliError::SproutsTable)?;
        let mut database = None;
        let mut loaded = None;
        if let Some(path) = &args.db {
            let mut scratch = Scratch::default();
            let knowledge = workspace.knowledge();
            let load = |entry: Entry<'_>| {
                let land = land_of(game, &mut scratch, path, &entry)?;
                match knowledge.get(land).grundy() {
                    None => drop(knowledge.set_grundy(land, entry.nimber)),
                    Some(known) if known == entry.nimber => {}
                    Some(known) => {
                        return Err(CliError::NimberConflict {
                            land: game.land_text(land),
                            first: (known, format!("{}, an earlier record", path.display())),
                            second: (entry.nimber, place_text(path, entry.place)),
                        });
                    }
                }
                Ok(())
            };
            let (db, contents) = NimberDb::open(path, load)?;
            warn_of_cut(path, &contents);
            database = Some(db);
            loaded = Some(contents);
        }
        let ticker = Ticker::new(args.quiet);
        let sink = Sink { game, ticker, database, error: None, added: 0 };
        Ok(Session { workspace, sink, loaded })
    }

    /// Closes the database. The number of records that were added, or what went wrong with it.
    pub fn close(self) -> Result<Option<DatabaseJson>, CliError> {
        let Sink { database, error, added, .. } = self.sink;
        if let Some(error) = error {
            return Err(error.into());
        }
        let (Some(database), Some(loaded)) = (database, self.loaded) else {
            return Ok(None);
        };
        let file = database.path().display().to_string();
        database.close()?;
        Ok(Some(DatabaseJson { file, loaded: loaded.records, added }))
    }
}

/// The database in JSON.
#[derive(Debug, Serialize)]
pub struct DatabaseJson {
    /// The file.
    pub file: String,
    /// Records that it had.
    pub loaded: u64,
    /// Records that were added.
    pub added: u64,
}

/// The land of a record.
pub fn land_of(
    game: &Sprouts,
    scratch: &mut Scratch,
    path: &Path,
    entry: &Entry<'_>,
) -> Result<Atom, CliError> {
    let problem = |problem: String| CliError::NimberRecord {
        place: place_text(path, entry.place),
        text: entry.text.to_owned(),
        problem,
    };
    if entry.nimber > MAX_GRUNDY {
        return Err(problem(format!("its number is {}, more than any land has", entry.nimber)));
    }
    let position: Position = entry.text.parse().map_err(|error| problem(format!("{error}")))?;
    match game.atoms(&position, scratch)?[..] {
        [land] => Ok(land),
        _ => Err(problem("it is not a single land".to_owned())),
    }
}

/// A place in a file as errors name it.
pub fn place_text(path: &Path, place: u64) -> String {
    format!("{}, byte {place}", path.display())
}

/// How a search ends that gave up for `reason`, if it did; what failed when its database was closed
/// goes before.
pub fn exit(reason: Option<Reason>, failure: Option<CliError>) -> Result<Exit, CliError> {
    if let Some(error) = failure {
        return Err(error);
    }
    Ok(match reason {
        None => Exit::Answered,
        Some(Reason::Interrupted) => Exit::Interrupted,
        Some(_) => Exit::Limit,
    })
}

/// Tells that the end of a file was lost.
pub fn warn_of_cut(path: &Path, contents: &Contents) {
    if let Some(cut) = contents.cut {
        output::warn(&format!(
            "{}: the last {} bytes, from byte {}, were left by a program that was killed while it \
             wrote; they are cut off, and what came before them is whole",
            path.display(),
            cut.bytes,
            cut.place
        ));
    }
}

/// Shows progress, and writes Grundy numbers to the database as they are found.
pub struct Sink<'g> {
    game: &'g Sprouts,
    ticker: Ticker,
    database: Option<NimberDb>,
    error: Option<NimberDbError>,
    added: u64,
}

impl Observer for Sink<'_> {
    fn progress(&mut self, progress: &Progress) -> bool {
        if let Some(seconds) = self.ticker.due() {
            let Counters { iterations, grundy_numbers, .. } = progress.counters;
            let line = format!(
                "{}, {} iterations, {}/s, pn {} dn {}, {} Grundy numbers, {} lands, {}",
                time(seconds),
                short(iterations as f64),
                short(speed(iterations, seconds)),
                number(progress.phi),
                number(progress.delta),
                short(grundy_numbers as f64),
                short(self.game.lands().into()),
                output::bytes(progress.memory_bytes),
            );
            self.ticker.show(line);
        }
        self.error.is_none()
    }

    fn grundy_numbers(&mut self, numbers: &[(Atom, u32)]) -> bool {
        let Some(database) = &mut self.database else {
            return true;
        };
        let add =
            |&(atom, number): &(Atom, u32)| database.append(&self.game.land_text(atom), number);
        let mut result = numbers.iter().try_for_each(add);
        if result.is_ok() {
            result = database.flush();
        }
        self.added += numbers.len() as u64;
        self.error = result.err();
        self.error.is_none()
    }
}

/// The counters as they stand in JSON.
#[derive(Debug, Serialize)]
pub struct CountersJson {
    /// Couples expanded, again and again ones included.
    pub iterations: u64,
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
    /// `iterations` by `seconds`.
    pub iterations_per_second: f64,
    /// Bytes of everything.
    pub memory_bytes: u64,
    /// How often the memory was full, and what could be found again was forgotten.
    pub collections: u64,
    /// The table of open couples.
    pub table: TableJson,
}

impl CountersJson {
    /// After a search.
    pub fn new(
        session: &Session<'_>,
        game: &Sprouts,
        counters: &Counters,
        memory_bytes: u64,
        seconds: f64,
    ) -> Self {
        CountersJson {
            iterations: counters.iterations,
            nodes: counters.nodes,
            generated: counters.generated,
            lands: game.lands(),
            grundy_numbers: counters.grundy_numbers,
            seconds,
            iterations_per_second: speed(counters.iterations, seconds),
            memory_bytes,
            collections: counters.collections,
            table: TableJson {
                capacity: session.workspace.table().capacity(),
                used: counters.table_used,
                replaced: counters.table_replaced,
            },
        }
    }

    /// The same for people.
    pub fn rows(&self, rows: &mut Vec<(&'static str, String)>) {
        let grouped = output::grouped;
        rows.push(("iterations", grouped(self.iterations)));
        rows.push(("nodes", grouped(self.nodes)));
        let (lands, generated) = (grouped(self.lands.into()), grouped(self.generated));
        rows.push(("lands", format!("{lands} in memory, moves of {generated} generated")));
        rows.push(("found", format!("{} Grundy numbers", grouped(self.grundy_numbers))));
        rows.push(("time", time(self.seconds)));
        rows.push(("speed", format!("{} iterations/s", short(self.iterations_per_second))));
        let memory = output::bytes(self.memory_bytes);
        rows.push((
            "memory",
            match self.collections {
                0 => memory,
                1 => format!("{memory}; was full once, and collected"),
                times => format!("{memory}; was full {times} times, and collected"),
            },
        ));
    }
}

impl DatabaseJson {
    /// For people.
    pub fn text(&self) -> String {
        let (loaded, added) = (output::grouped(self.loaded), output::grouped(self.added));
        format!("{loaded} numbers from {}, {added} added", self.file)
    }
}
