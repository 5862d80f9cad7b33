//! `konane probe`.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};

use clap::Args;

use crate::args::PositionArgs;
use crate::args::database;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::stdin::{POLL_INTERVAL, lines_of_stdin};
use konane::notation::parse_position_as;
use konane::search::Value;
use konane::tablebase::{Database, Probe, RatedMove, probe};
use konane::{Board, Position};

/// `konane probe`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "With neither --position nor --moves, positions are read from standard input, one per line. If\n",
    "it is a terminal, the start position is looked up instead. Empty lines and text after a # are\n",
    "ignored.\n\n",
    "Examples:\n",
    "  konane probe 4x5 --moves \"a4 a3\"\n",
    "  konane probe 4x5 --position \"xoxox/o1oxo/x1xox/oxoxo b\" --json\n",
    "  konane probe 4x5 --json - < positions.txt\n"
))]
pub struct ProbeArgs {
    #[command(flatten)]
    pub start: PositionArgs,
    /// Read positions from standard input, even from a terminal.
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true,
          conflicts_with_all = ["position", "moves"])]
    pub stdin: Option<String>,
    /// The directory of databases, or a database.
    #[arg(long, value_name = "DIR", default_value = "db")]
    pub db: PathBuf,
    /// Print JSON instead of text: one object, or one per line for positions from standard input.
    #[arg(long)]
    pub json: bool,
}

/// Maximum size of the answers that are buffered while more lines are available.
const BUFFER: usize = 1 << 16;

/// Looks up and prints.
pub fn run(args: &ProbeArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begin = &args.start.begin;
    let named =
        begin.moves.is_some() || begin.position.as_deref().is_some_and(|text| text.trim() != "-");
    let is_stdin_requested = args.stdin.is_some() || begin.position.is_some();
    if !named && (is_stdin_requested || !io::stdin().is_terminal()) {
        let database = database::open(&args.db, args.start.board, None)?;
        let (lines, exit) = answer_lines(args, &database, stop)?;
        // An empty list after `-` is valid. Without `-`, empty input is an error.
        let is_missing = lines == 0 && !is_stdin_requested && exit == Exit::Answered;
        return match is_missing {
            true => Err(CliError::Usage(
                "no position: give --position or --moves, or positions on standard input, one per line"
                    .to_owned(),
            )),
            false => Ok(exit),
        };
    }
    // Before the database is opened, so that invalid input is reported first.
    let (board, position) = args.start.read()?;
    must_be_covered(&board, &position)?;
    let database = database::open(&args.db, args.start.board, Some(&position))?;
    let answer = probe(&database, &position)?;
    if args.json {
        output::write_json(&answer)?;
    } else {
        output::write_text(text(&database, &position, &answer))?;
    }
    Ok(Exit::Answered)
}

/// Answers every line of standard input with one line, until its end, an interruption or a closed pipe.
/// Returns the number of lines and the exit code.
fn answer_lines(
    args: &ProbeArgs,
    database: &Database,
    stop: &AtomicBool,
) -> Result<(u64, Exit), CliError> {
    let lines = lines_of_stdin()?;
    let (mut number, mut exit, mut out) = (0u64, Exit::Answered, String::new());
    loop {
        if stop.load(Ordering::Relaxed) {
            output::write_text(&out)?;
            return Ok((number, Exit::Interrupted));
        }
        let line = match lines.try_recv() {
            Ok(line) => line,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                // The writer of the input may be waiting for these answers.
                if !write(&mut out)? {
                    return Ok((number, exit));
                }
                match lines.recv_timeout(POLL_INTERVAL) {
                    Ok(line) => line,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        };
        number += 1;
        let line = line.map_err(CliError::Input)?;
        let line = String::from_utf8_lossy(&line);
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        match answer_line(args, database, line) {
            Ok(answer) => out += &answer,
            Err(error) => {
                output::report_error(&format!("line {number}: {error}"), None);
                // The exit code of an unreadable file has precedence.
                if exit != Exit::File {
                    exit = error.exit();
                }
            }
        }
        if out.len() >= BUFFER && !write(&mut out)? {
            return Ok((number, exit));
        }
    }
    output::write_text(&out)?;
    Ok((number, exit))
}

/// Writes the buffered answers. Returns false if the pipe is closed.
fn write(out: &mut String) -> Result<bool, CliError> {
    let open = out.is_empty() || output::write_open(out.as_str())?;
    out.clear();
    Ok(open)
}

fn answer_line(args: &ProbeArgs, database: &Database, line: &str) -> Result<String, CliError> {
    let read = parse_position_as(args.start.board, line, args.start.begin.phase);
    let (board, position) = read.map_err(|error| CliError::Usage(error.to_string()))?;
    must_be_covered(&board, &position)?;
    let answer = probe(database, &position)?;
    if args.json {
        return output::json(&answer);
    }
    let moves: Vec<String> = answer
        .moves
        .iter()
        .map(|rated| {
            let in_plies = in_plies(rated.remoteness.map(|plies| plies + 1));
            let mv = rated.mv.to_string();
            format!("{mv} {}{in_plies}", rated.outcome.name())
        })
        .collect();
    let (position, outcome) = (position.to_string(), answer.outcome.name());
    let outcome = format!("{outcome}{}", in_plies(answer.remoteness));
    let moves = if moves.is_empty() { "no moves".to_string() } else { moves.join(", ") };
    Ok(format!("{position}: {outcome}; {moves}\n"))
}

/// Returns an error for a position that no database contains.
fn must_be_covered(board: &Board, position: &Position) -> Result<(), CliError> {
    if position.is_early_jump(board) {
        let position = position.to_string();
        return Err(CliError::Usage(format!(
            "{position:?} has fewer than two empty squares and is in the jumping phase; databases \
             cover games that begin with two removals and do not contain it: use `konane solve`"
        )));
    }
    Ok(())
}

/// Returns the text that follows an outcome with known remoteness.
fn in_plies(plies: Option<u32>) -> String {
    plies.map_or(String::new(), |plies| format!(" in {plies}"))
}

fn text(database: &Database, position: &Position, answer: &Probe) -> String {
    let board = database.board();
    let (dimensions, to_move) = (board.dimensions(), position.to_move());
    let none = format!("none: {to_move} cannot move");
    let list = |outcome: Value| {
        let moves = answer.moves.iter().filter(|rated| rated.outcome == outcome);
        let text = |rated: &RatedMove| {
            let plies = rated.remoteness.map_or(String::new(), |plies| format!(" ({})", plies + 1));
            rated.mv.to_string() + &plies
        };
        let moves: Vec<String> = moves.map(text).collect();
        match (moves.is_empty(), answer.moves.is_empty()) {
            (true, true) => none.clone(),
            (true, false) => "none".to_string(),
            _ => moves.join(" "),
        }
    };
    let length = match answer.remoteness {
        None | Some(0) => String::new(),
        Some(count) => format!(", in {}", output::plies(count)),
    };
    let rows = [
        ("position", position.to_string()),
        ("winner", answer.winner.to_string() + &length),
        ("winning", list(Value::Win)),
        ("losing", list(Value::Loss)),
        ("database", database.directory().display().to_string()),
    ];
    output::rows(&format!("{dimensions}, {to_move} to move"), &rows)
}
