//! `Record`: a game as a file, and the judgement of its moves.

use std::hash::{Hash, Hasher};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use konane::Colour;
use konane::file::{FileError, NewFile, open_regular};
use konane::record::{Mark, Record, RecordOptions, RecordedMove};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};

use crate::analyse::new_analyst;
use crate::argument::{FlagArg, PathArg, StrArg, name};
use crate::database::{self, DatabaseArg};
use crate::error::Failure;
use crate::interrupt;
use crate::options::{
    LimitArgs, MemoryArg, NodesArg, ProgressCallback, SecondsArg, StartArg, ThreadCountArg,
    memory_or_default, threads_or_cores,
};
use crate::position::{MovesArg, PyPosition, dimensions};
use crate::progress::{BatchProgress, Latest, ProgressReporter};
use crate::results;

/// Maximum size of a file, as in the program.
const MAX_BYTES: u64 = 1 << 20;

/// Record of a game: the players, the first position, the moves with marks and comments, and the result. It is
/// immutable.
///
/// ``Record("6x6", moves="a6 a5")`` is a new record. `board` is a board (``"6x6"``) or the first ``Position``, `moves`
/// a text or a list of texts, `black` and `white` are the names of the players. The result is known if the game is
/// over. ``Record.read`` and ``Record.parse`` read a file and a text, ``str(record)`` is the text of the file. Raises
/// ``InputError`` for an illegal move.
#[pyclass(name = "Record", module = "konane", frozen, eq, hash)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PyRecord(Record);

impl Hash for PyRecord {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_string().hash(state);
    }
}

