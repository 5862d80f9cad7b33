//! Process state that must be read or changed at the start.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns true if the program was started with standard output closed (`>&-`). Rust's runtime opens
/// `/dev/null` in its place, so an answer would be lost without an error.
pub fn is_stdout_closed() -> bool {
    STDOUT_IS_CLOSED.load(Ordering::Relaxed)
}

/// Returns true if standard output is a pipe or socket whose reader has closed it. A write would fail, but a
/// program that waits or computes does not write.
pub fn is_reader_gone() -> bool {
    #[cfg(unix)]
    {
        let mut stdout = libc::pollfd { fd: libc::STDOUT_FILENO, events: 0, revents: 0 };
        // SAFETY: `poll` accepts every descriptor, and writes only to the one structure.
        let ready = unsafe { libc::poll(&mut stdout, 1, 0) };
        ready == 1 && stdout.revents & (libc::POLLERR | libc::POLLHUP) != 0
    }
    #[cfg(not(unix))]
    false
}

/// Called by the C library before `main` and before the initialisation of Rust's runtime.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
extern "C" fn check_stdout() {
    // SAFETY: `fcntl` with `F_GETFD` changes nothing and accepts every descriptor.
    let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
    STDOUT_IS_CLOSED.store(is_closed, Ordering::Relaxed);
}

// SAFETY: the section contains pointers to functions of this type. C libraries pass arguments that the
// function ignores. The function does not use Rust's runtime.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
#[used]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static CHECK_STDOUT: extern "C" fn() = check_stdout;

/// Removes `RUST_MIN_STACK`, which would change the stack size of threads that other crates start without
/// setting it. Must be called before any thread is started.
pub fn use_default_stack_size() {
    // SAFETY: no other thread is running that could read the environment.
    unsafe { std::env::remove_var("RUST_MIN_STACK") };
}

/// Makes a write beyond the file size limit (`ulimit -f`) return an error, like a full disk. By default
/// SIGXFSZ kills the program.
pub fn make_file_size_limit_an_error() {
    // SAFETY: the signal is ignored, and this process installs no handler for it.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Makes all threads allocate from one heap if the address space is limited (`ulimit -v`). By default the C
/// library reserves 64 MiB of address space for the heap of each thread.
pub fn limit_heap_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let mut limit =
            libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: `getrlimit` writes only its argument, and `mallopt` changes a setting that applies to heaps
        // that are created later.
        unsafe {
            libc::getrlimit(libc::RLIMIT_AS, &mut limit);
            if limit.rlim_cur != libc::RLIM_INFINITY {
                libc::mallopt(libc::M_ARENA_MAX, 1);
            }
        }
    }
}
