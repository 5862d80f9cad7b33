//! Signal handling. The first signal sets the stop flag. A second one ends the program immediately, unless the
//! flag has been cleared in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::exit::Exit;
use crate::progress;
use konane::file::remove_unfinished;
use konane::system::{STACK_BYTES, thread};

/// Signals within this time after the first one count as the same request: `timeout` and supervisors send
/// signals to the program and to its process group. Users take longer to press Ctrl-C twice.
const SAME_REQUEST: Duration = Duration::from_millis(500);

/// Maximum time for clearing the live line.
const CLEAR_WAIT: Duration = Duration::from_millis(200);

/// Installs the handler for SIGINT, SIGTERM and SIGHUP (Ctrl-C and Ctrl-Break on Windows) and returns the
/// flag that it sets. After a caller has cleared the flag, the next signal counts as the first one again.
///
/// The handler runs on a separate thread, so it may exit. Relaxed accesses suffice, because no other data is
/// published through the flag.
pub fn stop_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let handler_flag = Arc::clone(&flag);
    let mut first = None;
    let handler = move || {
        if !handler_flag.swap(true, Ordering::Relaxed) {
            first = None;
        }
        if is_another(&mut first, Instant::now()) {
            clear();
            remove_unfinished();
            std::process::exit(i32::from(Exit::Interrupted as u8));
        }
    };
    // Without a handler, a signal kills the program. This is not fatal.
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::warn!("no signal handler, Ctrl-C kills the program: {error}");
    }
    flag
}

/// Clears the live line, unless the terminal does not accept output, as after Ctrl-S.
fn clear() {
    let (done, is_cleared) = channel();
    let clear = move || {
        progress::clear();
        // The receiver may have timed out.
        let _ = done.send(());
    };
    if thread("clear", STACK_BYTES).spawn(clear).is_ok() {
        let _ = is_cleared.recv_timeout(CLEAR_WAIT);
    }
}

/// Returns true if a signal at the time `now` is a new request, and not part of the first request.
fn is_another(first: &mut Option<Instant>, now: Instant) -> bool {
    now.duration_since(*first.get_or_insert(now)) >= SAME_REQUEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_in_a_burst_are_one_request() {
        let mut first = None;
        let begin = Instant::now();
        for (milliseconds, expected) in [(0, false), (1, false), (499, false), (500, true)] {
            let now = begin + Duration::from_millis(milliseconds);
            assert_eq!(is_another(&mut first, now), expected, "{milliseconds} ms");
        }
    }
}
