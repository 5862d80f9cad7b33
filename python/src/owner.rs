//! The process that has made an object, to find out whether an object is used after a fork.
//!
//! A forked process has copies of all objects, but only one of the threads: threads that serve an object
//! are missing, and a lock that another thread held is never released.

use std::process;

use crate::error::Failure;

/// The process in which an object was made.
#[derive(Clone, Copy, Debug)]
pub struct Owner(u32);

impl Owner {
    /// This process.
    pub fn current() -> Self {
        Owner(process::id())
    }

    /// Returns whether this process is the owner.
    pub fn is_current(self) -> bool {
        self.0 == process::id()
    }

    /// Refuses use in a forked process.
    ///
    /// # Errors
    /// If this process is not the owner.
    pub fn check(self, object: &str) -> Result<(), Failure> {
        if self.is_current() {
            return Ok(());
        }
        Err(Failure::input(format_args!(
            "this {object} belongs to process {}, of which process {} is a fork: make one here",
            self.0,
            process::id()
        )))
    }
}
