//! Moves of a game: numbers in the list, positions, and moves between numbered spots.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use super::{SproutsSession, must_be_listed, numbered};
use crate::exit::CliError;
use crate::repl::refused;
use konane::search::Value;
use konane::search::run::Limits;
use konane::sprouts::Position;
use konane::sprouts::analysis::Goal;
use konane::sprouts::numbered::{NumberedMove, NumberedPosition};

/// Maximum number of moves between numbered spots that are compared with a position.
const MAX_COMPARED: usize = 1 << 16;

/// Maximum number of positions that are compared with one that no move between numbered spots reaches.
const MAX_SUBSTITUTES: usize = 20;

/// Node limit of the search that compares two positions.
const MAX_COMPARISON_NODES: u64 = 1000;

/// Printed when a game continues without numbers.
pub(super) const NO_NUMBERS: &str = "No move between numbered spots was found for this position: from here on, spots have no numbers.\n";

/// A state of the game.
#[derive(Clone)]
pub(super) struct SproutsState {
    pub(super) position: Position,
    /// In a game from isolated spots, the position with numbers, and the text of the move before it.
    pub(super) numbered: Option<(NumberedPosition, String)>,
}

impl SproutsState {
    /// Returns the first state of a game.
    pub(super) fn start(position: Position) -> SproutsState {
        let numbered = NumberedPosition::from_start(&position).map(|start| (start, String::new()));
        SproutsState { position, numbered }
    }

    /// Returns the move before this state: between numbered spots if possible, followed by the position.
    pub(super) fn move_text(&self) -> String {
        match &self.numbered {
            Some((_, mv)) => format!("{mv}, {}", self.position),
            None => self.position.to_string(),
        }
    }
}

impl SproutsSession<'_> {
    /// Returns the state after the move between numbered spots with this text.
    pub(super) fn read_numbered(
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
    pub(super) fn numbered_state(
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
    pub(super) fn play(&mut self, text: &str) -> Result<String, CliError> {
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
}

/// Returns true for a text that can only be a move between numbered spots. In the text of a position, a letter is
/// before each parenthesis.
pub(super) fn is_numbered_move(text: &str) -> bool {
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
pub(super) fn read_back(text: &str) -> Position {
    Position::from_canonical(text).expect("a canonical text is a position")
}
