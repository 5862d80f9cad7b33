//! [`OutcomeFile`]: a file of outcomes that a search reads and extends.
//!
//! A search writes the positions that took it most effort. A lost position is followed by those after all its moves, and
//! a won one by a lost position after one move. Positions that the table has replaced are searched again, with an eighth
//! more memory than the search had. So the file is a proof, unless that is not enough.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::Ordering;

use konane_base::record_file::{Contents, Record, RecordFile, RecordFileError, RecordKind};
use pn_search::Value;
use pn_search::plain::game::Game;
use pn_search::run::Limits;
use pn_search::table::Entry;

use super::{MisereScratch, MisereSolver};
use crate::Position;
use crate::grundy_file::{GrundyFileError, GrundyFileUse, place_text};

/// Minimum search effort of a position that is written for its own sake, in expansions.
const MIN_WORK: u64 = 256;
/// Search effort that is assumed for positions from a file. They replace other entries of the table.
const WORK_OF_FILE: u64 = 1 << 12;

/// Limits of nodes for searches of positions that the table has replaced. They took little effort.
const REPEATED_NODES: [u64; 4] = [1 << 6, 1 << 10, 1 << 14, 1 << 18];
/// Memory for these searches, in addition to an eighth of the memory of the search. In small searches an eighth is less
/// than one of them needs.
const REPEATED_BYTES: u64 = 1 << 20;

/// Files of outcomes: the number of a record is 0 if the player to move loses, and 1 if this player wins. The text is that
/// of a position, or those of several positions with spaces between them: the first one, and further summands that the
/// search keeps apart.
pub const OUTCOMES: RecordKind =
    RecordKind { magic: *b"sprouts-misere1\n", name: "file of outcomes of the misère game" };

/// A file of outcomes that is open for writing, and locked.
#[derive(Debug)]
pub struct OutcomeFile {
    db: RecordFile,
    contents: Contents,
    /// Outcomes in the file, by code.
    known: HashMap<u64, Value>,
}

/// Returns the positions of a record, and the outcome of their sum.
///
/// # Errors
/// [`GrundyFileError::Record`] if the record is invalid.
pub(super) fn read_record(
    path: &Path,
    record: &Record<'_>,
) -> Result<(Vec<Position>, Value), GrundyFileError> {
    let positions = record.text.split(' ').map(Position::from_canonical);
    let positions = positions.collect::<Result<_, _>>();
    let positions = positions.map_err(|error| problem(path, record, &error.to_string()))?;
    match record.number {
        0 => Ok((positions, Value::Loss)),
        1 => Ok((positions, Value::Win)),
        _ => Err(problem(path, record, "the outcome is neither 0 nor 1")),
    }
}

fn problem(path: &Path, record: &Record<'_>, problem: &str) -> GrundyFileError {
    let (place, text) = (place_text(path, record.place), record.text.to_owned());
    GrundyFileError::Record { place, text, problem: problem.to_owned() }
}

impl OutcomeFile {
    /// Opens or creates a file. The solver uses its outcomes, which are trusted.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged or in use, or contradicts itself or the rules.
    pub fn open(path: &Path, solver: &MisereSolver) -> Result<Self, GrundyFileError> {
        let (game, scratch) = (&solver.game, &mut MisereScratch::default());
        let mut known = HashMap::new();
        let load = |record: Record<'_>| {
            let (positions, value) = read_record(path, &record)?;
            let code = game.code_of_text(&positions, scratch)?;
            let other = known.insert(code, value).or_else(|| game.known_value(code));
            if other.is_some_and(|other| other != value) {
                return Err(problem(
                    path,
                    &record,
                    "it contradicts the rules or an earlier record",
                ));
            }
            Ok(())
        };
        let (db, contents) = RecordFile::open(path, OUTCOMES, load)?;
        solver.table.reserve(known.len() as u64, 1, |code| game.key(code));
        for (&code, &value) in &known {
            solver.table.store(game.key(code), code, Entry::solved(value, WORK_OF_FILE));
        }
        Ok(OutcomeFile { db, contents, known })
    }

    /// Returns a summary of the file as it was when it was opened.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Adds outcomes that the solver has found, among them that of `root`, and waits until they are on the disk. The
    /// solver must not be in use.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(
        mut self,
        solver: &MisereSolver,
        root: Option<&Position>,
    ) -> Result<GrundyFileUse, RecordFileError> {
        let (game, scratch) = (&solver.game, &mut MisereScratch::default());
        // Positions that the table has replaced are also found if the search has filled its memory.
        let more = game.max_bytes.load(Ordering::Relaxed) / 8 + REPEATED_BYTES;
        game.max_bytes.fetch_add(more, Ordering::Relaxed);
        let value = |code| solver.value(code).map(|(value, _)| value);
        let solve = |code, nodes| {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let search = || solver.solve_code(code, NonZeroUsize::MIN, limits, &mut ());
            value(code).or_else(|| search().outcome.value())
        };
        let find_lost = |codes: &[u64]| {
            let lost = codes.iter().find(|&&code| value(code) == Some(Value::Loss));
            let is_lost =
                |nodes| codes.iter().find(|&&code| solve(code, nodes) == Some(Value::Loss));
            lost.or_else(|| REPEATED_NODES.into_iter().find_map(is_lost)).copied()
        };
        let root = root.and_then(|root| game.code(root, scratch).ok()).into_iter();
        let mut open: Vec<u64> = root.filter(|&code| value(code).is_some()).collect();
        solver.table.retain(|code, entry| {
            open.extend((entry.value().is_some() && entry.work >= MIN_WORK).then_some(code));
            true
        });
        let (sums, before) = (game.sums_by_tree(), self.known.len());
        while let Some(code) = open.pop() {
            if game.known_value(code).is_some() || self.known.contains_key(&code) {
                continue;
            }
            let Some(outcome) = solve(code, REPEATED_NODES[3]) else { continue };
            self.known.insert(code, outcome);
            let text = game.text_of(code, &sums);
            self.db.append(&text, (outcome == Value::Win).into())?;
            // Without memory for the moves, the file lacks the positions after them.
            if game.list_children(code, scratch).is_ok() {
                match outcome {
                    Value::Loss => open.extend_from_slice(&scratch.codes),
                    Value::Win => open.extend(find_lost(&scratch.codes)),
                }
            }
        }
        let (file, loaded) = (self.db.path().display().to_string(), self.contents.records);
        self.db.close()?;
        Ok(GrundyFileUse { file, loaded, added: (self.known.len() - before) as u64 })
    }
}
