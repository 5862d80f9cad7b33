//! Interactive sessions on a terminal or through a pipe: `analyse`, `play` and `sprouts play`.
//!
//! ```text
//! line ─▶ command::parse ─▶ Session::run ─▶ Text ─────────────────────▶ next line
//!                                        └▶ Changed ─▶ Session::turn ─▶ next line
//! ```
//!
//! * [`run`]: the loop of all sessions. [`command`]: the table of commands. [`input`]: lines of input.
//! * [`analyse`], [`play`], [`sprouts`]: state and commands of each session.
//! * [`opponent`]: moves of the program in `play`. [`sentences`]: messages about both games.
//! * [`game`]: a game of Konane and its files. [`history`]: undo and redo. [`board`]: boards as text.

pub mod analyse;
pub mod board;
pub mod command;
pub mod game;
pub mod history;
pub mod input;
pub mod opponent;
pub mod play;
pub mod sentences;
pub mod sprouts;

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::exit::{CliError, Exit};
use crate::output;
use crate::terminal_text::{TerminalText, escape_line};
use command::{Action, SessionKind};
use input::{InputLine, SessionInput};
use konane::search::run::Limits;

/// Result of a command.
pub enum CommandResult {
    /// Text to print. The position is unchanged.
    Text(TerminalText),
    /// Text to print before that of [`Session::turn`]. The position has changed.
    Changed(TerminalText),
    /// End of the session.
    Quit,
}

/// An interactive session, which executes commands of a user.
pub trait Session {
    /// Kind of the session, which determines its commands.
    const KIND: SessionKind;

    /// Makes one move of the program if it is its turn, otherwise shows the position. Appends the text to
    /// `out`. Returns true if the next line of input is due: on the user's turn, and after the end of a game.
    fn turn(&mut self, out: &mut TerminalText) -> Result<bool, CliError>;

    /// Executes a command. An error leaves the game unchanged.
    fn run(&mut self, action: Action, argument: &str) -> Result<CommandResult, CliError>;

    /// Returns the moves of the position as text, for completion.
    fn moves(&self) -> Vec<String>;

    /// Returns the text for an error of a command.
    fn error_text(&self, error: &CliError) -> Result<TerminalText, CliError> {
        Ok((escape_line(&error.to_string()).into_owned() + "\n").into())
    }
}

/// Runs a session until a command or the end of input ends it. If standard input is not a terminal, the exit
/// code is that of the last failed command; file errors take precedence.
pub fn run<C: Session>(
    session: &mut C,
    introduction: String,
    stop: &AtomicBool,
) -> Result<Exit, CliError> {
    let is_terminal = io::stdin().is_terminal();
    let input = SessionInput::open(C::KIND)?;
    // On a terminal, Ctrl-C ends the running search of `analyse`, but not the session.
    let is_interrupted = || match is_terminal && C::KIND == SessionKind::Analyse {
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
            let is_users_turn = session.turn(&mut out);
            let is_interrupted = is_interrupted();
            let is_open = output::write_open(std::mem::take(&mut out))?;
            match is_users_turn {
                _ if is_interrupted => return Ok(Exit::Interrupted),
                Err(error) => return Err(error),
                Ok(_) if !is_open => return Ok(exit),
                Ok(true) => break,
                Ok(false) => {}
            }
        }
        out = loop {
            let line = match input.next(|| session.moves(), stop)? {
                InputLine::Line(line) => line,
                InputLine::End => return Ok(exit),
                InputLine::Interrupted => return Ok(Exit::Interrupted),
            };
            let result = match command::parse(C::KIND, &String::from_utf8_lossy(&line)) {
                Ok(None) => continue,
                Ok(Some((action, argument))) => session.run(action, argument),
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
                    session.error_text(&error)?
                }
            };
            let is_open = output::write_open(text)?;
            if is_interrupted || !is_open {
                return Ok(if is_interrupted { Exit::Interrupted } else { exit });
            }
        };
    }
}

/// Returns the result of a command that prints a text.
fn text(text: impl Into<TerminalText>) -> Result<CommandResult, CliError> {
    Ok(CommandResult::Text(text.into()))
}

/// Returns the limits of a search that begins now.
fn limits(time: Duration, stop: &AtomicBool) -> Limits<'_> {
    // A time that the clock cannot represent is no limit.
    let deadline = Instant::now().checked_add(time);
    Limits { deadline, stop: Some(stop), ..Limits::default() }
}

/// Returns the error for a command that the game does not allow.
fn refused(problem: impl Into<String>) -> CliError {
    CliError::Usage(problem.into())
}
