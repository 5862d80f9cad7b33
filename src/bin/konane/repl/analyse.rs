//! The conversation of `konane analyse`.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::analyse::AnalysisJson;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::progress::Progress;
use crate::repl::board::{Style, draw};
use crate::repl::game::{Game, RecordArgs};
use crate::repl::hint_text;
use crate::repl::words::{self, LONGER, Word};
use crate::repl::{Next, Talk};
use crate::terminal_text::TerminalText;
use crate::terminal_text::escape_line;
use konane::Move;
use konane::analysis::{Analysis, Analyst};
use konane::json::{OrUnknown, or_unknown};
use konane::notation::parse_move;
use konane::search::Value;
use konane::search::run::Limits;

const HELP: &str = "\
Write a move: a square to remove a stone in the first two plies (c3), then jumps (c3-c1).
  move X       the same
  undo, redo   take the last move back; make it again
  new          back to the beginning
  board        the board, the moves and the line again
  moves        the moves and the line only
  hint         a move to make
  search TIME  search this position for longer, such as 30s; without a time 10 times as long;
               Ctrl-C ends the search
  position     the position as text
  save FILE    write the game to a file
  load FILE    go on from the game in a file
  draw FILE    draw the board as SVG
  quit         end
";

/// Answer of `analyse --json` to a command.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AnswerJson {
    /// To a command that shows or changes the position.
    Analysis(Box<AnalysisJson>),
    /// To `hint`: null if there is no move.
    Hint {
        /// The move.
        hint: Option<Move>,
        /// Its outcome for the player who makes it; `loss` if there is no move.
        #[serde(serialize_with = "or_unknown::serialize")]
        #[schemars(with = "OrUnknown<Value>")]
        outcome: Option<Value>,
    },
    /// To `save`.
    Saved {
        /// The file.
        saved: String,
    },
    /// To `draw`.
    Drawn {
        /// The file.
        drawn: String,
    },
    /// To `help`.
    Help {
        /// What can be written.
        help: String,
    },
    /// To what cannot be done.
    Error {
        /// Why.
        error: String,
    },
}

/// What is shown of a position in words. As an object it is always the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    /// The board, the moves and the line.
    Board,
    /// The moves and the line.
    Moves,
    /// The position's text.
    Text,
}

/// An answer.
enum Answer {
    /// The position on the board, judged within this time.
    Position(Show, Duration),
    /// Something else: the words, and the object.
    Said(String, AnswerJson),
}

/// What is on the board, and who judges it.
pub struct Session<'a> {
    game: Game,
    analyst: Analyst,
    time: Duration,
    json: bool,
    style: Style,
    /// What `turn` shows, and how long it may search.
    next: (Show, Duration),
    stop: &'a AtomicBool,
}

impl<'a> Session<'a> {
    /// Begins at the end of a game.
    pub fn new(
        game: Game,
        analyst: Analyst,
        time: Duration,
        json: bool,
        stop: &'a AtomicBool,
    ) -> Self {
        let next = (Show::Board, time);
        Session { game, analyst, time, json, style: Style::of_stdout(), next, stop }
    }

    fn answer(&mut self, word: Word<'_>) -> Result<Answer, Problem> {
        let wrong = |error: &str| Problem { error: error.to_owned(), exit: Exit::BadInput };
        match word {
            Word::Move(text) => {
                let mv = parse_move(self.game.board(), self.game.position(), text);
                let mv = mv.map_err(|error| wrong(&format!("{error}; or write help")))?;
                self.game.play(mv);
            }
            Word::Undo if !self.game.undo() => return Err(wrong("there is nothing to take back")),
            Word::Redo if !self.game.redo() => return Err(wrong("nothing was taken back")),
            Word::New => while self.game.undo() {},
            Word::Moves => return Ok(Answer::Position(Show::Moves, self.time)),
            Word::Hint => return Ok(self.hint()?),
            Word::Search(time) => {
                let time = time.unwrap_or_else(|| self.time.saturating_mul(LONGER));
                return Ok(Answer::Position(Show::Moves, time));
            }
            Word::Position => return Ok(Answer::Position(Show::Text, self.time)),
            Word::Save(file) => {
                self.game.save(Path::new(file), [None, None])?;
                let object = AnswerJson::Saved { saved: file.to_owned() };
                return Ok(Answer::Said(format!("The game is in {file}.\n"), object));
            }
            Word::Load(file) => {
                self.game = Game::open(
                    Path::new(file),
                    Some(self.game.board().dimensions()),
                    RecordArgs::default(),
                )?;
            }
            Word::Draw(file) => {
                self.game.draw(Path::new(file))?;
                let object = AnswerJson::Drawn { drawn: file.to_owned() };
                return Ok(Answer::Said(format!("The board is in {file}.\n"), object));
            }
            Word::Help => {
                let help = HELP.to_owned();
                return Ok(Answer::Said(help.clone(), AnswerJson::Help { help }));
            }
            Word::Wrong(error) => return Err(wrong(&format!("{error}; or write help"))),
            Word::Undo | Word::Redo | Word::Board | Word::Empty | Word::Quit => {}
        }
        Ok(Answer::Position(Show::Board, self.time))
    }

    /// On a terminal, a Ctrl-C that comes while the program works has ended the search, and the
    /// conversation goes on.
    fn go_on_after_signal(&self) {
        if io::stdin().is_terminal() {
            self.stop.store(false, Ordering::Relaxed);
        }
    }

