//! Conversion of results to Python objects. The classes, with the meaning of each field, are in
//! `konane/_results.py`. Their fields are those of the library's serialised results, or of a struct in this crate.

use konane::search::numbers::{INFINITY, Number};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::pythonize;
use serde::Serialize;

use crate::error::Failure;

/// Serialises a result as a dictionary, with the keys and values of the program's JSON.
///
/// # Errors
/// If the result is not a struct, or Python has not enough memory.
pub fn dict<'py>(py: Python<'py>, result: &impl Serialize) -> Result<Bound<'py, PyDict>, Failure> {
    let dict = pythonize(py, result).map_err(PyErr::from)?;
    Ok(dict.cast_into().map_err(PyErr::from)?)
}

/// Makes an object of a class of `konane/_results.py`. A dictionary `table` becomes a `Table`, infinite proof numbers
/// become infinite floats, and `class`, a keyword of Python, becomes `class_`.
///
/// # Errors
/// If the class has other fields.
pub fn make<'py, F>(py: Python<'py>, class: &str, fields: F) -> Result<Bound<'py, PyAny>, Failure>
where
    F: IntoPyObject<'py, Target = PyDict, Output = Bound<'py, PyDict>>,
    F::Error: Into<PyErr>,
{
    let module = py.import(intern!(py, "konane._results"))?;
    let fields = fields.into_pyobject(py).map_err(Into::into)?;
    let table = intern!(py, "table");
    if let Some(counts) = fields.get_item(table)? {
        let counts = counts.cast::<PyDict>().map_err(PyErr::from)?;
        let class = module.getattr(intern!(py, "Table"))?;
        fields.set_item(table, class.call((), Some(counts))?)?;
    }
    let class_key = intern!(py, "class");
    if let Some(outcome_class) = fields.get_item(class_key)? {
        fields.set_item(intern!(py, "class_"), outcome_class)?;
        fields.del_item(class_key)?;
    }
    for key in [intern!(py, "pn"), intern!(py, "dn")] {
        if let Some(number) = fields.get_item(key)?
            && let Some(number) = number.extract::<Option<Number>>()?
        {
            fields.set_item(key, ProofNumber::from(number))?;
        }
    }
    Ok(module.getattr(class)?.call((), Some(&fields))?)
}

/// Proof or disproof number in Python.
#[derive(Clone, Copy, Debug, IntoPyObject)]
pub enum ProofNumber {
    /// Number below infinity.
    #[pyo3(transparent)]
    Finite(Number),
    /// Infinity, as a float: the claim is disproven.
    #[pyo3(transparent)]
    Infinite(f64),
}

impl From<Number> for ProofNumber {
    fn from(number: Number) -> Self {
        if number >= INFINITY {
            ProofNumber::Infinite(f64::INFINITY)
        } else {
            ProofNumber::Finite(number)
        }
    }
}
