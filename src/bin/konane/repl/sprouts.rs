//! The session of `konane sprouts play`, and files of its games.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::command::{Action, SessionKind, help, search_time};
use super::game::{read_file, write_file};
use super::history::GameHistory;
use super::sentences::{hint_text, move_reason, outcome_verb, prospect, situation, winner_text};
use super::{CommandResult, Session, limits, refused, text};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::progress::ProgressDisplay;
use crate::terminal_text::TerminalText;
use konane::search::Value;
use konane::search::run::{Limits, Reason};
use konane::sprouts::Position;
use konane::sprouts::analysis::{Analysis, Analyst, ChildValue, Goal};
use konane::sprouts::draw::svg;
use konane::sprouts::numbered::{NumberedMove, NumberedPosition};

/// Players of Sprouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SproutsPlayer {
    First,
    Second,
}

/// Players that users play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SproutsSide {
    /// Makes the first move.
    First,
    /// Makes the second move.
    Second,
    /// Two users play.
    Both,
    /// The program plays against itself.
    None,
}

impl SproutsSide {
    /// Returns the player of the user who plays against the program.
    fn player(self) -> Option<SproutsPlayer> {
        match self {
            SproutsSide::First => Some(SproutsPlayer::First),
            SproutsSide::Second => Some(SproutsPlayer::Second),
            SproutsSide::Both | SproutsSide::None => None,
        }
    }

    /// Returns true if a user plays this player.
    fn has(self, player: SproutsPlayer) -> bool {
        self == SproutsSide::Both || self.player() == Some(player)
    }
}

impl fmt::Display for SproutsSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SproutsSide::First => "you are the first player",
            SproutsSide::Second => "you are the second player",
            SproutsSide::Both => "two people play",
            SproutsSide::None => "the program plays both sides",
        })
    }
}

impl SproutsPlayer {
    /// Returns the player to move after a number of moves.
    fn after(moves: usize) -> Self {
        if moves.is_multiple_of(2) { SproutsPlayer::First } else { SproutsPlayer::Second }
    }
}

impl fmt::Display for SproutsPlayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SproutsPlayer::First => "The first player",
            SproutsPlayer::Second => "The second player",
        })
    }
}

/// Number of moves on one page of the list.
const PAGE: usize = 20;

/// Start of the first line in the file of a game. Each further line is the position after a move, or has moves
/// between numbered spots.
const HEADER: &str = "Sprouts:";

/// Maximum number of moves between numbered spots that are compared with a position.
const MAX_COMPARED: usize = 1 << 16;

/// Maximum number of positions that are compared with one that no move between numbered spots reaches.
const MAX_SUBSTITUTES: usize = 20;

/// Node limit of the search that compares two positions.
const MAX_COMPARISON_NODES: u64 = 1000;

/// Printed when a game continues without numbers.
const NO_NUMBERS: &str = "No move between numbered spots was found for this position: from here on, spots have no numbers.\n";

/// A state of the game.
#[derive(Clone)]
struct SproutsState {
    position: Position,
    /// In a game from isolated spots, the position with numbers, and the text of the move before it.
    numbered: Option<(NumberedPosition, String)>,
}

impl SproutsState {
    /// Returns the first state of a game.
    fn start(position: Position) -> SproutsState {
        let numbered = NumberedPosition::from_start(&position).map(|start| (start, String::new()));
        SproutsState { position, numbered }
    }

    /// Returns the move before this state: between numbered spots if possible, followed by the position.
    fn move_text(&self) -> String {
        match &self.numbered {
            Some((_, mv)) => format!("{mv}, {}", self.position),
            None => self.position.to_string(),
        }
    }
}

