//! The session of `konane play`.

use std::fmt::Write as _;

use clap::ValueEnum;

use super::board::{Style, draw};
use super::command::{Action, SessionKind, help, search_time};
use super::game::{KonaneGame, write_file};
use super::opponent::Opponent;
use super::sentences::{
    hint_text, outcome_verb, proof_situation, prospect, situation, winner_text,
};
use super::{CommandResult, Session, text};
use crate::exit::CliError;
use crate::output;
use crate::terminal_text::TerminalText;
use konane::analysis::Analysis;
use konane::search::Value;
use konane::{Colour, Move, Position};

/// Sides that users play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HumanSide {
    /// Makes the first removal.
    Black,
    /// Makes the second removal.
    White,
    /// Two users play.
    Both,
    /// The program plays against itself.
    None,
}

impl HumanSide {
    /// Returns the colour of the user who plays against the program.
    fn colour(self) -> Option<Colour> {
        match self {
            HumanSide::Black => Some(Colour::Black),
            HumanSide::White => Some(Colour::White),
            HumanSide::Both | HumanSide::None => None,
        }
    }

    /// Returns true if a user plays this colour.
    fn has(self, colour: Colour) -> bool {
        self == HumanSide::Both || self.colour() == Some(colour)
    }
}

impl From<Colour> for HumanSide {
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Black => HumanSide::Black,
            Colour::White => HumanSide::White,
        }
    }
}

/// A game between users and the program.
pub struct PlaySession<'a> {
    /// The game.
    pub game: KonaneGame,
    /// Chooses the program's moves.
    pub opponent: Opponent<'a>,
    /// Sides that users play.
    pub side: HumanSide,
    /// The last analysis that was shown. A list of moves shows the same values as the sentence about the position.
    pub seen: Option<Analysis>,
}

impl PlaySession<'_> {
    /// Returns the first text of the session, with the winner and its source if the winner is known.
    pub fn introduction(&self, known: Option<(Colour, String)>) -> String {
        let board = self.game.board().dimensions();
        let players = match self.side.colour() {
            Some(person) => format!("you play {person}"),
            None if self.side == HumanSide::Both => "two people play".to_owned(),
            None => "the program plays both sides".to_owned(),
        };
        let level = match self.opponent.level {
            Some(level) if self.side != HumanSide::Both => {
                let nodes = output::grouped(level.nodes());
                format!(" On level {level} I search {nodes} nodes for a move.")
            }
            _ => String::new(),
        };
        let winner = known.as_ref().map(|&(winner, _)| winner);
        let prospect = prospect(winner, self.side.colour(), self.opponent.level.is_none());
        let by = known.map(|(_, by)| format!(", by {by}")).unwrap_or_default();
        let commands = match self.side {
            HumanSide::None => "Write help for the commands.",
            _ => "Write a move, or help.",
        };
        format!("{board}, {players}. {prospect}{by}.{level}\n{commands}\n")
    }

    /// Returns the proof's reply to each move of the user, if the proof shows that the user loses.
    fn answers(&self, position: &Position) -> Result<Option<Vec<Option<Move>>>, CliError> {
        if self.side.colour().is_none() || !self.opponent.answers_by_proof(position)? {
            return Ok(None);
        }
        let board = self.game.board();
        let answer = |mv| Ok(self.opponent.answer(&position.play(board, mv))?);
        position.moves(board).into_iter().map(answer).collect::<Result<_, _>>().map(Some)
    }

    /// Returns a sentence about the position for the side to move.
    fn situation(&mut self, position: &Position) -> Result<String, CliError> {
        if let Some(answers) = self.answers(position)? {
            let open = answers.iter().filter(|answer| answer.is_none()).count();
            return Ok(proof_situation(open, answers.len()));
        }
        let is_for_spectators = self.side.colour().is_none();
        let analysis = self.look(position)?;
        if is_for_spectators {
            return Ok(analysis.verdict.clone());
        }
        let counts = [Some(Value::Win), None].map(|outcome| analysis.count(outcome));
        let remoteness = analysis.judgement.and_then(|judgement| judgement.remoteness);
        Ok(situation(analysis.outcome(), counts, analysis.moves.len(), remoteness))
    }

    /// Returns the analysis that was shown of the position, or a new one.
    fn look(&mut self, position: &Position) -> Result<&Analysis, CliError> {
        let seen = self.seen.take().filter(|seen| seen.position == *position);
        let seen = seen.map_or_else(|| self.opponent.look(position), Ok)?;
        Ok(self.seen.insert(seen))
    }

    /// The moves with their outcomes or the answers of the proof, one a line.
    fn list(&mut self, position: &Position) -> Result<String, CliError> {
        let mut text = String::new();
        if let Some(answers) = self.answers(position)? {
            for (mv, answer) in position.moves(self.game.board()).into_iter().zip(answers) {
                let answer = answer.map_or("nothing".to_owned(), |answer| answer.to_string());
                let _ = writeln!(text, "  {:<8}answered by {answer}", mv.to_string());
            }
            return Ok(text);
        }
        let analysis = self.look(position)?;
        if let open @ 1.. = analysis.count(None) {
            let moves = output::counted(open as u64, "move");
            let _ = writeln!(text, "{moves} not decided yet; search [TIME] decides more.");
        }
        for judged in &analysis.moves {
            let (mv, verb) = (judged.mv.to_string(), outcome_verb(judged.outcome()));
            let plies = judged.judgement.and_then(|judgement| judgement.remoteness);
            let plies = plies.map(|plies| format!(" in {}", output::plies(plies)));
            let _ = writeln!(text, "  {mv:<8}{verb}{}", plies.unwrap_or_default());
        }
        Ok(text)
    }

    /// Saves the game, with the program as the player of its sides.
    fn save(&self, file: &str) -> Result<String, CliError> {
        let level = self.opponent.level.map(|level| format!(", level {level}"));
        let name = format!("konane{}", level.unwrap_or_default());
        let player = |colour| (!self.side.has(colour)).then_some(name.as_str());
        self.game.save(file, [player(Colour::Black), player(Colour::White)])
    }
}

