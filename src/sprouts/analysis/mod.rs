//! What a position is worth, land by land and move by move, with values that come in as they are
//! found.
//!
//! An [`Analyst`] keeps all that its searches have found, so each position that is reached from
//! another one takes less. What is not decided within the limits is `None`, and never a guess.
//!
//! ```
//! use konane::search::run::Limits;
//! use konane::sprouts::analysis::{Analyst, Source};
//! use konane::{Value, sprouts::Position};
//!
//! let mut analyst = Analyst::new(64 << 20, None)?;
//! let position: Position = "0*3".parse()?;
//! let mut changes = 0;
//! let analysis = analyst.analyse(&position, Limits::default(), &mut |_| changes += 1)?;
//! assert_eq!((analysis.outcome, analysis.grundy), (Some(Value::Win), Some(1)));
//! // The winning move comes first: whoever is to move after it loses.
//! let best = &analysis.children[0];
//! assert_eq!((best.position.as_str(), best.grundy), ("0.1a1a", Some(0)));
//! assert_eq!((best.outcome, best.source), (Some(Value::Win), Some(Source::Search)));
//! assert!(changes > 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod survey;

use std::num::NonZeroUsize;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::grundy_db::{Contents, GrundyDbError};
use super::grundy_file::{GrundyFile, GrundyFileError, GrundyFileUse, Writing};
use super::position::Position;
use super::{MovesError, Scratch, Sprouts};
use crate::error::ErrorKind;
use crate::json::{OrUnknown, or_unknown};
use crate::search::Value;
use crate::search::run::{Limits, Reason};
use crate::search::sums::game::{Atom, GameFull};
use crate::search::sums::{SearchOptions, SolverParts, SolverState};
use crate::search::table::TableError;
pub use survey::{SurveyOptions, survey};

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Source {
    /// A search has found it.
    Search,
    /// It follows from numbers of the file alone.
    File,
    /// The game is over, or all lands cancel in pairs.
    Rules,
}

/// A land of a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LandValue {
    /// Its canonical text.
    pub position: String,
    /// Its Grundy number; null if unknown.
    pub grundy: Option<u32>,
    /// Origin of the number; null if unknown.
    pub source: Option<Source>,
}

/// A position after a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChildValue {
    /// Its canonical text.
    pub position: String,
    /// Its Grundy number; null if unknown.
    pub grundy: Option<u32>,
    /// The outcome for the player who makes the move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[schemars(with = "OrUnknown<Value>")]
    pub outcome: Option<Value>,
    /// Origin of the values; null if unknown.
    pub source: Option<Source>,
}

/// What is known of a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Analysis {
    /// Its canonical text.
    pub canonical: String,
    /// Its lands, in the order of the text; equal ones as often as they occur.
    pub lands: Vec<LandValue>,
    /// The exclusive or of the lands' Grundy numbers, if all of them are known.
    pub grundy: Option<u32>,
    /// The outcome for the player to move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[schemars(with = "OrUnknown<Value>")]
    pub outcome: Option<Value>,
    /// The positions after all moves, each once: first those that win, in the order of their texts,
    /// then those that lose, and last what is unknown, the most promising first. None if a limit was
    /// reached before all were listed, which takes a tenth of a second for thousands of moves.
    pub children: Vec<ChildValue>,
    /// Why something is unknown, once the work on it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Couples of a land and a heap that were evaluated.
    pub nodes: u64,
}

impl Analysis {
    /// The children with this outcome for the player who makes the move.
    pub fn with(&self, outcome: Option<Value>) -> impl Iterator<Item = &ChildValue> {
        self.children.iter().filter(move |child| child.outcome == outcome)
    }
}

/// A move that wins a position, or its sum with a heap: the position after it. For who has searched
/// it with the workspace and these options, and found that the player to move wins: then little is
/// left to do. None if the limits or the memory do not allow that.
pub fn winning_move(
    workspace: &SolverState<'_, Sprouts>,
    game: &Sprouts,
    position: &Position,
    nimber: u32,
    search: SearchOptions,
    limits: Limits<'_>,
) -> Option<String> {
    let options =
        SurveyOptions { goal: Goal::Winner, nimber, search, threads: 1, from_file: 0, limits };
    let scratch = &mut Scratch::default();
    let found = survey(workspace, game, position, options, scratch, &mut (), &mut |_| {}).ok()?;
    Some(found.with(Some(Value::Win)).next()?.position.clone())
}

/// How much of a position is to be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Who wins, and a move that does.
    Winner,
    /// Who wins, and which moves do.
    Outcomes,
    /// The Grundy numbers of all lands and children.
    Numbers,
}

/// Why an [`Analyst`] cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum AnalystError {
    /// There is no memory for a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The file of Grundy numbers cannot be used.
    #[error(transparent)]
    Numbers(#[from] GrundyFileError),
}

impl AnalystError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            AnalystError::Table(error) => error.kind(),
            AnalystError::Numbers(error) => error.kind(),
        }
    }
}

