//! Kind of an error. Each interface derives its exit code, HTTP status or exception from the kind.

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
/// In Python, callers do not receive the kinds `Check` and `Interrupted`: a failed check is returned
/// as a result, and an interruption raises the exception of Ctrl-C or of the failed callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is wrong: a board, position, move, option or name that is not accepted.
    Usage,
    /// The system does not provide the memory or the threads that were requested. A smaller request
    /// may succeed.
    Resource,
    /// The request needs more than a limit allows. The limit is on memory or disk space, or is the
    /// range of a counter. A higher limit or a smaller request may succeed.
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
