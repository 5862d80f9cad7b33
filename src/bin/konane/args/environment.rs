//! Environment variables that replace defaults of arguments.

use std::env;

use crate::args::{MAX_THREADS, number};
use crate::exit::CliError;

/// Directory of databases, instead of `db`.
pub const DB: &str = "KONANE_DB";
/// Memory of a search, instead of the default of its subcommand.
pub const MEMORY: &str = "KONANE_MEMORY";
/// Number of threads, instead of the number of cores.
const THREADS: &str = "KONANE_THREADS";

/// Returns the text of a variable, or `default` if it is not set or empty.
pub fn or(variable: &str, default: &'static str) -> &'static str {
    match env::var(variable) {
        // An argument parser keeps its defaults until the process ends.
        Ok(text) if !text.is_empty() => text.leak(),
        _ => default,
    }
}

/// Returns the number of threads, or `None` if the variable is not set or empty.
pub fn threads() -> Result<Option<u32>, CliError> {
    match or(THREADS, "") {
        "" => Ok(None),
        text => number(1, MAX_THREADS)(text)
            .map(Some)
            .map_err(|error| CliError::Usage(format!("{THREADS}: {error}"))),
    }
}
