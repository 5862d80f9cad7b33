//! `Database`: the values of positions on disk, looked up one by one and in arrays.

use std::ffi::OsString;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use konane::Dimensions;
use konane::endgame::{self, Database, DatabaseError, DatabaseOptions};
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::error::Failure;
use crate::interrupt;
use crate::lookup;
use crate::options::{Memory, Start, Threads, on_pool, path_text, threads_or_cores};
use crate::position::dimensions;
use crate::results;

/// A database of positions and who wins them, as ``build_database`` makes it, open for look-ups from
/// any number of threads. Get one by ``Database.find`` or ``Database.open``.
///
/// Files are read where they are asked for, and every piece is checked against its checksum.
#[pyclass(name = "Database", module = "konane", frozen)]
pub struct PyDatabase {
    inner: Arc<Database>,
}

/// The database of a search: one that is open, or a directory to look in.
#[derive(FromPyObject)]
pub enum Source<'py> {
    /// Open.
    Open(Bound<'py, PyDatabase>),
    /// A directory.
    Directory(PathBuf),
}

/// Opens without the interpreter's lock: that reads files. By an absolute path, since files are
/// opened when they are asked for: by then this process, or one that got a copy, may work elsewhere.
fn open_with(
    py: Python<'_>,
    directory: &Path,
    cache: Option<Memory>,
    open: impl FnOnce(&Path, DatabaseOptions) -> Result<Database, DatabaseError> + Send,
) -> Result<PyDatabase, Failure> {
    let default = DatabaseOptions::default();
    let cache_bytes = cache.map_or(default.cache_bytes, |memory| memory.0);
    let absolute = path::absolute(directory);
    let directory = absolute.as_deref().unwrap_or(directory);
    let database = py.detach(|| open(directory, DatabaseOptions { cache_bytes }))?;
    Ok(PyDatabase { inner: Arc::new(database) })
}

/// The database of a board for a search.
///
/// # Errors
/// If it is none of this board, or there is none.
pub fn of_board(
    py: Python<'_>,
    source: Source<'_>,
    board: Dimensions,
) -> Result<Arc<Database>, Failure> {
    match source {
        Source::Open(database) => {
            let database = Arc::clone(&database.get().inner);
            let got = database.board().dimensions();
            if got == board {
                return Ok(database);
            }
            let path = database.directory().to_owned();
            Err(DatabaseError::OtherBoard { path, expected: board, got }.into())
        }
        Source::Directory(path) => {
            let open = |path: &Path, options| Database::find(path, board, options);
            Ok(open_with(py, &path, None, open)?.inner)
        }
    }
}

#[derive(IntoPyObject)]
struct ProbeFields<'py> {
    outcome: &'static str,
    moves: Bound<'py, PyDict>,
    remoteness: Option<u32>,
    remoteness_after: Option<Bound<'py, PyDict>>,
}

