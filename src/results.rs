//! Files of results: outcomes of positions that took searches much effort ([`ResultsFile`]).
//!
//! A search with such a file begins with the file's outcomes in its table, and adds those that it finds, regularly and
//! at its end. Several processes can add to one file; each locks it only while it adds. The format is that of
//! [`record_file`]. The text of a record is a position of any board, which a reader converts to its canonical code. The
//! number is 0 if the side to move loses, and 1 if it wins.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::ErrorKind;
use crate::konane::notation::{dimensions_of, parse_position_as};
use crate::konane::{
    Board, Dimensions, PhaseChoice, Position, Rules, SolveError, SolveOptions, Solver,
};
use crate::record_file::{self, Record, RecordFile, RecordFileError, RecordKind};
use crate::search::plain::game::Game;
use crate::search::plain::{Root, RootView};
use crate::search::run::{Limits, Outcome, Reason};
use crate::search::table::{Cursor, Entry, Table};
use crate::search::{LeafSolverOptions, Value};
use crate::system::{STACK_BYTES, thread};

/// The records of a file of results.
pub const RESULTS: RecordKind =
    RecordKind { magic: *b"konane-results1\n", name: "file of results" };

/// Default of the minimum search effort of a position that is added, in expansions (some million nodes). This is the
/// largest effort that tables distinguish.
pub const MIN_WORK: u64 = 49_152;

/// Default of the time between two additions of a search.
pub const INTERVAL: Duration = Duration::from_secs(600);

/// Maximum time for which another process may have the file locked.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Reason for which a file of results cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The file cannot be read or written, or is damaged.
    #[error(transparent)]
    File(#[from] RecordFileError),
    /// A record is invalid.
    #[error("{}, byte {place}: the record of {text:?} is invalid: {problem}; restore the file from a copy", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Offset of the record.
        place: u64,
        /// Its text.
        text: String,
        /// Description of the error.
        problem: String,
    },
    /// The file has another outcome than the one to be added.
    #[error(
        "{}: another outcome of {position} is to be added, and one of them is wrong; `konane solve --position` \
         without this file finds out which",
        path.display()
    )]
    Contradiction {
        /// The file.
        path: PathBuf,
        /// The position.
        position: Position,
    },
    /// A search that verifies a result cannot begin.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

impl ResultsError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            ResultsError::File(error) => error.kind(),
            ResultsError::Solve(error) => error.kind(),
            ResultsError::Record { .. } | ResultsError::Contradiction { .. } => ErrorKind::File,
        }
    }
}

/// Position of a file of results and its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solved {
    /// The position, of a standard board.
    pub position: Position,
    /// Outcome for the side to move.
    pub value: Value,
}

/// Parses records. Keeps the boards, because they take long to create.
#[derive(Debug, Default)]
struct Boards(HashMap<Dimensions, Board>);

impl Boards {
    /// Returns the board of a record, its position and its outcome.
    fn parse(
        &mut self,
        path: &Path,
        record: &Record<'_>,
    ) -> Result<(&Board, Solved), ResultsError> {
        let invalid = |problem: String| ResultsError::Record {
            path: path.to_owned(),
            place: record.place,
            text: record.text.to_owned(),
            problem,
        };
        let value = match record.number {
            0 => Value::Loss,
            1 => Value::Win,
            _ => return Err(invalid("the outcome is neither 0 nor 1".to_owned())),
        };
        let dimensions = dimensions_of(record.text);
        let dimensions = dimensions.ok_or_else(|| invalid("no board has its size".to_owned()))?;
        let board = self.0.entry(dimensions).or_insert_with(|| Board::new(dimensions));
        let (_, position) = parse_position_as(dimensions, record.text, PhaseChoice::Auto)
            .map_err(|error| invalid(error.to_string()))?;
        if !position.is_standard() {
            return Err(invalid("it is not a position of the standard rules".to_owned()));
        }
        Ok((board, Solved { position, value }))
    }
}

