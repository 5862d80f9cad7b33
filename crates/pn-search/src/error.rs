//! Kind of an error, from which each interface derives its own code.

/// Kind of an error of the library. Each public error type has a method `kind` that returns it.
///
/// | kind | exit code of the program | HTTP status of `konane explore` | Python exception |
/// |---|---:|---:|---|
/// | [`Usage`](ErrorKind::Usage) | 2 | 422 | `InputError` |
/// | [`Resource`](ErrorKind::Resource) | 2 | 500 | `ResourceError` |
/// | [`Limit`](ErrorKind::Limit) | 3 | 422 | `ResourceError` |
/// | [`File`](ErrorKind::File) | 4 | 500 | `FileError` |
/// | [`Check`](ErrorKind::Check) | 1 | 500 | `InternalError` |
/// | [`Interrupted`](ErrorKind::Interrupted) | 130 | 500 | `InternalError` |
///
/// Neither a failed check nor an interruption reaches a caller in Python as an error of the library:
/// a failed check is a result there, and Ctrl-C or a failed callback raises its own exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is wrong: a board, position, move, option or name that is not accepted.
    Usage,
    /// The system does not provide the memory or the threads that were requested. A smaller request
    /// may succeed.
    Resource,
    /// The work does not fit within a limit: memory or disk space that may be used, or the range of
    /// a counter. A higher limit or a smaller question may succeed.
    Limit,
    /// A file is missing, damaged, in use or of another version, or cannot be read or written.
    File,
    /// A requested check failed.
    Check,
    /// The stop flag was set.
    Interrupted,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [ErrorKind; 6] = [
        ErrorKind::Usage,
        ErrorKind::Resource,
        ErrorKind::Limit,
        ErrorKind::File,
        ErrorKind::Check,
        ErrorKind::Interrupted,
    ];
}
