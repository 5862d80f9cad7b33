//! Reading standard input, as a whole or line by line.

use std::io::{self, BufRead, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::Duration;

use crate::exit::{CliError, Exit};
use crate::output;
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
/// reads them so that a signal ends the wait for a line. A line that [`is_too_long`] is an error, after which
/// the next line follows. Any other error is the last item.
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
            let is_last = line.as_ref().is_err_and(|error| !is_too_long(error));
            if sender.send(line).is_err() || is_last {
                break;
            }
        }
    };
    thread("input", STACK_BYTES).spawn(read).map_err(CliError::Input)?;
    Ok(receiver)
}

/// Returns true for the error of a line with more than [`MAX_LINE_BYTES`].
pub fn is_too_long(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
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
        input.skip_until(b'\n')?;
        let text = format!("the line has more than {MAX_LINE_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(Some(line))
}

/// Answers every line of standard input until its end, an interruption or a closed pipe. Text after a `#` and
/// empty lines are ignored. Lines for which `is_partial` is true are answered together with the next line, unless
/// this is empty. `answer` returns the text that answers a line, with the exit code. Answers are
/// buffered up to `max_buffered` bytes while more lines are available; with 0, each is written at once. An error
/// is reported on stderr with the number of the line. Returns the number of lines and the exit code of the run:
/// of an unreadable file, else of invalid input, else that of the last line whose exit code is not 0.
pub fn answer_lines(
    max_buffered: usize,
    stop: &AtomicBool,
    is_partial: impl Fn(&str) -> bool,
    mut answer: impl FnMut(&str) -> Result<(String, Exit), CliError>,
) -> Result<(u64, Exit), CliError> {
    let lines = lines_of_stdin()?;
    let (mut number, mut exit, mut out) = (0u64, Exit::Answered, String::new());
    let mut lines_read = String::new();
    loop {
        if stop.load(Ordering::Relaxed) {
            write(&mut out)?;
            return Ok((number, Exit::Interrupted));
        }
        let line = match lines.try_recv() {
            Ok(line) => Some(line),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                // The writer of the input may be waiting for these answers.
                if !write(&mut out)? {
                    return Ok((number, exit));
                }
                match lines.recv_timeout(POLL_INTERVAL) {
                    Ok(line) => Some(line),
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => None,
                }
            }
        };
        number += u64::from(line.is_some());
        let answered = match line {
            None if lines_read.is_empty() => break,
            None => answer(&std::mem::take(&mut lines_read)),
            Some(Ok(line)) => {
                let line = String::from_utf8_lossy(&line);
                let line = line.split('#').next().unwrap_or_default().trim();
                if !lines_read.is_empty() && !line.is_empty() {
                    lines_read.push('\n');
                }
                lines_read += line;
                if lines_read.is_empty() || !line.is_empty() && is_partial(&lines_read) {
                    continue;
                }
                answer(&std::mem::take(&mut lines_read))
            }
            Some(Err(error)) if is_too_long(&error) => Err(CliError::Usage(error.to_string())),
            Some(Err(error)) => return Err(CliError::Input(error)),
        };
        let line_exit = match answered {
            Ok((text, exit)) => {
                out += &text;
                exit
            }
            Err(error) => {
                output::report_error(&format!("line {number}: {error}"), None);
                error.exit()
            }
        };
        let rank = |exit| [Exit::File, Exit::BadInput].iter().position(|&first| first == exit);
        if line_exit != Exit::Answered && rank(line_exit).unwrap_or(2) <= rank(exit).unwrap_or(2) {
            exit = line_exit;
        }
        if out.len() > max_buffered && !write(&mut out)? {
            return Ok((number, exit));
        }
    }
    write(&mut out)?;
    Ok((number, exit))
}

/// Writes the buffered answers. Returns false if the pipe is closed.
fn write(out: &mut String) -> Result<bool, CliError> {
    let is_open = out.is_empty() || output::write_open(out.as_str())?;
    out.clear();
    Ok(is_open)
}
