//! Analyses of positions: values of a position, its lands and its moves, reported as they are found.
//!
//! An [`Analyst`] keeps the results of all its searches, so analyses of related positions take less time. A
//! value that is not decided within the limits is `None`, never an estimate.
//!
//! The result is an [`Analysis`] with [`LandValue`]s and [`ChildValue`]s, each with a [`ValueSource`]. A
//! [`Goal`] says which values to find. [`survey()`] analyses one position with [`SurveyOptions`].
//! [`AnalystError`] prevents the start of an [`Analyst`].
//!
//! ```
//! use konane_sprouts::Position;
//! use konane_sprouts::analysis::{Analyst, ValueSource};
//! use pn_search::Value;
//! use pn_search::run::Limits;
//!
//! let mut analyst = Analyst::new(64 << 20, None)?;
//! let position: Position = "0*3".parse()?;
//! let mut changes = 0;
//! let analysis = analyst.analyse(&position, Limits::default(), &mut |_| changes += 1)?;
//! assert_eq!((analysis.outcome, analysis.grundy), (Some(Value::Win), Some(1)));
//! // The winning move comes first: the player to move after it loses.
//! let best = &analysis.children[0];
//! assert_eq!((best.position.as_str(), best.grundy), ("0.1a1a", Some(0)));
//! assert_eq!((best.outcome, best.source), (Some(Value::Win), Some(ValueSource::Search)));
//! assert!(changes > 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod survey;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use konane_base::json::or_unknown;
use pn_search::ErrorKind;
use pn_search::Value;
use pn_search::run::{Limits, Reason};
use pn_search::sums::game::{Atom, GameFull};
use pn_search::sums::{SearchOptions, SolverState};
use pn_search::table::TableError;
use serde::Serialize;

use super::grundy_file::{GrundyFile, GrundyFileError, GrundyFileObserver, GrundyFileUse};
use super::misere::{MisereSolver, OutcomeFile};
use super::position::Position;
use super::{MovesError, Scratch, Sprouts};
use konane_base::record_file::Contents;
pub use survey::{SurveyOptions, survey};

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub enum ValueSource {
    /// A search has found it.
    Search,
    /// It follows from Grundy numbers of the file alone.
    File,
    /// The game is over, or all lands cancel in pairs.
    Rules,
}

/// A land of a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct LandValue {
    /// Its canonical text.
    pub position: String,
    /// Its Grundy number; null if unknown.
    pub grundy: Option<u32>,
    /// Origin of the number; null if unknown.
    pub source: Option<ValueSource>,
}

/// A position after a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct ChildValue {
    /// Its canonical text.
    pub position: String,
    /// Its Grundy number; null if unknown.
    pub grundy: Option<u32>,
    /// The outcome for the player who makes the move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "konane_base::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
    /// Origin of the values; null if unknown.
    pub source: Option<ValueSource>,
}

/// Known values of a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Analysis {
    /// Its canonical text.
    pub canonical: String,
    /// Its lands, in the order of the text; equal ones as often as they occur.
    pub lands: Vec<LandValue>,
    /// The exclusive or of the lands' Grundy numbers, if all of them are known.
    pub grundy: Option<u32>,
    /// The outcome for the player to move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "konane_base::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
    /// The positions after all moves, each once: first those after winning moves, in the order of their
    /// texts, then those after losing moves, and last those with an unknown outcome, the most promising
    /// first. Empty if a limit was reached before all moves were listed. Thousands of moves take a tenth of
    /// a second.
    pub children: Vec<ChildValue>,
    /// Reason for which values are unknown, once the analysis has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Couples of a land and a heap that were evaluated.
    pub nodes: u64,
}

impl Analysis {
    /// Returns the children with this outcome for the player who makes the move.
    pub fn with(&self, outcome: Option<Value>) -> impl Iterator<Item = &ChildValue> {
        self.children.iter().filter(move |child| child.outcome == outcome)
    }
}

