//! Opening of files by paths that may be those of directories, pipes or devices.

use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::Path;

use super::error::FileError;

/// Opens a file for reading, without blocking. (Without `O_NONBLOCK`, opening a named pipe blocks until another
/// process opens it for writing. A signal handler cannot end this wait.)
///
/// # Errors
/// If the file does not exist ([`std::io::ErrorKind::NotFound`]), on another error of the operating system, or if the
/// path is that of something other than a file.
pub fn open_regular(path: &Path) -> Result<File, FileError> {
    let mut options = OpenOptions::new();
    do_not_block(&mut options);
    let file = options.read(true).open(path).map_err(FileError::io("open", path))?;
    let kind = file.metadata().map_err(FileError::io("read", path))?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false => Err(FileError::NotAFile { path: path.to_owned(), found: name(kind) }),
    }
}

/// Creates a file, or truncates an existing one, without blocking. Other processes may read it while it is written.
///
/// # Errors
/// [`FileError::NotReplaceable`] if the path is that of a device, pipe or directory; errors of the operating system.
pub fn create_regular(path: &Path) -> Result<File, FileError> {
    refuse_other(path)?;
    let mut options = OpenOptions::new();
    do_not_block(&mut options);
    options.create(true).truncate(true).write(true);
    options.open(path).map_err(FileError::io("create", path))
}

/// Returns an error if the path is empty or is that of something other than a file. A path that does not exist is
/// valid.
pub fn refuse_other(path: &Path) -> Result<(), FileError> {
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

/// Makes opening of pipes and devices return at once. It has no effect on files.
pub(super) fn do_not_block(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// The name of a kind of object that is not a file.
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
    fn only_files_are_opened_and_opening_does_not_block() {
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