    fn limits(&self, time: Duration) -> Limits<'a> {
        let deadline = Instant::now().checked_add(time);
        Limits { deadline, stop: Some(self.stop), ..Limits::default() }
    }

    fn hint(&mut self) -> Result<Answer, CliError> {
        let limits = self.limits(self.time);
        let choice = self.analyst.choose(self.game.position(), limits)?;
        let judgement = choice.and_then(|choice| choice.judgement);
        let outcome = match choice {
            Some(_) => judgement.map(|judgement| judgement.outcome),
            // Who cannot move has lost.
            None => Some(Value::Loss),
        };
        let hint = choice.map(|choice| choice.mv);
        let words = hint_text(hint.map(|mv| mv.to_string()).as_deref(), judgement);
        Ok(Answer::Said(words + "\n", AnswerJson::Hint { hint, outcome }))
    }

    /// Judges the position on the board. The line may take half as long again.
    fn judge(&mut self, time: Duration) -> Result<(Analysis, Vec<Move>), CliError> {
        let limits = self.limits(time);
        let shown = Progress::new(self.json);
        let analysis = self.analyst.analyse(self.game.position(), limits, &mut |analysis| {
            let (open, all) = (analysis.count(None), analysis.moves.len());
            let text = || format!("{} of {all} moves decided", all - open);
            shown.live(text());
            shown.update(|_| text());
        })?;
        let limits = self.limits(time / 2);
        let line = match analysis.outcome() {
            Some(_) => self.analyst.line(self.game.position(), limits)?,
            None => Vec::new(),
        };
        Ok((analysis, line))
    }

    /// The position on the board, judged.
    fn show(&mut self, show: Show, time: Duration) -> Result<TerminalText, CliError> {
        if show == Show::Text && !self.json {
            return Ok((self.game.position().to_string() + "\n").into());
        }
        let (analysis, line) = self.judge(time)?;
        let (board, position) = (self.game.board(), self.game.position());
        if self.json {
            let start = Some(self.game.record().start);
            let played = Some(self.game.moves().collect());
            let object = AnalysisJson { analysis, line: Some(line), start, played };
            return Ok(output::json(&AnswerJson::Analysis(Box::new(object)))?.into());
        }
        let mut words = TerminalText::new();
        if show == Show::Board {
            let (dimensions, to_move) = (board.dimensions(), position.to_move());
            let stone = self.style.stone(to_move);
            words += &format!("\n{dimensions}, {to_move} ({stone}) to move\n\n");
            words += draw(board, position, self.game.last(), self.style);
        }
        words += &format!("\n{}\n", analysis.verdict);
        words += &moves_text(&analysis, &line);
        Ok(words)
    }
}

impl Talk for Session<'_> {
    fn turn(&mut self, out: &mut TerminalText) -> Result<bool, CliError> {
        let (show, time) = self.next;
        *out += self.show(show, time)?;
        self.go_on_after_signal();
        if self.stop.load(Ordering::Relaxed) {
            // What is known by then.
            output::write_text(out.clone())?;
        }
        Ok(false)
    }

    fn line(&mut self, line: &str) -> Result<Next, CliError> {
        let word = words::read(line);
        match word {
            Word::Empty => return Ok(Next::Again(TerminalText::new())),
            Word::Quit => return Ok(Next::Quit),
            _ => {}
        }
        let answer = self.answer(word);
        self.go_on_after_signal();
        let said = |words: String, object: &AnswerJson| match self.json {
            true => output::json(object),
            false => Ok(words),
        };
        match answer {
            Ok(Answer::Position(show, time)) => {
                self.next = (show, time);
                Ok(Next::Changed(TerminalText::new()))
            }
            Ok(Answer::Said(words, object)) => Ok(Next::Again(said(words, &object)?.into())),
            Err(Problem { error, exit }) => {
                let object = AnswerJson::Error { error: error.clone() };
                Ok(Next::Failed(
                    said(escape_line(&error).into_owned() + "\n", &object)?.into(),
                    exit,
                ))
            }
        }
    }
}

/// Why a command was not done, and the exit code that tells it.
struct Problem {
    error: String,
    exit: Exit,
}

impl From<CliError> for Problem {
    fn from(error: CliError) -> Self {
        Problem { exit: error.exit(), error: error.to_string() }
    }
}

/// All moves, one a line, winning first, and a line of best play.
pub fn moves_text(analysis: &Analysis, line: &[Move]) -> String {
    let mut text = String::new();
    if !analysis.moves.is_empty() {
        text += "\n  move     outcome  replies  source\n";
    }
    for judged in &analysis.moves {
        let mv = judged.mv.to_string();
        let outcome = judged.outcome().map_or("unknown", Value::name);
        let source = judged.judgement.map_or("", |judgement| judgement.source.name());
        let plies = match judged.judgement.and_then(|judgement| judgement.remoteness) {
            // Of the position after the move; the game lasts one more.
            Some(plies) => format!(", {}", output::plies(plies + 1)),
            None => String::new(),
        };
        let replies = judged.replies;
        let row = format!("  {mv:<8} {outcome:<8} {replies:>7}  {source}{plies}");
        let _ = writeln!(text, "{}", row.trim_end());
    }
    if !line.is_empty() {
        let _ = writeln!(text, "\n  line     {}", output::wrapped(line, 11));
    }
    text
}
