//! Conversations on the terminal or through a pipe: `analyse`, `play` and `sprouts play`.
//!
//! ```text
//! line ─▶ command::parse ─▶ Conversation::run ─▶ Text ──────────────────────────▶ next line
//!                                             └▶ Changed ─▶ Conversation::turn ─▶ next line
//! ```
//!
//! * [`run`]: the loop of all three. [`command`]: the table of their commands.
//! * [`analyse`], [`play`], [`sprouts`]: the state of each conversation and the effect of each command.
//! * [`opponent`]: moves of the program in `play`. [`sentences`]: texts about both games.
//! * [`game`]: a game of Konane and its files. [`history`]: undo and redo. [`board`]: boards as text.

pub mod analyse;
pub mod board;
pub mod command;
pub mod game;
pub mod history;
pub mod opponent;
pub mod play;
pub mod sentences;
pub mod sprouts;

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::exit::{CliError, Exit};
use crate::output;
use crate::stdin::{PATIENCE, lines_of_stdin};
use crate::terminal_text::{TerminalText, escape_line};
use command::{Action, ConversationKind};
use konane::search::run::Limits;

/// Result of a command.
pub enum CommandResult {
    /// The position is the same. The text is printed.
    Text(TerminalText),
    /// The position has changed. The text is printed before that of [`Conversation::turn`].
    Changed(TerminalText),
    /// The conversation ends.
    Quit,
}

/// A person writes commands, and the program carries them out.
pub trait Conversation {
    /// Selects the commands.
    const KIND: ConversationKind;

    /// Makes one move of the program, if it is its turn; otherwise shows the position. Adds the text to
    /// `out`. Returns true if the next move is the person's, and after the end of a game, which can be
    /// saved or taken back.
    fn turn(&mut self, out: &mut TerminalText) -> Result<bool, CliError>;

    /// Carries out a command. After an error the game is as before.
    fn run(&mut self, action: Action, argument: &str) -> Result<CommandResult, CliError>;

    /// Text of an error of a command.
    fn error_text(&self, error: &CliError) -> Result<TerminalText, CliError> {
        Ok((escape_line(&error.to_string()).into_owned() + "\n").into())
    }
}

/// Runs a conversation until a command or the input ends it. The exit code is that of the last command
/// that failed, or of a file that could not be used: in a pipe nobody sees the message at once.
pub fn run<C: Conversation>(
    conversation: &mut C,
    introduction: String,
    stop: &AtomicBool,
) -> Result<Exit, CliError> {
    let is_terminal = io::stdin().is_terminal();
    let lines = lines_of_stdin()?;
    // On a terminal, Ctrl-C ends the search of `analyse` that is running, and the conversation goes on.
    let is_interrupted = || match is_terminal && C::KIND == ConversationKind::Analyse {
        true => {
            stop.store(false, Ordering::Relaxed);
            false
        }
        false => stop.load(Ordering::Relaxed),
    };
    let mut exit = Exit::Answered;
    let mut out = TerminalText::from(introduction);
    loop {
        loop {
            let is_persons_turn = conversation.turn(&mut out);
            let is_interrupted = is_interrupted();
            let is_open = output::write_open(std::mem::take(&mut out))?;
            match is_persons_turn {
                _ if is_interrupted => return Ok(Exit::Interrupted),
                Err(error) => return Err(error),
                Ok(_) if !is_open => return Ok(exit),
                Ok(true) => break,
                Ok(false) => {}
            }
        }
        out = loop {
            if is_terminal && !output::write_open("> ")? {
                return Ok(exit);
            }
            let line = loop {
                match lines.recv_timeout(PATIENCE) {
                    _ if stop.load(Ordering::Relaxed) => return Ok(Exit::Interrupted),
                    Ok(line) => break line.map_err(CliError::Input)?,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(exit),
                }
            };
            let result = match command::parse(C::KIND, &String::from_utf8_lossy(&line)) {
                Ok(None) => continue,
                Ok(Some((action, argument))) => conversation.run(action, argument),
                Err(error) => Err(error),
            };
            let is_interrupted = is_interrupted();
            let text = match result {
                Ok(CommandResult::Quit) => return Ok(exit),
                Ok(CommandResult::Changed(text)) if !is_interrupted => break text,
                Ok(CommandResult::Text(text) | CommandResult::Changed(text)) => text,
                Err(_) if is_interrupted => return Ok(Exit::Interrupted),
                Err(error) => {
                    if !is_terminal && exit != Exit::File {
                        exit = error.exit();
                    }
                    conversation.error_text(&error)?
                }
            };
            let is_open = output::write_open(text)?;
            if is_interrupted || !is_open {
                return Ok(if is_interrupted { Exit::Interrupted } else { exit });
            }
        };
    }
}

/// Result of a command that prints a text.
fn text(text: impl Into<TerminalText>) -> Result<CommandResult, CliError> {
    Ok(CommandResult::Text(text.into()))
}

/// Limits of a search that begins now.
fn limits(time: Duration, stop: &AtomicBool) -> Limits<'_> {
    // A time that the clock cannot represent is no limit.
    let deadline = Instant::now().checked_add(time);
    Limits { deadline, stop: Some(stop), ..Limits::default() }
}

/// Error of a command that the game does not allow.
fn refused(problem: impl Into<String>) -> CliError {
    CliError::Usage(problem.into())
}
