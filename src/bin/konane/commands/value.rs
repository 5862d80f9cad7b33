//! `konane value`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::{ArgGroup, Args};

use crate::args::{BeginArgs, LimitArgs, OutputArgs};
use crate::exit::{CliError, Exit};
use crate::output::{self, EndedJson};
use crate::progress::ProgressDisplay;
use konane::file::NewFile;
use konane::notation::{PositionError, parse_position_as};
use konane::search::Value;
use konane::search::run::Reason;
use konane::system::quote;
use konane::value::{
    CensusRow, MAX_CENSUS_SQUARES, SumValue, ValueComponent, ValueError, ValuePlan, ValueProgress,
    ValueTerm, census, evaluate, plan,
};
use konane::{
    Board, Colour, Dimensions, DimensionsError, MIN_MEMORY, Phase, PhaseChoice, Position,
    SolveError,
};

/// Maximum number of characters of a canonical form in the text output.
const MAX_SHOWN: usize = 1000;

/// `konane value`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("game").args(["board", "position", "add"]).required(true).multiple(true))]
#[command(after_help = concat!(
    "Left is Black, Right is White. Values are in the notation of CGSuite: *2 is a nimber, ^ is up,\n",
    "v is down, ±1 is {1|-1}, {a||b|c} is {a|{b|c}}, tiny(2) is {0||0|-2}. Sums are read, too: 1 + ^.\n\n",
    "Examples:\n",
    "  konane value --position \"xo2/2ox/1o1o/o1o1 b\"\n",
    "  konane value 4x4 --position \"xo2/2ox/1o1o/o1o1 b\" --thermograph hot.svg\n",
    "  konane value 4x4 --position \"xo2/2ox/1o1o/o1o1 b\" --add \"1x5 2xo1\" --add \"{2|-1}\"\n",
    "  konane value --add \"{2||1|0}\" --add \"-^*\"\n",
    "  konane value 4x4 --table > values.csv\n",
    "  konane value 6x6 --moves \"d3 d4\" --plan\n"
))]
pub struct ValueArgs {
    /// Ranks x files, such as 4x4; optional with --position and with --add.
    #[arg(value_name = "RxF")]
    pub board: Option<Dimensions>,
    #[command(flatten)]
    pub begin: BeginArgs,
    /// Add a term to a sum: a board and a position of the same --phase, such as "1x5 2xo1", or a game, such as
    /// "{2|-1}" or "*2". May be repeated.
    #[arg(long, value_name = "TERM", allow_hyphen_values = true, group = "phased")]
    pub add: Vec<String>,
    /// Draw the thermograph as an SVG document in this file.
    #[arg(long, value_name = "FILE")]
    pub thermograph: Option<PathBuf>,
    /// Print all values of the board as CSV, the hottest first: every set of stones is a position. With --json, one
    /// object per value. Excludes all options that give a position or a game.
    #[arg(long, requires = "board",
          conflicts_with_all = ["position", "moves", "add", "thermograph"])]
    pub table: bool,
    /// Estimate the positions, memory and time that the evaluation takes, without evaluating. Counts up to --max-nodes positions of
    /// each board [default: 2 million], and extrapolates the rest.
    #[arg(long, conflicts_with_all = ["table", "thermograph"])]
    pub plan: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Evaluates and prints.
pub fn run(args: &ValueArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    output::must_be_open()?;
    let begun = Instant::now();
    let limits = args.limits.started_at(begun, stop);
    let memory = args.limits.memory.memory;
    must_suffice(memory)?;
    let progress = ProgressDisplay::new(args.output.quiet);
    let mut observer = |now: &ValueProgress| {
        progress.update(|_| {
            let values = match args.plan {
                true => String::new(),
                false => format!(", {} values", output::grouped(now.games)),
            };
            let (positions, memory) =
                (output::grouped(now.positions), output::bytes(now.memory_bytes));
            format!("{positions} positions{values}, {memory}")
        });
    };
    if let Some(board) = args.board.filter(|_| args.table) {
        if board.squares() > MAX_CENSUS_SQUARES {
            return Err(CliError::Usage(format!(
                "--table: {board} has 2^{} positions: the board may have at most {MAX_CENSUS_SQUARES} squares",
                board.squares()
            )));
        }
        let board = args.begin.phase.board(board);
        let rows = census(&board, limits, memory, &mut observer);
        drop(progress);
        let written = rows.map_err(CliError::ValueLimit).and_then(|rows| {
            let text = match args.output.json {
                true => rows.iter().map(output::json).collect::<Result<_, _>>()?,
                false => csv(&rows),
            };
            output::write_text(text).map(|()| Exit::Answered)
        });
        return output::ended(args.output.json, written, |reason| EndedJson { reason });
    }
    let is_board_given = args.board.is_some() || args.begin.given();
    let first = is_board_given.then(|| {
        let board = args.board.map_or_else(|| args.begin.board(), Ok)?;
        args.begin.read_end(board)
    });
    let (terms, to_move) = terms(first.transpose()?, &args.add, args.begin.phase)?;
    if args.plan {
        let plan = plan(&terms, limits, memory, &mut observer).map_err(sum_error)?;
        drop(progress);
        output::answer(args.output.json, &plan, |plan| plan_text(plan, to_move, memory))?;
        return Ok(match plan.reason {
            Some(Reason::Interrupted) => Exit::Interrupted,
            reason if plan.positions.is_none() => reason.into(),
            _ => Exit::Answered,
        });
    }
    if let Some(path) = &args.thermograph {
        output::must_be_svg("--thermograph", path)?;
    }
    let file = args.thermograph.as_deref().map(|path| NewFile::create(path, 0)).transpose()?;
    let found = evaluate(&terms, to_move, limits, memory, &mut observer);
    let found = found.map_err(sum_error)?;
    drop(progress);
    match (file, &found.thermograph) {
        (Some(mut file), Some(thermograph)) => {
            let title: String = found.value.chars().take(MAX_SHOWN).collect();
            file.put(thermograph.svg(&title).as_bytes())?;
            file.finish()?;
        }
        (Some(_), None) => {
            output::warn("--thermograph: the thermograph is unknown: no file was written")
        }
        (None, _) => {}
    }
    output::answer(args.output.json, &found, text)?;
    Ok(found.reason.into())
}

