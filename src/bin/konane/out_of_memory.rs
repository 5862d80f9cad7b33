//! The end of the program when the system refuses memory in the middle of the work.
//!
//! The program's allocator calls [`end`] where Rust would abort the process. What happens then allocates
//! nothing: the answer that is already known is printed, one line says why the program ends, files in
//! the making are removed, and the exit code is that of a limit.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::io::{Cursor, IsTerminal as _, Write as _};
use std::panic;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::exit::Exit;
use konane::file::remove_unfinished;

/// The text for standard output if the program ends now.
static ANSWER: Mutex<Option<String>> = Mutex::new(None);

/// Keeps a text that is written to standard output if memory is refused; none if the answer is about to
/// be written, or has been.
pub(super) fn keep_answer(answer: Option<String>) {
    *ANSWER.lock().unwrap_or_else(|error| error.into_inner()) = answer;
}

/// Ends the program, because `bytes` more were refused.
pub fn end(bytes: usize) -> ! {
    let mut line = [0; 200];
    let mut text = Cursor::new(&mut line[..]);
    let _ = write!(text, "the system refuses {bytes} bytes");
    let length = text.position() as usize;
    end_because(&line[..length])
}

/// Ends the program for a reason that is part of the message.
fn end_because(reason: &[u8]) -> ! {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    thread_local! {
        static IS_HERE: Cell<bool> = const { Cell::new(false) };
    }
    if IS_HERE.replace(true) {
        // An allocation below has failed in its turn.
        exit();
    }
    if HAS_BEGUN.swap(true, Ordering::SeqCst) {
        // Another thread ends the process.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    // Kept locked, so that the answer is not written twice.
    let answer = ANSWER.try_lock();
    if let Some(text) = answer.as_ref().ok().and_then(|answer| answer.as_deref()) {
        write_to_stdout(text.as_bytes());
    }
    // Behind a live line.
    let begin = if std::io::stderr().is_terminal() { "\n" } else { "" };
    let mut line = [0; 400];
    let mut message = Cursor::new(&mut line[..]);
    let _ = message.write_all(begin.as_bytes());
    let _ = message.write_all(b"error: out of memory: ");
    let _ = message.write_all(reason);
    let _ = message.write_all(b"; give more memory or use a smaller --memory\n");
    let length = message.position() as usize;
    write_to_stderr(&line[..length]);
    remove_unfinished();
    exit()
}

/// Makes panics that refused memory causes end the program as a refused allocation does. They come from
/// the standard library and from packages, which begin threads and work of C code.
pub(super) fn turn_panics_into_ends() {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| match info.payload_as_str() {
        Some(text) if OUT_OF_MEMORY.iter().any(|begin| text.starts_with(begin)) => {
            let length = text.len().min(200);
            end_because(&text.as_bytes()[..length]);
        }
        _ => hook(info),
    }));
}

/// The first words of such panics.
const OUT_OF_MEMORY: [&str; 3] = [
    // The standard library, on a thread that begins.
    "failed to allocate an alternative stack",
    "failed to set up alternative stack guard page",
    // The package zstd.
    "zstd returned null pointer",
];

/// Ends the process at once: destructors and handlers might allocate.
fn exit() -> ! {
    // SAFETY: `_exit` may be called at any time; it returns nothing to this process.
    #[cfg(unix)]
    unsafe {
        libc::_exit(Exit::Limit as i32)
    }
    #[cfg(not(unix))]
    std::process::exit(Exit::Limit as i32)
}

/// Past the locks and buffers of the standard library, which another thread may hold.
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
