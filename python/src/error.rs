//! Conversion of the library's errors to Python exceptions, by their [`ErrorKind`]. The classes are
//! defined in `konane/_errors.py`.

use std::fmt::Display;

use konane::checkpoint::CheckpointError;
use konane::file::FileError;
use konane::proof::{self, ProofError};
use konane::search::certificate::CertificateError;
use konane::search::snapshot::TreeError;
use konane::search::sums::GameFull;
use konane::search::table::TableError;
use konane::sprouts::MovesError;
use konane::sprouts::cluster::ClusterError;
use konane::tablebase::{BuildError, DatabaseError};
use konane::{ErrorKind, PerftError, Reason, SolveError};
use pyo3::PyErr;

mod python {
    #![allow(missing_docs, reason = "the classes have theirs")]

    pyo3::import_exception!(konane, FileError);
    pyo3::import_exception!(konane, InputError);
    pyo3::import_exception!(konane, InternalError);
    pyo3::import_exception!(konane, LimitError);
    pyo3::import_exception!(konane, ResourceError);
}

/// An exception on its way to Python.
#[derive(Debug)]
pub struct Failure(PyErr);

impl Failure {
    /// Bad input: `InputError`.
    pub fn input(text: impl Display) -> Self {
        Failure(python::InputError::new_err(text.to_string()))
    }

    /// Something about a file: `FileError`.
    pub fn file(text: impl Display) -> Self {
        Failure(python::FileError::new_err(text.to_string()))
    }

    /// Memory or threads that are not there: `ResourceError`.
    pub fn resource(text: impl Display) -> Self {
        Failure(python::ResourceError::new_err(text.to_string()))
    }

    /// A limit that leaves no answer: `LimitError`.
    pub fn limit(text: impl Display, reason: Reason) -> Self {
        Failure(python::LimitError::new_err((text.to_string(), reason.text())))
    }

    /// A mistake in the library or here: `InternalError`.
    pub fn internal(text: impl Display) -> Self {
        Failure(python::InternalError::new_err(text.to_string()))
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        failure.0
    }
}

impl Failure {
    /// An error of this kind. The only place that assigns exceptions to errors of the library.
    fn of(kind: ErrorKind, text: impl Display) -> Self {
        match kind {
            ErrorKind::Usage => Failure::input(text),
            ErrorKind::Resource | ErrorKind::Limit => Failure::resource(text),
            ErrorKind::File => Failure::file(text),
            // A failed check is a result, and what interrupts a call has an exception of its own.
            ErrorKind::Check | ErrorKind::Interrupted => Failure::internal(text),
        }
    }
}

impl From<ProofError> for Failure {
    fn from(error: ProofError) -> Self {
        Failure::of(proof::error_kind(&error), error)
    }
}

/// Converts errors of the library by their kind.
macro_rules! failure_from {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::of(error.kind(), error)
            }
        })*
    };
}

failure_from!(
    BuildError,
    CertificateError,
    CheckpointError,
    ClusterError,
    DatabaseError,
    FileError,
    GameFull,
    MovesError,
    SolveError,
    TableError,
    TreeError,
    PerftError,
);
