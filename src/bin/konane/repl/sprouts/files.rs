//! Files of games.

use std::path::Path;

use super::moves::{SproutsState, is_numbered_move};
use super::{SproutsSession, must_be_listed};
use crate::exit::CliError;
use crate::repl::game::{read_file, write_file};
use crate::repl::history::GameHistory;
use konane::sprouts::Position;

/// Start of the first line in the file of a game. Each further line is the position after a move, or has moves
/// between numbered spots.
const HEADER: &str = "Sprouts:";

impl SproutsSession<'_> {
    /// Saves the game.
    pub(super) fn save(&self, file: &str) -> Result<String, CliError> {
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
    pub(super) fn load(&mut self, file: &str) -> Result<String, CliError> {
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
