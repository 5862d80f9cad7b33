//! `konane sprouts db`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::search::warn_if_torn;
use crate::args::{MemoryLimitArg, OutputArgs};
use crate::exit::{CliError, Exit};
use crate::output::{self, grouped, rows};
use crate::progress::ProgressDisplay;
use crate::terminal_text::escape_line;
use konane::file::NewFile;
use konane::record_file::{self, Contents, Record, RecordFile};
use konane::search::run::Reason;
use konane::search::sums::{Atom, Impartial};
use konane::sprouts::grundy_file::{GRUNDY_NUMBERS, GrundyFileError, check_number, land_of};
use konane::sprouts::spr_file::{SprReader, SprWriter};
use konane::sprouts::{Scratch, Sprouts};

const IMPORT: &str = "\
The files begin with the line [Positions+Nimber], or with [WinLoss:Losing_Position], which gives each of \
its lands the number 0. Files of misere play are rejected. The numbers are not checked: check files of \
other authors with sprouts verify first.";
const EXPORT: &str = "\
SPOTS looks up a land by a text that depends on how SPOTS sorts the land, so a land can have several \
texts. Each of them gets an entry.";

/// `konane sprouts db`.
#[derive(Debug, Args)]
pub struct DbArgs {
    /// Subcommand.
    #[command(subcommand)]
    pub command: DbCommand,
}

/// The subcommands of `konane sprouts db`.
#[derive(Debug, Subcommand)]
pub enum DbCommand {
    /// Add the numbers of databases to another database, which is created if it does not exist.
    Merge(MergeArgs),
    /// Add the numbers of .spr files, as written by SPOTS and GLOP, to a database, which is created if
    /// it does not exist.
    #[command(after_help = IMPORT)]
    Import(ImportArgs),
    /// Write the numbers of a database as a .spr file, which SPOTS and GLOP read.
    #[command(after_help = EXPORT)]
    Export(ExportArgs),
    /// Print the contents of a database.
    Stats(StatsArgs),
}

/// `konane sprouts db merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The database to add to.
    #[arg(value_name = "INTO")]
    pub into: PathBuf,
    /// The databases to read. They are not changed.
    #[arg(value_name = "FROM", required = true)]
    pub from: Vec<PathBuf>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// `konane sprouts db import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The database to add to.
    #[arg(value_name = "INTO")]
    pub into: PathBuf,
    /// The .spr files.
    #[arg(value_name = "FROM", required = true)]
    pub from: Vec<PathBuf>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// `konane sprouts db export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The database.
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// The .spr file to write. An existing file is replaced atomically.
    #[arg(value_name = "INTO")]
    pub into: PathBuf,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// `konane sprouts db stats`.
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// The database.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Arguments that the subcommands share. The memory is for the lands of the files.
#[derive(Debug, Args)]
pub struct CommonArgs {
    #[command(flatten)]
    pub memory: MemoryLimitArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs the subcommand.
pub fn run(args: &DbArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    match &args.command {
        DbCommand::Merge(MergeArgs { into, from, common }) => {
            add(into, from, GrundyCollection::read, common, stop)
        }
        DbCommand::Import(ImportArgs { into, from, common }) => {
            add(into, from, GrundyCollection::read_spr, common, stop)
        }
        DbCommand::Export(args) => {
            let (json, file) = (args.common.output.json, args.into.display().to_string());
            output::report(json, export(args, stop), ExportJson::text, |reason| ExportJson {
                file,
                reason: Some(reason),
                ..ExportJson::default()
            })
        }
        DbCommand::Stats(args) => {
            let (json, file) = (args.common.output.json, args.file.display().to_string());
            output::report(json, stats(args, stop), StatsJson::text, |reason| StatsJson {
                file,
                reason: Some(reason),
                ..StatsJson::default()
            })
        }
    }
}

/// Origin of a number.
#[derive(Clone, Copy)]
struct GrundySource {
    grundy: u32,
    /// Index in the list of files.
    file: usize,
    /// Location in the file: a byte of a database or a line of a .spr file.
    place: (&'static str, u64),
}

/// Numbers from several files, which must agree.
struct GrundyCollection<'s> {
    game: Sprouts,
    scratch: Scratch,
    numbers: BTreeMap<Atom, GrundySource>,
    files: Vec<PathBuf>,
    /// Lands whose Grundy numbers are not yet in the database that receives them.
    fresh: Vec<Atom>,
    /// Entries of .spr files that are not a single land after simplification.
    skipped: u64,
    progress: ProgressDisplay,
    stop: &'s AtomicBool,
}

impl<'s> GrundyCollection<'s> {
    fn new(args: &CommonArgs, stop: &'s AtomicBool) -> Self {
        GrundyCollection {
            // All lands of the files are kept in memory.
            game: Sprouts::new(args.memory.available().unwrap_or(u64::MAX)),
            scratch: Scratch::default(),
            numbers: BTreeMap::new(),
            files: Vec::new(),
            fresh: Vec::new(),
            skipped: 0,
            progress: ProgressDisplay::new(args.output.quiet),
            stop,
        }
    }

