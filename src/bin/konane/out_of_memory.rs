//! Exit after a failed allocation, and the allocator that triggers it.
//!
//! The standard library aborts after a failed allocation that its caller does not handle. A program can
//! install a hook for it only on nightly compilers, so the allocator itself detects the failure. It calls
//! [`end`], which does not allocate: it prints the answer if there is one, prints one line with the reason,
//! removes unfinished files, and exits with the code of a reached limit.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Cursor, IsTerminal as _, Write as _};
use std::panic;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit::Exit;
use konane::file::remove_unfinished;
use konane::system::is_allocation_fallible;

/// Text that is written to standard output if an allocation fails.
static ANSWER: Mutex<Option<String>> = Mutex::new(None);

/// Stores the text that is written to standard output if an allocation fails. `None` if the answer has been
/// written or is about to be.
pub fn keep_answer(answer: Option<String>) {
    *ANSWER.lock().unwrap_or_else(|error| error.into_inner()) = answer;
}

/// Ends the program after an allocation of `bytes` failed.
fn end(bytes: usize) -> ! {
    let mut line = [0; 200];
    let mut text = Cursor::new(&mut line[..]);
    let _ = write!(text, "cannot allocate {bytes} bytes");
    let length = text.position() as usize;
    end_because(&line[..length])
}

/// Ends the program with a message that contains `reason`.
fn end_because(reason: &[u8]) -> ! {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    thread_local! {
        static IS_HERE: Cell<bool> = const { Cell::new(false) };
    }
    if IS_HERE.replace(true) {
        // An allocation in this function failed.
        exit();
    }
    if HAS_BEGUN.swap(true, Ordering::SeqCst) {
        // Another thread is ending the process.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    // Remains locked, so that the answer is not written twice.
    let answer = ANSWER.try_lock();
    if let Some(text) = answer.as_ref().ok().and_then(|answer| answer.as_deref()) {
        write_to_stdout(text.as_bytes());
    }
    // Ends a live progress line.
    let begin = if std::io::stderr().is_terminal() { "\n" } else { "" };
    let mut line = [0; 400];
    let mut message = Cursor::new(&mut line[..]);
    let _ = message.write_all(begin.as_bytes());
    let _ = message.write_all(b"error: out of memory: ");
    let _ = message.write_all(reason);
    let _ = message.write_all(b"; raise the memory limit or use a smaller --memory\n");
    let length = message.position() as usize;
    write_to_stderr(&line[..length]);
    remove_unfinished();
    exit()
}

/// Ends the program in the same way after a panic that a failed allocation caused. Such panics come from the
/// standard library when a thread starts, and from crates that call C code.
pub fn end_on_allocation_panics() {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| match info.payload_as_str() {
        Some(text) if OUT_OF_MEMORY.iter().any(|prefix| text.starts_with(prefix)) => {
            let length = text.len().min(200);
            end_because(&text.as_bytes()[..length]);
        }
        _ => hook(info),
    }));
}

/// Prefixes of the messages of such panics.
const OUT_OF_MEMORY: [&str; 3] = [
    // The standard library, when a thread starts.
    "failed to allocate an alternative stack",
    "failed to set up alternative stack guard page",
    // The crate zstd.
    "zstd returned null pointer",
];

/// Ends the process without destructors and exit handlers, which could allocate.
fn exit() -> ! {
    // SAFETY: `_exit` may be called at any time and does not return.
    #[cfg(unix)]
    unsafe {
        libc::_exit(Exit::Limit as i32)
    }
    #[cfg(not(unix))]
    std::process::exit(Exit::Limit as i32)
}

/// Writes without the locks and buffers of the standard library. Another thread may hold these locks.
#[cfg(unix)]
fn write_to(descriptor: std::os::fd::BorrowedFd<'_>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(descriptor, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

#[cfg(unix)]
fn write_to_stdout(bytes: &[u8]) {
    write_to(rustix::stdio::stdout(), bytes);
}

#[cfg(unix)]
fn write_to_stderr(bytes: &[u8]) {
    write_to(rustix::stdio::stderr(), bytes);
}

#[cfg(not(unix))]
fn write_to_stdout(bytes: &[u8]) {
    let _ = std::io::stdout().write_all(bytes);
}

#[cfg(not(unix))]
fn write_to_stderr(bytes: &[u8]) {
    let _ = std::io::stderr().write_all(bytes);
}

/// The [`System`] allocator, but failed allocations end the program unless the caller handles them.
pub struct EndOnFailure;

/// Returns `memory`, unless it is null and the caller would abort.
#[inline]
fn checked(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() && !is_allocation_fallible() {
        end(bytes);
    }
    memory
}

// SAFETY: `System` fulfils the contract, and its results are returned unchanged. `end` neither unwinds nor
// returns, and a failed allocation in it ends the process.
unsafe impl GlobalAlloc for EndOnFailure {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller fulfils the contract of `System`.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as in `alloc`; `memory` comes from `System`.
        checked(unsafe { System.realloc(memory, layout, bytes) }, bytes)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}
