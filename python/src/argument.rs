//! Types of arguments: texts, flags, bytes, paths and integers. The name of the argument is a parameter of the
//! type, for error messages.
//!
//! A message has the form `threads: expected a whole number from 1 to 1024, got 'a' (str)`. A wrong type
//! is a `TypeError`, a wrong value an `InputError`. An exception that a method of the argument raises,
//! such as its `__index__`, is passed on.
//!
//! * [`ArgumentName`], [`name`]: names of arguments.
//! * [`StrArg`], [`FlagArg`], [`BytesArg`], [`PathArg`], [`IntegerArg`]: values of arguments. Types of a more
//!   special kind are in [`crate::options`].

use std::fmt::{Debug, Display};
use std::marker::PhantomData;
use std::ops::{Deref, RangeInclusive};
use std::path::PathBuf;

use konane::system::quote;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::error::Failure;

/// Name of an argument.
pub trait ArgumentName {
    /// The keyword in Python.
    const NAME: &'static str;
}

macro_rules! names {
    ($($name:ident: $text:literal),* $(,)?) => {$(
        #[doc = concat!("`", $text, "`.")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl super::ArgumentName for $name {
            const NAME: &'static str = $text;
        }
    )*};
}

/// Names of all arguments.
pub mod name {
    names! {
        Algo: "algo",
        Black: "black",
        Board: "board",
        Cache: "cache",
        Checkpoint: "checkpoint",
        CheckpointInterval: "checkpoint_interval",
        Code: "code",
        Codes: "codes",
        CommentAll: "comment_all",
        Db: "db",
        Depth: "depth",
        Directory: "directory",
        Entries: "entries",
        FlipRanks: "flip_ranks",
        Interval: "interval",
        Job: "job",
        JobNodes: "job_nodes",
        MaxNodes: "max_nodes",
        MaxStones: "max_stones",
        Memory: "memory",
        Metric: "metric",
        Move: "move",
        Moves: "moves",
        Nimber: "nimber",
        Node: "node",
        Nodes: "nodes",
        Out: "out",
        Parts: "parts",
        Path: "path",
        Phase: "phase",
        Position: "position",
        Positions: "positions",
        Profile: "profile",
        Progress: "progress",
        Reason: "reason",
        Reply: "reply",
        Request: "request",
        Resume: "resume",
        Scope: "scope",
        SharedWork: "shared_work",
        Start: "start",
        Symmetry: "symmetry",
        Task: "task",
        Terms: "terms",
        Text: "text",
        Threads: "threads",
        TimeLimit: "time_limit",
        Unique: "unique",
        White: "white",
        Worker: "worker",
    }
}

/// Makes the `TypeError` for an argument of the wrong type.
pub fn wrong_type<N: ArgumentName>(value: &Bound<'_, PyAny>, expected: impl Display) -> PyErr {
    let kind = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let text = format!("{}: expected {expected}, got {} ({kind})", N::NAME, shown(value));
    PyTypeError::new_err(text)
}

/// Makes the `InputError` for an argument of the right type with a wrong value.
pub fn wrong_value<N: ArgumentName>(value: impl Display, expected: impl Display) -> Failure {
    Failure::input(format_args!("{}: expected {expected}, got {value}", N::NAME))
}

/// Makes the `InputError` for a text that is not one of the expected ones.
pub fn wrong_choice<N: ArgumentName>(text: &StrArg<N>, expected: impl Display) -> Failure {
    wrong_value::<N>(format_args!("{:?}", quote(text)), expected)
}

/// Returns the `repr` of the value, shortened, or a placeholder if it raises an exception.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    // `reprlib` reads only the beginning of long lists and texts.
    let module = value.py().import("reprlib");
    let text = module.and_then(|module| module.call_method1("repr", (value,))?.extract::<String>());
    match text {
        Ok(text) => quote(&text),
        Err(_) => "a value that cannot be shown".to_owned(),
    }
}

/// Replaces a `TypeError` of a conversion by `ours`. Returns any other exception unchanged.
fn replace_type_error(py: Python<'_>, error: PyErr, ours: impl FnOnce() -> PyErr) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) { ours() } else { error }
}

/// Text argument.
#[derive(Clone, Debug)]
pub struct StrArg<N>(String, PhantomData<N>);

impl<N> From<&str> for StrArg<N> {
    fn from(text: &str) -> Self {
        StrArg(text.to_owned(), PhantomData)
    }
}

impl<N> Deref for StrArg<N> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'py, N: ArgumentName> FromPyObject<'_, 'py> for StrArg<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(StrArg::from(&*read_text::<N>(&value, "a text (str)")?))
    }
}

/// Reads a text that is an argument or a part of one.
///
/// # Errors
/// If the value is not a text, or contains surrogates, which are not Unicode characters.
pub fn read_text<N: ArgumentName>(value: &Bound<'_, PyAny>, expected: &str) -> PyResult<String> {
    let text = value.cast::<PyString>().map_err(|_| wrong_type::<N>(value, expected))?;
    let text = text.to_cow().map_err(|_| {
        wrong_value::<N>(shown(value), "a text that UTF-8 can encode, without lone surrogates")
    })?;
    Ok(text.into_owned())
}

