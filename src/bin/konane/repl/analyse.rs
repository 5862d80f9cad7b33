//! The session of `konane analyse`.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;

use super::board::{Style, draw};
use super::command::{Action, SessionKind, help, search_time};
use super::game::{KonaneGame, write_file};
use super::sentences::hint_text;
use super::{CommandResult, Session, limits, text};
use crate::exit::CliError;
use crate::output;
use crate::progress::ProgressDisplay;
use crate::terminal_text::{TerminalText, escape_line};
use konane::analysis::{Analysis, Analyst};
use konane::json::or_unknown;
use konane::search::Value;
use konane::{Move, Position};

/// An analysis with the moves before its position and a line of best play.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnalysisJson {
    #[serde(flatten)]
    pub analysis: Analysis,
    /// Best play from the position, as far as it is decided. Absent if it was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<Move>>,
    /// The position before the moves that were played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Position>,
    /// The moves that were played from `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<Vec<Move>>,
}

impl From<Analysis> for AnalysisJson {
    fn from(analysis: Analysis) -> Self {
        AnalysisJson { analysis, line: None, start: None, played: None }
    }
}

/// Output of `analyse --json` for a command.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum AnswerJson {
    /// For a command that shows or changes the position.
    Analysis(Box<AnalysisJson>),
    /// For `hint`.
    Hint {
        /// The move; null if there is none.
        hint: Option<Move>,
        /// Its outcome for the player who makes it; `loss` if there is no move.
        #[serde(serialize_with = "or_unknown::serialize")]
        #[cfg_attr(test, schemars(with = "konane::json::OrUnknown<Value>"))]
        outcome: Option<Value>,
    },
    /// For `save`.
    Saved {
        /// The file.
        saved: String,
    },
    /// For `draw`.
    Drawn {
        /// The file.
        drawn: String,
    },
    /// For `help`.
    Help {
        /// The commands.
        help: String,
    },
    /// For a failed command.
    Error {
        /// The error.
        error: String,
    },
}

/// A game and the analysis of its positions.
pub struct AnalyseSession<'a> {
    /// The game.
    pub game: KonaneGame,
    /// Evaluates positions.
    pub analyst: Analyst,
    /// Time for each position.
    pub time: Duration,
    /// True if the output is JSON.
    pub json: bool,
    /// Ends searches.
    pub stop: &'a AtomicBool,
}

impl AnalyseSession<'_> {
    /// Returns the output as text or JSON.
    fn answer(&self, text: String, object: &AnswerJson) -> Result<TerminalText, CliError> {
        Ok(if self.json { output::json(object)?.into() } else { text.into() })
    }

    fn hint(&mut self) -> Result<TerminalText, CliError> {
        let choice = self.analyst.choose(self.game.position(), limits(self.time, self.stop))?;
        let judgement = choice.and_then(|choice| choice.judgement);
        let outcome = match choice {
            Some(_) => judgement.map(|judgement| judgement.outcome),
            // A player who cannot move has lost.
            None => Some(Value::Loss),
        };
        let hint = choice.map(|choice| choice.mv);
        self.answer(hint_text(hint, judgement), &AnswerJson::Hint { hint, outcome })
    }

    /// Evaluates the position. The remoteness and the line of best play each take at most half the time in addition.
    fn analyse(&mut self, time: Duration) -> Result<(Analysis, Vec<Move>), CliError> {
        let shown = ProgressDisplay::new(self.json);
        let limits = |time| limits(time, self.stop);
        let position = self.game.position();
        let analysis = self.analyst.analyse(position, limits(time), &mut |analysis| {
            let (open, all) = (analysis.count(None), analysis.moves.len());
            let text = || format!("{} of {all} moves decided", all - open);
            shown.live(text());
            shown.update(|_| text());
        })?;
        // Half of these limits are for the remoteness.
        let analysis = self.analyst.find_remoteness(analysis, limits(time))?;
        let line = match analysis.outcome() {
            Some(_) => self.analyst.line(position, limits(time / 2))?,
            None => Vec::new(),
        };
        Ok((analysis, line))
    }

    /// Returns the moves and a line of best play, in text with the board if `has_board` is set.
    fn show(&mut self, has_board: bool, time: Duration) -> Result<TerminalText, CliError> {
        let (analysis, line) = self.analyse(time)?;
        let (board, position) = (self.game.board(), self.game.position());
        if self.json {
            let start = Some(self.game.start());
            let played = Some(self.game.moves().collect());
            let object = AnalysisJson { analysis, line: Some(line), start, played };
            return Ok(output::json(&AnswerJson::Analysis(Box::new(object)))?.into());
        }
        let mut text = TerminalText::new();
        if has_board {
            let (dimensions, to_move) = (board.dimensions(), position.to_move());
            let style = Style::of_stdout();
            let stone = style.stone(to_move);
            text += &format!("\n{dimensions}, {to_move} ({stone}) to move\n\n");
            text += draw(board, position, self.game.last(), style);
        }
        text += &format!("\n{}\n", analysis.verdict);
        text += &moves_text(&analysis, &line);
        Ok(text)
    }
}