/// A game between a user and the program.
pub struct SproutsSession<'a> {
    analyst: Analyst,
    /// True if the file of Grundy numbers could not be written.
    has_lost_file: bool,
    /// Time for each position.
    time: Duration,
    stop: &'a AtomicBool,
    /// Side that the user has chosen, if any.
    chosen: Option<SproutsSide>,
    /// Players of users in this game.
    side: SproutsSide,
    history: GameHistory<SproutsState>,
    /// Analysis of the current position, if its moves have been listed.
    list: Option<Analysis>,
    /// Number of moves that have been listed.
    listed: usize,
    /// Positions after the moves of the user's turn, for completion.
    choices: Vec<String>,
}

impl<'a> SproutsSession<'a> {
    /// Runs a session of games that begin at `start`. By default, the user is the player who loses.
    pub fn run(
        start: Position,
        analyst: Analyst,
        time: Duration,
        chosen: Option<SproutsSide>,
        stop: &'a AtomicBool,
    ) -> Result<Exit, CliError> {
        let mut session = SproutsSession {
            analyst,
            has_lost_file: false,
            time,
            stop,
            chosen,
            side: SproutsSide::First,
            history: GameHistory::new(SproutsState::start(start.clone())),
            list: None,
            listed: 0,
            choices: Vec::new(),
        };
        let introduction = session.begin(start)?;
        let exit = super::run(&mut session, introduction, stop);
        session.analyst.close()?;
        match exit {
            Ok(Exit::Answered) if session.has_lost_file => Ok(Exit::File),
            exit => exit,
        }
    }

    /// Evaluates a position within a time.
    fn search(
        &mut self,
        goal: Goal,
        position: &Position,
        time: Duration,
    ) -> Result<Analysis, CliError> {
        let progress = ProgressDisplay::new(false);
        progress.live(format!("searching {position}"));
        let limits = limits(time, self.stop);
        let analysis = self.analyst.analyse_until(goal, position, limits, &mut |_| {})?;
        drop(progress);
        match analysis.reason {
            Some(Reason::FileError) if let Some(error) = self.analyst.close_failed_file() => {
                output::warn(&format!("{error}; new numbers are not saved"));
                self.has_lost_file = true;
                self.search(goal, position, time)
            }
            Some(Reason::TimeLimit) if analysis.children.is_empty() => self.look(position),
            _ => Ok(analysis),
        }
    }

    /// Evaluates a position with the results of earlier searches.
    fn look(&mut self, position: &Position) -> Result<Analysis, CliError> {
        let limits = Limits { nodes: Some(0), stop: Some(self.stop), ..Limits::default() };
        Ok(self.analyst.analyse_until(Goal::Winner, position, limits, &mut |_| {})?)
    }

    /// Begins a game and returns its introduction.
    fn begin(&mut self, start: Position) -> Result<String, CliError> {
        let analysis = self.search(Goal::Winner, &start, self.time)?;
        self.history = GameHistory::new(SproutsState::start(start));
        let winner =
            analysis.outcome.map(|outcome| SproutsPlayer::after((outcome == Value::Loss).into()));
        let loser = match winner {
            Some(SproutsPlayer::Second) => SproutsSide::First,
            _ => SproutsSide::Second,
        };
        self.side = self.chosen.unwrap_or(loser);
        let prospect = prospect(winner, self.side.player(), false);
        let rule = match self.analyst.is_misere() {
            true => " The player who makes the last move loses.",
            false => "",
        };
        Ok(format!(
            "{}: {}. {prospect}.{rule}\nWrite the number of a move, a position or help.\n",
            analysis.canonical, self.side
        ))
    }

    /// Returns the program's move as the position after it, and the reason for the move.
    fn choose(&mut self, analysis: &Analysis) -> Result<(String, String), CliError> {
        if let Some(child) = analysis.with(Some(Value::Win)).next() {
            let after = self.look(&read_back(&child.position))?;
            return Ok((child.position.clone(), self.losing_reason(&after)));
        }
        if let Some(child) = analysis.with(None).next() {
            let reason = match analysis.outcome {
                Some(_) => "I can win, but the winning move is not known yet",
                None => "the winner is not known yet",
            };
            return Ok((child.position.clone(), reason.to_owned()));
        }
        // All moves lose. With more replies, the winning one is easier to miss.
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
        Ok((position, format!("all moves lose; this one leaves {replies}")))
    }

