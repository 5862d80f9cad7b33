//! Answers as Python values. The classes, with what each field means, are in `konane/_results.py`;
//! here the fields are those of a struct of the same name.

use konane::search::numbers::{INFINITY, Number};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Failure;

/// Makes a value of a class of `konane/_results.py`.
///
/// # Errors
/// If the class has other fields.
pub fn make<'py>(
    py: Python<'py>,
    class: &str,
    fields: impl IntoPyObject<'py, Target = PyDict, Output = Bound<'py, PyDict>, Error = PyErr>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let class = py.import("konane._results")?.getattr(class)?;
    Ok(class.call((), Some(&fields.into_pyobject(py)?))?)
}

/// A proof or disproof number.
#[derive(Clone, Copy, Debug, IntoPyObject)]
pub enum ProofNumber {
    /// Of what is open or done.
    #[pyo3(transparent)]
    Finite(Number),
    /// Of what is impossible.
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
