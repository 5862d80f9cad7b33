//! Signals that would end the program where an error is better.

#![allow(unsafe_code)]

/// Makes writing beyond the limit of a file's size (`ulimit -f`) an error like a full disk, where the
/// system would end the program by SIGXFSZ. For programs, at their start: the setting is the whole
/// process's.
pub fn file_size_limit_is_an_error() {
    // SAFETY: no handler is installed, only the signal ignored; nothing in this process has one for it.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
