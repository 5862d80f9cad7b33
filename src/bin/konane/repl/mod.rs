//! Conversations on the terminal: the program shows and moves, the person writes lines, until the game
//! or the input ends.

pub mod analyse;
pub mod board;
pub mod game;
pub mod opponent;
pub mod play;
pub mod sentences;
pub mod sprouts;
pub mod words;

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;

use crate::exit::{CliError, Exit};
use crate::output;
use crate::stdin::{PATIENCE, lines_of_stdin};
use crate::terminal_text::TerminalText;
use konane::analysis::Judgement;
use konane::search::Value;

/// What a line makes of the game.
pub enum Next {
    /// The person is to write another line.
    Again(TerminalText),
    /// The person has moved or taken back.
    Changed(TerminalText),
    /// The line was not understood, or asks for what cannot be.
    Wrong(TerminalText),
    /// It could not be done, and a run that does nothing else would end with this code.
    Failed(TerminalText, Exit),
    /// The person has had enough.
    Quit,
}

/// A game of a person and the program.
pub trait Talk {
    /// Makes the program's move, if it is its turn, and adds to `out` what the person should see. True
    /// if the game is over.
    fn turn(&mut self, out: &mut TerminalText) -> Result<bool, CliError>;

    /// Does what a line says, which has no space around it.
    fn line(&mut self, line: &str) -> Result<Next, CliError>;
}

/// Plays until the game is over, the input ends or somebody quits.
pub fn talk(
    game: &mut impl Talk,
    introduction: String,
    stop: &AtomicBool,
) -> Result<Exit, CliError> {
    let terminal = io::stdin().is_terminal();
    let lines = lines_of_stdin()?;
    let is_stopped = || stop.load(Ordering::Relaxed);
    let mut exit = Exit::Answered;
    let mut out = TerminalText::from(introduction);
    loop {
        let over = game.turn(&mut out)?;
        if is_stopped() {
            return Ok(Exit::Interrupted);
        }
        if over || !output::write_open(out.clone())? {
            if over {
                output::write_text(out)?;
            }
            return Ok(exit);
        }
        out.clear();
        loop {
            if terminal && !output::write_open("> ")? {
                return Ok(exit);
            }
            let line = loop {
                if is_stopped() {
                    return Ok(Exit::Interrupted);
                }
                match lines.recv_timeout(PATIENCE) {
                    Ok(line) => break line.map_err(CliError::Input)?,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(exit),
                }
            };
            let (text, code) = match game.line(String::from_utf8_lossy(&line).trim())? {
                _ if is_stopped() => return Ok(Exit::Interrupted),
                Next::Quit => return Ok(exit),
                Next::Changed(text) => {
                    out = text;
                    break;
                }
                Next::Again(text) => (text, Exit::Answered),
                Next::Wrong(text) => (text, Exit::BadInput),
                Next::Failed(text, code) => (text, code),
            };
            // Nobody sees the message at once: the exit code tells. A file that failed outweighs lines
            // that were wrong.
            if !terminal && code != Exit::Answered && exit != Exit::File {
                exit = code;
            }
            if !output::write_open(text)? {
                return Ok(exit);
            }
        }
    }
}

/// A move to make, and what it brings. How long it resists is known by a remoteness only.
pub fn hint_text(mv: Option<&str>, judgement: Option<Judgement>) -> String {
    let Some(mv) = mv else { return "There is no move.".to_owned() };
    match judgement {
        None => format!("{mv} is the best so far; I do not know yet who wins."),
        Some(Judgement { outcome: Value::Win, .. }) => format!("{mv} wins."),
        Some(Judgement { remoteness: Some(_), .. }) => {
            format!("Every move loses; none resists longer than {mv}.")
        }
        Some(_) => format!("Every move loses; {mv} seems hardest to answer."),
    }
}
