//! Opening what may be anything.

use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::Path;

use super::error::FileError;

/// Opens a file for reading. What is no file is refused, and nobody waited for: to open a named pipe
/// the usual way means waiting until somebody writes to it, in which no signal handler can interfere.
///
/// # Errors
/// If there is no such file ([`std::io::ErrorKind::NotFound`]), the system refuses, or it is something
/// else.
pub fn open_regular(path: &Path) -> Result<File, FileError> {
    let mut options = OpenOptions::new();
    do_not_wait(&mut options);
    let file = options.read(true).open(path).map_err(FileError::io("open", path))?;
    let kind = file.metadata().map_err(FileError::io("read", path))?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false => Err(FileError::NotAFile { path: path.to_owned(), found: name(kind) }),
    }
}

/// Makes a file, or empties the one that is there, to be written while it can be read by others.
/// Devices, pipes and directories are refused, and nobody waited for.
///
/// # Errors
/// [`FileError::NotReplaceable`] if it is something else than a file, and what the system refuses.
pub fn create_regular(path: &Path) -> Result<File, FileError> {
    refuse_other(path)?;
    let mut options = OpenOptions::new();
    do_not_wait(&mut options);
    options.create(true).truncate(true).write(true);
    options.open(path).map_err(FileError::io("create", path))
}

/// Refuses a name that something else than a file has, and an empty one. A name that nothing has is
/// fine.
pub(crate) fn refuse_other(path: &Path) -> Result<(), FileError> {
    if path.as_os_str().is_empty() {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "it needs a name");
        return Err(FileError::io("create", Path::new("a file"))(source));
    }
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            let found = name(metadata.file_type());
            Err(FileError::NotReplaceable { path: path.to_owned(), found })
        }
        _ => Ok(()),
    }
}

/// Makes opening return at once, whatever is opened. It changes nothing for files.
pub(super) fn do_not_wait(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// What something is that is no file.
pub(super) fn name(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a directory" } else { "something else" }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::io::ErrorKind;

    #[test]
    fn only_files_are_opened_and_nobody_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::os::unix::fs::symlink("pipe", at("to pipe")).unwrap();
        assert!(open_regular(&at("file")).is_ok());
        assert!(open_regular(&at("link")).is_ok());
        for (name, expected) in
            [("pipe", "a named pipe"), ("to pipe", "a named pipe"), ("", "a directory")]
        {
            match open_regular(&at(name)) {
                Err(FileError::NotAFile { found, .. }) => assert_eq!(found, expected),
                other => panic!("{name}: {other:?}"),
            }
        }
        match open_regular(&at("nowhere")) {
            Err(FileError::Io { source, .. }) => assert_eq!(source.kind(), ErrorKind::NotFound),
            other => panic!("{other:?}"),
        }
        std::fs::write(at("old"), "text").unwrap();
        assert!(create_regular(&at("new")).is_ok() && create_regular(&at("old")).is_ok());
        assert_eq!(std::fs::read(at("old")).unwrap(), b"");
        for name in ["pipe", "to pipe", ""] {
            let made = create_regular(&at(name));
            assert!(matches!(made, Err(FileError::NotReplaceable { .. })), "{name}: {made:?}");
        }
        let found = open_regular(Path::new("/dev/null")).unwrap_err().to_string();
        assert_eq!(found, "/dev/null is a device, not a file");
    }
}
