//! Reading standard input, as a whole or line by line.

use std::io::{self, BufRead, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::exit::CliError;
use konane::system::{STACK_BYTES, thread};

/// Reads standard input to its end, but at most `max_bytes + 1` bytes, so that the caller can detect input
/// that is too long. Returns `None` if `stop` is set first.
pub fn bytes_of_stdin(max_bytes: u64, stop: &AtomicBool) -> Result<Option<Vec<u8>>, CliError> {
    let (sender, receiver) = sync_channel(1);
    // On a separate thread, so that a signal ends the wait for input.
    let read = move || {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(max_bytes + 1).read_to_end(&mut bytes);
        // The receiver has been dropped if the flag was set.
        let _ = sender.send(read.map(|_| bytes));
    };
    thread("standard input", STACK_BYTES).spawn(read).map_err(CliError::Input)?;
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(bytes) => return bytes.map(Some).map_err(CliError::Input),
            Err(_) if stop.load(Ordering::Relaxed) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let error = io::Error::other("the thread that reads it has ended");
                return Err(CliError::Input(error));
            }
        }
    }
}

/// Maximum number of lines that are read ahead.
const MAX_LINES_AHEAD: usize = 1024;

/// Maximum length of a line. No position or command is that long. Without a limit, input without line feeds
/// would exhaust memory.
const MAX_LINE_BYTES: usize = 1 << 16;

/// Byte order mark, which some editors write at the start of a UTF-8 file.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Time between two polls of the stop flag during a wait for input.
pub const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Starts a thread that reads the lines of standard input and skips a byte order mark. A separate thread
/// reads them so that a signal ends the wait for a line.
pub fn lines_of_stdin() -> Result<Receiver<io::Result<Vec<u8>>>, CliError> {
    let (sender, receiver) = sync_channel(MAX_LINES_AHEAD);
    let read = move || {
        let mut stdin = io::stdin().lock();
        let mut is_first = true;
        while let Some(mut line) = line_of(&mut stdin).transpose() {
            if let (true, Ok(line)) = (std::mem::take(&mut is_first), &mut line)
                && line.starts_with(BYTE_ORDER_MARK)
            {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            let failed = line.is_err();
            if sender.send(line).is_err() || failed {
                break;
            }
        }
    };
    thread("input", STACK_BYTES).spawn(read).map_err(CliError::Input)?;
    Ok(receiver)
}

/// Reads the next line, without its line feed.
fn line_of(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let max_bytes = MAX_LINE_BYTES as u64 + 1;
    if input.take(max_bytes).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > MAX_LINE_BYTES {
        let text = format!("a line has more than {MAX_LINE_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(Some(line))
}
