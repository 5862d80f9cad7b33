//! `Database`: the values of positions on disk, looked up one by one and in arrays.

use std::ffi::OsString;
use std::path::{self, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use konane::Dimensions;
use konane::tablebase::{self, Database, DatabaseError, DatabaseOptions};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::argument::{File, Text, name, read_path};
use crate::codes::Codes;
use crate::error::Failure;
use crate::interrupt;
use crate::lookup;
use crate::options::{Memory, Start, Threads, on_pool, path_text, threads_or_cores};
use crate::owner::Owner;
use crate::position::dimensions;
use crate::results;

/// A database of positions and their outcomes, made by ``build_database`` and open for look-ups from any
/// number of threads. ``Database.find`` and ``Database.open`` return one.
///
/// Pieces of the files are read when they are needed, and checked against their checksums. A forked
/// process opens the files again.
#[pyclass(name = "Database", module = "konane", frozen)]
pub struct PyDatabase {
    /// Its manifest is read in every process, its values in that of `owner` only.
    inner: Arc<Database>,
    owner: Owner,
    cache_bytes: u64,
    /// Files opened by a forked process. The lock is taken with the GIL and released before it, so no
    /// other thread holds it at a fork.
    reopened: Mutex<Option<(Owner, Arc<Database>)>>,
}

/// The database of a search: one that is open, or a directory to look in.
pub enum Source<'py> {
    /// Open.
    Open(Bound<'py, PyDatabase>),
    /// A directory.
    Directory(PathBuf),
}

impl<'py> FromPyObject<'_, 'py> for Source<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(database) = value.cast::<PyDatabase>() {
            return Ok(Source::Open(database.to_owned()));
        }
        let expected = "a konane.Database, or the path of a directory (str or os.PathLike)";
        Ok(Source::Directory(read_path::<name::Db>(&value, expected)?))
    }
}

impl PyDatabase {
    /// Returns the database for look-ups. Another thread may have held one of its locks when this
    /// process was forked, and would hold it forever here, so a forked process opens the files again.
    fn values(&self, py: Python<'_>) -> Result<Arc<Database>, Failure> {
        if self.owner.is_current() {
            return Ok(Arc::clone(&self.inner));
        }
        let lock = || self.reopened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((owner, database)) = &*lock()
            && owner.is_current()
        {
            return Ok(Arc::clone(database));
        }
        let options = DatabaseOptions { cache_bytes: self.cache_bytes };
        let opened = interrupt::detached(py, || Database::open(self.inner.directory(), options))??;
        let opened = Arc::new(opened);
        *lock() = Some((Owner::current(), Arc::clone(&opened)));
        Ok(opened)
    }
}

/// Opens a database without the GIL, since that reads files. The path is made absolute: layers are opened
/// later, when this process, or one that has unpickled the database, may have another working directory.
fn open_with(
    py: Python<'_>,
    directory: &Path,
    cache: Option<Memory<name::Cache>>,
    open: impl FnOnce(&Path, DatabaseOptions) -> Result<Database, DatabaseError> + Send,
) -> Result<PyDatabase, Failure> {
    let default = DatabaseOptions::default();
    let cache_bytes = cache.map_or(default.cache_bytes, |memory| memory.0);
    let absolute = path::absolute(directory);
    let directory = absolute.as_deref().unwrap_or(directory);
    let options = DatabaseOptions { cache_bytes };
    let database = interrupt::detached(py, || open(directory, options))??;
    Ok(PyDatabase {
        inner: Arc::new(database),
        owner: Owner::current(),
        cache_bytes,
        reopened: Mutex::new(None),
    })
}

