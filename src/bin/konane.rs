//! The `konane` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    konane::cli::main()
}
