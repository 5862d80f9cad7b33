//! The files of this process that have to be removed if it ends without unwinding.
//!
//! A file in the making and a lock remove themselves when they are dropped. A program that has to end at
//! once, because memory is refused or a second signal has come, calls [`remove_unfinished`] instead.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crate::system::try_reserve;

/// The list is part of the process, like the locks of its files.
static UNFINISHED: Mutex<Vec<(u64, Removable)>> = Mutex::new(Vec::new());

/// Attempts to lock the list before the files are left behind: who has the lock keeps it for some
/// instructions, unless it is this very thread.
const ATTEMPTS: usize = 1000;

/// Removes the files that this process has not finished, and its locks. For programs, immediately before
/// they end: files that are still written have no name any more. It allocates nothing.
pub fn remove_unfinished() {
    for _ in 0..ATTEMPTS {
        let list = match UNFINISHED.try_lock() {
            Ok(list) => list,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                continue;
            }
        };
        list.iter().for_each(|(_, file)| file.remove());
        return;
    }
}

/// The place of a file in the list. The file is taken off when this is dropped.
#[derive(Debug)]
pub(super) struct Unfinished(Option<u64>);

impl Unfinished {
    /// Adds a file. If there is no memory for that, the file is not removed at an early end.
    pub fn add(file: &std::fs::File, path: &Path) -> Self {
        let removable = Removable::new(file, path);
        let mut list = list();
        let number = list.last().map_or(0, |&(number, _)| number + 1);
        let added = removable.filter(|_| try_reserve(&mut list, 1).is_ok()).map(|removable| {
            list.push((number, removable));
            number
        });
        Unfinished(added)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        list().retain(|&(number, _)| Some(number) != self.0);
    }
}

fn list() -> MutexGuard<'static, Vec<(u64, Removable)>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name, and the file that has it.
#[cfg(unix)]
struct Removable {
    path: std::ffi::CString,
    device_and_inode: (u64, u64),
}

#[cfg(unix)]
impl Removable {
    fn new(file: &std::fs::File, path: &Path) -> Option<Self> {
        use std::os::unix::ffi::OsStrExt as _;
        use std::os::unix::fs::MetadataExt as _;
        let found = file.metadata().ok()?;
        // The working directory may change.
        let path = std::path::absolute(path).ok()?;
        let path = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
        Some(Removable { path, device_and_inode: (found.dev(), found.ino()) })
    }

    /// Another file that has the name by now stays.
    fn remove(&self) {
        let found = rustix::fs::stat(&self.path);
        #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
        let found = found.map(|found| (found.st_dev as u64, found.st_ino as u64));
        if found == Ok(self.device_and_inode) {
            let _ = rustix::fs::unlink(&self.path);
        }
    }
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
struct Removable;

#[cfg(not(unix))]
impl Removable {
    fn new(_: &std::fs::File, _: &Path) -> Option<Self> {
        None
    }

    fn remove(&self) {}
}