    /// Returns the reason why the player to move loses.
    fn losing_reason(&self, analysis: &Analysis) -> String {
        if self.analyst.is_misere() {
            return "the player who moves next loses the misère game".to_owned();
        }
        losing_reason(analysis)
    }

    /// Returns the next page of the list of moves.
    fn page(&mut self) -> Result<String, CliError> {
        let analysis = match self.list.take() {
            Some(analysis) => analysis,
            None => {
                let position = self.history.current().position.clone();
                must_be_listed(self.search(Goal::Outcomes, &position, self.time)?)?
            }
        };
        let list = numbered(&analysis);
        let mut text = String::new();
        if self.listed == 0 {
            let count = |outcome| analysis.with(outcome).count();
            let (win, lose) = (count(Some(Value::Win)), count(Some(Value::Loss)));
            let unknown = match (count(None), analysis.reason) {
                (0, _) => String::new(),
                (open, None) => format!(", {open} unknown"),
                (open, Some(reason)) => format!(", {open} unknown ({})", reason.text()),
            };
            let _ = writeln!(text, "Moves: {win} win, {lose} lose{unknown}.");
        }
        for child in analysis.children.iter().skip(self.listed).take(PAGE) {
            let (number, verb) = (number_of(&list, child), outcome_verb(child.outcome));
            let grundy = match self.analyst.is_misere() {
                true => String::new(),
                false => format!("Grundy {:<2}  ", number_text(child.grundy)),
            };
            let _ = writeln!(text, "{number:>6}  {verb:<7}  {grundy}{}", child.position);
        }
        self.listed = (self.listed + PAGE).min(list.len());
        if self.listed < list.len() {
            let _ = writeln!(text, "{} more: write more.", list.len() - self.listed);
        }
        self.list = Some(analysis);
        Ok(text)
    }

    /// Returns the position with its lands and their Grundy numbers.
    fn describe(&mut self) -> Result<String, CliError> {
        let position = self.history.current().position.clone();
        let analysis = self.look(&position)?;
        let mut text = format!("{}\n", analysis.canonical);
        if !self.analyst.is_misere() {
            for land in &analysis.lands {
                let grundy = number_text(land.grundy);
                let _ = writeln!(text, "  Grundy {grundy:<2}  {}", land.position);
            }
            if analysis.lands.len() > 1 {
                let _ = writeln!(text, "  exclusive or {}", number_text(analysis.grundy));
            }
        }
        if let Some((numbered, _)) = &self.history.current().numbered {
            let _ = writeln!(text, "  numbers {numbered}");
        }
        Ok(text)
    }

    fn hint(&mut self) -> Result<String, CliError> {
        let position = self.history.current().position.clone();
        let analysis = self.search(Goal::Winner, &position, self.time)?;
        let list = numbered(&analysis);
        let name = |child| format!("{} {}", number_of(&list, child), child.position);
        if let Some(best) = analysis.with(Some(Value::Win)).next() {
            let after = self.look(&read_back(&best.position))?;
            return Ok(format!("{} wins: {}.\n", name(best), self.losing_reason(&after)));
        }
        // At the node limit of `look` the undecided moves are not compared.
        let is_compared = analysis.reason != Some(Reason::NodeLimit);
        Ok(match (analysis.outcome, analysis.with(None).next().filter(|_| is_compared)) {
            _ if is_over(&analysis) => hint_text(None::<String>, None),
            (Some(Value::Loss), _) => "Every move loses.\n".to_owned(),
            (Some(Value::Win), _) => {
                "You can win, but the winning move is not known yet.\n".to_owned()
            }
            (None, Some(best)) => hint_text(Some(name(best)), None),
            (None, None) => "The winner is not known yet.\n".to_owned(),
        })
    }

