//! Lock files ([`Lock`]), for mutual exclusion of processes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::error::FileError;
use super::open::{do_not_block, refuse_other};
use super::unfinished::Unfinished;

/// A lock file, which is locked through the operating system. The system releases the lock when the process ends, even
/// if it is killed. The file is removed when this object is dropped. A file that a killed process has left is reused.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    /// Entry in the list of files to remove if the process ends without unwinding.
    _unfinished: Unfinished,
}

impl Lock {
    /// Locks the file, and creates it if it does not exist. Returns `None` if another process holds the lock.
    ///
    /// # Errors
    /// On an error of the operating system, or if the path is that of something other than a file.
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
        // The lock is still held, so that no file of another process is removed. On systems that cannot remove
        // open files, the file remains and is unlocked.
        if is_file_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens a file for reading and writing, creates it if it does not exist, and locks it. Its content is not changed.
/// Returns `None` if another process has locked it.
pub fn open_locked(path: &Path) -> Result<Option<File>, FileError> {
    loop {
        let mut options = OpenOptions::new();
        do_not_block(&mut options);
        options.create(true).truncate(false).read(true).write(true);
        let file = match options.open(path) {
            Ok(file) => file,
            Err(source) => {
                // Opening a pipe without a reader fails with a confusing message.
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
        // Between opening and locking, the previous owner may have removed or renamed the file. A
        // lock on that file would not exclude other processes.
        if is_file_at(&file, path) {
            return Ok(Some(file));
        }
    }
}

/// Returns true if an open file is the one with this name.
#[cfg(unix)]
pub(super) fn is_file_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let of = |metadata: std::io::Result<fs::Metadata>| metadata.ok().map(|m| (m.dev(), m.ino()));
    let here = of(file.metadata());
    here.is_some() && here == of(fs::metadata(path))
}

/// Always true on other systems: there an open file cannot be removed.
#[cfg(not(unix))]
pub(super) fn is_file_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Threads take and drop the lock of one path as fast as possible. If a lock on a file that was removed in the
    /// meantime were accepted, two threads could have the lock at once.
    #[test]
    fn a_lock_has_one_owner_at_a_time() {
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
    fn other_objects_are_neither_locked_nor_removed() {
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
