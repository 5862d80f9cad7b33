//! `konane sprouts play`: a game against the analysis, line by line.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use crate::args::{SearchMemoryArg, ThreadsArg};
use crate::commands::sprouts::engine::{NumbersArg, analyst};
use crate::commands::sprouts::text::{self, TextArg};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::progress::Progress;
use crate::repl::{Next, Talk, talk};
use crate::terminal_text::TerminalText;
use konane::search::Value;
use konane::search::run::{Limits, Reason};
use konane::sprouts::Position;
use konane::sprouts::analysis::{Analysis, Analyst, ChildValue, Goal};
use konane::system::parse_duration;

/// `konane sprouts play`.
#[derive(Debug, Args)]
#[command(after_help = format!("{}\n\n{}\n\n{}", text::HELP, concat!(
    "The program plays perfectly as long as it finds out in --time who wins, and says why it plays\n",
    "its moves. It reads a move or one of the words moves, more, position, hint, undo, new, help and\n",
    "quit from each line of standard input."
), concat!(
    "Examples:\n",
    "  konane sprouts play \"0*5\"\n",
    "  konane sprouts play \"0*11\" --side first --time 30s\n"
)))]
pub struct PlayArgs {
    #[command(flatten)]
    pub text: TextArg,
    /// The player that you are [default: the one that loses].
    #[arg(long, value_name = "SIDE")]
    pub side: Option<Side>,
    /// Time to think about each move and hint, such as 500ms, 10s or 5m.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration,
          allow_hyphen_values = true)]
    pub time: Duration,
    #[command(flatten)]
    pub threads: ThreadsArg,
    #[command(flatten)]
    pub memory: SearchMemoryArg,
    #[command(flatten)]
    pub numbers: NumbersArg,
}

/// A player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Side {
    /// Makes the first move.
    First,
    /// Makes the second move.
    Second,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::First => "first",
            Side::Second => "second",
        }
    }
}

const HELP: &str = "\
Write a move: its number in the list (3, or #3), or the position after it (1a1a).
  moves       your moves, winning ones first; more goes on where a long list was cut
  position    the position, its lands and their Grundy numbers (board is the same)
  hint        a winning move, if there is one
  undo        take your last move back
  new [TEXT]  a new game, from another position if you name one
  quit        end the game
";

/// Moves that are listed at once.
const PAGE: usize = 20;

/// Plays until the game is over, the input ends or somebody quits.
pub fn run(args: &PlayArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let position = args.text.read()?;
    let threads = args.threads.of("dfpn", ["dfpn"])?;
    let analyst = analyst(args.memory, &args.numbers)?.threads(threads);
    let PlayArgs { time, side: wanted, .. } = *args;
    let side = wanted.unwrap_or(Side::First);
    let mut session = Session {
        analyst,
        has_lost_file: false,
        time,
        stop,
        wanted,
        side,
        played: Vec::new(),
        list: None,
        shown: 0,
    };
    let introduction = session.begin(position)?;
    let exit = talk(&mut session, introduction, stop);
    session.analyst.close()?;
    match exit {
        Ok(Exit::Answered) if session.has_lost_file => Ok(Exit::File),
        exit => exit,
    }
}

/// A game of a person and the program.
struct Session<'s> {
    analyst: Analyst,
    /// Whether the file of numbers could not be written.
    has_lost_file: bool,
    time: Duration,
    stop: &'s AtomicBool,
    /// The side that the person has chosen, if any.
    wanted: Option<Side>,
    /// The person's.
    side: Side,
    /// All positions so far.
    played: Vec<Position>,
    /// What is known about the person's moves, once they have been listed.
    list: Option<Analysis>,
    /// How many of them have been shown.
    shown: usize,
}