/// Reads a file of results and calls `each` for every record.
///
/// # Errors
/// If the file cannot be read or is damaged, or a record is invalid.
pub fn read(path: &Path, mut each: impl FnMut(&Board, Solved)) -> Result<(), ResultsError> {
    let mut boards = Boards::default();
    record_file::read(path, RESULTS, |record| {
        let (board, solved) = boards.parse(path, &record)?;
        each(board, solved);
        Ok::<(), ResultsError>(())
    })?;
    Ok(())
}

/// Stores the outcomes of a file for this board in a table, for searches that do not add to the file.
///
/// # Errors
/// As [`read`].
pub(crate) fn fill(
    path: &Path,
    board: &Board,
    table: &Table,
    key_of: impl Fn(u64) -> u64 + Sync,
) -> Result<(), ResultsError> {
    let mut known = HashMap::new();
    read(path, |_, Solved { position, value }| {
        if position.dimensions() == board.dimensions() && board.rules() == Rules::Standard {
            known.insert(position.code(board), value);
        }
    })?;
    store(&known, table, key_of);
    Ok(())
}

fn store(known: &HashMap<u64, Value>, table: &Table, key_of: impl Fn(u64) -> u64 + Sync) {
    table.reserve(known.len() as u64, 1, &key_of);
    for (&code, &value) in known {
        table.store(key_of(code), code, Entry::solved(value, MIN_WORK));
    }
}

/// Result of [`verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedResults {
    /// Number of records of the file.
    pub records: u64,
    /// Number of positions that were solved again.
    pub solved: u64,
    /// Nodes of all searches.
    pub nodes: u64,
    /// The positions whose outcome in the file is wrong.
    pub wrong: Vec<Position>,
    /// The limit that ended the check, if it was not completed.
    pub reason: Option<Reason>,
}

/// Solves positions of a file again, from those with the fewest stones on: `sample` positions spread over the file, or
/// all. The outcomes of the file are not used, but the searches of a board share a table. The limits are those of all
/// searches together. Calls `progress` after each position with the number of positions that have been and that will be
/// solved.
///
/// # Errors
/// If the file cannot be read, or the search has too little or too much memory.
pub fn verify(
    path: &Path,
    sample: Option<u64>,
    options: SolveOptions,
    limits: Limits<'_>,
    mut progress: impl FnMut(u64, u64),
) -> Result<VerifiedResults, ResultsError> {
    let mut solved = Vec::new();
    read(path, |_, record| solved.push(record))?;
    let mut verified =
        VerifiedResults { records: solved.len() as u64, ..VerifiedResults::default() };
    solved.sort_by_key(|solved| {
        let Solved { position, .. } = solved;
        (position.dimensions(), position.occupied().count_ones(), position.occupied())
    });
    let count = sample.unwrap_or(verified.records).min(verified.records);
    let nth =
        |index| solved[(u128::from(index) * solved.len() as u128 / u128::from(count)) as usize];
    let mut of_board: Option<(Board, Table)> = None;
    for index in 0..count {
        let Solved { position, value } = nth(index);
        let is_same = |(board, _): &(Board, Table)| board.dimensions() == position.dimensions();
        if !of_board.as_ref().is_some_and(is_same) {
            // The memory of one table is released before the next one is created.
            drop(of_board.take());
            let board = position.board();
            let table = Solver::new(&board, &position).options(options).new_table()?;
            of_board = Some((board, table));
        }
        let (board, table) = of_board.as_ref().expect("it was created");
        let nodes = limits.nodes.map(|nodes| nodes.saturating_sub(verified.nodes));
        let solver = Solver::new(board, &position).options(options);
        let found = solver.limits(Limits { nodes, ..limits }).search_in(table, &mut ())?;
        verified.nodes += found.report.counters.nodes;
        match found.report.outcome {
            Outcome::Unknown(reason) => {
                verified.reason = Some(reason);
                break;
            }
            Outcome::Known(found) => {
                verified.solved += 1;
                verified.wrong.extend((found != value).then_some(position));
            }
        }
        progress(index + 1, count);
    }
    Ok(verified)
}

