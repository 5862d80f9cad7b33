//! `konane probe`.

use std::io::{self, BufRead, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::Duration;

use super::args::ProbeArgs;
use super::database::{self, MoveJson, ProbeJson};
use super::exit::Exit;
use super::output;
use super::{CliError, input};
use crate::endgame::{Database, Outcome, Probe, probe};
use crate::konane::Position;
use crate::konane::notation::{format_move, format_position, parse_position};

/// Lines that are read before they are answered.
const AHEAD: usize = 1024;

/// Answers that are collected before they are written, as long as more lines are waiting.
const BUFFER: usize = 1 << 16;

/// Between two looks at the stop flag while no line comes.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);

/// Looks up and prints.
pub fn run(args: &ProbeArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let named = args.start.moves.is_some()
        || args.start.position.as_deref().is_some_and(|text| text.trim() != "-");
    let from_stdin = !named
        && (args.stdin.is_some() || args.start.position.is_some() || !io::stdin().is_terminal());
    if from_stdin {
        let database = database::open(&args.db, args.start.board)?;
        return answer_lines(args, &database, stop);
    }
    // Before the database, so that bad input is found without one.
    let (_, position) = input::start(&args.start)?;
    let database = database::open(&args.db, args.start.board)?;
    let answer = probe(&database, &position)?;
    if args.json {
        output::write_json(&object(&database, &position, &answer))?;
    } else {
        output::write_text(&text(&database, &position, &answer))?;
    }
    Ok(Exit::Answered)
}

/// Answers every line of standard input by one line, until its end, an interruption, or until
/// nobody reads the answers any more.
fn answer_lines(
    args: &ProbeArgs,
    database: &Database,
    stop: &AtomicBool,
) -> Result<Exit, CliError> {
    let lines = lines_of_stdin();
    let (mut number, mut exit, mut out) = (0u64, Exit::Answered, String::new());
    loop {
        if stop.load(Ordering::Relaxed) {
            output::write_text(&out)?;
            return Ok(Exit::Interrupted);
        }
        let line = match lines.try_recv() {
            Ok(line) => line,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                // Whoever waits for answers before asking on gets them.
                if !write(&mut out)? {
                    return Ok(exit);
                }
                match lines.recv_timeout(PATIENCE) {
                    Ok(line) => line,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        };
        number += 1;
        let line = line.map_err(CliError::Input)?;
        let line = String::from_utf8_lossy(&line);
        if line.trim().is_empty() {
            continue;
        }
        match answer_line(args, database, &line) {
            Ok(answer) => out += &answer,
            Err(error) => {
                output::complain(&format!("line {number}: {error}"));
                // A file that cannot be read outweighs lines that cannot.
                if exit != Exit::File {
                    exit = error.exit();
                }
            }
        }
        if out.len() >= BUFFER && !write(&mut out)? {
            return Ok(exit);
        }
    }
    output::write_text(&out)?;
    Ok(exit)
}

/// Writes what has collected. False if nobody reads any more.
fn write(out: &mut String) -> Result<bool, CliError> {
    let open = out.is_empty() || output::write_open(out)?;
    out.clear();
    Ok(open)
}

/// The lines of standard input, read by a thread of its own, so that a signal is noticed while no
/// line comes.
pub(super) fn lines_of_stdin() -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = sync_channel(AHEAD);
    std::thread::spawn(move || {
        for line in io::stdin().lock().split(b'\n') {
            let failed = line.is_err();
            if sender.send(line).is_err() || failed {
                break;
            }
        }
    });
    receiver
}

fn answer_line(args: &ProbeArgs, database: &Database, line: &str) -> Result<String, CliError> {
    let position = parse_position(database.board(), line).map_err(CliError::Line)?;
    let answer = probe(database, &position)?;
    if args.json {
        return output::json(&object(database, &position, &answer));
    }
    let board = database.board();
    let moves: Vec<String> = answer
        .moves
        .iter()
        .map(|rated| {
            format!("{} {}", format_move(board.dimensions(), rated.mv), rated.outcome.name())
        })
        .collect();
    let (position, outcome) = (format_position(board, &position), answer.outcome.name());
    let moves = if moves.is_empty() { "no moves".to_string() } else { moves.join(", ") };
    Ok(format!("{position}: {outcome}; {moves}\n"))
}

fn object(database: &Database, position: &Position, answer: &Probe) -> ProbeJson {
    let board = database.board();
    let moves = answer.moves.iter().map(|rated| MoveJson {
        mv: format_move(board.dimensions(), rated.mv),
        outcome: rated.outcome.name(),
    });
    ProbeJson {
        board: board.dimensions().to_string(),
        position: format_position(board, position),
        to_move: position.to_move().name(),
        outcome: answer.outcome.name(),
        moves: moves.collect(),
    }
}

fn text(database: &Database, position: &Position, answer: &Probe) -> String {
    let board = database.board();
    let (dimensions, to_move) = (board.dimensions(), position.to_move());
    let winner = match answer.outcome {
        Outcome::Win => to_move,
        Outcome::Loss => !to_move,
    };
    let none = format!("none: {to_move} cannot move");
    let list = |outcome: Outcome| {
        let moves = answer.moves.iter().filter(|rated| rated.outcome == outcome);
        let moves: Vec<String> = moves.map(|rated| format_move(dimensions, rated.mv)).collect();
        match (moves.is_empty(), answer.moves.is_empty()) {
            (true, true) => none.clone(),
            (true, false) => "none".to_string(),
            _ => moves.join(" "),
        }
    };
    let rows = [
        ("position", format_position(board, position)),
        ("winner", winner.to_string()),
        ("winning", list(Outcome::Win)),
        ("losing", list(Outcome::Loss)),
        ("database", database.directory().display().to_string()),
    ];
    database::rows(&format!("{dimensions}, {to_move} to move"), &rows)
}
