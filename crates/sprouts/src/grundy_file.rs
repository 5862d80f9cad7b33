//! A file of Grundy numbers that a search reads and extends.
//!
//! [`GrundyFile`] is such a file, [`GrundyFileUse`] counts its records, and [`GrundyFileError`] is the error
//! for an invalid file. `GrundyFileObserver` connects a file with a search. [`land_of`] and [`check_number`]
//! check a record.

use std::path::{Path, PathBuf};

use konane_base::record_file::{Contents, Record, RecordFile, RecordFileError, RecordKind};
use pn_search::ErrorKind;
use pn_search::run::{Observer, Progress};
use pn_search::sums::game::{Atom, GameFull, Impartial};
use pn_search::sums::{GrundyStore, MAX_GRUNDY};
use serde::Serialize;

use super::notation::MAX_CANONICAL_VERTICES;
use super::position::Position;
use super::{Scratch, Sprouts};

/// Files of Grundy numbers: the text of a record is that of a land ([`Sprouts::land_text`]). Readers compute the canonical
/// form of the land again, so files remain valid if the canonical form changes.
pub const GRUNDY_NUMBERS: RecordKind =
    RecordKind { magic: *b"sprouts-nimber1\n", name: "database of Grundy numbers" };

/// Reason for which the Grundy numbers of a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GrundyFileError {
    /// The file cannot be read or written, or is damaged.
    #[error(transparent)]
    File(#[from] RecordFileError),
    /// The text of a record is not a land, or the land cannot have the number of the record.
    #[error("{place}: the record of {text:?} is invalid: {problem}; restore the file from a copy")]
    Record {
        /// File and offset.
        place: String,
        /// The text of the record.
        text: String,
        /// Description of the error.
        problem: String,
    },
    /// The text to be added is not a land in canonical form.
    #[error(
        "{}: {text:?} is not a land in canonical form and was not added: this is a bug of the program, or of \
         a worker; the earlier records of the file are intact",
        path.display()
    )]
    NotALand {
        /// The file.
        path: PathBuf,
        /// The text.
        text: String,
    },
    /// There are two different Grundy numbers for one land.
    #[error(
        "two Grundy numbers for {land}: {} ({}) and {} ({}); one of them is wrong, find out which \
         with `konane sprouts grundy`",
        first.0, first.1, second.0, second.1
    )]
    Conflict {
        /// The land's text.
        land: String,
        /// A Grundy number and where it is written.
        first: (u32, String),
        /// A different Grundy number and where it is written.
        second: (u32, String),
    },
    /// There is not enough memory for the lands.
    #[error(transparent)]
    Full(#[from] GameFull),
}

impl GrundyFileError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            GrundyFileError::File(error) => error.kind(),
            GrundyFileError::Record { .. }
            | GrundyFileError::NotALand { .. }
            | GrundyFileError::Conflict { .. } => ErrorKind::File,
            GrundyFileError::Full(error) => error.kind(),
        }
    }
}

/// A file that is open for writing, and locked.
#[derive(Debug)]
pub struct GrundyFile {
    file: RecordFile,
    contents: Contents,
    added: u64,
    error: Option<GrundyFileError>,
    scratch: Scratch,
}

/// Numbers of records: those read from a file, and those added to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "json-schema",
    schemars(rename = "DatabaseJson", description = "Use of the file of Grundy numbers, in JSON.")
)]
pub struct GrundyFileUse {
    /// The file.
    pub file: String,
    /// Records that the file had at the start.
    pub loaded: u64,
    /// Records that were added.
    pub added: u64,
}