/// Adds outcomes to a file, unless it has them. Creates the file if it does not exist, and waits up to a minute for
/// another process that adds to it. Calls `each` for every record of the file before that. Returns the number of outcomes
/// that were added.
///
/// # Errors
/// If the file cannot be read or written or is damaged, or contains another outcome of one of the positions. Then nothing
/// is added.
pub fn add(
    path: &Path,
    solved: &[Solved],
    mut each: impl FnMut(&Board, Solved),
) -> Result<u64, ResultsError> {
    let begun = Instant::now();
    loop {
        let (mut boards, mut known) = (Boards::default(), HashMap::new());
        let load = |record: Record<'_>| {
            let (board, solved) = boards.parse(path, &record)?;
            let key = (board.dimensions(), solved.position.code(board));
            if known.insert(key, solved.value).is_some_and(|value| value != solved.value) {
                return Err(contradiction(path, solved.position));
            }
            each(board, solved);
            Ok(())
        };
        let mut file = match RecordFile::open(path, RESULTS, load) {
            Err(ResultsError::File(RecordFileError::InUse { .. }))
                if begun.elapsed() < MAX_WAIT =>
            {
                sleep(Duration::from_millis(10));
                continue;
            }
            file => file?.0,
        };
        let mut added = Vec::new();
        for solved in solved {
            let dimensions = solved.position.dimensions();
            let board = boards.0.entry(dimensions).or_insert_with(|| Board::new(dimensions));
            match known.entry((dimensions, solved.position.code(board))) {
                Slot::Occupied(slot) if *slot.get() != solved.value => {
                    return Err(contradiction(path, solved.position));
                }
                Slot::Occupied(_) => {}
                Slot::Vacant(slot) => {
                    slot.insert(solved.value);
                    added.push(solved);
                }
            }
        }
        for Solved { position, value } in &added {
            file.append(&position.to_string(), u32::from(*value == Value::Win))?;
        }
        file.close()?;
        return Ok(added.len() as u64);
    }
}