/// Returns the position after a winning move of `position`, or of its sum with a heap. Meant for a position
/// that a search with this solver state and these options has found to be won, because then little is left to
/// search. `None` if the limits or the memory do not suffice.
pub fn winning_move(
    state: &SolverState<Sprouts>,
    position: &Position,
    nimber: u32,
    search: SearchOptions,
    limits: Limits<'_>,
) -> Option<String> {
    let options =
        SurveyOptions { goal: Goal::Winner, nimber, search, threads: 1, from_file: 0, limits };
    let scratch = &mut Scratch::default();
    let found = survey(state, position, options, scratch, &mut (), &mut |_| {}).ok()?;
    Some(found.with(Some(Value::Win)).next()?.position.clone())
}

/// Extent of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The outcome, and a winning move.
    Winner,
    /// The outcomes of the position and of all moves.
    Outcomes,
    /// The Grundy numbers of all lands and children.
    Numbers,
}

/// Reason for which an [`Analyst`] cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum AnalystError {
    /// There is not enough memory for a table.
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

/// Analyses positions, one at a time, and keeps its results.
///
/// It can be moved to another thread, but only one thread at a time can use it. Other threads can stop an
/// analysis with the stop flag in its [`Limits`].
pub struct Analyst {
    rules: Rules,
    threads: NonZeroUsize,
}

/// The solver of a game, with its results.
enum Rules {
    /// The player who makes the last move wins.
    Normal(Box<NormalRules>),
    /// The player who makes the last move loses.
    Misere(Box<MisereRules>),
}

struct NormalRules {
    state: SolverState<Sprouts>,
    scratch: Scratch,
    file: Option<GrundyFile>,
    /// Lands with smaller ids have their Grundy numbers from the file.
    from_file: Atom,
}

#[derive(Debug)]
struct MisereRules {
    solver: MisereSolver,
    file: Option<OutcomeFile>,
    /// The last position that was analysed.
    last: Option<Position>,
}