/// The database of a board for a search.
///
/// # Errors
/// If it is a database of another board, or there is none.
pub fn of_board(
    py: Python<'_>,
    source: Source<'_>,
    board: Dimensions,
) -> Result<Arc<Database>, Failure> {
    match source {
        Source::Open(database) => {
            let database = database.get().values(py)?;
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

#[pymethods]
impl PyDatabase {
    /// Opens the database of a board (``"5x6"``) in a directory: the directory itself, or one within
    /// it, as ``build_database`` names them. Complete ones are preferred, then those of reachable
    /// positions, then those with the most stones; among these those with the remoteness.
    ///
    /// `cache` limits the memory for pieces that have been read: bytes, or a text such as ``"1GiB"``.
    /// Raises ``FileError`` if there is no database of the board or it is damaged, ``InputError`` if it
    /// is one of another board.
    #[staticmethod]
    #[pyo3(
        signature = (directory, board, *, cache=None),
        text_signature = "(directory, board, *, cache='64MiB')"
    )]
    fn find(
        py: Python<'_>,
        directory: File<name::Directory>,
        board: Text<name::Board>,
        cache: Option<Memory<name::Cache>>,
    ) -> Result<Self, Failure> {
        let board = dimensions(&board)?;
        open_with(py, &directory.0, cache, |path, options| Database::find(path, board, options))
    }

    /// Opens the database that a directory is. Arguments and errors as those of ``find``.
    #[staticmethod]
    #[pyo3(
        signature = (directory, *, cache=None),
        text_signature = "(directory, *, cache='64MiB')"
    )]
    fn open(
        py: Python<'_>,
        directory: File<name::Directory>,
        cache: Option<Memory<name::Cache>>,
    ) -> Result<Self, Failure> {
        open_with(py, &directory.0, cache, Database::open)
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
    fn probe<'py>(
        &self,
        py: Python<'py>,
        position: Start<name::Position>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let asked = position.0;
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
        let database = self.values(py)?;
        let answer = interrupt::detached(py, || tablebase::probe(&database, &asked.position))??;
        let fields = results::dict(py, &answer)?;
        let (moves, after) = (PyDict::new(py), PyDict::new(py));
        for rated in &answer.moves {
            let text = rated.mv.to_string();
            moves.set_item(&text, rated.outcome.name())?;
            after.set_item(&text, rated.remoteness)?;
        }
        fields.set_item("moves", moves)?;
        if answer.remoteness.is_some() {
            fields.set_item("remoteness_after", after)?;
        }
        results::make(py, "Probe", fields)
    }

    /// Looks up many positions: `codes` is a numpy array of the positions' codes (``Position.code``),
    /// of dtype ``uint64``; the result is an array of ``int8`` of the same shape. It is 1 where the
    /// side to move wins, 0 where it loses, and -1 where the database has no value: too many stones, a
    /// position that no game reaches in a database of reachable ones, or no code of the board.
    ///
    /// Arrays of any shape, strides and byte order are accepted, also signed integers and floats if
    /// every number in them is exactly a code, and lists of such numbers. The codes are copied first,
    /// so other Python threads may change the array during the call. `threads` defaults to all
    /// cores. Each thread looks up some 150 000 to 500 000 positions a second, more if they are close
    /// together in the files: large arrays are faster than many small ones, and need not be sorted.
    ///
    /// Raises ``TypeError`` for masked arrays and other types, ``InputError`` for negative numbers and
    /// fractions, and ``FileError`` if a file is damaged.
    #[pyo3(signature = (codes, *, threads=None))]
    fn probe_many<'py>(
        &self,
        py: Python<'py>,
        codes: Codes,
        threads: Option<Threads>,
    ) -> Result<Bound<'py, PyArrayDyn<i8>>, Failure> {
        let Codes { codes, shape } = codes;
        let database = self.values(py)?;
        let mut answers = vec![0; codes.len()];
        if codes.len() <= lookup::FEW {
            interrupt::detached(py, || lookup::look_up_few(&database, &codes, &mut answers))??;
        } else {
            let threads = threads_or_cores(threads);
            interrupt::run_silent(py, |stop| {
                on_pool(threads, || lookup::look_up(&database, &codes, &mut answers, stop))
            })???;
        }
        Ok(PyArray1::from_vec(py, answers).reshape(shape)?)
    }

    fn __repr__(&self) -> String {
        format!("Database('{}', {})", self.inner.directory().display(), self.inner.coverage())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (OsString,))> {
        let class: Bound<'py, PyType> = slf.get_type();
        Ok((class.getattr("open")?, (slf.get().directory(),)))
    }
}
