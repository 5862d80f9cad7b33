//! Reading of pieces of a file at any offset ([`ByteSource`]).
//!
//! Files are read, not mapped into memory. If a file shrinks or a disk fails, a read returns an error; access to a
//! mapped file would end the process by a signal. Also, bytes in memory cannot change after their checksum has been
//! verified.
//! docs/design/tablebase-files.md has the cost.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{FileError, FileKind, open_regular};

/// A file that is open for reading at any offset, by any number of threads, or bytes in memory.
#[derive(Debug)]
pub struct ByteSource {
    path: PathBuf,
    kind: &'static FileKind,
    bytes: ByteStorage,
    /// Length at the time of opening.
    len: u64,
}

#[derive(Debug)]
enum ByteStorage {
    File(File),
    #[cfg(feature = "testing")]
    Owned(Vec<u8>),
}

impl ByteSource {
    /// Opens a file of a kind.
    ///
    /// # Errors
    /// As [`open_regular`].
    pub fn open(path: &Path, kind: &'static FileKind) -> Result<Self, FileError> {
        let file = open_regular(path)?;
        let len = file.metadata().map_err(FileError::io("read", path))?.len();
        Ok(ByteSource { path: path.to_owned(), kind, bytes: ByteStorage::File(file), len })
    }

    #[cfg(feature = "testing")]
    /// Creates a source of bytes in memory. The path is used in error messages.
    pub fn owned(path: &Path, kind: &'static FileKind, bytes: Vec<u8>) -> Self {
        let len = bytes.len() as u64;
        ByteSource { path: path.to_owned(), kind, bytes: ByteStorage::Owned(bytes), len }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Length at the time of opening.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Fills `out` with the bytes from `offset` on.
    ///
    /// # Errors
    /// If the file is too short, or on another error of the operating system.
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<(), FileError> {
        let read = match &self.bytes {
            ByteStorage::File(file) => read_exact_at(file, offset, out),
            #[cfg(feature = "testing")]
            ByteStorage::Owned(bytes) => {
                let from = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..));
                let from = from.and_then(|rest| rest.get(..out.len()));
                from.map(|from| out.copy_from_slice(from))
                    .ok_or(io::ErrorKind::UnexpectedEof.into())
            }
        };
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let end = offset.saturating_add(out.len() as u64);
                let expected = format!("at least {end} bytes, as when it was opened");
                self.kind.damaged(&self.path, "its length", expected, "less")
            }
            _ => FileError::io("read", &self.path)(error),
        })
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut offset: u64, mut out: &mut [u8]) -> io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                out = &mut out[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &FileKind = &FileKind {
        name: "a test",
        format: "test",
        versions: "version 1",
        whole: "it",
        again: "run it",
    };

    #[test]
    fn a_file_that_shrinks_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let bytes: Vec<u8> = (0..100).collect();
        std::fs::write(&path, &bytes).unwrap();
        let file = ByteSource::open(&path, KIND).unwrap();
        let owned = ByteSource::owned(&path, KIND, bytes.clone());
        let mut out = [0; 10];
        for source in [&file, &owned] {
            assert_eq!(source.len(), 100);
            for place in [0, 17, 90] {
                source.read_at(place, &mut out).unwrap();
                assert_eq!(out, bytes[place as usize..place as usize + 10]);
            }
            for place in [91, 100, u64::MAX] {
                let error = source.read_at(place, &mut out).unwrap_err();
                assert!(matches!(error, FileError::Damaged { .. }) || place > 100, "{error}");
            }
        }
        std::fs::File::options().write(true).open(&path).unwrap().set_len(50).unwrap();
        file.read_at(40, &mut out).unwrap();
        let error = file.read_at(41, &mut out).unwrap_err().to_string();
        assert!(error.contains("is damaged: its length should be at least 51 bytes"), "{error}");
    }
}
