//! Reading and writing of files of any content.
//!
//! | item | contents |
//! |---|---|
//! | [`FileError`], [`FileKind`] | errors of files, and the texts for a kind of file in error messages |
//! | [`NewFile`] | a file that gets its name when it is complete |
//! | [`Lock`], [`open_locked`] | files that exclude other processes |
//! | [`remove_unfinished`] | removes incomplete files and lock files before a process ends without unwinding |
//! | [`open_regular`] | opens a file for reading, without blocking |
//! | [`create_regular`] | creates a file that other processes may read while it grows |
//! | [`refuse_other`] | rejects a path that is not that of a file |

mod error;
mod lock;
mod open;
mod replace;
mod unfinished;

pub use error::{FileError, FileKind};
pub use lock::{Lock, open_locked};
pub use open::{create_regular, open_regular, refuse_other};
pub use replace::NewFile;
pub use unfinished::remove_unfinished;
