//! Whole numbers as arguments.

use konane::system::NumberError;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::error::Failure;

/// A whole number, of Python or of numpy; none if it is below 0 or beyond 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Whole(pub Option<u64>);

impl Whole {
    /// 0.
    pub const ZERO: Whole = Whole(Some(0));

    /// The number.
    ///
    /// # Errors
    /// With the name of the argument, if it is not from `least` to `most`.
    pub fn within(self, name: &str, least: u64, most: u64) -> Result<u64, Failure> {
        let number = self.0.filter(|number| (least..=most).contains(number));
        let range = NumberError { least, most };
        number.ok_or_else(|| Failure::input(format_args!("{name}: {range}")))
    }
}

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract() {
            Ok(number) => Ok(Whole(Some(number))),
            Err(error) if PyErr::is_instance_of::<PyOverflowError>(&error, value.py()) => {
                Ok(Whole(None))
            }
            Err(error) => Err(error),
        }
    }
}
