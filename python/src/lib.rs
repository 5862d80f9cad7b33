//! The Python package `konane`: the library's positions, searches and databases as Python objects.
//!
//! * [`argument`], [`options`], [`codes`]: types that read and check arguments, one for each kind of argument.
//! * [`position`], [`record`], [`database`]: the classes `Position`, `Record` and `Database`; [`lookup`]: look-ups of many positions.
//! * [`many`]: calls for lists of positions.
//! * [`solve`], [`analyse`], [`proof`], [`perft`], [`value`], [`build`], [`sprouts`]: one file for each group of functions.
//! * [`cluster`], [`builddb_tasks`]: coordinators, workers and tasks for `konane.cluster`.
//! * [`interrupt`]: long calls without the GIL, which Ctrl-C can end, and use after a fork.
//! * [`progress`], [`results`], [`error`]: progress, results and exceptions as Python objects. Results have the
//!   fields of the program's JSON, errors the text of the library.

#![deny(unsafe_code)]
#![deny(clippy::disallowed_methods)]

mod analyse;
mod argument;
mod build;
mod builddb_tasks;
mod cluster;
mod codes;
mod database;
mod error;
mod interrupt;
mod lookup;
mod many;
mod options;
mod perft;
mod position;
mod progress;
mod proof;
mod record;
mod results;
mod solve;
mod sprouts;
mod value;

use pyo3::pymodule;

#[pymodule]
mod _konane {
    use std::sync::OnceLock;

    use pyo3::exceptions::PyImportError;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::analyse::{analyse, analyse_many, line};
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
    use super::record::PyRecord;
    #[pymodule_export]
    use super::solve::{solve, solve_many};
    #[pymodule_export]
    use super::sprouts::{canonical, children, grundy, solve as sprouts_solve, svg};

    #[pymodule_export]
    use super::value::{thermograph, value, value_many};

    #[pymodule_export]
    use super::builddb_tasks::{BuildDirector, BuildPlan, run_task};

    /// Address of the module `sys` of the interpreter that has imported this module. Classes and exceptions
    /// exist once in a process, so another interpreter could not catch these exceptions.
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
