//! The conversation of `konane play`.

use std::fmt::Write as _;
use std::path::Path;

use super::opponent::Opponent;
use super::sentences::{proof_situation, prospect, situation};
use crate::commands::play::Side;
use crate::exit::CliError;
use crate::output;
use crate::repl::board::{Style, draw};
use crate::repl::game::{Game, RecordArgs};
use crate::repl::hint_text;
use crate::repl::words::{self, LONGER, Word};
use crate::repl::{Next, Talk};
use crate::terminal_text::TerminalText;
use crate::terminal_text::escape_line;
use konane::notation::parse_move;
use konane::search::Value;
use konane::{Colour, Position};

const HELP: &str = "\
Write a move: a square to remove a stone in the first two plies (c3), then jumps (c3-c1).
  moves        your moves, and what becomes of them
  hint         a move to make
  search TIME  look longer, such as 30s; without a time 10 times as long
  board        the board again, with its text
  position     the text only
  undo, redo   take your last move back; make it again
  new          begin again
  save FILE    write the game to a file
  load FILE    go on from the game in a file
  draw FILE    draw the board as SVG
  quit         end the game
";

/// A game between people and the program.
pub struct Session<'a> {
    game: Game,
    opponent: Opponent<'a>,
    side: Side,
    style: Style,
}

impl<'a> Session<'a> {
    /// A game in which people play a side.
    pub fn new(game: Game, opponent: Opponent<'a>, side: Side) -> Self {
        Session { game, opponent, side, style: Style::of_stdout() }
    }

    /// The one colour that a person plays against the program.
    fn person(&self) -> Option<Colour> {
        match self.side {
            Side::Black => Some(Colour::Black),
            Side::White => Some(Colour::White),
            Side::Both | Side::None => None,
        }
    }

    fn is_over(&self) -> bool {
        self.game.position().count_moves(self.game.board()) == 0
    }

    /// What is said at the beginning: who is known to win, and by what.
    pub fn introduction(&self, known: Option<(Colour, String)>) -> String {
        let board = self.game.board().dimensions();
        let who = match self.person() {
            Some(person) => format!("you play {person}"),
            None if self.side == Side::Both => "two people play".to_owned(),
            None => "the program plays both sides".to_owned(),
        };
        let level = match self.opponent.level {
            Some(level) if self.side != Side::Both => {
                let nodes = output::grouped(level.nodes());
                format!(" On level {level} I search {nodes} nodes for a move.")
            }
            _ => String::new(),
        };
        let winner = known.as_ref().map(|&(winner, _)| winner);
        let prospect = prospect(winner, self.person(), self.opponent.level.is_none());
        let by = known.map(|(_, by)| format!(", by {by}")).unwrap_or_default();
        format!("{board}, {who}. {prospect}{by}.{level}\nWrite a move, or help.\n")
    }

    /// The board, and how things stand.
    fn show(&mut self) -> Result<TerminalText, CliError> {
        let (board, position) = (self.game.board(), *self.game.position());
        let mut text = TerminalText::from("\n");
        text += draw(board, &position, self.game.last(), self.style);
        let to_move = position.to_move();
        if self.is_over() {
            let winner = match self.person() {
                Some(person) if person == to_move => "I have".to_owned(),
                Some(_) => "You have".to_owned(),
                None => format!("{} has", !to_move),
            };
            let _ = writeln!(text, "\n{to_move} cannot move. {winner} won.");
        } else {
            let (stone, situation) = (self.style.stone(to_move), self.situation(&position)?);
            let _ = writeln!(text, "\n{to_move} ({stone}) to move. {situation}");
        }
        Ok(text)
    }

    /// Whether every move of the person, who is to move, has to have an answer in the proof.
    fn is_answered_by_proof(&self, position: &Position) -> Result<bool, CliError> {
        Ok(self.person().is_some() && self.opponent.answers_by_proof(position)?)
    }

    fn situation(&mut self, position: &Position) -> Result<String, CliError> {
        if self.is_answered_by_proof(position)? {
            let board = self.game.board();
            let moves = position.moves(board);
            let mut open = 0;
            for &mv in &moves {
                open += usize::from(self.opponent.answer(&position.play(board, mv))?.is_none());
            }
            return Ok(proof_situation(open, moves.len()));
        }
        let analysis = self.opponent.look(position)?;
        Ok(match self.person() {
            Some(_) => situation(&analysis),
            None => analysis.verdict.clone(),
        })
    }

    /// The moves, one a line, with what becomes of them.
    fn list(&mut self) -> Result<String, CliError> {
        let (board, position) = (self.game.board(), *self.game.position());
        let mut text = String::new();
        if self.is_answered_by_proof(&position)? {
            for mv in position.moves(board) {
                let answer = self.opponent.answer(&position.play(board, mv))?;
                let answer = answer.map_or("nothing".to_owned(), |answer| self.game.name(answer));
                let _ = writeln!(text, "  {:<8}answered by {answer}", self.game.name(mv));
            }
            return Ok(text);
        }
        for judged in self.opponent.search(&position, self.opponent.time)?.moves {
            let what = match judged.outcome() {
                Some(Value::Win) => "wins",
                Some(Value::Loss) => "loses",
                None => "unknown",
            };
            let plies = judged.judgement.and_then(|judgement| judgement.remoteness);
            let plies =
                plies.map(|after| format!(" in {}", output::plies(after + 1))).unwrap_or_default();
            let _ = writeln!(text, "  {:<8}{what}{plies}", self.game.name(judged.mv));
        }
        Ok(text)
    }

