//! `Database`: values of positions on disk, looked up one by one or in arrays.

use std::ffi::OsString;
use std::path::{self, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use konane::Dimensions;
use konane::tablebase::{self, Database, DatabaseError, DatabaseOptions, Metric};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};

use crate::argument::{PathArg, PathsArg, StrArg, name, read_path};
use crate::build::metric_of;
use crate::codes::Codes;
use crate::error::Failure;
use crate::interrupt;
use crate::interrupt::Owner;
use crate::lookup;
use crate::options::{MemoryArg, StartArg, ThreadCountArg, on_pool, path_text, threads_or_cores};
use crate::position::{PyPosition, dimensions};
use crate::results;

/// Database of positions and their outcomes, made by ``build_database``. Any number of threads can use it.
/// ``Database.find`` and ``Database.open`` return one.
///
/// Chunks of the files are read when they are needed, and their checksums are verified. A forked process opens
/// the files again.
#[pyclass(name = "Database", module = "konane", frozen)]
pub struct PyDatabase {
    /// Forked processes use only its manifest; only the process `owner` reads its values.
    inner: Arc<Database>,
    owner: Owner,
    cache_bytes: u64,
    /// Files opened by a forked process. The lock is acquired while the GIL is held, and released before the GIL,
    /// so no other thread holds it during a fork.
    reopened: Mutex<Option<(Owner, Arc<Database>)>>,
}

/// Database of a search, as an argument.
pub enum DatabaseArg<'py> {
    /// An open database.
    Open(Bound<'py, PyDatabase>),
    /// A directory that contains the database.
    Directory(PathBuf),
}

impl<'py> FromPyObject<'_, 'py> for DatabaseArg<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(database) = value.cast::<PyDatabase>() {
            return Ok(DatabaseArg::Open(database.to_owned()));
        }
        let expected = "a konane.Database, or the path of a directory (str or os.PathLike)";
        Ok(DatabaseArg::Directory(read_path::<name::Db>(&value, expected)?))
    }
}

impl PyDatabase {
    /// Rejects positions that no database of this board has.
    fn check(&self, position: &PyPosition) -> Result<(), Failure> {
        let (got, board) = (position.dimensions(), self.inner.board().dimensions());
        if got != board {
            return Err(Failure::input(format_args!(
                "the position is one of the {got} board, and the database is one of {board}"
            )));
        }
        Ok(Database::must_be_standard(&position.position)?)
    }

    /// Returns the database for look-ups. A forked process opens the files again: another thread may have held a
    /// lock of the database during the fork, and in the forked process this lock is never released.
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

/// Opens a database without the GIL, because this reads files. The path is made absolute: layers are opened
/// later, and then this process, or one that has unpickled the database, may have another working directory.
fn open_with(
    py: Python<'_>,
    directories: Vec<PathBuf>,
    cache: Option<MemoryArg<name::Cache>>,
    open: impl FnOnce(&[PathBuf], DatabaseOptions) -> Result<Database, DatabaseError> + Send,
) -> Result<PyDatabase, Failure> {
    let default = DatabaseOptions::default();
    let cache_bytes = cache.map_or(default.cache_bytes, |memory| memory.0);
    let absolute = |directory| path::absolute(&directory).unwrap_or(directory);
    let directories: Vec<PathBuf> = directories.into_iter().map(absolute).collect();
    let options = DatabaseOptions { cache_bytes };
    let database = interrupt::detached(py, || open(&directories, options))??;
    Ok(PyDatabase {
        inner: Arc::new(database),
        owner: Owner::current(),
        cache_bytes,
        reopened: Mutex::new(None),
    })
}

/// Returns the database of a board for a search.
///
/// # Errors
/// If the database is one of another board, or the directory contains no database of the board.
pub fn of_board(
    py: Python<'_>,
    database: &DatabaseArg<'_>,
    board: Dimensions,
) -> Result<Arc<Database>, Failure> {
    match database {
        DatabaseArg::Open(database) => {
            let database = database.get().values(py)?;
            let got = database.board().dimensions();
            if got == board {
                return Ok(database);
            }
            let path = database.directory().to_owned();
            Err(DatabaseError::OtherBoard { path, expected: board, got }.into())
        }
        DatabaseArg::Directory(path) => {
            let open = |paths: &[PathBuf], options| Database::find(paths, board, options);
            Ok(open_with(py, vec![path.clone()], None, open)?.inner)
        }
    }
}

/// Databases of the boards of a list of positions, opened once for each board.
pub struct Databases<'py> {
    argument: Option<DatabaseArg<'py>>,
    opened: Vec<Arc<Database>>,
}

impl<'py> Databases<'py> {
    /// No database has been opened.
    pub fn new(argument: Option<DatabaseArg<'py>>) -> Self {
        Databases { argument, opened: Vec::new() }
    }

    /// Returns the database of a board, or `None` without an argument.
    ///
    /// # Errors
    /// As [`of_board`].
    pub fn of_board(
        &mut self,
        py: Python<'py>,
        board: Dimensions,
    ) -> Result<Option<Arc<Database>>, Failure> {
        let Some(argument) = &self.argument else { return Ok(None) };
        let is_same = |database: &&Arc<Database>| database.board().dimensions() == board;
        if let Some(database) = self.opened.iter().find(is_same) {
            return Ok(Some(Arc::clone(database)));
        }
        let database = of_board(py, argument, board)?;
        self.opened.push(Arc::clone(&database));
        Ok(Some(database))
    }
}

