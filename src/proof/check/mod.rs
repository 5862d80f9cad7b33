//! The checker: what a proof file is, and when it proves what it says.
//!
//! It imports nothing from the rest of the crate, and the compiler sees to it: a test compiles this
//! folder alone. What it accepts is proven by some 300 lines of plain rules.
//!
//! ```text
//! bytes ─▶ reader ─▶ codes ─▶ verify ◀─ rules
//!            ▲
//!          format
//! ```

pub mod error;
pub mod format;
pub mod reader;
pub mod rules;
pub mod verify;