#[pymethods]
impl PyDatabase {
    /// Opens the database of a board (``"5x6"``) in a directory: the directory itself, or one within
    /// it, as ``build_database`` names them. Complete ones are preferred, then those of reachable
    /// positions, then those with the most stones; among these those with the remoteness.
    ///
    /// `cache` is memory for pieces that have been read: bytes, or a text such as ``"1GiB"``. Raises
    /// ``FileError`` if there is no database of the board or it is damaged, ``InputError`` if it is one
    /// of another board.
    #[staticmethod]
    #[pyo3(
        signature = (directory, board, *, cache=None),
        text_signature = "(directory, board, *, cache='64MiB')"
    )]
    fn find(
        py: Python<'_>,
        directory: PathBuf,
        board: &str,
        cache: Option<Memory>,
    ) -> Result<Self, Failure> {
        let board = dimensions(board)?;
        open_with(py, &directory, cache, |path, options| Database::find(path, board, options))
    }

    /// Opens the database that a directory is. Arguments and errors as those of ``find``.
    #[staticmethod]
    #[pyo3(
        signature = (directory, *, cache=None),
        text_signature = "(directory, *, cache='64MiB')"
    )]
    fn open(py: Python<'_>, directory: PathBuf, cache: Option<Memory>) -> Result<Self, Failure> {
        open_with(py, &directory, cache, Database::open)
    }

    /// The directory of its files, as an absolute path.
    #[getter]
    fn directory(&self) -> OsString {
        path_text(self.inner.directory())
    }

    /// The board: ranks x files.
    #[getter]
    fn board(&self) -> String {
        self.inner.coverage().dimensions.to_string()
    }

    /// ``"complete"``: every set of stones with either side to move; ``"reachable"``: the positions
    /// that a game from the start can reach.
    #[getter]
    fn scope(&self) -> &'static str {
        self.inner.coverage().scope.name()
    }

    /// What it says of each position: ``"outcome"``, who wins, or ``"remoteness"``, and after how many
    /// plies.
    #[getter]
    fn metric(&self) -> &'static str {
        self.inner.metric().name()
    }

    /// The most stones that a position in it may have.
    #[getter]
    fn max_stones(&self) -> u32 {
        self.inner.coverage().max_stones
    }

    /// The outcome of a ``Position`` (or of a board's start) and of every move: a ``Probe``.
    ///
    /// Costs a look-up, some microseconds, for the position and for every move. Raises ``InputError``
    /// if the database does not cover the position, ``FileError`` if a file is damaged.
    fn probe<'py>(&self, py: Python<'py>, position: Start) -> Result<Bound<'py, PyAny>, Failure> {
        let Start(asked) = position;
        let (got, board) = (asked.dimensions(), self.inner.board().dimensions());
        if got != board {
            return Err(Failure::input(format_args!(
                "the position is one of the {got} board, and the database is one of {board}"
            )));
        }
        if asked.is_early_jump() {
            return Err(Failure::input(format_args!(
                "{:?} has fewer than two empty squares and is in the jumping phase; databases have no \
                 such position: use solve()",
                asked.text()
            )));
        }
        let answer = py.detach(|| endgame::probe(&self.inner, &asked.position))?;
        let (moves, after) = (PyDict::new(py), PyDict::new(py));
        for rated in &answer.moves {
            let text = asked.move_text(rated.mv);
            moves.set_item(&text, rated.outcome.name())?;
            after.set_item(&text, rated.remoteness)?;
        }
        let (outcome, remoteness) = (answer.outcome.name(), answer.remoteness);
        let remoteness_after = remoteness.map(|_| after);
        let fields = ProbeFields { outcome, moves, remoteness, remoteness_after };
        results::make(py, "Probe", fields)
    }

    /// Looks many positions up: `codes` is a one-dimensional numpy array of ``uint64``, the positions'
    /// codes (``Position.code``); the answer is an array of ``int8`` of the same length, 1 where
    /// the side to move wins, 0 where it loses, and -1 where the database says nothing: too many
    /// stones, a position that no game reaches in a database of reachable ones, or no code of the
    /// board.
    ///
    /// Nothing is copied (of an array with gaps, one copy is made), and other Python threads run
    /// meanwhile; leave the array alone until the answer is there. `threads` are all cores if not
    /// given. Some 150 000 to 500 000 positions a second on each thread, the more the closer
    /// together they lie: large arrays are better than many small ones, and need not be sorted.
    /// Raises ``TypeError`` for other arrays, ``FileError`` if a file is damaged.
    #[pyo3(signature = (codes, *, threads=None))]
    fn probe_many<'py>(
        &self,
        py: Python<'py>,
        codes: &Bound<'py, PyAny>,
        threads: Option<Threads>,
    ) -> Result<Bound<'py, PyArray1<i8>>, Failure> {
        let wrong =
            |_| PyTypeError::new_err("codes is a one-dimensional numpy array of dtype uint64");
        let mut codes = codes.cast::<PyArray1<u64>>().map_err(wrong)?.clone();
        if !(codes.is_c_contiguous() && codes.is_aligned()) {
            // By numpy: steps in bytes, as a column of packed records has them, are beyond ndarray.
            codes = codes.call_method0("copy")?.cast_into().map_err(PyErr::from)?;
        }
        let codes = codes.try_readonly().map_err(|e| Failure::input(format_args!("codes: {e}")))?;
        let codes = codes.as_slice().map_err(|e| Failure::input(format_args!("codes: {e}")))?;
        let answers = PyArray1::<i8>::zeros(py, codes.len(), false);
        let mut writable = answers.readwrite();
        let out = writable.as_slice_mut().expect("a new array has no gaps");
        if codes.len() <= lookup::FEW {
            py.detach(|| lookup::look_up_few(&self.inner, codes, out))?;
        } else {
            let threads = threads_or_cores(threads);
            interrupt::run_silent(py, |stop| {
                on_pool(threads, || lookup::look_up(&self.inner, codes, out, stop))
            })???;
        }
        drop(writable);
        Ok(answers)
    }

    fn __repr__(&self) -> String {
        format!("Database('{}', {})", self.inner.directory().display(), self.inner.coverage())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (OsString,))> {
        let class: Bound<'py, PyType> = slf.get_type();
        Ok((class.getattr("open")?, (slf.get().directory(),)))
    }
}
