//! `konane probe`.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::Args;

use crate::args::{BeginArgs, board, database};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::stdin::answer_lines;
use konane::notation::{is_partial_diagram, parse_position_as};
use konane::search::Value;
use konane::tablebase::{Database, Manifest, Probe, RatedMove, probe};
use konane::{Board, Dimensions, Position};

/// `konane probe`.
#[derive(Debug, Args)]
#[command(override_usage = "konane probe [OPTIONS] [RxF [-]]")]
#[command(after_help = concat!(
    "With neither --position nor --moves, positions are read from standard input, one per line. If\n",
    "it is a terminal, the start position is looked up instead. Empty lines and text after a # are\n",
    "ignored. Without a board, the databases are listed.\n\n",
    "Examples:\n",
    "  konane probe\n",
    "  konane probe 4x5 --moves \"a4 a3\"\n",
    "  konane probe 4x5 --position \"xoxox/o1oxo/x1xox/oxoxo b\" --json\n",
    "  konane probe 4x5 --json - < positions.txt\n",
    "  konane probe 4x5 --csv - < positions.txt > values.csv\n"
))]
pub struct ProbeArgs {
    /// Ranks x files, such as 6x6; optional with --position.
    #[arg(value_name = "RxF", value_parser = board)]
    pub board: Option<Dimensions>,
    #[command(flatten)]
    pub begin: BeginArgs,
    /// Read positions from standard input, even from a terminal.
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true,
          conflicts_with_all = ["position", "moves"])]
    pub stdin: Option<String>,
    /// The directory of databases, or a database. May be repeated: the first database of the board is used.
    #[arg(long, value_name = "DIR", default_value = database::default_directory())]
    pub db: Vec<PathBuf>,
    /// Print JSON instead of text: one object, or one per line for positions from standard input.
    #[arg(long)]
    pub json: bool,
    /// Print comma-separated values with a header line; moves are separated by spaces.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// Header line of `--csv`.
const CSV_HEADER: &str = "position,winner,remoteness,winning,losing,class\n";

/// Maximum size of the answers that are buffered while more lines are available.
const MAX_BUFFERED: usize = 1 << 16;

