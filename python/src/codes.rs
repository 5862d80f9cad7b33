//! Arrays of codes or positions as arguments. They are copied, and converted if the conversion is exact.
//!
//! Another Python thread may write to an array, or resize it, while this thread works without the GIL.
//! So the codes are copied while the GIL is held. `ndarray.tobytes` copies any layout in one C call that
//! holds it; conversions by numpy release it. This module decodes the bytes.

use konane::system::try_reserve_exact;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyList, PyType};

use crate::argument::{name, shown, wrong_type, wrong_value};
use crate::error::Failure;
use crate::position::PyPosition;

/// Expected argument, for error messages.
const ARRAY: &str =
    "a numpy array of whole numbers (dtype uint64), or a list of them or of positions";

/// Expected numbers, for error messages.
const CODE: &str = "whole numbers from 0 to 2**64 - 1";

// Functions of numpy, cached: an import would run Python code in each call.
static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Copy of an array of codes.
#[derive(Clone, Debug)]
pub struct Codes {
    /// Codes in C order. Their number is the product of `shape`.
    pub codes: Vec<u64>,
    /// Lengths of the dimensions.
    pub shape: Vec<usize>,
}

impl Codes {
    /// Reads an array or a list of codes or positions. `check` rejects positions.
    ///
    /// # Errors
    /// If the value has another type, or an item is not a code or is rejected.
    pub fn read(
        value: &Bound<'_, PyAny>,
        check: impl Fn(&PyPosition) -> Result<(), Failure>,
    ) -> PyResult<Self> {
        let py = value.py();
        if is_masked(value)? {
            return Err(PyTypeError::new_err(
                "codes: a masked array is refused, since the values under its mask mean nothing; \
                 give codes.compressed() or codes.filled(0)",
            ));
        }
        let as_array = || AS_ARRAY.import(py, "numpy", "asarray");
        let array = if value.is_instance_of::<PyUntypedArray>() {
            value.clone()
        } else if value.hasattr(intern!(py, "__array__"))? {
            as_array()?.call1((value,))?
        } else {
            // As objects: otherwise numpy converts integers that exceed its integer types to floats.
            let object = py.get_type::<PyAny>();
            as_array()?.call1((value, object))?
        };
        let array = array.cast_into::<PyUntypedArray>().map_err(PyErr::from)?;
        // The methods of this class are called, even if the array's own class overrides them.
        let class = CLASS.import(py, "numpy", "ndarray")?;
        let dtype = array.dtype();
        let (kind, size) = (dtype.kind(), dtype.itemsize());
        let shape = array.shape().to_vec();
        let codes = match (kind, size) {
            (b'u' | b'i', 1 | 2 | 4 | 8) | (b'f', 4 | 8) => {
                let is_big = match dtype.byteorder() {
                    b'>' => true,
                    b'<' => false,
                    _ => cfg!(target_endian = "big"),
                };
                let bytes = class.call_method1(intern!(py, "tobytes"), (array,))?;
                decode(bytes.cast::<PyBytes>()?.as_bytes(), kind, size, is_big)?
            }
            (b'O', _) => {
                let flat = class.call_method1(intern!(py, "flatten"), (array,))?;
                let list = class.call_method1(intern!(py, "tolist"), (flat,))?;
                objects(list.cast::<PyList>()?, check)?
            }
            _ => {
                let dtype = dtype.str()?;
                let text = format!("codes: expected {ARRAY}, got an array of dtype {dtype}");
                return Err(PyTypeError::new_err(text));
            }
        };
        if shape.iter().product::<usize>() != codes.len() {
            return Err(Failure::input(
                "codes: the array was resized by another thread during the call; give a copy",
            )
            .into());
        }
        Ok(Codes { codes, shape })
    }
}

/// Returns true for a masked array of numpy. Such arrays exist only after their module has been imported.
fn is_masked(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    let module = modules.call_method1(intern!(py, "get"), (intern!(py, "numpy.ma"),))?;
    if module.is_none() {
        return Ok(false);
    }
    value.is_instance(&module.getattr(intern!(py, "MaskedArray"))?)
}

/// Reserves memory for `len` codes.
fn reserve(len: usize) -> PyResult<Vec<u64>> {
    let mut codes = Vec::new();
    let missing = |_| Failure::resource(format_args!("codes: no memory for a copy of {len} codes"));
    try_reserve_exact(&mut codes, len).map_err(missing)?;
    Ok(codes)
}

/// Decodes numbers of `size` bytes each, of the numpy kind `u`, `i` or `f`.
fn decode(bytes: &[u8], kind: u8, size: usize, is_big: bool) -> PyResult<Vec<u64>> {
    let mut codes = reserve(bytes.len() / size)?;
    let unused = 64 - 8 * size as u32;
    for (at, number) in bytes.chunks_exact(size).enumerate() {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(number);
        if is_big {
            wide[..size].reverse();
        }
        let bits = u64::from_le_bytes(wide);
        codes.push(match kind {
            b'i' => {
                let signed = (bits << unused) as i64 >> unused;
                u64::try_from(signed).map_err(|_| wrong_code(at, signed.to_string()))?
            }
            b'f' if size == 4 => {
                exact(at, f32::from_bits(bits as u32).into(), f32::MANTISSA_DIGITS)?
            }
            b'f' => exact(at, f64::from_bits(bits), f64::MANTISSA_DIGITS)?,
            _ => bits,
        });
    }
    Ok(codes)
}

/// Converts a float with a mantissa of `digits` bits to the code that it is equal to. Floats above 2^`digits`
/// are rejected, because each of them represents several integers.
fn exact(at: usize, float: f64, digits: u32) -> PyResult<u64> {
    let is_exact = (0.0..=2f64.powi(digits as i32)).contains(&float) && float.fract() == 0.0;
    if is_exact {
        return Ok(float as u64);
    }
    let expected = format!("{CODE}, or floats that are exactly such a number, up to 2**{digits}");
    let got = format!("{float:?} as item {at}");
    Err(wrong_value::<name::Codes>(got, expected).into())
}

fn wrong_code(at: usize, got: String) -> PyErr {
    wrong_value::<name::Codes>(format_args!("{got} as item {at}"), CODE).into()
}

fn objects(
    list: &Bound<'_, PyList>,
    check: impl Fn(&PyPosition) -> Result<(), Failure>,
) -> PyResult<Vec<u64>> {
    let mut codes = reserve(list.len())?;
    for (at, item) in list.iter().enumerate() {
        if let Ok(position) = item.cast::<PyPosition>() {
            let position = position.get();
            check(position)?;
            codes.push(position.position.code(&position.board));
            continue;
        }
        if let Ok(float) = item.cast::<PyFloat>() {
            codes.push(exact(at, float.value(), f64::MANTISSA_DIGITS)?);
            continue;
        }
        if item.is_instance_of::<PyBool>() {
            return Err(wrong_type::<name::Codes>(&item, ARRAY));
        }
        codes.push(item.extract::<u64>().map_err(|error| {
            if error.is_instance_of::<PyOverflowError>(item.py()) {
                wrong_code(at, shown(&item))
            } else if error.is_instance_of::<PyTypeError>(item.py()) {
                wrong_type::<name::Codes>(&item, ARRAY)
            } else {
                error
            }
        })?);
    }
    Ok(codes)
}