impl std::fmt::Debug for Analyst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Analyst");
        match &self.rules {
            Rules::Normal(normal) => {
                shown.field("lands", &normal.state.game().lands()).field("file", &normal.file)
            }
            Rules::Misere(misere) => shown.field("misere", misere),
        };
        shown.field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Analyst {
    /// Creates an analyst that keeps its results in at most `memory_bytes`. It reads Grundy numbers from a
    /// file ([`konane_base::record_file`]) and adds those that it finds. The file is created if it does not exist,
    /// and locked; its numbers are trusted. The table may use a quarter of the memory: its address
    /// space is reserved at once, but memory is used only as the table fills. Searches use one thread,
    /// which takes about 2 MiB more.
    ///
    /// # Errors
    /// [`AnalystError`] if there is not enough memory or the file cannot be used.
    pub fn new(memory_bytes: u64, numbers: Option<&Path>) -> Result<Analyst, AnalystError> {
        let state = SolverState::new(Arc::new(Sprouts::new(memory_bytes)), memory_bytes)?;
        let open = |path| GrundyFile::open(path, state.game(), state.knowledge());
        let file = numbers.map(open).transpose()?;
        // At this point the store contains only the lands of the file. They keep their ids, because lands
        // with a Grundy number are never removed.
        let from_file = state.game().lands();
        let normal = NormalRules { state, scratch: Scratch::default(), file, from_file };
        Ok(Analyst { rules: Rules::Normal(Box::new(normal)), threads: NonZeroUsize::MIN })
    }

    /// Creates an analyst of the misère game: the player who makes the last move loses. Its analyses have
    /// outcomes, but no Grundy numbers. It reads outcomes from a file ([`OutcomeFile`]), and adds those that it
    /// finds when it is closed. The file is created if it does not exist, and locked; its outcomes are trusted.
    ///
    /// # Errors
    /// [`AnalystError`] if there is not enough memory or the file cannot be used.
    pub fn misere(memory_bytes: u64, outcomes: Option<&Path>) -> Result<Analyst, AnalystError> {
        let solver = MisereSolver::new(memory_bytes)?;
        let file = outcomes.map(|path| OutcomeFile::open(path, &solver)).transpose()?;
        let rules = Rules::Misere(Box::new(MisereRules { solver, file, last: None }));
        Ok(Analyst { rules, threads: NonZeroUsize::MIN })
    }

    /// Returns true if this is an analyst of the misère game.
    pub fn is_misere(&self) -> bool {
        matches!(self.rules, Rules::Misere(_))
    }

    /// Sets the number of threads of long searches.
    pub fn threads(self, threads: NonZeroUsize) -> Analyst {
        Analyst { threads, ..self }
    }

    /// Returns a summary of the file as it was when it was opened.
    pub fn contents(&self) -> Option<&Contents> {
        match &self.rules {
            Rules::Normal(normal) => normal.file.as_ref().map(GrundyFile::contents),
            Rules::Misere(misere) => misere.file.as_ref().map(OutcomeFile::contents),
        }
    }

    /// Returns the canonical text of a position.
    ///
    /// # Errors
    /// [`GameFull`] if there is not enough memory for its lands.
    pub fn canonical(&mut self, position: &Position) -> Result<String, GameFull> {
        let NormalRules { state, scratch, .. } = match &mut self.rules {
            Rules::Normal(normal) => &mut **normal,
            Rules::Misere(misere) => return misere.solver.canonical(position),
        };
        let game = state.game();
        let mut atoms = game.atoms(position, scratch);
        if atoms.is_err() {
            state.collect_garbage();
            atoms = game.atoms(position, scratch);
        }
        Ok(game.text(&atoms?))
    }

    /// Finds all values of a position that the limits allow: the outcomes of the position and its moves, and
    /// all Grundy numbers. Values that are easy to find come first. `on_change` is called once when the
    /// children have been listed, before the first search, and then after every search that has found a value.
    ///
    /// A node limit counts evaluated couples. Without limits the analysis ends when all values are known
    /// or the memory does not suffice.
    ///
    /// # Errors
    /// [`MovesError`] if the position's moves cannot be listed.
    pub fn analyse(
        &mut self,
        position: &Position,
        limits: Limits<'_>,
        on_change: &mut dyn FnMut(&Analysis),
    ) -> Result<Analysis, MovesError> {
        self.analyse_until(Goal::Numbers, position, limits, on_change)
    }

    /// Like [`Self::analyse`], but ends as soon as the goal is reached.
    ///
    /// # Errors
    /// The same as [`Self::analyse`].
    pub fn analyse_until(
        &mut self,
        goal: Goal,
        position: &Position,
        limits: Limits<'_>,
        on_change: &mut dyn FnMut(&Analysis),
    ) -> Result<Analysis, MovesError> {
        let NormalRules { state, scratch, file, from_file } = match &mut self.rules {
            Rules::Normal(normal) => &mut **normal,
            Rules::Misere(misere) => {
                misere.last = Some(position.clone());
                return misere.solver.analyse(position, goal, self.threads, limits, on_change);
            }
        };
        let options = SurveyOptions {
            goal,
            nimber: 0,
            search: SearchOptions::TUNED,
            threads: self.threads.get() as u32,
            from_file: *from_file,
            limits,
        };
        let game = state.game();
        let mut saving = GrundyFileObserver { game, file: file.as_mut(), observer: &mut () };
        survey(state, position, options, scratch, &mut saving, on_change)
    }

    /// If the file could not be written, closes it and returns the error. Such a failure has ended an
    /// analysis with [`Reason::FileError`]. Later analyses do not use the file.
    pub fn close_failed_file(&mut self) -> Option<GrundyFileError> {
        match &mut self.rules {
            Rules::Normal(normal) => normal.file.take_if(|file| file.has_failed())?.close().err(),
            Rules::Misere(_) => None,
        }
    }

    /// Waits until all data of the file, if there is one, is on the disk. An analyst of the misère game searches
    /// outcomes again that it needs for a file without gaps, which can take a while.
    ///
    /// # Errors
    /// [`GrundyFileError`] if the file could not be written. Such a failure has ended an analysis with
    /// [`Reason::FileError`].
    pub fn close(self) -> Result<Option<GrundyFileUse>, GrundyFileError> {
        match self.rules {
            Rules::Normal(normal) => normal.file.map(GrundyFile::close).transpose(),
            Rules::Misere(misere) => {
                let MisereRules { solver, file, last } = *misere;
                Ok(file.map(|file| file.save(&solver, last.as_ref())).transpose()?)
            }
        }
    }
}