/// Looks up and prints.
pub fn run(args: &ProbeArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begin = &args.begin;
    if args.board.is_none() && !begin.given() {
        return list(args);
    }
    let dimensions = args.board.map_or_else(|| begin.board(), Ok)?;
    let named =
        begin.moves.is_some() || begin.position.as_deref().is_some_and(|text| text.trim() != "-");
    let is_stdin_requested = args.stdin.is_some() || begin.position.is_some();
    if !named && (is_stdin_requested || !io::stdin().is_terminal()) {
        let database = database::open(&args.db, dimensions, None)?;
        if args.csv {
            output::write_text(CSV_HEADER.to_owned())?;
        }
        let answer =
            |line: &str| Ok((answer_line(args, dimensions, &database, line)?, Exit::Answered));
        let is_partial = |text: &str| is_partial_diagram(dimensions, text);
        let (lines, exit) = answer_lines(MAX_BUFFERED, stop, is_partial, answer)?;
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
    let (board, position) = begin.read_end(dimensions)?;
    Database::must_be_standard(&position)?;
    let database = database::open(&args.db, board.dimensions(), Some(&position))?;
    let answer = probe(&database, &position)?;
    if args.json {
        output::write_json(&answer)?;
    } else if args.csv {
        output::write_text(CSV_HEADER.to_owned() + &csv_row(&position, &answer))?;
    } else {
        output::write_text(text(&database, &position, &answer))?;
    }
    Ok(Exit::Answered)
}

/// Prints the databases with an example for the first one.
fn list(args: &ProbeArgs) -> Result<Exit, CliError> {
    if let Some(form) = args.json.then_some("--json").or(args.csv.then_some("--csv")) {
        let text = format!("no board: write one, such as 6x6, or omit {form}");
        return Err(CliError::Usage(text));
    }
    let listed: Result<Vec<_>, _> = args.db.iter().map(|path| Database::list(path)).collect();
    let (mut text, mut example) = (String::new(), None);
    for (path, manifest) in listed?.into_iter().flatten() {
        match manifest {
            Ok(manifest) => {
                let Manifest { dimensions, scope, .. } = manifest;
                let (stones, metric) = (manifest.max_stones(), manifest.metric());
                let size = manifest.layers.iter().map(|layer| layer.bytes).sum();
                let head = database::heading(dimensions, scope, stones, metric);
                let rows = [
                    ("directory", path.display().to_string()),
                    (
                        "files",
                        format!(
                            "{}, {}",
                            output::counted(manifest.layers.len() as u64, "layer"),
                            output::bytes(size)
                        ),
                    ),
                ];
                text += &output::rows(&head, &rows);
                example.get_or_insert(dimensions);
            }
            Err(error) => output::warn(&error.to_string()),
        }
    }
    let Some(dimensions) = example else {
        return Err(database::none_in(&args.db[0]).into());
    };
    let db: String = match &args.db[..] {
        [path] if path.as_os_str() == database::default_directory() => String::new(),
        named => named.iter().map(|path| format!(" --db {}", path.display())).collect(),
    };
    let start = Position::start(&Board::new(dimensions)).to_string();
    text +=
        &format!("\nTo look a position up: konane probe {dimensions} --position {start:?}{db}\n");
    output::write_text(text)?;
    Ok(Exit::Answered)
}

fn answer_line(
    args: &ProbeArgs,
    dimensions: Dimensions,
    database: &Database,
    line: &str,
) -> Result<String, CliError> {
    let read = parse_position_as(dimensions, line, args.begin.phase);
    let (_, position) = read.map_err(|error| CliError::Usage(error.to_string()))?;
    let answer = probe(database, &position)?;
    if args.json {
        return output::json(&answer);
    }
    if args.csv {
        return Ok(csv_row(&position, &answer));
    }
    let moves: Vec<String> = answer
        .moves
        .iter()
        .map(|rated| {
            let in_plies = in_plies(rated.remoteness);
            let mv = rated.mv.to_string();
            format!("{mv} {}{in_plies}", rated.outcome.name())
        })
        .collect();
    let (position, outcome) = (position.to_string(), answer.outcome.name());
    let class = answer.class.map_or(String::new(), |class| format!(", class {}", class.letter()));
    let outcome = format!("{outcome}{}{class}", in_plies(answer.remoteness));
    let moves = if moves.is_empty() { "no moves".to_string() } else { moves.join(", ") };
    Ok(format!("{position}: {outcome}; {moves}\n"))
}

/// Returns the line of `--csv`. No field contains a comma or a quotation mark.
fn csv_row(position: &Position, answer: &Probe) -> String {
    let moves = |outcome: Value| {
        let moves = answer.moves.iter().filter(|rated| rated.outcome == outcome);
        moves.map(|rated| rated.mv.to_string()).collect::<Vec<_>>().join(" ")
    };
    let remoteness = answer.remoteness.map_or(String::new(), |plies| plies.to_string());
    let class = answer.class.map_or(String::new(), |class| class.letter().to_string());
    let (winning, losing) = (moves(Value::Win), moves(Value::Loss));
    format!("{position},{},{remoteness},{winning},{losing},{class}\n", answer.winner.name())
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
        let text = |rated: &RatedMove| output::move_and_plies(rated.mv, rated.remoteness);
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
    let mut rows = vec![
        ("position", position.to_string()),
        ("winner", answer.winner.to_string() + &length),
        ("winning", list(Value::Win)),
        ("losing", list(Value::Loss)),
        ("database", database.directory().display().to_string()),
    ];
    if let Some(class) = answer.class {
        rows.insert(2, ("class", output::class(class)));
    }
    output::rows(&format!("{dimensions}, {to_move} to move"), &rows)
}