/// Boolean argument.
#[derive(Clone, Copy, Debug)]
pub struct FlagArg<N>(pub bool, PhantomData<N>);

impl<N> From<bool> for FlagArg<N> {
    fn from(flag: bool) -> Self {
        FlagArg(flag, PhantomData)
    }
}

impl<'py, N: ArgumentName> FromPyObject<'_, 'py> for FlagArg<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let ours = || wrong_type::<N>(&value, "True or False");
        let flag = value.extract::<bool>();
        flag.map(FlagArg::from).map_err(|error| replace_type_error(value.py(), error, ours))
    }
}

/// Argument of type `bytes`, copied.
#[derive(Clone, Debug)]
pub struct BytesArg<N>(pub Vec<u8>, PhantomData<N>);

impl<'py, N: ArgumentName> FromPyObject<'_, 'py> for BytesArg<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let bytes = value.cast::<PyBytes>().map_err(|_| wrong_type::<N>(&value, "bytes"))?;
        Ok(BytesArg(bytes.as_bytes().to_vec(), PhantomData))
    }
}

/// Path of a file or a directory.
#[derive(Clone, Debug)]
pub struct PathArg<N>(pub PathBuf, PhantomData<N>);

impl<N> From<&str> for PathArg<N> {
    fn from(path: &str) -> Self {
        PathArg(path.into(), PhantomData)
    }
}

impl<'py, N: ArgumentName> FromPyObject<'_, 'py> for PathArg<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(PathArg(read_path::<N>(&value, "a path (str or os.PathLike)")?, PhantomData))
    }
}

/// Path, or list or tuple of at least one path.
#[derive(Clone, Debug)]
pub struct PathsArg<N>(pub Vec<PathBuf>, PhantomData<N>);

impl<'py, N: ArgumentName> FromPyObject<'_, 'py> for PathsArg<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let expected = "a path (str or os.PathLike), or a list of at least one";
        let paths = match value.cast::<PyList>().ok().map(|list| list.to_tuple()) {
            Some(paths) => Some(paths),
            None => value.cast::<PyTuple>().ok().map(|tuple| tuple.to_owned()),
        };
        let paths = match paths {
            Some(paths) if paths.is_empty() => return Err(wrong_type::<N>(&value, expected)),
            Some(paths) => {
                paths.iter().map(|path| read_path::<N>(&path, expected)).collect::<PyResult<_>>()?
            }
            None => vec![read_path::<N>(&value, expected)?],
        };
        Ok(PathsArg(paths, PhantomData))
    }
}

/// Reads a path that is an argument.
///
/// # Errors
/// If the value is not a path.
pub fn read_path<N: ArgumentName>(value: &Bound<'_, PyAny>, expected: &str) -> PyResult<PathBuf> {
    let ours = || wrong_type::<N>(value, expected);
    value.extract().map_err(|error| replace_type_error(value.py(), error, ours))
}

/// Integer argument, of Python or of numpy.
#[derive(Clone, Debug)]
pub struct IntegerArg<N> {
    /// The number, or its text if it is negative or exceeds 64 bits.
    value: Result<u64, String>,
    name: PhantomData<N>,
}

impl<N> From<u64> for IntegerArg<N> {
    fn from(number: u64) -> Self {
        IntegerArg { value: Ok(number), name: PhantomData }
    }
}

impl<N: ArgumentName> IntegerArg<N> {
    /// Returns the number.
    ///
    /// # Errors
    /// If it is not in the range.
    pub fn within(&self, range: RangeInclusive<u64>) -> Result<u64, Failure> {
        match &self.value {
            Ok(number) if range.contains(number) => Ok(*number),
            Ok(number) => Err(wrong_value::<N>(number, expected_number(range))),
            Err(text) => Err(wrong_value::<N>(text, expected_number(range))),
        }
    }

    /// Returns the number.
    ///
    /// # Errors
    /// If it is negative or exceeds 64 bits.
    pub fn get(&self) -> Result<u64, Failure> {
        self.within(0..=u64::MAX)
    }
}

fn expected_number(range: RangeInclusive<u64>) -> String {
    match range.into_inner() {
        (min, u64::MAX) => format!("a whole number from {min} to 2**64 - 1"),
        (min, max) => format!("a whole number from {min} to {max}"),
    }
}

impl<'py, N: ArgumentName> FromPyObject<'_, 'py> for IntegerArg<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = value.py();
        match value.extract::<u64>() {
            Ok(number) => Ok(IntegerArg::from(number)),
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
                Ok(IntegerArg { value: Err(shown(&value)), name: PhantomData })
            }
            Err(error) => {
                Err(replace_type_error(py, error, || wrong_type::<N>(&value, "a whole number")))
            }
        }
    }
}