    /// Returns the state after the move between numbered spots with this text.
    fn read_numbered(
        &mut self,
        before: &SproutsState,
        text: &str,
    ) -> Result<SproutsState, CliError> {
        let Some((before, _)) = &before.numbered else {
            return Err(refused(format!(
                "{text}: the spots of this game have no numbers: write the position after the move"
            )));
        };
        let mv = before.read(text).map_err(|error| refused(format!("{text}: {error}")))?;
        let after = before.play(&mv);
        let position = read_back(&self.analyst.canonical(&after.position())?);
        Ok(SproutsState { position, numbered: Some((after, text.to_owned())) })
    }

    /// Returns the state after a move to a position, which is a canonical text. Where no move between numbered
    /// spots leads to it, because it is one of the moves of a simplified position, and a substitute is allowed, a
    /// move to a position with the same Grundy number is made, or to one with the same outcome in the misère game. If
    /// no move is found, the state has no numbers.
    fn numbered_state(
        &mut self,
        before: &SproutsState,
        position: &str,
        allows_substitute: bool,
    ) -> SproutsState {
        if let Some((numbered, _)) = &before.numbered
            && let Some(mv) = self.numbered_move(numbered, position, allows_substitute)
            && let Ok(state) = self.read_numbered(before, &numbered.write(&mv))
        {
            return state;
        }
        SproutsState { position: read_back(position), numbered: None }
    }

    /// Returns a move for [`SproutsSession::numbered_state`], or `None` if none is found.
    fn numbered_move(
        &mut self,
        before: &NumberedPosition,
        position: &str,
        allows_substitute: bool,
    ) -> Option<NumberedMove> {
        let (mut others, mut compared) = (BTreeMap::new(), 0);
        let mut found = None;
        let end = before.each_move(|mv| {
            compared += 1;
            match self.analyst.canonical(&before.play(&mv).position()) {
                Ok(text) if text == position => found = Some(mv),
                Ok(text) if compared < MAX_COMPARED && !self.stop.load(Ordering::Relaxed) => {
                    others.entry(text).or_insert(mv);
                    return ControlFlow::Continue(());
                }
                _ => {}
            }
            ControlFlow::Break(())
        });
        if end.is_break() || !allows_substitute {
            return found;
        }
        let mut others: Vec<_> = others.into_iter().collect();
        others.sort_by_cached_key(|(text, _)| difference(text, position).len());
        others.truncate(MAX_SUBSTITUTES);
        others.into_iter().find(|(text, _)| self.is_equivalent(text, position)).map(|(_, mv)| mv)
    }

    /// Returns true if two positions are known to have the same Grundy number, or the same outcome in the misère
    /// game.
    fn is_equivalent(&mut self, a: &str, b: &str) -> bool {
        let is_misere = self.analyst.is_misere();
        let mut outcome = |text: &str| {
            let limits = Limits {
                nodes: Some(MAX_COMPARISON_NODES),
                stop: Some(self.stop),
                ..Limits::default()
            };
            let position = read_back(text);
            let analysis =
                self.analyst.analyse_until(Goal::Winner, &position, limits, &mut |_| {}).ok()?;
            analysis.outcome
        };
        match is_misere {
            true => outcome(a).is_some_and(|of_a| outcome(b) == Some(of_a)),
            false => outcome(&difference(a, b)) == Some(Value::Loss),
        }
    }

    /// Parses a move and makes it: its number in the list, the position after it, or a move between numbered spots.
    /// Returns a text for the user.
    fn play(&mut self, text: &str) -> Result<String, CliError> {
        let before = self.history.current().clone();
        if is_numbered_move(text) {
            let state = self.read_numbered(&before, text)?;
            self.history.push(state);
            return Ok(String::new());
        }
        let position = self.read_position(text)?;
        let state = self.numbered_state(&before, &position, true);
        let message = match (&before.numbered, &state.numbered) {
            (Some(_), Some(_)) => format!("Your move is {}.\n", state.move_text()),
            (Some(_), None) => NO_NUMBERS.to_owned(),
            _ => String::new(),
        };
        self.history.push(state);
        Ok(message)
    }

