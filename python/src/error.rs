//! [`Failure`]: Python exceptions made from errors of the library, by their [`ErrorKind`]. The classes are defined
//! in `konane/_errors.py`.

use std::fmt::Display;

use konane::analysis::AnalysisError;
use konane::checkpoint::CheckpointError;
use konane::file::FileError;
use konane::proof::{self, ProofError};
use konane::search::TreeError;
use konane::search::certificate::CertificateError;
use konane::search::sums::GameFull;
use konane::search::table::TableError;
use konane::sprouts::MovesError;
use konane::sprouts::cluster::ClusterError;
use konane::tablebase::{BuildError, DatabaseError};
use konane::value::ValueError;
use konane::{ErrorKind, PerftError, Reason, SolveError};
use pyo3::exceptions::PyTypeError;
use pyo3::{PyErr, Python};

mod python {
    #![allow(missing_docs, reason = "konane/_errors.py documents the classes")]

    pyo3::import_exception!(konane, Error);
    pyo3::import_exception!(konane, FileError);
    pyo3::import_exception!(konane, InputError);
    pyo3::import_exception!(konane, InternalError);
    pyo3::import_exception!(konane, LimitError);
    pyo3::import_exception!(konane, ResourceError);
}

/// Python exception that a function of this package returns.
#[derive(Debug)]
pub struct Failure(PyErr);

impl Failure {
    /// Makes an `InputError`, for bad input.
    pub fn input(text: impl Display) -> Self {
        Failure(python::InputError::new_err(text.to_string()))
    }

    /// Makes a `FileError`, for a file or directory.
    pub fn file(text: impl Display) -> Self {
        Failure(python::FileError::new_err(text.to_string()))
    }

    /// Makes a `ResourceError`, for memory or threads that are not available.
    pub fn resource(text: impl Display) -> Self {
        Failure(python::ResourceError::new_err(text.to_string()))
    }

    /// Makes a `LimitError`, for a limit that was reached before the result was known.
    pub fn limit(text: impl Display, reason: Reason) -> Self {
        Failure(python::LimitError::new_err((text.to_string(), reason.text())))
    }

    /// Makes an `InternalError`, for a bug in the library or in this package.
    pub fn internal(text: impl Display) -> Self {
        Failure(python::InternalError::new_err(text.to_string()))
    }
}

impl Failure {
    /// Adds the index of an item of the argument `positions` to the message of an error of this package, or of a
    /// `TypeError`. Returns any other exception unchanged.
    pub fn of_item(self, py: Python<'_>, index: usize) -> Self {
        let error = self.0;
        if !error.is_instance_of::<python::Error>(py) && !error.is_instance_of::<PyTypeError>(py) {
            return Failure(error);
        }
        let text = format!("positions[{index}]: {}", error.value(py));
        Failure(PyErr::from_type(error.get_type(py), text))
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
    /// Makes the exception for an error of `kind`. No other place assigns exceptions to kinds.
    fn of(kind: ErrorKind, text: impl Display) -> Self {
        match kind {
            ErrorKind::Usage => Failure::input(text),
            ErrorKind::Resource | ErrorKind::Limit => Failure::resource(text),
            ErrorKind::File => Failure::file(text),
            // These kinds are not expected here: a failed check is a result, and a signal that interrupts a call
            // raises its own exception.
            ErrorKind::Check | ErrorKind::Interrupted => Failure::internal(text),
        }
    }
}

impl From<ProofError> for Failure {
    fn from(error: ProofError) -> Self {
        Failure::of(proof::error_kind(&error), error)
    }
}

/// Implements the conversion of errors of the library by their kind.
macro_rules! failure_from {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::of(error.kind(), error)
            }
        })*
    };
}

impl From<SolveError> for Failure {
    fn from(error: SolveError) -> Self {
        let kind = error.kind();
        match error {
            SolveError::TooLittleMemory { .. } => {
                let tip = "write memory with a unit, such as memory='1GiB'";
                Failure::of(kind, format_args!("{error}; {tip}"))
            }
            error => Failure::of(kind, error),
        }
    }
}

failure_from!(
    AnalysisError,
    BuildError,
    CertificateError,
    CheckpointError,
    ClusterError,
    DatabaseError,
    FileError,
    GameFull,
    MovesError,
    TableError,
    TreeError,
    PerftError,
    ValueError,
);
