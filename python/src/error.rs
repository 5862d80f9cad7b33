//! Which exception an error of the library becomes. All of it is here, in matches without a
//! wildcard; the classes are in `konane/_errors.py`.

use std::fmt::Display;

use konane::endgame::{BuildError, DatabaseError, PlanError, Resource};
use konane::file::FileError;
use konane::proof::ProofError;
use konane::search::certificate::CertificateError;
use konane::search::snapshot::TreeError;
use konane::search::sums::Full;
use konane::search::table::TableError;
use konane::sprouts::MovesError;
use konane::sprouts::cluster::ClusterError;
use konane::{Reason, SolveError, checkpoint::CheckpointError};
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

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::file(error)
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        if error.is_bad_input() { Failure::input(error) } else { Failure::file(error) }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        match &error {
            PlanError::DoesNotFit(misfit) => match misfit.resource {
                Resource::Memory => Failure::resource(error),
                Resource::Disk => Failure::file(error),
            },
            PlanError::Begun { .. } => Failure::resource(error),
            PlanError::OtherWork { .. } | PlanError::Database(_) => Failure::file(error),
            PlanError::ReachableWithMaxStones
            | PlanError::ReachableWithRemoteness
            | PlanError::SlicedRemoteness { .. }
            | PlanError::ReachableTooLarge { .. }
            | PlanError::TooLargeForRows { .. } => Failure::input(error),
        }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        match error {
            // Only a signal or the caller's own function stops a build, and both have exceptions.
            BuildError::Interrupted => Failure::internal(error),
            BuildError::Plan(error) => error.into(),
            BuildError::NoTask(_) => Failure::input(error),
            BuildError::TaskMemory { .. } => Failure::resource(error),
            BuildError::Unfinished { .. }
            | BuildError::Busy { .. }
            | BuildError::DiskFull { .. }
            | BuildError::Lost { .. }
            | BuildError::Database(_) => Failure::file(error),
        }
    }
}

impl From<SolveError> for Failure {
    fn from(error: SolveError) -> Self {
        match error {
            SolveError::TooLittleMemory { .. } | SolveError::NotProvable => Failure::input(error),
            SolveError::TooMuchMemory { .. } => Failure::resource(error),
            SolveError::Table(error) => error.into(),
            SolveError::Tree(error) => error.into(),
            SolveError::Checkpoint(error) => error.into(),
        }
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        if let CheckpointError::Tree(error) = error {
            return error.into();
        }
        if error.is_bad_input() { Failure::input(error) } else { Failure::file(error) }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        match error {
            TableError::TooSmall { .. } => Failure::input(error),
            TableError::Memory { .. } => Failure::resource(error),
        }
    }
}

impl From<TreeError> for Failure {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::TooSmall { .. } => Failure::input(error),
            TreeError::Memory { .. } => Failure::resource(error),
        }
    }
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Full(error) => error.into(),
            ClusterError::Table(error) => error.into(),
            ClusterError::Numbers(_) | ClusterError::Missing { .. } => Failure::file(error),
            ClusterError::Exists { .. } | ClusterError::Heap(_) => Failure::input(error),
        }
    }
}

impl From<Full> for Failure {
    fn from(error: Full) -> Self {
        Failure::resource(error)
    }
}

impl From<MovesError> for Failure {
    fn from(error: MovesError) -> Self {
        Failure::resource(error)
    }
}

impl From<ProofError> for Failure {
    fn from(error: ProofError) -> Self {
        match error {
            // As in builds.
            ProofError::Interrupted => Failure::internal(error),
            ProofError::TooLarge { .. } => Failure::resource(error),
            ProofError::Io { .. }
            | ProofError::NotAProof { .. }
            | ProofError::OtherVersion { .. }
            | ProofError::OtherRules { .. }
            | ProofError::Damaged { .. } => Failure::file(error),
        }
    }
}

/// Of values that contradict each other; limits are no errors.
impl From<CertificateError> for Failure {
    fn from(error: CertificateError) -> Self {
        Failure::file(error)
    }
}
