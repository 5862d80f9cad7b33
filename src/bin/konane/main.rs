//! The `konane` program: what holds for the whole process. Everything else is in `konane::cli`.

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use std::process::ExitCode;

mod allocator;
mod startup;

#[global_allocator]
static ALLOCATOR: allocator::EndOnFailure = allocator::EndOnFailure;

fn main() -> ExitCode {
    startup::use_default_stack_size();
    startup::spare_address_space();
    konane::cli::main(startup::is_stdout_closed())
}