impl Session for AnalyseSession<'_> {
    const KIND: SessionKind = SessionKind::Analyse;

    fn turn(&mut self, out: &mut TerminalText) -> Result<bool, CliError> {
        *out += self.show(true, self.time)?;
        Ok(true)
    }

    fn moves(&self) -> Vec<String> {
        self.game.move_texts()
    }

    fn run(&mut self, action: Action, argument: &str) -> Result<CommandResult, CliError> {
        match action {
            Action::Move => self.game.play(self.game.read_move(argument)?),
            Action::Undo => self.game.history.undo_to(|_, _| true)?,
            Action::Redo => self.game.history.redo_to(|_, _| true)?,
            Action::New => self.game.history.restart(),
            Action::Load => self.game = self.game.load(argument)?,
            Action::Board => {}
            Action::Position if !self.json => {
                return text(self.game.position().to_string() + "\n");
            }
            Action::Moves | Action::More | Action::Position => {
                return text(self.show(false, self.time)?);
            }
            Action::Search => return text(self.show(false, search_time(argument, self.time)?)?),
            Action::Hint => return text(self.hint()?),
            Action::Save => {
                let (saved, sentence) =
                    (argument.to_owned(), self.game.save(argument, [None, None])?);
                return text(self.answer(sentence, &AnswerJson::Saved { saved })?);
            }
            Action::Draw => {
                let sentence = write_file("board", argument, &self.game.svg())?;
                let drawn = argument.to_owned();
                return text(self.answer(sentence, &AnswerJson::Drawn { drawn })?);
            }
            Action::Help => {
                let help = help(Self::KIND);
                return text(self.answer(help.clone(), &AnswerJson::Help { help })?);
            }
            Action::Quit => return Ok(CommandResult::Quit),
        }
        Ok(CommandResult::Changed(TerminalText::new()))
    }

    fn error_text(&self, error: &CliError) -> Result<TerminalText, CliError> {
        let error = error.to_string();
        let text = escape_line(&error).into_owned() + "\n";
        self.answer(text, &AnswerJson::Error { error })
    }
}

/// Returns the moves in the order of the analysis, one per line, and a line of best play.
fn moves_text(analysis: &Analysis, line: &[Move]) -> String {
    let mut text = String::new();
    if !analysis.moves.is_empty() {
        text += "\n  move     outcome  replies  source\n";
    }
    for judged in &analysis.moves {
        let mv = judged.mv.to_string();
        let outcome = judged.outcome().map_or("unknown", Value::name);
        let source = judged.judgement.map_or("", |judgement| judgement.source.name());
        let plies = match judged.judgement.and_then(|judgement| judgement.remoteness) {
            Some(plies) => format!(", {}", output::plies(plies)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use konane::search::run::Limits;

    #[test]
    fn unknown_values_have_no_source() {
        let json = |analysis: Analysis| serde_json::to_value(AnalysisJson::from(analysis)).unwrap();
        let analyst = Analyst::new("8x8".parse().unwrap(), 1 << 20).unwrap();
        let start = Position::start(analyst.board());
        let open = json(analyst.lookup_moves(&start).unwrap());
        assert_eq!((&open["outcome"], &open["winner"]), (&"unknown".into(), &"unknown".into()));
        assert_eq!((open.get("source"), &open["complete"]), (None, &false.into()));
        let moves = open["moves"].as_array().unwrap();
        assert!(moves.iter().all(|mv| mv["outcome"] == "unknown" && mv.get("source").is_none()));
        let mut analyst = Analyst::new("3x3".parse().unwrap(), 1 << 20).unwrap();
        let start = Position::start(analyst.board());
        let decided = json(analyst.analyse(&start, Limits::default(), &mut |_| {}).unwrap());
        assert_eq!((&decided["phase"], &decided["complete"]), (&"removal".into(), &true.into()));
        assert_eq!((&decided["outcome"], &decided["winner"]), (&"loss".into(), &"white".into()));
        let moves = decided["moves"].as_array().unwrap();
        assert!(moves.iter().all(|mv| mv["source"].is_string()));
        assert!(!decided.to_string().contains("null"), "{decided}");
    }
}