impl Session<'_> {
    fn position(&self) -> &Position {
        self.played.last().expect("the beginning stays")
    }

    fn to_move(&self) -> Side {
        if self.played.len() % 2 == 1 { Side::First } else { Side::Second }
    }

    /// What can be found out about a position in the time. Its moves are listed however long that takes.
    fn think(&mut self, goal: Goal, position: &Position) -> Result<Analysis, CliError> {
        let deadline = Instant::now().checked_add(self.time);
        let limits = Limits { deadline, stop: Some(self.stop), ..Limits::default() };
        let progress = Progress::new(false);
        progress.live(format!("thinking about {position}"));
        let analysis = self.analyst.analyse_until(goal, position, limits, &mut |_| {})?;
        drop(progress);
        match analysis.reason {
            Some(Reason::FileError) if let Some(error) = self.analyst.close_failed_file() => {
                output::warn(&format!("{error}; numbers that are found are not kept"));
                self.has_lost_file = true;
                self.think(goal, position)
            }
            Some(Reason::TimeLimit) if analysis.children.is_empty() => self.look(position),
            _ => Ok(analysis),
        }
    }

    /// What is known without a search.
    fn look(&mut self, position: &Position) -> Result<Analysis, CliError> {
        let limits = Limits { nodes: Some(0), stop: Some(self.stop), ..Limits::default() };
        Ok(self.analyst.analyse_until(Goal::Winner, position, limits, &mut |_| {})?)
    }

    /// Begins a game. What to say about it.
    fn begin(&mut self, position: Position) -> Result<String, CliError> {
        let analysis = self.think(Goal::Winner, &position)?;
        self.played = vec![position];
        let winner = analysis.outcome.map(|outcome| match outcome {
            Value::Win => Side::First,
            Value::Loss => Side::Second,
        });
        let loser = match winner {
            Some(Side::Second) => Side::First,
            _ => Side::Second,
        };
        self.side = self.wanted.unwrap_or(loser);
        let wins = match winner {
            None => format!("In {} I did not find out who wins", self.bounds(&analysis)),
            Some(winner) if winner == self.side => "You can win".to_owned(),
            Some(_) => "I can win".to_owned(),
        };
        let (text, side) = (analysis.canonical, self.side.name());
        Ok(format!(
            "{text}: you are the {side} player. {wins}.\nWrite the number of a move, a position or \
             help.\n"
        ))
    }

    /// In what something was not found out.
    fn bounds(&self, analysis: &Analysis) -> String {
        match analysis.reason {
            Some(Reason::Memory) => "the memory that I have".to_owned(),
            _ => output::time(self.time.as_secs_f64()),
        }
    }

    /// The program's move as the position after it, and the reason.
    fn choose(&mut self, analysis: &Analysis) -> Result<(String, String), CliError> {
        if let Some(child) = analysis.with(Some(Value::Win)).next() {
            let after = self.look(&read_back(&child.position))?;
            return Ok((child.position.clone(), why(&after, "you lose whatever you do")));
        }
        if let Some(child) = analysis.with(None).next() {
            let known = match analysis.outcome {
                Some(_) => "I can win, but",
                None => "I do not know who wins,",
            };
            let bounds = self.bounds(analysis);
            let reason = match analysis.reason {
                // As `look` has it, nothing was compared.
                Some(Reason::NodeLimit) => format!(
                    "{known} {bounds} were over before I had listed my moves; this is one of them"
                ),
                _ => format!(
                    "{known} in {bounds} I found no winning move; this one looks most promising"
                ),
            };
            return Ok((child.position.clone(), reason));
        }
        // All lose. The more there is to choose from, the easier it is to go wrong.
        let (begun, mut best) = (Instant::now(), (analysis.children[0].position.clone(), 0));
        for child in &analysis.children {
            let replies = self.look(&read_back(&child.position))?.children.len();
            if replies > best.1 {
                best = (child.position.clone(), replies);
            }
            if begun.elapsed() > self.time {
                break;
            }
        }
        let (position, replies) = best;
        let replies = if replies == 1 { "1 reply".into() } else { format!("{replies} replies") };
        Ok((position, format!("all my moves lose, and this one leaves you {replies}")))
    }

    /// The next page of the person's moves.
    fn page(&mut self) -> Result<String, CliError> {
        let analysis = match self.list.take() {
            Some(analysis) => analysis,
            None => self.think(Goal::Outcomes, &self.position().clone())?,
        };
        let list = numbered(&analysis);
        let mut text = String::new();
        if self.shown == 0 {
            let count = |outcome| analysis.with(outcome).count();
            let (win, lose) = (count(Some(Value::Win)), count(Some(Value::Loss)));
            let unknown = match count(None) {
                0 => String::new(),
                open => format!(", {open} not found out in {}", self.bounds(&analysis)),
            };
            let _ = writeln!(text, "Moves: {win} win, {lose} lose{unknown}.");
        }
        for child in analysis.children.iter().skip(self.shown).take(PAGE) {
            let outcome = match child.outcome {
                Some(Value::Win) => "wins",
                Some(Value::Loss) => "loses",
                None => "?",
            };
            let (at, grundy) = (number_of(&list, child), number_text(child.grundy));
            let _ = writeln!(text, "{at:>6}  {outcome:<5}  Grundy {grundy:<2}  {}", child.position);
        }
        self.shown = (self.shown + PAGE).min(list.len());
        if self.shown < list.len() {
            let _ = writeln!(text, "{} more: write more.", list.len() - self.shown);
        }
        self.list = Some(analysis);
        Ok(text)
    }

    /// What is known about the position.
    fn describe(&mut self) -> Result<String, CliError> {
        let position = self.position().clone();
        let analysis = self.look(&position)?;
        let mut text = format!("{}\n", analysis.canonical);
        for land in &analysis.lands {
            let _ = writeln!(text, "  Grundy {:<2}  {}", number_text(land.grundy), land.position);
        }
        if analysis.lands.len() > 1 {
            let _ = writeln!(text, "  exclusive or {}", number_text(analysis.grundy));
        }
        Ok(text)
    }

    fn hint(&mut self) -> Result<String, CliError> {
        let analysis = self.think(Goal::Winner, &self.position().clone())?;
        let list = numbered(&analysis);
        if analysis.outcome == Some(Value::Loss) {
            return Ok("All your moves lose.\n".to_owned());
        }
        if let Some(best) = analysis.with(Some(Value::Win)).next() {
            let after = self.look(&read_back(&best.position))?;
            let why = why(&after, "I lose whatever I do");
            return Ok(format!("{} {} wins: {why}.\n", number_of(&list, best), best.position));
        }
        let mut text = format!("In {} I found no winning move.", self.bounds(&analysis));
        // As `look` has it, nothing was compared.
        let is_compared = analysis.reason != Some(Reason::NodeLimit);
        if let Some(best) = analysis.with(None).next().filter(|_| is_compared) {
            let at = number_of(&list, best);
            let _ = write!(text, " {at} {} looks most promising.", best.position);
        }
        Ok(text + "\n")
    }
}

