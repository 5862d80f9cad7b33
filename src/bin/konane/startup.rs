//! State of the process that must be read or changed before anything else runs.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns true if the program was started with standard output closed (`>&-`). Rust's runtime opens
/// `/dev/null` in its place, to which an answer would be lost without an error.
pub fn is_stdout_closed() -> bool {
    STDOUT_IS_CLOSED.load(Ordering::Relaxed)
}

/// Run by the C library before `main`, and so before Rust's runtime.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
extern "C" fn look_at_stdout() {
    // SAFETY: `fcntl` with `F_GETFD` changes nothing and accepts every descriptor.
    let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
    STDOUT_IS_CLOSED.store(is_closed, Ordering::Relaxed);
}

// SAFETY: the section holds pointers to functions of this type; C libraries pass arguments that the
// function ignores. It needs nothing of Rust's runtime.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
#[used]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK_AT_STDOUT: extern "C" fn() = look_at_stdout;

/// Removes `RUST_MIN_STACK`, which would change the stacks of threads that packages start and of which
/// they do not choose the size. Must be called before any thread is started.
pub fn use_default_stack_size() {
    // SAFETY: no other thread runs that could read the environment.
    unsafe { std::env::remove_var("RUST_MIN_STACK") };
}

/// Makes writing beyond the limit of a file's size (`ulimit -f`) an error like a full disk. By default the
/// system ends the program by SIGXFSZ.
pub fn make_file_size_limit_an_error() {
    // SAFETY: the signal is only ignored, and nothing in this process has a handler for it.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Lets all threads allocate from one heap if the address space is limited (`ulimit -v`): the C library
/// would reserve 64 MiB of it for the heap of each thread.
pub fn spare_address_space() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let mut limit =
            libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: `getrlimit` writes the struct that it is given, and `mallopt` changes a setting that
        // holds for heaps that are made later.
        unsafe {
            libc::getrlimit(libc::RLIMIT_AS, &mut limit);
            if limit.rlim_cur != libc::RLIM_INFINITY {
                libc::mallopt(libc::M_ARENA_MAX, 1);
            }
        }
    }
}
