//! The Python package `konane`: the library's positions, searches and databases as Python objects.
//!
//! One file for each concept, as in the library. What takes long is done without the interpreter's
//! lock; errors are the library's, with its text.

mod builddb_tasks;

use pyo3::prelude::*;

#[pymodule]
mod _konane {
    use super::*;

    #[pymodule_export]
    use super::builddb_tasks::{BuildDirector, BuildPlan, run_task};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