/// Refuses less memory than a search needs.
pub fn must_suffice(memory: u64) -> Result<(), CliError> {
    match memory {
        bytes if bytes < MIN_MEMORY => Err(SolveError::TooLittleMemory { bytes }.into()),
        _ => Ok(()),
    }
}

/// Reads the terms of a sum: a position, if there is one, and those of `--add`. Also returns the player to move.
pub fn terms(
    first: Option<(Board, Position)>,
    add: &[String],
    phase: PhaseChoice,
) -> Result<(Vec<ValueTerm>, Colour), CliError> {
    let to_move = first.as_ref().map_or(Colour::Black, |(_, position)| position.to_move());
    let first = first.map(|(board, position)| ValueTerm::Position(Arc::new(board), position));
    let mut terms: Vec<ValueTerm> = first.into_iter().collect();
    for text in add {
        let term = term(text, phase);
        let wrong = |error| CliError::Term { text: quote(text), error: Box::new(error) };
        terms.push(term.map_err(wrong)?);
    }
    Ok((terms, to_move))
}

/// Reads a term: a board with a position, or a game.
fn term(text: &str, phase: PhaseChoice) -> Result<ValueTerm, CliError> {
    let (first, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_board = first.split_once(['x', 'X']).is_some_and(|(r, f)| is_number(r) && is_number(f));
    if !is_board {
        return Ok(ValueTerm::Game(text.to_owned()));
    }
    let board: Dimensions =
        first.parse().map_err(|error: DimensionsError| CliError::Usage(error.to_string()))?;
    if rest.trim().is_empty() {
        let (ranks, files) = (board.ranks() as usize, board.files());
        let example = vec![files.to_string(); ranks].join("/");
        return Err(CliError::Usage(format!(
            "the position after the board is missing; the empty board, for example, is \"{board} {example}\""
        )));
    }
    let read = match parse_position_as(board, rest, phase) {
        // The side to move is that of the whole sum, and may be omitted here.
        Err(PositionError::MissingSide) => parse_position_as(board, &format!("{rest} b"), phase),
        read => read,
    };
    let (board, position) = read.map_err(CliError::Position)?;
    match position.phase(&board) {
        Phase::Jumping => Ok(ValueTerm::Position(Arc::new(board), position)),
        _ => Err(ValueError::Removal(position).into()),
    }
}

/// Returns the error of a sum. The message quotes the text of a game.
pub fn sum_error(error: ValueError) -> CliError {
    match error {
        ValueError::Game(error) => CliError::Usage(format!("--add {error}")),
        error => error.into(),
    }
}

/// Returns the name of a sum, and rows with its terms.
fn head(board: Option<Dimensions>, terms: &[String]) -> (String, Vec<(&'static str, String)>) {
    let name = match (board, terms.len()) {
        (Some(board), _) => board.to_string(),
        (None, 1) => "one game".to_owned(),
        (None, terms) => format!("sum of {terms} terms"),
    };
    let row =
        |(number, term)| (if number == 1 { "terms" } else { "" }, format!("{number}: {term}"));
    (name, (1..).zip(terms).map(row).collect())
}

/// Returns an estimate with two digits.
fn estimate(number: u64) -> String {
    let unit = 10_u64.pow(number.max(1).ilog10().saturating_sub(1));
    output::large((number / unit * unit).into())
}

/// Returns the text of a plan.
fn plan_text(plan: &ValuePlan, to_move: Colour, memory: u64) -> String {
    let (head, mut rows) = head(plan.board, &plan.terms);
    let positions = match (plan.positions, plan.reason) {
        (Some(positions), None) => output::grouped(positions),
        (Some(positions), Some(reason)) => {
            let share = match 100.0 * plan.counted as f64 / positions as f64 {
                percent if percent < 0.1 => "less than 0.1 %".to_owned(),
                percent => format!("{percent:.1} %"),
            };
            let end = match reason {
                Reason::NodeLimit => String::new(),
                reason => format!(" ({})", reason.text()),
            };
            format!("about {}, {share} of them counted{end}", estimate(positions))
        }
        (None, reason) => format!("unknown ({})", reason.map_or("", Reason::text)),
    };
    rows.push(("positions", positions));
    if let Some(needed) = plan.memory_bytes {
        let relation = if needed > memory { "more than" } else { "of" };
        let [needed, given] = [needed, memory].map(output::bytes);
        rows.push(("memory", format!("about {needed}, {relation} the {given} of --memory")));
    }
    if let Some(seconds) = plan.evaluation_seconds {
        rows.push(("time", format!("about {}", output::time(seconds))));
    }
    output::rows(&format!("{head}, {to_move} to move"), &rows)
}

/// Returns the text of the result.
fn text(found: &SumValue) -> String {
    let SumValue { to_move, class, .. } = *found;
    let (head, mut rows) = head(found.board, &found.terms);
    match found.reason {
        Some(reason) => rows.push(("value", format!("unknown ({})", reason.text()))),
        None => rows.push(("value", shown(&found.value))),
    }
    if let Some(class) = class {
        rows.push(("class", output::class(class)));
        rows.push((
            "winner",
            format!("{}, as {to_move} is to move", found.winner.unwrap_or(to_move)),
        ));
        let number = |number: Option<_>| {
            number.map_or("unknown".to_owned(), |n: konane::cgt::Dyadic| n.to_string())
        };
        rows.push(("mean", number(found.mean)));
        rows.push(("temperature", number(found.temperature)));
        let (left, right) = (number(found.left_stop), number(found.right_stop));
        rows.push(("stops", format!("{left} if Black begins, {right} if White begins")));
    }
    if found.components.len() > 1 {
        for (number, component) in (1..).zip(&found.components) {
            rows.push((if number == 1 { "components" } else { "" }, component_text(component)));
        }
        let hottest = found.components.iter().max_by_key(|component| component.temperature);
        if let Some(hottest) = hottest.filter(|hottest| hottest.temperature.is_some()) {
            rows.push(("hottest", component_text(hottest)));
        }
    }
    for (name, outcome) in [("winning", Value::Win), ("losing", Value::Loss)] {
        let moves = found.moves.iter().filter(|mv| mv.outcome == outcome);
        let moves: Vec<String> = moves
            .map(|mv| match mv.term {
                Some(term) => format!("{term}:{}", mv.mv),
                None => mv.mv.to_string(),
            })
            .collect();
        if !moves.is_empty() {
            rows.push((name, output::wrapped(&moves, output::ROW_INDENT)));
        }
    }
    let (nodes, games) = (output::grouped(found.nodes), output::counted(found.games, "value"));
    rows.push(("positions", format!("{nodes}, with {games}")));
    rows.push(("memory", output::bytes(found.memory_bytes)));
    rows.push(("time", output::time(found.seconds)));
    output::rows(&format!("{head}, {to_move} to move"), &rows)
}

/// Returns a canonical form, abbreviated if it is long.
fn shown(value: &str) -> String {
    let len = value.chars().count();
    if len <= MAX_SHOWN {
        return value.to_owned();
    }
    let mut text: String = value.chars().take(MAX_SHOWN).collect();
    let _ = write!(text, "… ({} characters: --json prints all)", output::grouped(len as u64));
    text
}

fn component_text(component: &ValueComponent) -> String {
    let names: Vec<String> = component.squares.iter().map(ToString::to_string).collect();
    let mut text = component.term.map_or(String::new(), |term| format!("term {term}: "));
    if !names.is_empty() {
        let _ = write!(text, "{}: ", names.join(" "));
    }
    text += &shown(&component.value);
    if let Some(temperature) = component.temperature {
        let _ = write!(text, ", temperature {temperature}");
    }
    text
}

/// Returns the values of a board as CSV.
fn csv(rows: &[CensusRow]) -> String {
    let mut text = "value,class,mean,temperature,positions,example\n".to_owned();
    for row in rows {
        let CensusRow { value, class, mean, temperature, positions, example } = row;
        let _ = writeln!(
            text,
            "\"{value}\",{},{mean},{temperature},{positions},{example}",
            class.letter()
        );
    }
    text
}
