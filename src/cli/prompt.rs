//! A conversation: one line after the other, from a terminal or a pipe.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use super::exit::{CliError, Exit};
use super::input::{PATIENCE, lines_of_stdin};
use super::output;

/// What came when a line was asked for.
pub enum Asked {
    /// A line without white space at its ends.
    Line(String),
    /// The input has ended, or nobody reads the output any more.
    End,
    /// A signal.
    Interrupted,
}

/// Reads lines of standard input.
pub struct Prompt {
    lines: Receiver<io::Result<Vec<u8>>>,
    terminal: bool,
    /// How the conversation ends, unless a signal ends it.
    exit: Exit,
}

impl Prompt {
    /// Begins to read.
    pub fn new() -> Self {
        let terminal = io::stdin().is_terminal();
        Prompt { lines: lines_of_stdin(), terminal, exit: Exit::Answered }
    }

    /// Waits for the next line.
    pub fn ask(&self, stop: &AtomicBool) -> Result<Asked, CliError> {
        if self.terminal && !output::write_open("> ")? {
            return Ok(Asked::End);
        }
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(Asked::Interrupted);
            }
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    let line = line.map_err(CliError::Input)?;
                    return Ok(Asked::Line(String::from_utf8_lossy(&line).trim().to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(Asked::End),
            }
        }
    }

    /// Remembers that a line could not be done. On a terminal somebody has read why; in a pipe the
    /// exit code tells, and a file that failed outweighs lines that were wrong.
    pub fn failed(&mut self, exit: Exit) {
        if !self.terminal && self.exit != Exit::File {
            self.exit = exit;
        }
    }

    /// The exit code of a conversation that has come to its end.
    pub fn exit(&self) -> Exit {
        self.exit
    }
}
