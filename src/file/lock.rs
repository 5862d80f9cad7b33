//! Files that keep other processes out.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::error::FileError;
use super::open::{do_not_wait, refuse_other};
use super::unfinished::Unfinished;

/// A file that is there for being locked, through the operating system: the lock ends with the
/// process, however that ends. The file is removed when the lock is dropped; one that a killed
/// process has left is taken over.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    /// For an end without unwinding.
    _unfinished: Unfinished,
}

impl Lock {
    /// Creates the file where there is none, and locks it. Nothing if somebody else has it.
    ///
    /// # Errors
    /// If the system refuses, or something that is no file has the name.
    pub fn take(path: &Path) -> Result<Option<Self>, FileError> {
        Ok(open_locked(path)?.map(|file| Lock {
            path: path.to_owned(),
            _unfinished: Unfinished::add(&file, path),
            file,
        }))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is locked, so that nobody else's is removed. Where open files cannot be removed,
        // it stays, unlocked.
        if is_file_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens a file for reading and writing, created if there is none, and locks it. What is in it stays.
/// Nothing if somebody else has it locked.
pub fn open_locked(path: &Path) -> Result<Option<File>, FileError> {
    loop {
        let mut options = OpenOptions::new();
        do_not_wait(&mut options);
        options.create(true).truncate(false).read(true).write(true);
        let file = match options.open(path) {
            Ok(file) => file,
            Err(source) => {
                // A pipe that nobody reads cannot be opened, and says so in odd words.
                refuse_other(path)?;
                return Err(FileError::io("create", path)(source));
            }
        };
        refuse_other(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(FileError::io("lock", path)(error)),
        }
        // Between opening and locking it, its former owner may have removed or renamed the file; a
        // lock on that keeps nobody out.
        if is_file_at(&file, path) {
            return Ok(Some(file));
        }
    }
}

/// Whether an open file is the one with this name.
#[cfg(unix)]
pub(super) fn is_file_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let of = |metadata: std::io::Result<fs::Metadata>| metadata.ok().map(|m| (m.dev(), m.ino()));
    let here = of(file.metadata());
    here.is_some() && here == of(fs::metadata(path))
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
pub(super) fn is_file_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Threads take and drop the lock of one name as fast as they can. A lock on a file that its
    /// former owner has just removed would let two of them in.
    #[test]
    fn there_is_one_owner_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (inside, taken) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while taken.load(Ordering::SeqCst) < 200 {
                        let Some(lock) = Lock::take(&path).unwrap() else { continue };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        taken.fetch_add(1, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(!path.exists());
    }

    #[test]
    #[cfg(unix)]
    fn what_is_no_file_is_neither_locked_nor_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let error = Lock::take(&path).unwrap_err();
        assert!(matches!(error, FileError::NotReplaceable { .. }), "{error}");
        assert!(path.exists());
        let error = Lock::take(folder.path()).unwrap_err();
        assert!(matches!(error, FileError::NotReplaceable { .. }), "{error}");
    }
}