#[pymethods]
impl PyDatabase {
    /// Opens the database of a board (``"5x6"``) in a directory: the directory itself, or a subdirectory
    /// with a name that ``build_database`` gives. A complete database is preferred, then one of reachable positions,
    /// then the one with the largest ``max_stones``. Of several such databases, one with the remoteness is preferred.
    /// Of several directories, the first with a database of the board is used.
    ///
    /// `cache` limits the memory for chunks that have been read: bytes, or a text such as ``"1GiB"``.
    /// Raises ``FileError`` if there is no database of the board or if it is damaged, and ``InputError`` if the
    /// directory is a database of another board.
    #[staticmethod]
    #[pyo3(
        signature = (directory, board, *, cache=None),
        text_signature = "(directory, board, *, cache='64MiB')"
    )]
    fn find(
        py: Python<'_>,
        directory: PathsArg<name::Directory>,
        board: StrArg<name::Board>,
        cache: Option<MemoryArg<name::Cache>>,
    ) -> Result<Self, Failure> {
        let board = dimensions(&board)?;
        open_with(py, directory.0, cache, |paths, options| Database::find(paths, board, options))
    }

    /// Opens the database whose files are in a directory. Arguments and errors are those of ``find``.
    #[staticmethod]
    #[pyo3(
        signature = (directory, *, cache=None),
        text_signature = "(directory, *, cache='64MiB')"
    )]
    fn open(
        py: Python<'_>,
        directory: PathArg<name::Directory>,
        cache: Option<MemoryArg<name::Cache>>,
    ) -> Result<Self, Failure> {
        open_with(py, vec![directory.0], cache, |paths, options| Database::open(&paths[0], options))
    }

    /// Returns the database, for use in a ``with`` statement.
    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Does nothing: the files are closed with the last reference to the database.
    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {}

    /// Directory of its files, as an absolute path.
    #[getter]
    fn directory(&self) -> OsString {
        path_text(self.inner.directory())
    }

    /// Board: ranks x files.
    #[getter]
    fn board(&self) -> String {
        self.inner.coverage().dimensions.to_string()
    }

    /// Positions in the database: ``"complete"`` for every set of stones with either side to move, ``"reachable"``
    /// for those that games from the start can reach.
    #[getter]
    fn scope(&self) -> &'static str {
        self.inner.coverage().scope.name()
    }

    /// Value of each position: ``"outcome"`` for the winner only, ``"remoteness"`` for the winner and the number
    /// of plies to the end.
    #[getter]
    fn metric(&self) -> &'static str {
        self.inner.metric().name()
    }

    /// Maximum number of stones of its positions.
    #[getter]
    fn max_stones(&self) -> u32 {
        self.inner.coverage().max_stones
    }

    /// Returns the outcome of a ``Position`` (or of a board's start) and of every move, as a ``Probe``.
    ///
    /// Takes a look-up of some microseconds for the position and for every move. Raises ``InputError``
    /// if the database does not cover the position, ``FileError`` if a file is damaged.
    fn probe<'py>(
        &self,
        py: Python<'py>,
        position: StartArg<name::Position>,
    ) -> Result<Bound<'py, PyAny>, Failure> {
        let position = position.0;
        self.check(&position)?;
        let database = self.values(py)?;
        let answer = interrupt::detached(py, || tablebase::probe(&database, &position.position))??;
        let fields = results::dict(py, &answer)?;
        let moves = PyList::empty(py);
        for rated in &answer.moves {
            moves.append(results::make(py, "RatedMove", results::dict(py, rated)?)?)?;
        }
        fields.set_item("moves", moves)?;
        results::make(py, "Probe", fields)
    }

    /// Looks up many positions and returns an array of ``int8`` of the same shape as `codes`: 1 if the side to
    /// move wins, 0 if it loses, and -1 if the database has no value.
    ///
    /// `codes` is an array or a list of codes (``Position.code``) or of ``Position`` objects. Arrays have any
    /// integer type, shape, strides and byte order; floats are accepted if they are exactly codes. With
    /// ``metric="remoteness"``, the values are remotenesses, which are odd if the side to move wins.
    ///
    /// There is no value for too many stones, for a number that is not a code of the board, and in a database of
    /// reachable positions for others. `threads` defaults to all cores. A thread looks up some 150 000 to 500 000
    /// positions a second, in any order. One large array is faster than many small ones. It is copied first, so
    /// other threads may change it during the call.
    ///
    /// Raises ``TypeError`` for masked arrays and other types, ``InputError`` for numbers that are not codes,
    /// positions of other boards, and remotenesses that the database does not have, and ``FileError`` if a file is
    /// damaged.
    #[pyo3(
        signature = (codes, *, metric=StrArg::from("outcome"), threads=None),
        text_signature = "($self, codes, *, metric='outcome', threads=None)"
    )]
    fn probe_many<'py>(
        &self,
        py: Python<'py>,
        codes: &Bound<'py, PyAny>,
        metric: StrArg<name::Metric>,
        threads: Option<ThreadCountArg>,
    ) -> Result<Bound<'py, PyArrayDyn<i8>>, Failure> {
        let metric = metric_of(&metric)?;
        if metric == Metric::Remoteness && self.inner.metric() != metric {
            return Err(Failure::input(
                "metric: this database stores outcomes only; build one with metric='remoteness'",
            ));
        }
        let Codes { codes, shape } = Codes::read(codes, |position| self.check(position))?;
        let database = self.values(py)?;
        let mut answers = vec![0; codes.len()];
        if codes.len() <= lookup::MAX_ON_CALLING_THREAD {
            interrupt::detached(py, || {
                lookup::look_up_on_calling_thread(&database, metric, &codes, &mut answers)
            })??;
        } else {
            let threads = threads_or_cores(threads);
            interrupt::run_without_progress(py, |stop| {
                on_pool(threads, || lookup::look_up(&database, metric, &codes, &mut answers, stop))
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
