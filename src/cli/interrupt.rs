//! Signals: the first one asks for a clean end, the second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::exit::Exit;

/// Installs the handler for SIGINT, SIGTERM and SIGHUP (Ctrl-C and Ctrl-Break on Windows) and
/// returns the flag that it sets.
///
/// The handler runs on a thread of its own, so it may exit. Relaxed accesses suffice: nothing else
/// is published through the flag.
pub fn stop_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let handler_flag = Arc::clone(&flag);
    let handler = move || {
        if handler_flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Exit::Interrupted as u8));
        }
    };
    // Without a handler a signal kills the program, which is worse but no reason not to run.
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::warn!("no clean end on Ctrl-C: {error}");
    }
    flag
}