/// Analyses positions, one at a time, and keeps what it finds.
///
/// It belongs to one thread at a time, any of them; others stop it by the flag of its [`Limits`].
pub struct Analyst {
    game: Sprouts,
    /// There between two analyses, unless one has panicked.
    shelved: Option<SolverParts>,
    scratch: Scratch,
    file: Option<GrundyFile>,
    /// Lands below this have their Grundy numbers from the file.
    from_file: Atom,
    threads: NonZeroUsize,
}

impl std::fmt::Debug for Analyst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Analyst { game, file, threads, .. } = self;
        let lands = game.lands();
        f.debug_struct("Analyst")
            .field("lands", &lands)
            .field("file", file)
            .field("threads", threads)
            .finish_non_exhaustive()
    }
}

impl Analyst {
    /// An analyst that keeps its findings in at most `memory_bytes`, and takes Grundy numbers from a
    /// file ([`super::grundy_db`]) and adds those that it finds. The file is made if there is none,
    /// and locked; its numbers are believed. A quarter of the memory is reserved at once and used as
    /// it fills. Searches on one thread, which takes some 2 MiB more.
    ///
    /// # Errors
    /// [`AnalystError`] if the memory is too little or the file cannot be used.
    pub fn new(memory_bytes: u64, numbers: Option<&Path>) -> Result<Analyst, AnalystError> {
        let game = Sprouts::new(memory_bytes);
        let workspace = SolverState::new(&game, memory_bytes)?;
        let open = |path| GrundyFile::open(path, &game, workspace.knowledge());
        let file = numbers.map(open).transpose()?;
        // Nothing else has been met, and lands with a number are never forgotten.
        let (from_file, shelved) = (game.lands(), Some(workspace.into_parts()));
        let (scratch, threads) = (Scratch::default(), NonZeroUsize::MIN);
        Ok(Analyst { game, shelved, scratch, file, from_file, threads })
    }

    /// Lets searches that take long use so many threads.
    pub fn threads(self, threads: NonZeroUsize) -> Analyst {
        Analyst { threads, ..self }
    }

    /// What the file had when it was opened.
    pub fn contents(&self) -> Option<&Contents> {
        self.file.as_ref().map(GrundyFile::contents)
    }

    /// The canonical text of a position.
    ///
    /// # Errors
    /// [`GameFull`] if its lands have no room.
    ///
    /// # Panics
    /// If an analysis has panicked.
    pub fn canonical(&mut self, position: &Position) -> Result<String, GameFull> {
        let Analyst { game, shelved, scratch, .. } = self;
        let workspace = shelved.take().expect("an earlier analysis has panicked");
        let workspace = SolverState::from_parts(game, workspace);
        let mut atoms = game.atoms(position, scratch);
        if atoms.is_err() {
            workspace.collect_garbage();
            atoms = game.atoms(position, scratch);
        }
        *shelved = Some(workspace.into_parts());
        Ok(game.text(&atoms?))
    }

    /// Finds out all about a position that the limits allow: who wins, which moves do, and all
    /// Grundy numbers. Easy ones come first. `on_change` hears of the children before anything is
    /// searched, and of each value that is found, between the searches.
    ///
    /// Nodes are couples evaluated. Without limits it ends when everything is known or the memory
    /// does not suffice.
    ///
    /// # Errors
    /// [`MovesError`] if the position's moves cannot be listed.
    ///
    /// # Panics
    /// If an earlier analysis has panicked.
    pub fn analyse(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
        on_change: &mut dyn FnMut(&Analysis),
    ) -> Result<Analysis, MovesError> {
        self.analyse_until(Goal::Numbers, position, limits, on_change)
    }

    /// The same, but ends as soon as the goal is reached.
    ///
    /// # Errors
    /// As [`Self::analyse`].
    ///
    /// # Panics
    /// As [`Self::analyse`].
    pub fn analyse_until(
        &mut self,
        goal: Goal,
        position: &Position,
        limits: Limits<'_>,
        on_change: &mut dyn FnMut(&Analysis),
    ) -> Result<Analysis, MovesError> {
        let Analyst { game, shelved, scratch, file, from_file, threads } = self;
        let workspace = shelved.take().expect("an earlier analysis has panicked");
        let workspace = SolverState::from_parts(game, workspace);
        let options = SurveyOptions {
            goal,
            nimber: 0,
            search: SearchOptions::TUNED,
            threads: threads.get() as u32,
            from_file: *from_file,
            limits,
        };
        let mut saving = Writing { game, file: file.as_mut(), observer: &mut () };
        let analysis = survey(&workspace, game, position, options, scratch, &mut saving, on_change);
        *shelved = Some(workspace.into_parts());
        analysis
    }

    /// Gives the file up if it could not be written, as analyses that end with [`Reason::FileError`]
    /// say, and returns what went wrong. Further ones go on without it.
    pub fn give_up_file(&mut self) -> Option<GrundyDbError> {
        self.file.take_if(|file| file.has_failed())?.close().err()
    }

    /// Waits until the disk has all of the file, if there is one.
    ///
    /// # Errors
    /// [`GrundyDbError`] if it could not be written. Analyses have ended with
    /// [`Reason::FileError`] then.
    pub fn close(self) -> Result<Option<GrundyFileUse>, GrundyDbError> {
        self.file.map(GrundyFile::close).transpose()
    }
}
