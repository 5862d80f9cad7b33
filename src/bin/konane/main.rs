//! Starts the program, which is a library so that it compiles beside the library `konane`: Cargo compiles a program
//! only after all libraries that it links.

use std::process::ExitCode;

fn main() -> ExitCode {
    konane_cli::main()
}