/// Reads a record, whose problems are those of the file or argument `place`.
fn parse(
    place: &str,
    text: &[u8],
    board: Option<StrArg<name::Board>>,
    flip_ranks: bool,
) -> Result<PyRecord, Failure> {
    let board = board.map(|board| dimensions(&board)).transpose()?;
    let read = Record::from_bytes(text, RecordOptions { board, flip_ranks });
    let record = read.map_err(|error| Failure::input(format_args!("{place}: {error}")))?;
    match board {
        Some(board) if board != record.dimensions => Err(Failure::input(format_args!(
            "{place}: the record is one of the {} board, not of {board}",
            record.dimensions
        ))),
        _ => Ok(PyRecord(record)),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = open_regular(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(FileError::io("read", path))?;
    match bytes.len() as u64 <= MAX_BYTES {
        true => Ok(bytes),
        false => Err(Failure::file(format_args!(
            "{} is no game record: it has more than {MAX_BYTES} bytes",
            path.display()
        ))),
    }
}

#[pymethods]
impl PyRecord {
    #[new]
    #[pyo3(signature = (board, *, moves=None, black=None, white=None))]
    fn new(
        board: StartArg,
        moves: Option<MovesArg>,
        black: Option<StrArg<name::Black>>,
        white: Option<StrArg<name::White>>,
    ) -> Result<Self, Failure> {
        let start = board.into_position();
        let moves = moves.map_or_else(|| Ok(Vec::new()), |moves| start.read_moves(&moves))?;
        let mut record = Record::new(start.dimensions(), start.position);
        record.moves = moves.into_iter().map(RecordedMove::new).collect();
        record.black = black.map(|name| name.to_string());
        record.white = white.map(|name| name.to_string());
        let last = *record.positions().last().expect("the first position");
        record.result = (last.count_moves(&start.board) == 0).then_some(!last.to_move());
        Ok(PyRecord(record))
    }

    /// Reads the file of a record, also one of another program.
    ///
    /// `board` is the board of a record that does not name it. With `flip_ranks`, rank 1 of the record is the top rank;
    /// by default, the record determines this. Raises ``FileError`` if the file cannot be read, and ``InputError`` with
    /// line and character if it is not the record of a legal game.
    #[classmethod]
    #[pyo3(
        signature = (path, *, board=None, flip_ranks=FlagArg::from(false)),
        text_signature = "(path, *, board=None, flip_ranks=False)"
    )]
    fn read(
        _class: &Bound<'_, PyType>,
        path: PathArg<name::Path>,
        board: Option<StrArg<name::Board>>,
        flip_ranks: FlagArg<name::FlipRanks>,
    ) -> Result<Self, Failure> {
        parse(&path.0.display().to_string(), &read_file(&path.0)?, board, flip_ranks.0)
    }

    /// Reads the text of a record. Arguments and errors are those of ``read``.
    #[classmethod]
    #[pyo3(
        signature = (text, *, board=None, flip_ranks=FlagArg::from(false)),
        text_signature = "(text, *, board=None, flip_ranks=False)"
    )]
    fn parse(
        _class: &Bound<'_, PyType>,
        text: StrArg<name::Text>,
        board: Option<StrArg<name::Board>>,
        flip_ranks: FlagArg<name::FlipRanks>,
    ) -> Result<Self, Failure> {
        parse("text", text.as_bytes(), board, flip_ranks.0)
    }

    /// Writes the record to a file. An existing file is replaced when the new one is complete. Raises ``FileError`` if
    /// the file cannot be written.
    fn write(&self, path: PathArg<name::Path>) -> Result<(), Failure> {
        let mut file = NewFile::create(&path.0, 1 << 12)?;
        file.put(self.0.to_string().as_bytes())?;
        Ok(file.finish()?)
    }

    /// Board: ranks x files.
    #[getter]
    fn board(&self) -> String {
        self.0.dimensions.to_string()
    }

    /// Name of the player of Black; ``None`` if it is unknown.
    #[getter]
    fn black(&self) -> Option<&str> {
        self.0.black.as_deref()
    }

    /// Name of the player of White; ``None`` if it is unknown.
    #[getter]
    fn white(&self) -> Option<&str> {
        self.0.white.as_deref()
    }

    /// Winner by the rules or by resignation: ``"black"``, ``"white"`` or ``"unknown"``.
    #[getter]
    fn result(&self) -> &'static str {
        self.0.result.map_or("unknown", Colour::name)
    }

    /// All other headers, such as ``{"Site": "Honolulu"}``.
    #[getter]
    fn headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let headers = PyDict::new(py);
        self.0.others.iter().try_for_each(|(name, value)| headers.set_item(name, value))?;
        Ok(headers)
    }

    /// Comments before the first move.
    #[getter]
    fn comments(&self) -> Vec<String> {
        self.0.comments.clone()
    }

    /// Moves, each a ``RecordedMove``.
    #[getter]
    fn moves<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyList>, Failure> {
        let moves = PyList::empty(py);
        for RecordedMove { mv, mark, comments } in &self.0.moves {
            let fields = PyDict::new(py);
            fields.set_item("move", mv.to_string())?;
            fields.set_item("mark", mark.map(Mark::symbol))?;
            fields.set_item("comments", comments)?;
            moves.append(results::make(py, "RecordedMove", fields)?)?;
        }
        Ok(moves)
    }

    /// Returns the positions of the game as a list, from the first one to the one after the last move.
    fn positions(&self) -> Vec<PyPosition> {
        PyPosition::of_game(&self.0)
    }

    /// Judges every move of the game: returns an ``Annotation``, with the record with marks and comments.
    ///
    /// `time_limit` and `max_nodes` are limits for each position. Moves that are not decided within them have the mark
    /// ``~``. Mistakes and only moves get a comment, or all moves with `comment_all`. `progress` is called with a
    /// ``BatchProgress``, which counts positions, at most every `interval` seconds, and once at the end. The other
    /// arguments and the errors are those of ``analyse``.
    #[pyo3(
        signature = (*, time_limit=Some(SecondsArg::from(Duration::from_secs(1))), max_nodes=None, threads=None, memory=None,
        db=None, comment_all=FlagArg::from(false), progress=None, interval=None),
        text_signature = "($self, *, time_limit=1.0, max_nodes=None, threads=None, memory='1GiB', db=None, \
        comment_all=False, progress=None, interval=0.1)"
    )]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword")]
    fn annotate<'py>(
        &self,
        py: Python<'py>,
        time_limit: Option<SecondsArg<name::TimeLimit>>,
        max_nodes: Option<NodesArg>,
        threads: Option<ThreadCountArg>,
        memory: Option<MemoryArg>,
        db: Option<DatabaseArg<'py>>,
        comment_all: FlagArg<name::CommentAll>,
        progress: Option<Bound<'py, PyAny>>,
        interval: Option<SecondsArg<name::Interval>>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let limits = LimitArgs { nodes: max_nodes, time: time_limit };
        let (memory, threads) = (memory_or_default(memory), threads_or_cores(threads));
        let board = self.0.dimensions;
        let database = db.map(|db| database::of_board(py, &db, board)).transpose()?;
        let latest = Latest::default();
        let mut reporter =
            ProgressReporter::new(ProgressCallback::new(progress, interval)?, &latest);
        let total = self.0.moves.len() + 1;
        let object = BatchProgress::object(total);
        let work = |stop: &AtomicBool| {
            let mut analyst = new_analyst(self.0.board(), memory, threads, database)?;
            let limits = |ply: usize| {
                latest.put(total - 1 - ply);
                limits.to_limits(stop)
            };
            Ok::<_, Failure>(analyst.annotate(&self.0, limits)?)
        };
        let judged = interrupt::run(py, reporter.period(), || reporter.tick(object), work)??;
        reporter.end(total, object)?;
        let mut record = self.0.clone();
        judged.enter(&mut record, comment_all.0);
        let fields = results::dict(py, &judged)?;
        let moves = PyList::empty(py);
        for judged in &judged.moves {
            moves.append(results::make(py, "AnnotatedMove", results::dict(py, judged)?)?)?;
        }
        fields.set_item("moves", moves)?;
        fields.set_item("text", record.to_string())?;
        results::make(py, "Annotation", fields)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        let count = self.0.moves.len();
        format!("<konane.Record of {}: {count} moves, result {}>", self.board(), self.result())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("parse")?, (slf.get().__str__(),)))
    }
}
