//! Atomic replacement of files ([`NewFile`]).
//!
//! Bytes are written to `<name>.tmp`, which is locked. When everything is on the disk, the file is
//! renamed and replaces an existing file. Renaming is atomic: if the program is killed at any time, either the old or
//! the new file exists, complete. The `.tmp` of a killed program is unlocked, and the next
//! writer reuses it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::FileError;
use super::lock::{is_file_at, open_locked};
use super::open::refuse_other;
use super::unfinished::Unfinished;

/// A file that is being written. If it is dropped before it is finished, the `.tmp` is removed.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    /// `None` after the file is finished, when there is nothing to remove.
    file: Option<BufWriter<File>>,
    /// Number of bytes written so far.
    bytes: u64,
    /// Entry in the list of files to remove if the process ends without unwinding.
    unfinished: Option<Unfinished>,
}

impl NewFile {
    /// Creates `<name>.tmp`, with a buffer of `buffer` bytes. Call this before long work, so that an error is found
    /// early and no other process writes the file in the meantime. If the path is a link to a file, the target of
    /// the link is replaced, and the `.tmp` is created in the directory of the target, on the same disk.
    ///
    /// # Errors
    /// [`FileError::Busy`] if another process is writing the same file,
    /// [`FileError::NotReplaceable`] if the path is that of a directory, device or pipe, or if
    /// `<name>.tmp` is a link; errors of the operating system.
    pub fn create(path: &Path, buffer: usize) -> Result<Self, FileError> {
        refuse_other(path)?;
        let behind = path.is_symlink().then(|| fs::canonicalize(path).ok()).flatten();
        let path = behind.as_deref().unwrap_or(path);
        let mut temporary = OsString::from(path);
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        // If `<name>.tmp` is a link, its target may belong to another program, and would be truncated.
        if fs::symlink_metadata(&temporary).is_ok_and(|found| found.is_symlink()) {
            let found = "a symbolic link";
            return Err(FileError::NotReplaceable { path: temporary, found });
        }
        // The error names the file that the user has named.
        let opened = open_locked(&temporary).map_err(|error| match error {
            FileError::Io { action: action @ "create", source, .. } if !temporary.exists() => {
                FileError::io(action, path)(source)
            }
            other => other,
        });
        let Some(file) = opened? else {
            return Err(FileError::Busy { path: path.to_owned() });
        };
        let emptied = file.set_len(0);
        let unfinished = Some(Unfinished::add(&file, &temporary));
        let file = Some(BufWriter::with_capacity(buffer, file));
        let file = NewFile { path: path.to_owned(), temporary, file, bytes: 0, unfinished };
        emptied.map_err(FileError::io("write", &file.temporary))?;
        Ok(file)
    }