    /// Parses a move that is its number in the list or the position after it. Returns the canonical text of that
    /// position.
    fn read_position(&mut self, text: &str) -> Result<String, CliError> {
        let position = self.history.current().position.clone();
        let mut list = numbered(&must_be_listed(self.look(&position)?)?);
        let digits = text.strip_prefix('#').unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = digits.parse().ok().filter(|number| (1..=list.len()).contains(number));
            let index = list.iter().position(|position| position == text);
            match (number, index.map(|index| index + 1)) {
                (Some(number), Some(other)) if number != other => {
                    return Err(refused(format!(
                        "{text} is a number and a position: write #{number} for {}, or #{other} for {}",
                        list[number - 1],
                        list[other - 1]
                    )));
                }
                (Some(number), _) | (None, Some(number)) => {
                    return Ok(list.swap_remove(number - 1));
                }
                (None, None) if digits.len() < text.len() => {
                    let range = match list.len() {
                        0 => "no move is left".to_owned(),
                        count => format!("the moves have the numbers 1 to {count}"),
                    };
                    return Err(refused(range));
                }
                (None, None) => {}
            }
        }
        let position: Position = text.parse().map_err(|error| {
            refused(format!("{text}: {error}; write moves for the list, or help"))
        })?;
        let canonical = self.analyst.canonical(&position)?;
        match list.contains(&canonical) {
            true => Ok(canonical),
            false => {
                Err(refused(format!("no move leads to {canonical}; write moves for the list")))
            }
        }
    }

    /// Saves the game.
    fn save(&self, file: &str) -> Result<String, CliError> {
        let states = self.history.played();
        let has_numbers = states.iter().all(|state| state.numbered.is_some());
        let line = |state: &SproutsState| match &state.numbered {
            Some((_, mv)) if has_numbers => format!("{mv}\n"),
            _ => format!("{}\n", state.position),
        };
        let lines: String = states[1..].iter().map(line).collect();
        write_file("game", file, &format!("{HEADER} {}\n{lines}", states[0].position))
    }

    /// Continues a saved game and returns its introduction.
    fn load(&mut self, file: &str) -> Result<String, CliError> {
        let bytes = read_file(Path::new(file))?;
        let wrong = |line, problem| CliError::SproutsGame { file: file.to_owned(), line, problem };
        let no_position = |line, text: &str, error| {
            wrong(line, format!("{text:?} is not a position: {error}; correct this line"))
        };
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
            wrong(line, "it is not UTF-8 text: correct this line".to_owned())
        })?;
        let lines = text.lines().map(str::trim).zip(1..);
        let mut lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let (first, number) = lines.next().unwrap_or(("", 1));
        let Some(start) = first.strip_prefix(HEADER).map(str::trim_start) else {
            let problem =
                format!("{first:?} is not the start of a Sprouts game: expected \"{HEADER} 0*5\"");
            return Err(wrong(number, problem));
        };
        let start: Position = start.parse().map_err(|error| no_position(number, start, error))?;
        let mut history = GameHistory::new(SproutsState::start(start.clone()));
        for (line, number) in lines {
            if is_numbered_move(line) {
                for text in line.split_whitespace() {
                    let state = self.read_numbered(history.current(), text);
                    history.push(state.map_err(|error| match error {
                        CliError::Usage(problem) => wrong(
                            number,
                            format!(
                                "{problem}: correct this line, or delete it and the lines after it"
                            ),
                        ),
                        error => error,
                    })?);
                }
                continue;
            }
            let position = Position::from_canonical(line);
            let position = position.map_err(|error| no_position(number, line, error))?;
            let canonical = self.analyst.canonical(&position)?;
            let before = must_be_listed(self.look(&history.current().position)?)?;
            if !before.children.iter().any(|child| child.position == canonical) {
                let before = before.canonical;
                return Err(wrong(
                    number,
                    format!(
                        "no move leads from {before} to {line:?}: correct this line, or delete it and \
                         the lines after it"
                    ),
                ));
            }
            let state = self.numbered_state(history.current(), &canonical, false);
            history.push(state);
        }
        if !text.ends_with('\n') {
            let problem =
                "the file may be cut off here: check this line, and end it with a line feed";
            return Err(wrong(text.lines().count(), problem.to_owned()));
        }
        let introduction = self.begin(start)?;
        self.history = history;
        Ok(format!("Loaded {file}.\n{introduction}"))
    }
}