impl Talk for Session<'_> {
    fn turn(&mut self, out: &mut TerminalText) -> Result<bool, CliError> {
        (self.list, self.shown) = (None, 0);
        if self.to_move() != self.side {
            let analysis = self.think(Goal::Winner, &self.position().clone())?;
            if !analysis.children.is_empty() {
                let (position, why) = self.choose(&analysis)?;
                let _ = writeln!(out, "\nI play {position}: {why}.");
                self.played.push(read_back(&position));
            }
        }
        let position = self.position().clone();
        let analysis = self.look(&position)?;
        if analysis.children.is_empty() {
            let won = if self.to_move() == self.side { "I have" } else { "You have" };
            let _ = writeln!(out, "\nNo move is left. {won} won.");
            return Ok(true);
        }
        let moves = match analysis.children.len() {
            1 => "1 move".to_owned(),
            count => format!("{count} moves"),
        };
        let situation = match (analysis.outcome, analysis.children.len()) {
            (None, _) => "I do not know who wins.",
            (Some(Value::Win), _) => "You can win.",
            (Some(Value::Loss), 1) => "It loses.",
            (Some(Value::Loss), _) => "All of them lose.",
        };
        let _ = writeln!(out, "\n{}\nYou have {moves}. {situation}", analysis.canonical);
        Ok(false)
    }

    fn line(&mut self, line: &str) -> Result<Next, CliError> {
        match self.obey(line) {
            // The game is as it was before the line.
            Err(error @ (CliError::SproutsFull(_) | CliError::SproutsTooLarge)) => {
                Ok(Next::Wrong(format!("{error}\n").into()))
            }
            next => next,
        }
    }
}

