//! Files mapped into memory, to be read only.

#![allow(unsafe_code)]

use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::error::DatabaseError;

/// A file in memory. Pages are read when they are first looked at.
#[derive(Debug)]
pub(super) struct FileMap {
    path: PathBuf,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl FileMap {
    /// Maps a file of at least `least` bytes.
    pub fn open(path: &Path, least: usize) -> Result<Self, DatabaseError> {
        // Looked at first: opening a pipe would wait for somebody to write.
        let metadata = path.metadata().map_err(DatabaseError::io("read", path))?;
        let not_a_database =
            |what: String| DatabaseError::NotADatabase { path: path.to_owned(), what };
        if !metadata.is_file() {
            return Err(not_a_database("it is not a file".to_owned()));
        }
        let file = File::open(path).map_err(DatabaseError::io("open", path))?;
        let bytes = file.metadata().map_err(DatabaseError::io("read", path))?.len();
        if bytes < least as u64 {
            let what = format!("it has {bytes} bytes, and the least that there can be is {least}");
            return Err(not_a_database(what));
        }
        // What the type system cannot rule out is another process that changes the file. Finished
        // database files are never written again: new versions replace them by renaming, which
        // leaves this mapping as it is. Should somebody change the bytes all the same, the
        // checksums of what is read later fail, or at worst one value is wrong. Should somebody cut
        // the file short, the system ends the process with SIGBUS.
        //
        // SAFETY: the mapping is private to this struct, read only, and handed out as shared bytes
        // that live no longer than it; bytes of the file are only ever used as numbers that are
        // checked against bounds.
        let map = unsafe { Mmap::map(&file) }.map_err(DatabaseError::io("map", path))?;
        Ok(FileMap { path: path.to_owned(), bytes: Bytes::Mapped(map) })
    }

    /// Bytes that did not come from a file; the path stands in error messages.
    pub fn owned(path: &Path, bytes: Vec<u8>) -> Self {
        FileMap { path: path.to_owned(), bytes: Bytes::Owned(bytes) }
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole file.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}
