//! Lines of input of a session. On a terminal they have an editor with history and completion.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::command::{SessionKind, all_names, is_move};
use crate::exit::CliError;
use crate::output;
use crate::stdin::{POLL_INTERVAL, lines_of_stdin};
use konane::system::{STACK_BYTES, thread};

/// Prompt on a terminal.
const PROMPT: &str = "> ";

/// Result of waiting for a line.
pub enum InputLine {
    /// A line, without its line feed.
    Line(Vec<u8>),
    /// End of the input, or of the output.
    End,
    /// A signal or Ctrl-C.
    Interrupted,
}

/// Source of the lines of a session.
pub enum SessionInput {
    /// A pipe, a file, or a terminal whose output goes elsewhere.
    Plain {
        lines: Receiver<io::Result<Vec<u8>>>,
        /// True for a terminal.
        has_prompt: bool,
    },
    /// A terminal with an editor. The editor reads on a separate thread, so that a signal ends the wait for a line.
    Edited {
        /// Receives the moves of the position, which completion offers, and begins a line.
        requests: SyncSender<Vec<String>>,
        lines: Receiver<Result<String, ReadlineError>>,
        /// Mode of the terminal, which the editor changes while it reads.
        #[cfg(unix)]
        mode: Option<rustix::termios::Termios>,
    },
}

impl SessionInput {
    /// Opens standard input.
    pub fn open(kind: SessionKind) -> Result<Self, CliError> {
        let is_terminal = io::stdin().is_terminal();
        if !is_terminal || !io::stdout().is_terminal() {
            return Ok(SessionInput::Plain { lines: lines_of_stdin()?, has_prompt: is_terminal });
        }
        let (requests, received) = sync_channel::<Vec<String>>(1);
        let (sender, lines) = sync_channel(1);
        let edit = move || {
            // Without bracketed paste, a signal leaves no mode of the terminal but that of `mode`.
            let config = Config::builder()
                .auto_add_history(true)
                .completion_type(CompletionType::List)
                .bracketed_paste(false)
                .build();
            let mut editor = match Editor::with_history(config, MemHistory::new()) {
                Ok(editor) => editor,
                Err(error) => return drop(sender.send(Err(error))),
            };
            // While there is a printer, the editor waits by `select` and so notices signals that other threads receive.
            // There is none for a terminal without cursor movements, on which lines are not edited.
            let _printer = editor.create_external_printer().ok();
            for moves in received {
                editor.set_helper(Some(SessionHelper { kind, moves }));
                // The receiver has been dropped after a signal.
                if sender.send(editor.readline(PROMPT)).is_err() {
                    break;
                }
            }
        };
        #[cfg(unix)]
        let mode = rustix::termios::tcgetattr(io::stdin()).ok();
        thread("input", STACK_BYTES).spawn(edit).map_err(CliError::Input)?;
        Ok(SessionInput::Edited {
            requests,
            lines,
            #[cfg(unix)]
            mode,
        })
    }

    /// Waits for a line. On a terminal, completion offers `moves`.
    pub fn next(
        &self,
        moves: impl FnOnce() -> Vec<String>,
        stop: &AtomicBool,
    ) -> Result<InputLine, CliError> {
        match self {
            SessionInput::Plain { lines, has_prompt } => {
                if *has_prompt && !output::write_open(PROMPT)? {
                    return Ok(InputLine::End);
                }
                match wait(lines, stop) {
                    Ok(line) => Ok(InputLine::Line(line.map_err(CliError::Input)?)),
                    Err(ended) => Ok(ended),
                }
            }
            SessionInput::Edited { requests, lines, .. } => {
                // The thread ends only after an error, which the channel still has.
                let _ = requests.send(moves());
                match wait(lines, stop) {
                    Ok(Ok(line)) => Ok(InputLine::Line(line.into_bytes())),
                    Ok(Err(ReadlineError::Eof)) => Ok(InputLine::End),
                    Ok(Err(ReadlineError::Io(error))) => Err(CliError::Input(error)),
                    Ok(Err(ReadlineError::Interrupted | ReadlineError::Signal(_))) => {
                        Ok(InputLine::Interrupted)
                    }
                    Ok(Err(error)) => Err(CliError::Input(io::Error::other(error))),
                    Err(ended) => {
                        self.restore();
                        // The cursor is behind the prompt.
                        output::write_open("\n")?;
                        Ok(ended)
                    }
                }
            }
        }
    }

    /// Restores the mode of the terminal while the editor still reads.
    fn restore(&self) {
        #[cfg(unix)]
        if let SessionInput::Edited { mode: Some(mode), .. } = self {
            use rustix::termios::{OptionalActions, tcsetattr};
            // Fails if the terminal has been closed.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, mode);
        }
    }
}

/// Waits for an item, or for the stop flag or the end of the items.
fn wait<T>(items: &Receiver<T>, stop: &AtomicBool) -> Result<T, InputLine> {
    loop {
        match items.recv_timeout(POLL_INTERVAL) {
            _ if stop.load(Ordering::Relaxed) => return Err(InputLine::Interrupted),
            Ok(item) => return Ok(item),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(InputLine::End),
        }
    }
}

/// Completes moves and commands.
struct SessionHelper {
    kind: SessionKind,
    moves: Vec<String>,
}

impl Completer for SessionHelper {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> Result<(usize, Vec<String>), ReadlineError> {
        let before = &line[..cursor];
        let start = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let (first, word) = (before[..start].trim(), &before[start..]);
        let commands = all_names(self.kind).filter(|_| first.is_empty()).map(str::to_owned);
        let moves = self.moves.iter().filter(|_| first.is_empty() || is_move(self.kind, first));
        let mut found: Vec<String> = commands
            .chain(moves.cloned())
            .filter(|candidate| candidate.starts_with(word))
            .collect();
        found.sort_unstable();
        Ok((start, found))
    }
}

impl Hinter for SessionHelper {
    type Hint = String;
}
impl Highlighter for SessionHelper {}
impl Validator for SessionHelper {}
impl Helper for SessionHelper {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_and_commands_are_completed() {
        let moves = || ["a1-a3", "a1-c1", "b2-b4"].map(str::to_owned).into();
        let history = MemHistory::new();
        let complete = |kind, line: &str| {
            let helper = SessionHelper { kind, moves: moves() };
            helper.complete(line, line.len(), &Context::new(&history)).expect("candidates")
        };
        let list = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let play = SessionKind::Play;
        assert_eq!(complete(play, "a1-"), (0, list(&["a1-a3", "a1-c1"])));
        assert_eq!(complete(play, "b"), (0, list(&["b2-b4", "board"])));
        assert_eq!(complete(play, "move b"), (5, list(&["b2-b4"])));
        assert_eq!(complete(play, "save b"), (5, list(&[])));
        assert_eq!(complete(play, "mor"), (0, list(&[])));
        assert_eq!(complete(SessionKind::Sprouts, "mo"), (0, list(&["more", "move", "moves"])));
    }
}