impl Session<'_> {
    fn obey(&mut self, line: &str) -> Result<Next, CliError> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Ok(match (word, rest.trim_start()) {
            ("", _) => Next::Again(TerminalText::new()),
            ("quit" | "exit" | "q", "") => Next::Quit,
            ("help" | "?", "") => Next::Again(HELP.into()),
            ("moves", "") => {
                self.shown = 0;
                Next::Again(self.page()?.into())
            }
            ("more", "") => Next::Again(self.page()?.into()),
            ("position" | "board", "") => Next::Again(self.describe()?.into()),
            ("hint", "") => Next::Again(self.hint()?.into()),
            ("undo", "") => self.undo(),
            ("new", "") => {
                let first = self.played[0].clone();
                Next::Changed(self.begin(first)?.into())
            }
            ("new", text) => match text.parse() {
                Ok(position) => Next::Changed(self.begin(position)?.into()),
                Err(error) => Next::Wrong(format!("{text}: {error}\n").into()),
            },
            _ => {
                let position = self.position().clone();
                let list = numbered(&self.look(&position)?);
                match self.find(line, &list)? {
                    Ok(at) => {
                        self.played.push(read_back(&list[at]));
                        Next::Changed(TerminalText::new())
                    }
                    Err(problem) => Next::Wrong(format!("{problem}\n").into()),
                }
            }
        })
    }

    /// The move that a line names, or why there is none.
    fn find(&mut self, line: &str, list: &[String]) -> Result<Result<usize, String>, CliError> {
        let (sure, digits) = match line.strip_prefix('#') {
            Some(digits) => (true, digits),
            None => (false, line),
        };
        let same = list.iter().position(|text| text == digits);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = digits.parse().ok().and_then(|number: usize| number.checked_sub(1));
            match (number.filter(|&at| at < list.len()), same) {
                (Some(at), Some(other)) if !sure && at != other => {
                    return Ok(Err(format!(
                        "{digits} is a number and a position: write #{} for {}, or #{} for {}",
                        at + 1,
                        list[at],
                        other + 1,
                        list[other]
                    )));
                }
                (Some(at), _) => return Ok(Ok(at)),
                (None, Some(at)) if !sure => return Ok(Ok(at)),
                (None, _) if sure => {
                    return Ok(Err(format!("the moves have the numbers 1 to {}", list.len())));
                }
                (None, _) => {}
            }
        }
        let position: Position = match line.parse() {
            Ok(position) => position,
            Err(error) => {
                return Ok(Err(format!("{line}: {error}; write moves for the list, or help")));
            }
        };
        let canonical = self.analyst.canonical(&position)?;
        let at = list.iter().position(|text| *text == canonical);
        Ok(at.ok_or_else(|| format!("no move leads to {canonical}; write moves for the list")))
    }

    /// Back to the person's turn before.
    fn undo(&mut self) -> Next {
        // This one and the program's move before it.
        match self.played.len().checked_sub(2).filter(|&left| left > 0) {
            Some(left) => {
                self.played.truncate(left);
                Next::Changed("Taken back.\n".into())
            }
            None => Next::Again("There is nothing to take back.\n".into()),
        }
    }
}

/// The position of a text that an analysis gave.
fn read_back(text: &str) -> Position {
    Position::from_canonical(text).expect("a canonical text is a position")
}

/// The positions after all moves, in the order of their numbers: that of `sprouts children`.
fn numbered(analysis: &Analysis) -> Vec<String> {
    let mut list: Vec<String> =
        analysis.children.iter().map(|child| child.position.clone()).collect();
    list.sort_unstable();
    list
}

/// A child's number, as people write it.
fn number_of(list: &[String], child: &ChildValue) -> String {
    let at = list.iter().position(|text| *text == child.position);
    format!("#{}", at.expect("the list has all children") + 1)
}

/// A Grundy number, or that there is none.
fn number_text(number: Option<u32>) -> String {
    number.map_or("?".to_owned(), |number| number.to_string())
}

/// Why whoever is to move loses, by the theory of Sprague and Grundy.
fn why(analysis: &Analysis, loses: &str) -> String {
    let odd =
        |text: &str| analysis.lands.iter().filter(|land| land.position == text).count() % 2 == 1;
    let left: Vec<u32> = analysis
        .lands
        .iter()
        .filter(|land| odd(&land.position))
        .filter_map(|land| land.grundy)
        .collect();
    let numbers = || left.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match (analysis.lands.len(), left.len()) {
        (0, _) => "no move is left then".to_owned(),
        (1, _) => format!("its Grundy number is 0, so {loses}"),
        (_, 0) => format!("its lands are equal in pairs, so {loses}"),
        (all, some) if all == some => format!(
            "its lands have the Grundy numbers {}, and their exclusive or is 0, so {loses}",
            numbers()
        ),
        _ => format!(
            "equal lands cancel, the others have the Grundy numbers {}, and their exclusive or is 0, \
             so {loses}",
            numbers()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_those_of_the_theory() {
        let mut analyst = Analyst::new(16 << 20, None).expect("memory");
        let mut why = |text: &str| {
            let position = text.parse().expect("a position");
            let limits = Limits::default();
            let analysis = analyst.analyse(&position, limits, &mut |_| {}).expect("memory");
            assert_eq!(analysis.outcome, Some(Value::Loss), "{text}");
            super::why(&analysis, "you lose")
        };
        assert_eq!(why("!"), "no move is left then");
        assert_eq!(why("0*2"), "its Grundy number is 0, so you lose");
        assert_eq!(why("0*3+0*3"), "its lands are equal in pairs, so you lose");
        let all =
            "its lands have the Grundy numbers 1, 1, and their exclusive or is 0, so you lose";
        assert_eq!(why("22+1"), all);
        let some = why("0*3+0*3+0*2");
        assert!(some.starts_with("equal lands cancel, the others have the Grundy numbers 0, and"));
    }
}
