//! [`ResultsFile`]: a file of results that a search uses and extends.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::{ResultsError, Solved, add, store};
use crate::konane::{Board, Position, Rules};
use crate::search::plain::game::Game;
use crate::search::plain::{Root, RootView};
use crate::search::table::{Cursor, Entry, Table};
use crate::search::{LeafSolverOptions, Value};
use crate::system::{STACK_BYTES, thread};

/// Default of the minimum search effort of a position that is added, in expansions (some 130,000 nodes). This is the
/// largest effort that tables distinguish.
pub const MIN_WORK: u64 = 49_152;

/// Default of the time between two additions of a search.
const INTERVAL: Duration = Duration::from_secs(600);

/// Use of a file by a search.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "json-schema",
    schemars(rename = "ResultsJson", description = "Use of a file of results, in JSON.")
)]
pub struct ResultsUse {
    /// The file.
    pub file: String,
    /// Outcomes of the board that the file had at the start.
    pub loaded: u64,
    /// Outcomes that this search has added.
    pub added: u64,
    /// The error of the last addition, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A file of results that searches of one board use, for [`crate::Solver::results`].
#[derive(Debug)]
pub struct ResultsFile<'a> {
    path: PathBuf,
    board: &'a Board,
    min_work: u64,
    interval: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Outcomes of the board in the file, by code.
    known: HashMap<u64, Value>,
    loaded: u64,
    added: u64,
    error: Option<ResultsError>,
}

impl<'a> ResultsFile<'a> {
    /// Opens a file, or creates it if it does not exist.
    ///
    /// # Errors
    /// If the file cannot be read or written or is damaged, or contradicts itself.
    ///
    /// # Panics
    /// If the board does not have the standard rules.
    pub fn open(path: &Path, board: &'a Board) -> Result<Self, ResultsError> {
        assert_eq!(board.rules(), Rules::Standard, "the rules of files of results");
        let file = ResultsFile {
            path: path.to_owned(),
            board,
            min_work: MIN_WORK,
            interval: INTERVAL,
            state: Mutex::default(),
        };
        file.update(&[])?;
        let mut state = file.state();
        state.loaded = state.known.len() as u64;
        drop(state);
        Ok(file)
    }

    /// Sets the minimum search effort of positions to be added, in expansions. Default: [`MIN_WORK`].
    pub fn min_work(self, min_work: u64) -> Self {
        ResultsFile { min_work, ..self }
    }

    /// Sets the time between two additions. Default: ten minutes.
    pub fn interval(self, interval: Duration) -> Self {
        ResultsFile { interval, ..self }
    }

    /// Returns the numbers of outcomes that were read and added, and the last error.
    pub fn in_use(&self) -> ResultsUse {
        let state = self.state();
        ResultsUse {
            file: self.path.display().to_string(),
            loaded: state.loaded,
            added: state.added,
            error: state.error.as_ref().map(ToString::to_string),
        }
    }

    /// Returns the error of the last addition, if it failed. A failure does not end a search.
    pub fn into_error(self) -> Option<ResultsError> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).error
    }

    /// Stores the outcomes of the board in a table. `key_of` returns the key of a code.
    pub(crate) fn fill(&self, table: &Table, key_of: impl Fn(u64) -> u64 + Sync) {
        store(&self.state().known, table, key_of);
    }

    /// Runs a search and adds its outcomes, at every interval and at the end.
    pub(crate) fn run<G: Game + Sync, R>(
        &self,
        root: Root<'_, G>,
        search: impl FnOnce() -> R,
    ) -> R {
        let result = std::thread::scope(|scope| {
            // `running` is dropped when the search ends or panics, which ends the thread.
            let (running, ended) = channel::<()>();
            let work = move || {
                while ended.recv_timeout(self.interval) == Err(RecvTimeoutError::Timeout) {
                    self.save(root);
                }
            };
            // Without the thread, outcomes are added at the end.
            let _ = thread("results", STACK_BYTES).spawn_scoped(scope, work);
            let result = search();
            drop(running);
            result
        });
        self.save(root);
        result
    }

    /// Adds the root and the positions that took the minimum effort, as far as they are solved. A won position is followed
    /// by a lost one after one of its moves, if the table has it. Other threads may search.
    fn save<G: Game>(&self, root: Root<'_, G>) {
        let solved = self.solved(root);
        let result = self.update(&solved);
        let mut state = self.state();
        match result {
            Ok(added) => {
                state.added += added;
                state.error = None;
            }
            Err(error) => state.error = Some(error),
        }
    }

    fn solved<G: Game>(&self, root: Root<'_, G>) -> Vec<Solved> {
        let is_large = |code, entry: &Entry| entry.work >= self.min_work || code == root.code;
        let mut codes = HashMap::new();
        let (mut cursor, mut cells, mut more) = (Cursor::default(), Vec::new(), true);
        while more {
            cells.clear();
            more = root.table.copy_cells(&mut cursor, 1, &mut cells);
            let entries = cells.iter().map(|&cell| (cell as u64, Entry::unpack(cell)));
            let entries = entries.filter(|(code, entry)| is_large(*code, entry));
            codes.extend(entries.filter_map(|(code, entry)| Some((code, entry.value()?))));
        }
        let state = self.state();
        codes.retain(|code, _| !state.known.contains_key(code));
        drop(state);
        let won = codes.iter().filter(|&(_, &value)| value == Value::Win).map(|(&code, _)| code);
        let won: Vec<u64> = won.collect();
        for code in won {
            let root = Root { code, ..root };
            let leaf_solver = LeafSolverOptions::NEVER;
            let children = RootView { root, open_entries: false, leaf_solver }.children(&[]);
            let lost = children.iter().find(|child| child.delta == 0);
            codes.extend(lost.map(|child| (child.code, Value::Loss)));
        }
        let solved =
            |(&code, &value)| Solved { position: Position::from_code(self.board, code), value };
        codes.iter().map(solved).collect()
    }

    /// Adds outcomes, and reads those that other processes have added.
    fn update(&self, solved: &[Solved]) -> Result<u64, ResultsError> {
        let mut known = HashMap::new();
        let mut keep = |position: &Position, value| {
            if position.dimensions() == self.board.dimensions() {
                known.insert(position.code(self.board), value);
            }
        };
        let added = add(&self.path, solved, |solved| keep(&solved.position, solved.value))?;
        solved.iter().for_each(|solved| keep(&solved.position, solved.value));
        self.state().known = known;
        Ok(added)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