impl Session for SproutsSession<'_> {
    const KIND: SessionKind = SessionKind::Sprouts;

    fn turn(&mut self, out: &mut TerminalText) -> Result<bool, CliError> {
        (self.list, self.listed) = (None, 0);
        self.choices.clear();
        let position = self.history.current().position.clone();
        let analysis = self.look(&position)?;
        // The history begins with the start position.
        let [to_move, last] = [1, 0].map(|n| SproutsPlayer::after(self.history.played().len() - n));
        if is_over(&analysis) {
            let winner = if self.analyst.is_misere() { to_move } else { last };
            let _ = writeln!(out, "\nNo move is left. {}", winner_text(winner, self.side.player()));
        } else if self.side.has(to_move) {
            let counts = [Some(Value::Win), None].map(|outcome| analysis.with(outcome).count());
            let count = analysis.children.len();
            let sentence = situation(analysis.outcome, counts, count, None);
            self.choices = numbered(&analysis);
            let _ = writeln!(out, "\n{}\n{sentence}", analysis.canonical);
        } else {
            let analysis = must_be_listed(self.search(Goal::Winner, &position, self.time)?)?;
            if !self.stop.load(Ordering::Relaxed) {
                let (after, why) = self.choose(&analysis)?;
                let before = self.history.current().clone();
                let state = self.numbered_state(&before, &after, true);
                let _ = writeln!(out, "\nI play {}: {why}.", state.move_text());
                if before.numbered.is_some() && state.numbered.is_none() {
                    *out += NO_NUMBERS;
                }
                self.history.push(state);
            }
            return Ok(false);
        }
        Ok(true)
    }

    fn moves(&self) -> Vec<String> {
        self.choices.clone()
    }

    fn run(&mut self, action: Action, argument: &str) -> Result<CommandResult, CliError> {
        let side = self.side;
        let is_users_turn = |moves, _: &SproutsState| side.has(SproutsPlayer::after(moves));
        let changed = match action {
            Action::Move => self.play(argument)?,
            Action::Undo => {
                self.history.undo_to(is_users_turn).map(|()| "Move taken back.\n".into())?
            }
            Action::Redo => {
                self.history.redo_to(is_users_turn).map(|()| "Move redone.\n".into())?
            }
            Action::New if argument.is_empty() => {
                self.begin(self.history.played()[0].position.clone())?
            }
            Action::New => {
                let start = argument.parse();
                self.begin(start.map_err(|error| refused(format!("{argument}: {error}")))?)?
            }
            Action::Load => self.load(argument)?,
            Action::Moves => {
                self.listed = 0;
                return text(self.page()?);
            }
            Action::More => return text(self.page()?),
            Action::Search => {
                let time = search_time(argument, self.time)?;
                let position = self.history.current().position.clone();
                let analysis = self.search(Goal::Outcomes, &position, time)?;
                (self.list, self.listed) = (Some(must_be_listed(analysis)?), 0);
                return text(self.page()?);
            }
            Action::Board | Action::Position => return text(self.describe()?),
            Action::Hint => return text(self.hint()?),
            Action::Save => return text(self.save(argument)?),
            Action::Draw => {
                let drawing = svg(&self.history.current().position);
                return text(write_file("position", argument, &drawing)?);
            }
            Action::Help => return text(help(Self::KIND)),
            Action::Quit => return Ok(CommandResult::Quit),
        };
        Ok(CommandResult::Changed(changed.into()))
    }
}