    /// Returns an error if the stop flag is set. Called for each land.
    fn go_on(&self) -> Result<(), CliError> {
        if self.stop.load(Ordering::Relaxed) { Err(CliError::Interrupted) } else { Ok(()) }
    }

    /// Starts reading the next file.
    fn begin(&mut self, path: &Path) {
        self.progress.live(format!("reading {}", path.display()));
        self.files.push(path.to_owned());
    }

    /// Adds the number of a land from the current file.
    fn add(&mut self, land: Atom, grundy: u32, place: (&'static str, u64)) -> Result<(), CliError> {
        let source = GrundySource { grundy, file: self.files.len() - 1, place };
        match self.numbers.get(&land) {
            Some(first) if first.grundy != grundy => Err(GrundyFileError::Conflict {
                land: self.game.land_text(land),
                first: (first.grundy, self.place(first)),
                second: (grundy, self.place(&source)),
            }
            .into()),
            Some(_) => Ok(()),
            None => {
                self.numbers.insert(land, source);
                self.fresh.push(land);
                Ok(())
            }
        }
    }

    fn place(&self, source: &GrundySource) -> String {
        let (unit, number) = source.place;
        format!("{}, {unit} {number}", self.files[source.file].display())
    }

    /// Adds an entry of a database.
    fn add_entry(&mut self, entry: &Record<'_>) -> Result<(), CliError> {
        self.go_on()?;
        let path = &self.files[self.files.len() - 1];
        let land = land_of(&self.game, &mut self.scratch, path, entry)?;
        self.add(land, entry.number, ("byte", entry.place))
    }

    /// Reads a .spr file. An entry that simplifies to several lands or to none has no number of a single land,
    /// so it is counted and skipped.
    fn read_spr(&mut self, path: &Path) -> Result<(), CliError> {
        self.begin(path);
        for entry in SprReader::open(path)? {
            self.go_on()?;
            let entry = entry?;
            let atoms = self.game.atoms(&entry.position, &mut self.scratch)?;
            let problem = |problem: String| GrundyFileError::Record {
                place: format!("{}, line {}", path.display(), entry.line),
                text: entry.position.to_string(),
                problem,
            };
            match atoms[..] {
                [land] => {
                    check_number(&self.game, land, entry.grundy).map_err(problem)?;
                    self.add(land, entry.grundy, ("line", entry.line))?;
                }
                [] if entry.grundy > 0 => {
                    let text = "no move is left in it, so its number is 0";
                    return Err(problem(text.to_owned()).into());
                }
                _ => self.skipped += 1,
            }
        }
        Ok(())
    }

    /// Reads a database.
    fn read(&mut self, path: &Path) -> Result<(), CliError> {
        self.contents(path).map(drop)
    }

    fn contents(&mut self, path: &Path) -> Result<Contents, CliError> {
        self.begin(path);
        let contents = record_file::read(path, GRUNDY_NUMBERS, |entry| self.add_entry(&entry))?;
        self.progress.aside(|| warn_if_torn(path, &contents));
        Ok(contents)
    }

    /// Opens and reads the database to be extended.
    fn open(&mut self, path: &Path) -> Result<(RecordFile, Contents), CliError> {
        self.begin(path);
        let (db, contents) =
            RecordFile::open(path, GRUNDY_NUMBERS, |entry: Record<'_>| self.add_entry(&entry))?;
        self.progress.aside(|| warn_if_torn(path, &contents));
        self.fresh.clear();
        Ok((db, contents))
    }

    /// Adds the new numbers to a database, closes it, and returns their count.
    fn close(&mut self, mut db: RecordFile) -> Result<u64, CliError> {
        for &land in &self.fresh {
            db.append(&self.game.land_text(land), self.numbers[&land].grundy)?;
        }
        db.close()?;
        Ok(std::mem::take(&mut self.fresh).len() as u64)
    }
}

/// The JSON of `sprouts db merge` and `import`.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AddedJson {
    /// The database.
    pub file: String,
    /// Numbers that were in it before; null if a limit or a signal ended the run.
    pub had: Option<u64>,
    /// Numbers that were added: all or none.
    pub added: u64,
    /// Entries that are not a single land after simplification; null if a limit or a signal ended the run.
    pub skipped: Option<u64>,
    /// The limit, or `interrupted`. Nothing was added in this case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

fn add<'s>(
    into: &Path,
    from: &[PathBuf],
    read: fn(&mut GrundyCollection<'s>, &Path) -> Result<(), CliError>,
    args: &CommonArgs,
    stop: &'s AtomicBool,
) -> Result<Exit, CliError> {
    let (result, file) = (read_and_add(into, from, read, args, stop), into.display().to_string());
    output::report(args.output.json, result, AddedJson::text, |reason| AddedJson {
        file,
        reason: Some(reason),
        ..AddedJson::default()
    })
}

fn read_and_add<'s>(
    into: &Path,
    from: &[PathBuf],
    read: fn(&mut GrundyCollection<'s>, &Path) -> Result<(), CliError>,
    args: &CommonArgs,
    stop: &'s AtomicBool,
) -> Result<AddedJson, CliError> {
    let mut collection = GrundyCollection::new(args, stop);
    // All files are read and compared before anything is written.
    let is_new = !into.exists();
    let (db, _) = collection.open(into)?;
    let had = collection.numbers.len() as u64;
    if let Err(error) = from.iter().try_for_each(|path| read(&mut collection, path)) {
        if is_new {
            // This program has created and locked the file, and has written no numbers to it.
            let _ = fs::remove_file(into);
        }
        return Err(error);
    }
    let (added, skipped) = (collection.close(db)?, Some(collection.skipped));
    let file = into.display().to_string();
    Ok(AddedJson { file, had: Some(had), added, skipped, reason: None })
}

impl AddedJson {
    fn text(&self) -> String {
        let left = match self.skipped.unwrap_or(0) {
            0 => String::new(),
            left => format!(", {} entries that are not a single land skipped", grouped(left)),
        };
        let [had, added] = [self.had.unwrap_or(0), self.added].map(grouped);
        format!("{}: {added} numbers added to {had}{left}\n", escape_line(&self.file))
    }
}

/// The JSON of `sprouts db export`.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExportJson {
    /// The .spr file.
    pub file: String,
    /// Number of lands in the file; null, like `entries`, if a limit or a signal ended the run.
    pub lands: Option<u64>,
    /// Number of entries. A land has one for each of its texts in SPOTS.
    pub entries: Option<u64>,
    /// The limit, or `interrupted`. The file was not written in this case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

fn export(args: &ExportArgs, stop: &AtomicBool) -> Result<ExportJson, CliError> {
    output::must_differ(&[
        ("the database", Some(&args.from)),
        ("the .spr file", Some(&args.into)),
    ])?;
    let mut collection = GrundyCollection::new(&args.common, stop);
    collection.read(&args.from)?;
    let game = &collection.game;
    // Small positions first, because a checker of the file uses earlier entries to check later ones.
    let mut lines: Vec<(u32, String, u32)> = Vec::new();
    for (&land, source) in &collection.numbers {
        collection.go_on()?;
        let lives = game.features(land).lives;
        let texts = game.spots_texts(land).into_iter();
        lines.extend(texts.map(|text| (lives, text, source.grundy)));
    }
    lines.sort_unstable();
    let mut writer = SprWriter::new(NewFile::create(&args.into, 1 << 16)?, &args.into)?;
    for (_, text, grundy) in &lines {
        writer.write(text, *grundy)?;
    }
    writer.finish()?.finish()?;
    let (lands, entries) = (collection.numbers.len() as u64, lines.len() as u64);
    let file = args.into.display().to_string();
    Ok(ExportJson { file, lands: Some(lands), entries: Some(entries), reason: None })
}

impl ExportJson {
    fn text(&self) -> String {
        let [lands, entries] = [self.lands, self.entries].map(|count| grouped(count.unwrap_or(0)));
        format!("{}: {lands} lands, {entries} entries\n", escape_line(&self.file))
    }
}

/// The JSON of `sprouts db stats`.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatsJson {
    /// The database.
    pub file: String,
    /// Size of the database; null, like the following fields, if a limit or a signal ended the run.
    pub bytes: Option<u64>,
    /// Number of records.
    pub records: Option<u64>,
    /// Number of distinct lands; the other records repeat them.
    pub lands: Option<u64>,
    /// Numbers of lands with Grundy number 0, 1, and so on.
    pub by_nimber: Option<Vec<u64>>,
    /// Numbers of lands with 0, 1, and so on lives.
    pub by_lives: Option<Vec<u64>>,
    /// Size of an incomplete record at the end, left by a killed program.
    pub torn_bytes: Option<u64>,
    /// The limit, or `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

fn stats(args: &StatsArgs, stop: &AtomicBool) -> Result<StatsJson, CliError> {
    let mut collection = GrundyCollection::new(&args.common, stop);
    let contents = collection.contents(&args.file)?;
    let (mut by_nimber, mut by_lives) = (Vec::new(), Vec::new());
    let count = |counts: &mut Vec<u64>, value: u32| {
        let index = value as usize;
        counts.resize(counts.len().max(index + 1), 0);
        counts[index] += 1;
    };
    for (&land, source) in &collection.numbers {
        count(&mut by_nimber, source.grundy);
        count(&mut by_lives, collection.game.features(land).lives);
    }
    Ok(StatsJson {
        file: args.file.display().to_string(),
        bytes: Some(contents.bytes),
        records: Some(contents.records),
        lands: Some(collection.numbers.len() as u64),
        by_nimber: Some(by_nimber),
        by_lives: Some(by_lives),
        torn_bytes: Some(contents.torn.map_or(0, |torn| torn.bytes)),
        reason: None,
    })
}

impl StatsJson {
    fn text(&self) -> String {
        let list = |counts: &[u64]| {
            let counts = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            let texts = counts.map(|(value, &count)| format!("{value}: {}", grouped(count)));
            texts.collect::<Vec<_>>().join(", ")
        };
        let lines = [
            ("bytes", self.bytes.map(grouped)),
            ("records", self.records.map(grouped)),
            ("lands", self.lands.map(grouped)),
            ("by number", self.by_nimber.as_deref().map(list)),
            ("by lives", self.by_lives.as_deref().map(list)),
        ];
        let known = lines.into_iter().filter_map(|(name, value)| Some((name, value?)));
        rows(&self.file, &known.collect::<Vec<_>>())
    }
}
