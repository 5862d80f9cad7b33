//! Arguments of one kind each: texts, flags, bytes, paths and whole numbers, with the name of the
//! argument in their type, so that each error message has it.
//!
//! A message has the form `threads: expected a whole number from 1 to 1024, got 'a' (str)`. A wrong type
//! is a `TypeError`, a wrong value an `InputError`. An exception that a method of the argument raises,
//! such as its `__index__`, is passed on.

use std::fmt::{Debug, Display};
use std::marker::PhantomData;
use std::ops::{Deref, RangeInclusive};
use std::path::PathBuf;

use konane::system::quote;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::error::Failure;

/// An argument's name.
pub trait Name {
    /// As Python has it.
    const NAME: &'static str;
}

macro_rules! names {
    ($($name:ident: $text:literal),* $(,)?) => {$(
        #[doc = concat!("`", $text, "`.")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl super::Name for $name {
            const NAME: &'static str = $text;
        }
    )*};
}

/// The names of all arguments.
pub mod name {
    names! {
        Algo: "algo",
        Reply: "reply",
        Board: "board",
        Cache: "cache",
        Checkpoint: "checkpoint",
        CheckpointInterval: "checkpoint_interval",
        Code: "code",
        Codes: "codes",
        Db: "db",
        Depth: "depth",
        Directory: "directory",
        Entries: "entries",
        FactWork: "fact_work",
        Interval: "interval",
        Job: "job",
        JobNodes: "job_nodes",
        MaxNodes: "max_nodes",
        MaxStones: "max_stones",
        Memory: "memory",
        Request: "request",
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
        Profile: "profile",
        Progress: "progress",
        Reason: "reason",
        Resume: "resume",
        Scope: "scope",
        Start: "start",
        Symmetry: "symmetry",
        Task: "task",
        Text: "text",
        Threads: "threads",
        TimeLimit: "time_limit",
        Unique: "unique",
        Worker: "worker",
    }
}

/// The `TypeError` for an argument of the wrong type.
pub fn wrong_type<N: Name>(value: &Bound<'_, PyAny>, expected: impl Display) -> PyErr {
    let kind = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let text = format!("{}: expected {expected}, got {} ({kind})", N::NAME, shown(value));
    PyTypeError::new_err(text)
}

/// The `InputError` for an argument with the right type and a wrong value.
pub fn wrong_value<N: Name>(value: impl Display, expected: impl Display) -> Failure {
    Failure::input(format_args!("{}: expected {expected}, got {value}", N::NAME))
}

/// The `InputError` for a text that is not one of those expected.
pub fn wrong_choice<N: Name>(text: &Text<N>, expected: impl Display) -> Failure {
    wrong_value::<N>(format_args!("{:?}", quote(text)), expected)
}

/// The value as Python writes it, shortened; a placeholder where it cannot be written.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    // `reprlib` looks only at the beginning of long lists and texts.
    let module = value.py().import("reprlib");
    let text = module.and_then(|module| module.call_method1("repr", (value,))?.extract::<String>());
    match text {
        Ok(text) => quote(&text),
        Err(_) => "a value that cannot be shown".to_owned(),
    }
}

/// Maps a `TypeError` of a conversion to `ours`; every other exception stays as it is.
fn or_else(py: Python<'_>, error: PyErr, ours: impl FnOnce() -> PyErr) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) { ours() } else { error }
}

/// A text.
#[derive(Clone, Debug)]
pub struct Text<N>(String, PhantomData<N>);

impl<N> From<&str> for Text<N> {
    fn from(text: &str) -> Self {
        Text(text.to_owned(), PhantomData)
    }
}

impl<N> Deref for Text<N> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'py, N: Name> FromPyObject<'_, 'py> for Text<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Text::from(&*read_text::<N>(&value, "a text (str)")?))
    }
}

/// Reads a text that is an argument, or a part of one.
///
/// # Errors
/// If it is not a text, or has surrogates, which are not Unicode characters.
pub fn read_text<N: Name>(value: &Bound<'_, PyAny>, expected: &str) -> PyResult<String> {
    let text = value.cast::<PyString>().map_err(|_| wrong_type::<N>(value, expected))?;
    let text = text.to_cow().map_err(|_| {
        wrong_value::<N>(shown(value), "a text that UTF-8 can encode, without lone surrogates")
    })?;
    Ok(text.into_owned())
}

/// True or false.
#[derive(Clone, Copy, Debug)]
pub struct Flag<N>(pub bool, PhantomData<N>);

impl<N> From<bool> for Flag<N> {
    fn from(flag: bool) -> Self {
        Flag(flag, PhantomData)
    }
}

impl<'py, N: Name> FromPyObject<'_, 'py> for Flag<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let ours = || wrong_type::<N>(&value, "True or False");
        let flag = value.extract::<bool>();
        flag.map(Flag::from).map_err(|error| or_else(value.py(), error, ours))
    }
}

/// A copy of a `bytes` object.
#[derive(Clone, Debug)]
pub struct Octets<N>(pub Vec<u8>, PhantomData<N>);

impl<'py, N: Name> FromPyObject<'_, 'py> for Octets<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let bytes = value.cast::<PyBytes>().map_err(|_| wrong_type::<N>(&value, "bytes"))?;
        Ok(Octets(bytes.as_bytes().to_vec(), PhantomData))
    }
}

/// The path of a file or a directory.
#[derive(Clone, Debug)]
pub struct File<N>(pub PathBuf, PhantomData<N>);

impl<N> From<&str> for File<N> {
    fn from(path: &str) -> Self {
        File(path.into(), PhantomData)
    }
}

impl<'py, N: Name> FromPyObject<'_, 'py> for File<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(File(read_path::<N>(&value, "a path (str or os.PathLike)")?, PhantomData))
    }
}

/// Reads a path that is an argument.
///
/// # Errors
/// If it is none.
pub fn read_path<N: Name>(value: &Bound<'_, PyAny>, expected: &str) -> PyResult<PathBuf> {
    let ours = || wrong_type::<N>(value, expected);
    value.extract().map_err(|error| or_else(value.py(), error, ours))
}

/// A whole number, of Python or of numpy.
#[derive(Clone, Debug)]
pub struct Whole<N> {
    /// As text if it is below 0 or beyond 64 bits.
    value: Result<u64, String>,
    name: PhantomData<N>,
}

impl<N> From<u64> for Whole<N> {
    fn from(number: u64) -> Self {
        Whole { value: Ok(number), name: PhantomData }
    }
}

impl<N: Name> Whole<N> {
    /// The number.
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

    /// The number of at most 64 bits.
    ///
    /// # Errors
    /// If it is negative or larger.
    pub fn get(&self) -> Result<u64, Failure> {
        self.within(0..=u64::MAX)
    }
}

fn expected_number(range: RangeInclusive<u64>) -> String {
    match range.into_inner() {
        (least, u64::MAX) => format!("a whole number from {least} to 2**64 - 1"),
        (least, most) => format!("a whole number from {least} to {most}"),
    }
}

impl<'py, N: Name> FromPyObject<'_, 'py> for Whole<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = value.py();
        match value.extract::<u64>() {
            Ok(number) => Ok(Whole::from(number)),
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
                Ok(Whole { value: Err(shown(&value)), name: PhantomData })
            }
            Err(error) => Err(or_else(py, error, || wrong_type::<N>(&value, "a whole number"))),
        }
    }
}