    /// Does what a line says.
    fn answer(&mut self, word: Word<'_>) -> Result<Next, CliError> {
        let (board, position) = (self.game.board(), *self.game.position());
        Ok(match word {
            Word::Empty => Next::Again(TerminalText::new()),
            Word::Quit => Next::Quit,
            Word::Help => Next::Again(HELP.into()),
            Word::Moves => Next::Again(self.list()?.into()),
            Word::Board => {
                let mut text = draw(board, &position, self.game.last(), self.style);
                let _ = writeln!(text, "  {position}");
                Next::Again(text)
            }
            Word::Position => Next::Again((position.to_string() + "\n").into()),
            Word::Hint => {
                let choice = self.opponent.hint(&position)?;
                let judgement = choice.and_then(|choice| choice.judgement);
                let mv = choice.map(|choice| self.game.name(choice.mv));
                Next::Again((hint_text(mv.as_deref(), judgement) + "\n").into())
            }
            Word::Search(time) => {
                let time = time.unwrap_or_else(|| self.opponent.time.saturating_mul(LONGER));
                Next::Again((self.opponent.search(&position, time)?.verdict + "\n").into())
            }
            Word::Undo => self.undo(),
            Word::Redo => self.redo(),
            Word::New => {
                while self.game.undo() {}
                Next::Changed("A new game.\n".into())
            }
            Word::Save(_) | Word::Load(_) | Word::Draw(_) => match self.file(word) {
                Ok(next) => next,
                Err(error) => {
                    let text = escape_line(&error.to_string()).into_owned() + "\n";
                    Next::Failed(text.into(), error.exit())
                }
            },
            Word::Wrong(error) => Next::Wrong(format!("{error}; or write help\n").into()),
            Word::Move(text) => match parse_move(board, &position, text) {
                Ok(mv) => {
                    self.game.play(mv);
                    Next::Changed(TerminalText::new())
                }
                Err(error) => Next::Wrong(format!("{error}; or write help\n").into()),
            },
        })
    }

    /// Reads or writes a file.
    fn file(&mut self, word: Word<'_>) -> Result<Next, CliError> {
        Ok(match word {
            Word::Save(file) => {
                let level = self.opponent.level.map(|level| format!(", level {level}"));
                let name = format!("konane{}", level.unwrap_or_default());
                let player = |colour| (!self.side.has(colour)).then_some(name.as_str());
                let players = [player(Colour::Black), player(Colour::White)];
                self.game.save(Path::new(file), players)?;
                Next::Again(format!("The game is in {file}.\n").into())
            }
            Word::Load(file) => {
                let game = Game::open(
                    Path::new(file),
                    Some(self.game.board().dimensions()),
                    RecordArgs::default(),
                )?;
                self.opponent.must_cover(game.position())?;
                self.game = game;
                Next::Changed(format!("The game of {file}.\n").into())
            }
            Word::Draw(file) => {
                self.game.draw(Path::new(file))?;
                Next::Again(format!("The board is in {file}.\n").into())
            }
            _ => Next::Again(TerminalText::new()),
        })
    }

    /// Back to the turn before.
    fn undo(&mut self) -> Next {
        let person = |position: &Position| self.side.has(position.to_move());
        let Some(turn) = self.game.earlier().iter().rposition(person) else {
            return Next::Wrong("There is nothing to take back.\n".into());
        };
        while self.game.earlier().len() > turn {
            self.game.undo();
        }
        Next::Changed("Taken back.\n".into())
    }

    /// Forth to the turn after.
    fn redo(&mut self) -> Next {
        if !self.game.redo() {
            return Next::Wrong("Nothing was taken back.\n".into());
        }
        while !self.side.has(self.game.position().to_move()) && self.game.redo() {}
        Next::Changed("Made again.\n".into())
    }
}

impl Talk for Session<'_> {
    /// Makes the program's moves, and shows the board. The conversation goes on after the game: it can
    /// be saved, taken back and begun again.
    fn turn(&mut self, out: &mut TerminalText) -> Result<bool, CliError> {
        while !self.is_over() && !self.side.has(self.game.position().to_move()) {
            let side = self.game.position().to_move();
            let before = self.game.earlier().last();
            let (mv, why) = self.opponent.choose(before, self.game.position())?;
            if self.opponent.is_stopped() {
                return Ok(false);
            }
            self.game.play(mv);
            let why = match self.person() {
                Some(_) => why.to_person(),
                None => why.to_all().to_owned(),
            };
            let _ = writeln!(out, "\n{side} plays {}: {why}.", self.game.name(mv));
            if self.side == Side::None {
                // Nobody interrupts to read what has been done so far.
                if !output::write_open(out.clone())? {
                    return Ok(true);
                }
                out.clear();
            }
        }
        *out += self.show()?;
        Ok(false)
    }

    fn line(&mut self, line: &str) -> Result<Next, CliError> {
        self.answer(words::read(line))
    }
}
