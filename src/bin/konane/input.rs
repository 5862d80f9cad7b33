//! What comes in: the board and the position on it, and lines of standard input.

use std::io::{self, BufRead, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use clap::Args;

use super::exit::CliError;
use crate::flags::named;
use konane::notation::{parse_line, parse_position_as};
use konane::system::{STACK_BYTES, thread};
use konane::{Board, Dimensions, Move, PhaseChoice, Position};

/// A board and where on it to begin.
#[derive(Debug, Args)]
pub struct PositionArgs {
    /// Ranks x files, such as 6x6.
    #[arg(value_name = "RxF")]
    pub board: Dimensions,
    #[command(flatten)]
    pub begin: BeginArgs,
}

/// Where on a board to begin: at its start if nothing is said.
#[derive(Debug, Args)]
pub struct BeginArgs {
    /// Begin at this position: ranks from the top with / between them, x Black, o White, a number
    /// for that many empty squares, then b or w for the side to move: "xox/o1o/xox w".
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub position: Option<String>,
    /// Phase of --position: auto (a removal is next if fewer than two squares are empty) or jump (the
    /// players jump, as in "1ox b") [default: auto].
    #[arg(
        long,
        value_name = "PHASE",
        value_parser = named(PHASES, PhaseChoice::name),
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        requires = "position"
    )]
    pub phase: PhaseChoice,
    /// Play these moves first, from --position or from the start: squares to remove, then jumps
    /// such as "c3-c1" (file letters from the left, rank numbers from the bottom), with spaces or
    /// commas between them: "a4 a3".
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true)]
    pub moves: Option<String>,
}

impl PositionArgs {
    /// Builds the board and the position that the arguments describe.
    pub fn read(&self) -> Result<(Board, Position), CliError> {
        let (board, begin, moves) = self.begin.read(self.board)?;
        let position = moves.iter().fold(begin, |position, &mv| position.play(&board, mv));
        Ok((board, position))
    }
}

impl BeginArgs {
    /// Whether there is anything in it.
    pub fn given(&self) -> bool {
        self.position.is_some() || self.moves.is_some()
    }

    /// The board, the position before the moves, and the moves.
    pub fn read(&self, board: Dimensions) -> Result<(Board, Position, Vec<Move>), CliError> {
        let (board, begin) = match &self.position {
            Some(text) => parse_position_as(board, text, self.phase).map_err(CliError::Position)?,
            None => {
                let board = Board::new(board);
                let start = Position::start(&board);
                (board, start)
            }
        };
        let moves = self.moves.as_deref().unwrap_or_default();
        let moves = parse_line(&board, &begin, moves).map_err(CliError::Moves)?;
        Ok((board, begin, moves))
    }
}

/// Values of the option, with their help texts.
pub const PHASES: &[(PhaseChoice, &str)] = &[
    (PhaseChoice::Auto, "By the number of empty squares"),
    (PhaseChoice::Jump, "The jumping phase"),
];

/// Reads standard input to its end, or one byte more than the limit, so that the caller can tell
/// input that is too long. Returns nothing if the flag is set before that.
pub fn bytes_of_stdin(max_bytes: u64, stop: &AtomicBool) -> Result<Option<Vec<u8>>, CliError> {
    let (sender, receiver) = sync_channel(1);
    // On a thread of its own, so that a signal is noticed while nothing comes.
    let read = move || {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(max_bytes + 1).read_to_end(&mut bytes);
        // The receiver is gone if the flag was set.
        let _ = sender.send(read.map(|_| bytes));
    };
    thread("standard input", STACK_BYTES).spawn(read).map_err(CliError::Input)?;
    loop {
        match receiver.recv_timeout(PATIENCE) {
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

/// Lines that are read before they are answered.
const AHEAD: usize = 1024;

/// Bytes of a line: more than any position or command has. Without a limit, input without line feeds
/// would fill the memory.
const LONGEST_LINE: usize = 1 << 16;

/// Some editors put it before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Between two looks at the stop flag while no line comes.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// The lines of standard input without its byte order mark, read by a thread of its own, so that a
/// signal is noticed while no line comes.
pub fn lines_of_stdin() -> Result<Receiver<io::Result<Vec<u8>>>, CliError> {
    let (sender, receiver) = sync_channel(AHEAD);
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

/// The next line, without its line feed.
fn line_of(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let most = LONGEST_LINE as u64 + 1;
    if input.take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > LONGEST_LINE {
        let text = format!("a line has more than {LONGEST_LINE} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(Some(line))
}
