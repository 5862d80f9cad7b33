//! The program `konane`. Its code is a library, so that Cargo can compile it and the library `konane` at the same time:
//! a binary is compiled only after all libraries that it links.

use std::process::ExitCode;

fn main() -> ExitCode {
    konane_cli::main()
}
