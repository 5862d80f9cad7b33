//! The Python package `konane`: the library's positions, searches and databases as Python objects.
//!
//! One file for each concept, as in the library. What takes long is done without the interpreter's
//! lock ([`interrupt`]); errors are the library's, with its text ([`error`]); answers are plain values
//! ([`results`]). The rest reads arguments and calls the library.

#![deny(unsafe_code)]
#![deny(clippy::disallowed_methods)]

mod argument;
mod build;
mod builddb_tasks;
mod cluster;
mod codes;
mod database;
mod error;
mod interrupt;
mod lookup;
mod options;
mod owner;
mod perft;
mod position;
mod progress;
mod proof;
mod results;
mod solve;
mod sprouts;

use pyo3::pymodule;

#[pymodule]
mod _konane {
    use std::sync::OnceLock;

    use pyo3::exceptions::PyImportError;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::build::build_database;
    #[pymodule_export]
    use super::cluster::{
        ClusterCoordinator, ClusterDelivery, ClusterStatus, ClusterWorker, bytes_text, count,
        counted, memory_bytes, seconds, short, time_limit, time_text,
    };
    #[pymodule_export]
    use super::database::PyDatabase;
    #[pymodule_export]
    use super::perft::{divide, perft};
    #[pymodule_export]
    use super::position::PyPosition;
    #[pymodule_export]
    use super::proof::{prove, verify_proof};
    #[pymodule_export]
    use super::solve::solve;
    #[pymodule_export]
    use super::sprouts::{canonical, children, grundy, solve as sprouts_solve, svg};

    #[pymodule_export]
    use super::builddb_tasks::{BuildDirector, BuildPlan, run_task};

    /// The interpreter that has the module, by its `sys`. The module's classes and exceptions are
    /// one set for the process, so in another one errors would not be those that it catches.
    static INTERPRETER: OnceLock<usize> = OnceLock::new();

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let here = module.py().import("sys")?.as_ptr() as usize;
        if *INTERPRETER.get_or_init(|| here) != here {
            return Err(PyImportError::new_err(
                "konane is in use by another interpreter of this process: import it in one of them \
                 only, or start a process for each",
            ));
        }
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