/// Returns true if there are no moves.
fn is_over(analysis: &Analysis) -> bool {
    // A canonical form contains no lands without moves.
    analysis.lands.is_empty()
}

/// Returns an error if a limit was reached before all moves were listed.
fn must_be_listed(analysis: Analysis) -> Result<Analysis, CliError> {
    match analysis.children.is_empty() && !is_over(&analysis) {
        true => Err(CliError::SproutsTooLarge),
        false => Ok(analysis),
    }
}

/// Returns true for a text that can only be a move between numbered spots. In the text of a position, a letter is
/// before each parenthesis.
fn is_numbered_move(text: &str) -> bool {
    text.split_once('(')
        .is_some_and(|(spot, _)| spot.ends_with(|c: char| c.is_ascii_digit() || c == '!'))
}

/// Returns the sum of two canonical texts without pairs of equal lands, which does not change its Grundy number.
fn difference(a: &str, b: &str) -> String {
    let mut lands: Vec<&str> =
        a.split('+').chain(b.split('+')).filter(|&land| land != "!").collect();
    lands.sort_unstable();
    let odd = lands.chunk_by(|a, b| a == b).filter(|chunk| chunk.len() % 2 == 1);
    let text = odd.map(|chunk| chunk[0]).collect::<Vec<_>>().join("+");
    if text.is_empty() { "!".to_owned() } else { text }
}

/// Parses a position in the text of an analysis.
fn read_back(text: &str) -> Position {
    Position::from_canonical(text).expect("a canonical text is a position")
}

/// Returns the positions after all moves in the order of their numbers, which is that of `sprouts children`.
fn numbered(analysis: &Analysis) -> Vec<String> {
    let mut list: Vec<String> =
        analysis.children.iter().map(|child| child.position.clone()).collect();
    list.sort_unstable();
    list
}

/// Returns the number of a move as text.
fn number_of(list: &[String], child: &ChildValue) -> String {
    let index = list.binary_search(&child.position).expect("the list has all children");
    format!("#{}", index + 1)
}

/// Returns a Grundy number as text, or `?` if it is unknown.
fn number_text(number: Option<u32>) -> String {
    number.map_or("?".to_owned(), |number| number.to_string())
}

/// Returns the reason why the player to move loses according to Sprague-Grundy theory.
fn losing_reason(analysis: &Analysis) -> String {
    let lands = &analysis.lands;
    let is_odd = |text: &str| lands.iter().filter(|land| land.position == text).count() % 2 == 1;
    let remaining = lands.iter().filter(|land| is_odd(&land.position));
    let numbers: Vec<_> = remaining.map(|land| number_text(land.grundy)).collect();
    let list = numbers.join(", ");
    let premise = match (lands.len(), numbers.len()) {
        (0, _) => return move_reason(None, 0, None),
        (1, _) => "its Grundy number is 0".to_owned(),
        (_, 0) => "its lands are equal in pairs".to_owned(),
        (all, some) if all == some => {
            format!("its lands have the Grundy numbers {list}, and their exclusive or is 0")
        }
        _ => format!(
            "equal lands cancel, the others have the Grundy numbers {list}, and their exclusive or is 0"
        ),
    };
    premise + ", so the player to move loses"
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
            losing_reason(&analysis)
        };
        assert_eq!(why("!"), "it leaves no move");
        assert_eq!(why("0*2"), "its Grundy number is 0, so the player to move loses");
        assert_eq!(why("0*3+0*3"), "its lands are equal in pairs, so the player to move loses");
        let all = "its lands have the Grundy numbers 1, 1, and their exclusive or is 0, so the player to move loses";
        assert_eq!(why("22+1"), all);
        let some = why("0*3+0*3+0*2");
        assert!(some.starts_with("equal lands cancel, the others have the Grundy numbers 0, and"));
    }
}