impl Session for PlaySession<'_> {
    const KIND: SessionKind = SessionKind::Play;

    fn turn(&mut self, out: &mut TerminalText) -> Result<bool, CliError> {
        let (board, position) = (self.game.board(), *self.game.position());
        let (to_move, person) = (position.to_move(), self.side.colour());
        let is_over = position.count_moves(board) == 0;
        if !is_over && !self.side.has(to_move) {
            let before = self.game.history.previous().map(|(position, _)| position);
            let (mv, reason) = self.opponent.choose(before, &position)?;
            if !self.opponent.is_stopped() {
                self.game.play(mv);
                let _ = writeln!(out, "\n{to_move} plays {mv}: {reason}.");
            }
            return Ok(false);
        }
        let style = Style::of_stdout();
        *out += "\n";
        *out += draw(board, &position, self.game.last(), style);
        *out += match is_over {
            true => format!("\n{to_move} cannot move. {}\n", winner_text(!to_move, person)),
            false => {
                let (stone, situation) = (style.stone(to_move), self.situation(&position)?);
                format!("\n{to_move} ({stone}) to move. {situation}\n")
            }
        };
        Ok(true)
    }

    fn moves(&self) -> Vec<String> {
        self.game.move_texts()
    }

    fn run(&mut self, action: Action, argument: &str) -> Result<CommandResult, CliError> {
        let (position, side) = (*self.game.position(), self.side);
        let is_users_turn =
            |_, (position, _): &(Position, _)| -> bool { side.has(position.to_move()) };
        let changed = match action {
            Action::Move => {
                self.game.play(self.game.read_move(argument)?);
                ""
            }
            Action::Undo => {
                self.game.history.undo_to(is_users_turn).map(|()| "Move taken back.\n")?
            }
            Action::Redo => self.game.history.redo_to(is_users_turn).map(|()| "Move redone.\n")?,
            Action::New => {
                self.game.history.restart();
                "A new game.\n"
            }
            Action::Load => {
                let game = self.game.load(argument)?;
                self.opponent.must_cover(game.position())?;
                (self.game, self.seen) = (game, None);
                return Ok(CommandResult::Changed(format!("Loaded {argument}.\n").into()));
            }
            Action::Moves | Action::More => return text(self.list(&position)?),
            Action::Board => {
                let style = Style::of_stdout();
                let mut board = draw(self.game.board(), &position, self.game.last(), style);
                let _ = writeln!(board, "  {position}");
                return text(board);
            }
            Action::Position => return text(format!("{position}\n")),
            Action::Hint => {
                let choice = self.opponent.hint(&position)?;
                let judgement = choice.and_then(|choice| choice.judgement);
                return text(hint_text(choice.map(|choice| choice.mv), judgement));
            }
            Action::Search => {
                let time = search_time(argument, self.opponent.time)?;
                let analysis = self.opponent.search(&position, time)?;
                return text(self.seen.insert(analysis).verdict.clone() + "\n");
            }
            Action::Save => return text(self.save(argument)?),
            Action::Draw => return text(write_file("board", argument, &self.game.svg())?),
            Action::Help => return text(help(Self::KIND)),
            Action::Quit => return Ok(CommandResult::Quit),
        };
        Ok(CommandResult::Changed(changed.into()))
    }
}
