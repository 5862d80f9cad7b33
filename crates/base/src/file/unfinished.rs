//! The list of files that have to be removed if this process ends without unwinding.
//!
//! Incomplete files and lock files are removed when their owners are dropped. A program that has to end at
//! once, because of a failed allocation or a second signal, calls [`remove_unfinished`] instead.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crate::system::try_reserve;

/// Files to be removed, by number. The list is global, because it is needed when the whole process ends.
static UNFINISHED: Mutex<Vec<(u64, Removable)>> = Mutex::new(Vec::new());

/// Maximum number of attempts to lock the list. Another thread holds this lock for some instructions only. If the
/// current thread holds it, waiting would never end.
const MAX_ATTEMPTS: usize = 1000;

/// Removes the unfinished files and the lock files of this process. Programs call it immediately before
/// they exit, because it also removes files to which other threads are still writing. It does not allocate.
pub fn remove_unfinished() {
    for _ in 0..MAX_ATTEMPTS {
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

/// A file in the list, by number. Dropping it removes the file from the list.
#[derive(Debug)]
pub(super) struct Unfinished(Option<u64>);

impl Unfinished {
    /// Adds a file. If the list cannot grow, the file is not removed by [`remove_unfinished`].
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

/// A path, and the identity of the file with this path.
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
        // The path is made absolute, because the working directory may change.
        let path = std::path::absolute(path).ok()?;
        let path = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
        Some(Removable { path, device_and_inode: (found.dev(), found.ino()) })
    }

    /// Removes the file, but not another one with the same path.
    fn remove(&self) {
        let found = rustix::fs::stat(&self.path);
        #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
        let found = found.map(|found| (found.st_dev as u64, found.st_ino as u64));
        if found == Ok(self.device_and_inode) {
            let _ = rustix::fs::unlink(&self.path);
        }
    }
}

/// On other systems an open file cannot be removed.
#[cfg(not(unix))]
struct Removable;

#[cfg(not(unix))]
impl Removable {
    fn new(_: &std::fs::File, _: &Path) -> Option<Self> {
        None
    }

    fn remove(&self) {}
}