impl GrundyFile {
    /// Opens or creates a file and adds its Grundy numbers to `knowledge`.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged or in use, or contradicts itself or `knowledge`.
    pub fn open(
        path: &Path,
        game: &Sprouts,
        knowledge: &GrundyStore,
    ) -> Result<Self, GrundyFileError> {
        let mut scratch = Scratch::default();
        let load = |entry: Record<'_>| {
            let land = land_of(game, &mut scratch, path, &entry)?;
            match knowledge.get(land).grundy() {
                None => drop(knowledge.set_grundy(land, entry.number)),
                Some(known) if known == entry.number => {}
                Some(known) => {
                    return Err(GrundyFileError::Conflict {
                        land: game.land_text(land),
                        first: (known, format!("{}, an earlier record", path.display())),
                        second: (entry.number, place_text(path, entry.place)),
                    });
                }
            }
            Ok(())
        };
        let (file, contents) = RecordFile::open(path, GRUNDY_NUMBERS, load)?;
        Ok(GrundyFile { file, contents, added: 0, error: None, scratch })
    }

    /// Returns a summary of the file as it was when it was opened.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Writes Grundy numbers of lands of `game`. Returns false if this call or an earlier one has failed.
    /// After a failure nothing more is written, and [`Self::close`] returns the error.
    pub fn add(&mut self, game: &Sprouts, numbers: &[(Atom, u32)]) -> bool {
        if self.error.is_some() {
            return false;
        }
        let add = |&(land, number): &(Atom, u32)| self.append(game, land, number);
        let mut result = numbers.iter().try_for_each(add);
        if result.is_ok() {
            result = self.file.flush().map_err(GrundyFileError::from);
        }
        self.added += numbers.len() as u64;
        self.error = result.err();
        self.error.is_none()
    }

    /// Adds a record after checking that its text leads to the same land again. A record that cannot be read
    /// would make the whole file unusable. A land that another process has sent may not be in canonical form;
    /// then the record would be that of another land.
    fn append(&mut self, game: &Sprouts, land: Atom, number: u32) -> Result<(), GrundyFileError> {
        let text = game.land_text(land);
        let position = Position::from_canonical(&text).ok();
        let read = position.map(|position| game.atoms(&position, &mut self.scratch));
        if !matches!(read, Some(Ok(lands)) if lands == [land]) {
            return Err(GrundyFileError::NotALand { path: self.file.path().to_owned(), text });
        }
        Ok(self.file.append(&text, number)?)
    }

    /// Returns true if Grundy numbers could not be written. After such a failure nothing more is written.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Waits until all data is on the disk.
    ///
    /// # Errors
    /// The error of an earlier write, or of this call.
    pub fn close(self) -> Result<GrundyFileUse, GrundyFileError> {
        let GrundyFile { file, contents, added, error, .. } = self;
        error.map_or(Ok(()), Err)?;
        let name = file.path().display().to_string();
        file.close()?;
        Ok(GrundyFileUse { file: name, loaded: contents.records, added })
    }
}

/// An observer that writes Grundy numbers to `file`, if there is one, before it passes them on to `observer`.
pub(super) struct GrundyFileObserver<'a, O: ?Sized> {
    pub game: &'a Sprouts,
    pub file: Option<&'a mut GrundyFile>,
    pub observer: &'a mut O,
}

impl<O: Observer + ?Sized> Observer for GrundyFileObserver<'_, O> {
    fn progress(&mut self, progress: &Progress) {
        self.observer.progress(progress);
    }

    fn grundy_numbers(&mut self, numbers: &[(Atom, u32)]) -> bool {
        self.file.as_mut().is_none_or(|file| file.add(self.game, numbers))
            & self.observer.grundy_numbers(numbers)
    }
}

/// Returns the land of a record.
///
/// # Errors
/// [`GrundyFileError::Record`] if the text is not a land that can have this number,
/// [`GrundyFileError::Full`] if there is not enough memory.
pub fn land_of(
    game: &Sprouts,
    scratch: &mut Scratch,
    path: &Path,
    entry: &Record<'_>,
) -> Result<Atom, GrundyFileError> {
    let problem = |problem: String| GrundyFileError::Record {
        place: place_text(path, entry.place),
        text: entry.text.to_owned(),
        problem,
    };
    let position = Position::from_canonical(entry.text);
    let position = position.map_err(|error| problem(format!("{error}")))?;
    match game.atoms(&position, scratch)?[..] {
        [land] => check_number(game, land, entry.number).map(|()| land).map_err(problem),
        _ => Err(problem("it is not a single land".to_owned())),
    }
}

/// Checks that a land can have a Grundy number. A Grundy number never exceeds the number of moves that can
/// still be made, and this never exceeds the number of lives. Searches rely on this: a larger number would
/// make them exclude all Grundy numbers that the land can have.
///
/// # Errors
/// A description of the error.
pub fn check_number(game: &Sprouts, land: Atom, grundy: u32) -> Result<(), String> {
    let lives = game.features(land).lives;
    let error =
        || format!("it has {lives} lives, so its number is {lives} at most and not {grundy}");
    if grundy > lives { Err(error()) } else { Ok(()) }
}

/// Every Grundy number that a land may have can be stored.
const _: () = assert!(3 * MAX_CANONICAL_VERTICES <= MAX_GRUNDY as usize);

/// Returns the text for a location in a file, for error messages.
pub fn place_text(path: &Path, place: u64) -> String {
    format!("{}, byte {place}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pn_search::sums::Named;

    #[test]
    fn lands_that_are_not_in_canonical_form_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        let (game, knowledge) = (Sprouts::new(u64::MAX), GrundyStore::new());
        let mut file = GrundyFile::open(&path, &game, &knowledge).unwrap();
        let land = |name: &[u8]| game.find(name, &mut Scratch::default()).unwrap().unwrap();
        // 0*2.
        file.append(&game, land(&[4, 2]), 0).unwrap();
        // A land without moves, and two that are sums of two lands.
        for name in [&[2][..], &[4, 2, 0, 4, 2], &[1, 3, 1, 0, 1, 3, 1]] {
            assert!(!file.add(&game, &[(land(name), 0)]), "{name:?}");
            let error = file.error.take();
            assert!(matches!(error, Some(GrundyFileError::NotALand { .. })), "{error:?}");
        }
        file.close().unwrap();
        let file = GrundyFile::open(&path, &game, &knowledge).unwrap();
        assert_eq!((file.contents().records, knowledge.numbers()), (1, 1));
    }
}