    /// The final name of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// If the disk is full, or on another error of the operating system.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.write_all(bytes).map_err(FileError::io("write", &self.temporary))
    }

    /// Waits until everything is on the disk, and renames the file to its final name, which replaces an existing
    /// file.
    ///
    /// # Errors
    /// As [`NewFile::put`]. The `.tmp` is removed.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.flush_to(File::sync_all)?;
        self.rename()?;
        // The directory contains the new name, so it has to be synced to the disk, too. Only Unix has a call for that.
        #[cfg(unix)]
        {
            let parent = self.path.parent().filter(|p| !p.as_os_str().is_empty());
            let directory = parent.unwrap_or(Path::new("."));
            let opened = File::open(directory).map_err(FileError::io("open", directory))?;
            opened.sync_all().map_err(FileError::io("write", directory))?;
        }
        Ok(())
    }

    /// As [`NewFile::finish`], but without waiting until the file is on the disk. After a power failure, the file may
    /// have its final name and be damaged. So this is only for files that are checked before use and can be
    /// generated again.
    ///
    /// # Errors
    /// As [`NewFile::finish`].
    pub fn finish_provisionally(mut self) -> Result<(), FileError> {
        self.flush_to(|_| Ok(()))?;
        self.rename()
    }

    fn flush_to(&mut self, sync: impl FnOnce(&File) -> io::Result<()>) -> Result<(), FileError> {
        let file = self.file.as_mut().expect("not finished");
        let flushed = file.flush().and_then(|()| sync(file.get_ref()));
        flushed.map_err(FileError::io("write", &self.temporary))
    }

    fn rename(&mut self) -> Result<(), FileError> {
        // Checked again: during a long search another program may have created a device with this name.
        refuse_other(&self.path)?;
        let file = self.file.as_ref().expect("not finished").get_ref();
        let renamed = if is_file_at(file, &self.temporary) {
            fs::rename(&self.temporary, &self.path)
        } else {
            Err(io::Error::other(
                "another program has removed it, or put another file in its place",
            ))
        };
        renamed.map_err(FileError::io("rename", &self.temporary))?;
        self.file = None;
        self.unfinished = None;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.as_mut().expect("not finished").write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().expect("not finished").flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // The lock is still held here. If the file with this name is that of another program, it is not removed.
            if is_file_at(file.get_ref(), &self.temporary) {
                let _ = fs::remove_file(&self.temporary);
            }
            // Drops the buffer without writing it.
            let _ = file.into_parts();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_complete_file_has_its_name_and_no_other_file_remains() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for (number, text) in ["first", "the second"].into_iter().enumerate() {
            let mut file = NewFile::create(&path, 4).unwrap();
            file.put(text.as_bytes()).unwrap();
            assert_eq!(file.bytes(), text.len() as u64);
            assert_eq!(names(folder.path()), &["a", "a.tmp"][1 - number..]);
            file.finish().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(names(folder.path()), ["a"]);
        }
        drop(NewFile::create(&path, 4));
        assert_eq!(names(folder.path()), ["a"]);
        let nameless = NewFile::create(Path::new(""), 4).expect_err("an empty name").to_string();
        assert_eq!(nameless, "cannot create a file: it needs a name");
        let mut file = NewFile::create(&path, 4).unwrap();
        file.put(b"third").unwrap();
        file.finish_provisionally().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "third");
    }

    #[test]
    #[cfg(unix)]
    fn the_target_of_a_link_is_replaced() {
        let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let (link, path) = (folder.path().join("a"), other.path().join("b"));
        fs::write(&path, "first").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut file = NewFile::create(&link, 4).unwrap();
        assert_eq!(names(other.path()), ["b", "b.tmp"]);
        file.put(b"second").unwrap();
        file.finish().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(names(folder.path()), ["a"]);
    }

    /// The unfinished file is removed, and another writer creates one of the same name.
    #[test]
    #[cfg(unix)]
    fn the_file_of_another_writer_is_neither_renamed_nor_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut first = NewFile::create(&path, 4).unwrap();
        first.put(b"first").unwrap();
        fs::remove_file(folder.path().join("a.tmp")).unwrap();
        let mut second = NewFile::create(&path, 4).unwrap();
        let error = first.finish().unwrap_err().to_string();
        assert!(error.contains("a.tmp: another program has removed it"), "{error}");
        assert_eq!(names(folder.path()), ["a.tmp"]);
        second.put(b"second").unwrap();
        second.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
    }

    #[test]
    fn a_file_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut first = NewFile::create(&path, 4).unwrap();
        first.put(b"the first one's").unwrap();
        assert!(matches!(NewFile::create(&path, 4), Err(FileError::Busy { .. })));
        first.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "the first one's");
    }

    #[test]
    fn the_file_of_a_killed_program_is_reused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.tmp"), "a long text from before").unwrap();
        let path = folder.path().join("a");
        let mut file = NewFile::create(&path, 4).unwrap();
        file.put(b"short").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "short");
        assert_eq!(names(folder.path()), ["a"]);
    }

    /// Threads write one file as fast as possible. The file is always complete.
    #[test]
    fn the_bytes_of_many_writers_are_not_mixed() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("a");
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                scope.spawn(move || {
                    let mut finished = 0;
                    while finished < 100 {
                        let mut file = match NewFile::create(path, 16) {
                            Ok(file) => file,
                            Err(FileError::Busy { .. }) => continue,
                            Err(error) => panic!("{error}"),
                        };
                        for _ in 0..10 {
                            file.put(&[thread; 100]).unwrap();
                        }
                        file.finish_provisionally().unwrap();
                        finished += 1;
                        let found = fs::read(path).unwrap();
                        let all_same = found.iter().all(|&byte| byte == found[0]);
                        assert!(found.len() == 1000 && all_same, "{} bytes", found.len());
                    }
                });
            }
        });
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    #[cfg(unix)]
    fn other_objects_are_not_replaced() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::os::unix::fs::symlink("pipe", at("link")).unwrap();
        mknodat(CWD, at("b.tmp"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        fs::create_dir(at("directory")).unwrap();
        for name in ["pipe", "link", "directory", "b"] {
            let error = NewFile::create(&at(name), 4).unwrap_err();
            assert!(matches!(error, FileError::NotReplaceable { .. }), "{name}: {error}");
        }
        // Created while the file is written.
        let file = NewFile::create(&at("c"), 4).unwrap();
        mknodat(CWD, at("c"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let error = file.finish().unwrap_err();
        assert!(matches!(error, FileError::NotReplaceable { .. }), "{error}");
        assert_eq!(names(folder.path()), ["b.tmp", "c", "directory", "link", "pipe"]);
    }

    /// The name of the temporary file is predictable, so another user could create a link with this name.
    #[test]
    #[cfg(unix)]
    fn the_target_of_a_link_with_the_name_of_the_temporary_file_is_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("others"), "theirs").unwrap();
        std::os::unix::fs::symlink("others", at("a.tmp")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("b.tmp")).unwrap();
        for name in ["a", "b"] {
            let error = NewFile::create(&at(name), 4).unwrap_err();
            assert!(matches!(error, FileError::NotReplaceable { .. }), "{name}: {error}");
        }
        assert_eq!(fs::read_to_string(at("others")).unwrap(), "theirs");
        assert_eq!(names(folder.path()), ["a.tmp", "b.tmp", "others"]);
    }
}
