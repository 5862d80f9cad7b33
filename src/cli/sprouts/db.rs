//! `konane sprouts db`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::super::database::rows;
use super::super::exit::Exit;
use super::super::{CliError, output};
use super::session::{land_of, place_text, warn_of_cut};
use crate::search::impartial::{Atom, Impartial, MAX_GRUNDY};
use crate::sprouts::nimber_db::{self, Contents, Entry, NimberDb};
use crate::sprouts::spr_file::{SprError, SprReader, SprWriter};
use crate::sprouts::{Scratch, Sprouts};

/// `konane sprouts db`.
#[derive(Debug, Args)]
pub struct DbArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: DbCommand,
}

/// The verbs on databases.
#[derive(Debug, Subcommand)]
pub enum DbCommand {
    /// Add the numbers of databases to another one, which is made if there is none.
    Merge(MergeArgs),
    /// Add the numbers of .spr files, as SPOTS and GLOP write them, to a database, which is made if
    /// there is none.
    Import(ImportArgs),
    /// Write the numbers of a database as a .spr file, which SPOTS and GLOP read.
    Export(ExportArgs),
    /// Say what is in a database.
    Stats(StatsArgs),
}

/// `konane sprouts db merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The database to add to.
    #[arg(value_name = "INTO")]
    pub into: PathBuf,
    /// The databases to take from. They stay as they are.
    #[arg(value_name = "FROM", required = true)]
    pub from: Vec<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
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
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `konane sprouts db export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The database.
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// The .spr file to write. One that exists is replaced when the new one is whole.
    #[arg(value_name = "INTO")]
    pub into: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `konane sprouts db stats`.
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// The database.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// Runs a verb.
pub fn run(args: &DbArgs) -> Result<Exit, CliError> {
    match &args.command {
        DbCommand::Merge(args) => merge(args),
        DbCommand::Import(args) => import(args),
        DbCommand::Export(args) => export(args),
        DbCommand::Stats(args) => stats(args),
    }
}

/// Where a number was read.
#[derive(Clone, Copy)]
struct Source {
    nimber: u32,
    /// Of the files that were read.
    file: usize,
    /// The place there.
    place: Place,
}

/// A place in a file.
#[derive(Clone, Copy)]
enum Place {
    /// Of a database.
    Byte(u64),
    /// Of a text.
    Line(u64),
}

/// Numbers of several files, which must agree.
struct Collection {
    game: Sprouts,
    scratch: Scratch,
    numbers: BTreeMap<Atom, Source>,
    files: Vec<PathBuf>,
    /// Numbers that are new since the last file to be added to was read.
    fresh: Vec<Atom>,
    /// Entries of .spr files that are no single land here.
    skipped: u64,
}

impl Collection {
    fn new() -> Self {
        Collection {
            // All lands of the files are in memory, however many there are.
            game: Sprouts::new(u64::MAX),
            scratch: Scratch::default(),
            numbers: BTreeMap::new(),
            files: Vec::new(),
            fresh: Vec::new(),
            skipped: 0,
        }
    }

    /// Adds the number of a land in the file that is being read.
    fn add(&mut self, land: Atom, nimber: u32, place: Place) -> Result<(), CliError> {
        let source = Source { nimber, file: self.files.len() - 1, place };
        match self.numbers.get(&land) {
            Some(first) if first.nimber != nimber => Err(CliError::NimberConflict {
                land: self.game.land_text(land),
                first: (first.nimber, self.place(first)),
                second: (nimber, self.place(&source)),
            }),
            Some(_) => Ok(()),
            None => {
                self.numbers.insert(land, source);
                self.fresh.push(land);
                Ok(())
            }
        }
    }

    fn place(&self, source: &Source) -> String {
        let path = &self.files[source.file];
        match source.place {
            Place::Byte(byte) => place_text(path, byte),
            Place::Line(line) => format!("{}, line {line}", path.display()),
        }
    }

    /// Adds an entry of a database.
    fn add_entry(&mut self, entry: &Entry<'_>) -> Result<(), CliError> {
        let path = &self.files[self.files.len() - 1];
        let land = land_of(&self.game, &mut self.scratch, path, entry)?;
        self.add(land, entry.nimber, Place::Byte(entry.place))
    }

    /// Reads a .spr file. What is one land there, but falls apart when it is simplified, or is
    /// over, says nothing about a single land; it is counted and left.
    fn read_spr(&mut self, path: &Path) -> Result<(), CliError> {
        self.files.push(path.to_owned());
        for entry in SprReader::open(path)? {
            let entry = entry?;
            let atoms = self.game.atoms(&entry.position, &mut self.scratch)?;
            let problem = |problem: String| CliError::NimberRecord {
                place: format!("{}, line {}", path.display(), entry.line),
                text: entry.position.to_string(),
                problem,
            };
            match atoms[..] {
                [] if entry.nimber == 0 => self.skipped += 1,
                [land] if entry.nimber <= MAX_GRUNDY => {
                    self.add(land, entry.nimber, Place::Line(entry.line))?;
                }
                [] => return Err(problem("no move is left in it, so its number is 0".to_owned())),
                [_] => return Err(problem(format!("{} is no land's number", entry.nimber))),
                _ => self.skipped += 1,
            }
        }
        Ok(())
    }

    /// Reads a database.
    fn read(&mut self, path: &Path) -> Result<Contents, CliError> {
        self.files.push(path.to_owned());
        let contents = nimber_db::read(path, |entry| self.add_entry(&entry))?;
        warn_of_cut(path, &contents);
        Ok(contents)
    }

    /// Opens a database to add to, and reads it.
    fn open(&mut self, path: &Path) -> Result<(NimberDb, Contents), CliError> {
        self.files.push(path.to_owned());
        let (db, contents) = NimberDb::open(path, |entry: Entry<'_>| self.add_entry(&entry))?;
        warn_of_cut(path, &contents);
        self.fresh.clear();
        Ok((db, contents))
    }

    /// Adds what is new to a database and closes it. The number of records.
    fn close(&mut self, mut db: NimberDb) -> Result<u64, CliError> {
        for &land in &self.fresh {
            db.append(&self.game.land_text(land), self.numbers[&land].nimber)?;
        }
        db.close()?;
        Ok(std::mem::take(&mut self.fresh).len() as u64)
    }
}

/// The JSON of `sprouts db merge` and `import`.
#[derive(Debug, Serialize)]
struct AddedJson {
    file: String,
    /// Numbers that it had.
    had: u64,
    /// Numbers that were added.
    added: u64,
    /// Entries that are no single land after simplification.
    skipped: u64,
}

fn print_added(json: &AddedJson, as_json: bool) -> Result<(), CliError> {
    if as_json {
        return output::write_json(json);
    }
    let (had, added) = (output::grouped(json.had), output::grouped(json.added));
    let skipped = match json.skipped {
        0 => String::new(),
        skipped => {
            format!(", {} entries are no single land and were left", output::grouped(skipped))
        }
    };
    output::write_text(&format!("{}: {added} numbers added to {had}{skipped}\n", json.file))
}

fn merge(args: &MergeArgs) -> Result<Exit, CliError> {
    let mut collection = Collection::new();
    // Everything is read and compared before anything is written.
    let (db, _) = collection.open(&args.into)?;
    let had = collection.numbers.len() as u64;
    for path in &args.from {
        collection.read(path)?;
    }
    let added = collection.close(db)?;
    let file = args.into.display().to_string();
    print_added(&AddedJson { file, had, added, skipped: collection.skipped }, args.json)?;
    Ok(Exit::Answered)
}

fn import(args: &ImportArgs) -> Result<Exit, CliError> {
    let mut collection = Collection::new();
    let (db, _) = collection.open(&args.into)?;
    let had = collection.numbers.len() as u64;
    for path in &args.from {
        collection.read_spr(path)?;
    }
    let added = collection.close(db)?;
    let file = args.into.display().to_string();
    print_added(&AddedJson { file, had, added, skipped: collection.skipped }, args.json)?;
    Ok(Exit::Answered)
}

/// The JSON of `sprouts db export`.
#[derive(Debug, Serialize)]
struct ExportJson {
    file: String,
    /// Lands that it has.
    lands: u64,
}

fn export(args: &ExportArgs) -> Result<Exit, CliError> {
    let mut collection = Collection::new();
    collection.read(&args.from)?;
    let game = &collection.game;
    // Small positions first, as a reader that checks them wants them.
    let mut lands: Vec<(u32, String, u32)> = collection
        .numbers
        .iter()
        .map(|(&land, source)| (game.features(land).lives, game.land_text(land), source.nimber))
        .collect();
    lands.sort_unstable();
    // The file appears when it is whole.
    let mut name = args.into.clone().into_os_string();
    name.push(".part");
    let part = PathBuf::from(name);
    let failed = |source| SprError::Io { doing: "write", path: args.into.clone(), source };
    let file = File::create(&part).map_err(failed)?;
    let mut writer = SprWriter::new(BufWriter::new(file), &args.into)?;
    for (_, land, nimber) in &lands {
        writer.write(land, *nimber)?;
    }
    let file = writer.finish()?.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().and_then(|()| std::fs::rename(&part, &args.into)).map_err(failed)?;
    let json = ExportJson { file: args.into.display().to_string(), lands: lands.len() as u64 };
    if args.json {
        output::write_json(&json)?;
    } else {
        output::write_text(&format!("{}: {} lands\n", json.file, output::grouped(json.lands)))?;
    }
    Ok(Exit::Answered)
}

/// The JSON of `sprouts db stats`.
#[derive(Debug, Serialize)]
struct StatsJson {
    file: String,
    bytes: u64,
    records: u64,
    /// Different lands; the rest of the records say the same again.
    lands: u64,
    /// How many lands have the Grundy number 0, 1, and so on.
    by_nimber: Vec<u64>,
    /// How many lands have 0, 1, and so on lives.
    by_lives: Vec<u64>,
    /// Bytes at the end that a killed program left.
    torn_bytes: u64,
}

fn stats(args: &StatsArgs) -> Result<Exit, CliError> {
    let mut collection = Collection::new();
    let contents = collection.read(&args.file)?;
    let (mut by_nimber, mut by_lives) = (Vec::new(), Vec::new());
    let count = |counts: &mut Vec<u64>, value: u32| {
        let index = value as usize;
        counts.resize(counts.len().max(index + 1), 0);
        counts[index] += 1;
    };
    for (&land, source) in &collection.numbers {
        count(&mut by_nimber, source.nimber);
        count(&mut by_lives, collection.game.features(land).lives);
    }
    let json = StatsJson {
        file: args.file.display().to_string(),
        bytes: contents.bytes,
        records: contents.records,
        lands: collection.numbers.len() as u64,
        by_nimber,
        by_lives,
        torn_bytes: contents.cut.map_or(0, |cut| cut.bytes),
    };
    if args.json {
        output::write_json(&json)?;
        return Ok(Exit::Answered);
    }
    let list = |counts: &[u64]| {
        let counts = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let texts = counts.map(|(value, &count)| format!("{value}: {}", output::grouped(count)));
        texts.collect::<Vec<_>>().join(", ")
    };
    let lines = [
        ("bytes", output::grouped(json.bytes)),
        ("records", output::grouped(json.records)),
        ("lands", output::grouped(json.lands)),
        ("by number", list(&json.by_nimber)),
        ("by lives", list(&json.by_lives)),
    ];
    output::write_text(&rows(&json.file, &lines))?;
    Ok(Exit::Answered)
}
