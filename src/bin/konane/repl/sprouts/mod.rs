//! The session of `konane sprouts play`.
//!
//! * `moves`: moves and how they are written.
//! * `files`: files of games.

mod files;
mod moves;

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::command::{Action, SessionKind, help, search_time};
use super::game::write_file;
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
use moves::{NO_NUMBERS, SproutsState, read_back};

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