fn contradiction(path: &Path, position: Position) -> ResultsError {
    ResultsError::Contradiction { path: path.to_owned(), position }
}

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

    /// Sets the time between two additions. Default: [`INTERVAL`].
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
        let added = add(&self.path, solved, |_, solved| keep(&solved.position, solved.value))?;
        solved.iter().for_each(|solved| keep(&solved.position, solved.value));
        self.state().known = known;
        Ok(added)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::notation::parse_position;

    fn board(text: &str) -> Board {
        Board::new(text.parse().unwrap())
    }

    fn options() -> SolveOptions {
        SolveOptions { memory_bytes: 16 << 20, ..SolveOptions::default() }
    }

    /// Solves a position with a file, to which positions of any effort are added.
    fn solve(path: &Path, position: &Position) -> (crate::Solution, ResultsUse) {
        let board = position.board();
        let results = ResultsFile::open(path, &board).unwrap().min_work(4);
        let solver = Solver::new(&board, position).options(options()).results(Some(&results));
        let solution = solver.run().unwrap();
        let used = results.in_use();
        assert!(results.into_error().is_none());
        (solution, used)
    }

    fn all(path: &Path) -> Vec<Solved> {
        let mut records = Vec::new();
        read(path, |_, solved| records.push(solved)).unwrap();
        records
    }

    fn verify_all(path: &Path) -> VerifiedResults {
        verify(path, None, options(), Limits::default(), |_, _| ()).unwrap()
    }

    #[test]
    fn a_search_adds_results_that_a_later_one_uses() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("results");
        let mut records = 0;
        for text in ["5x6", "6x6", "5x7"] {
            let board = board(text);
            let start = Position::start(&board);
            let (first, added) = solve(path, &start);
            assert!(added.loaded == 0 && added.added > 5, "{added:?}");
            let (second, used) = solve(path, &start);
            assert_eq!((used.loaded, used.added), (added.added, 0));
            assert_eq!(second.winner, first.winner);
            assert!(second.nodes < first.nodes / 5, "{} {}", second.nodes, first.nodes);
            if let Some(best) = second.best_move {
                let after = Solver::new(&board, &start.play(&board, best)).options(options());
                assert_eq!(after.run().unwrap().winner, first.winner, "{text} {best}");
            }
            records += added.added;
        }
        let verified = verify_all(path);
        assert_eq!((verified.records, verified.solved), (records, records));
        assert_eq!((verified.wrong, verified.reason), (vec![], None));
    }

    #[test]
    fn wrong_outcomes_are_found_and_limits_obeyed() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("results");
        let (_, used) = solve(path, &Position::start(&board("5x6")));
        let Solved { position, value } = all(path)[used.added as usize / 2];
        let copy = &folder.path().join("copy");
        let others: Vec<_> =
            all(path).into_iter().filter(|solved| solved.position != position).collect();
        add(copy, &others, |_, _| ()).unwrap();
        let wrong = Solved { position, value: !value };
        assert_eq!(add(copy, &[wrong], |_, _| ()).unwrap(), 1);
        assert_eq!(verify_all(copy).wrong, [position]);
        let error = add(copy, &all(path), |_, _| ()).unwrap_err();
        assert!(matches!(error, ResultsError::Contradiction { .. }), "{error}");
        assert_eq!(verify_all(copy).records, used.added);

        let sample = verify(path, Some(5), options(), Limits::default(), |_, of| assert_eq!(of, 5));
        assert_eq!(sample.unwrap().solved, 5);
        let limits = Limits { nodes: Some(100), ..Limits::default() };
        let verified = verify(path, None, options(), limits, |_, _| ()).unwrap();
        assert!(verified.solved < used.added && verified.reason == Some(Reason::NodeLimit));
    }

    #[test]
    fn equivalent_positions_have_one_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("results");
        let board = board("4x4");
        let solved =
            |text, value| Solved { position: parse_position(&board, text).unwrap(), value };
        let one = solved("xoxo/oxox/xox1/ox2 b", Value::Win);
        let turned = solved("2xo/1xox/xoxo/oxox b", Value::Win);
        assert_eq!(one.position.code(&board), turned.position.code(&board));
        assert_eq!(add(path, &[one, turned], |_, _| ()).unwrap(), 1);
        assert_eq!(add(path, &[turned], |_, _| ()).unwrap(), 0);
        let other = Solved { value: Value::Loss, ..turned };
        assert!(add(path, &[other], |_, _| ()).is_err());
        assert_eq!(all(path), [one]);
    }

    #[test]
    fn invalid_records_are_refused_with_their_place() {
        let folder = tempfile::tempdir().unwrap();
        for (text, number, problem) in [
            ("xo/ox b", 2, "neither 0 nor 1"),
            ("", 0, "no board"),
            ("xo/oxo b", 1, "rank"),
            ("1ox b jump", 1, "standard rules"),
        ] {
            let path = &folder.path().join(number.to_string() + &text.replace('/', "-"));
            let ignore = |_: Record<'_>| Ok::<(), RecordFileError>(());
            let (mut file, _) = RecordFile::open(path, RESULTS, ignore).unwrap();
            file.append(text, number).unwrap();
            file.close().unwrap();
            let error = read(path, |_, _| ()).unwrap_err();
            assert!(matches!(error, ResultsError::Record { place: 48, .. }), "{error:?}");
            assert!(error.to_string().contains(problem), "{error}");
            assert!(add(path, &[], |_, _| ()).is_err());
        }
    }

    /// Several threads add overlapping results at the same time, each as its own process would.
    #[test]
    fn additions_at_the_same_time_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (path, source) = (&folder.path().join("results"), &folder.path().join("source"));
        solve(source, &Position::start(&board("5x6")));
        let records = &all(source);
        std::thread::scope(|scope| {
            for worker in 0..4 {
                scope.spawn(move || {
                    for (_, chunk) in
                        records.chunks(7).enumerate().filter(|(index, _)| (index + worker) % 4 < 2)
                    {
                        add(path, chunk, |_, _| ()).unwrap();
                    }
                });
            }
        });
        let (mut kept, mut expected) = (all(path), records.clone());
        let order = |solved: &Solved| (solved.position.occupied(), solved.position.to_move());
        kept.sort_by_key(order);
        expected.sort_by_key(order);
        assert_eq!(kept, expected);
    }
}
