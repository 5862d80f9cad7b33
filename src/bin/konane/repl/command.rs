//! Commands of the interactive sessions: one table, one parser, and the help, which is generated from the table.

use std::fmt::Write as _;
use std::time::Duration;

use super::refused;
use crate::exit::CliError;
use konane::system::parse_duration;

/// Kinds of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// `konane analyse`.
    Analyse,
    /// `konane play`.
    Play,
    /// `konane sprouts play`.
    Sprouts,
}

use SessionKind::{Analyse, Play, Sprouts};

/// Effects of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Makes a move.
    Move,
    /// Undoes a move.
    Undo,
    /// Redoes a move.
    Redo,
    /// Begins a new game.
    New,
    /// Shows the board.
    Board,
    /// Shows the position as text.
    Position,
    /// Lists the moves.
    Moves,
    /// Continues the list of moves.
    More,
    /// Suggests a move.
    Hint,
    /// Searches the position again, for a time that [`search_time`] parses.
    Search,
    /// Writes the game to a file.
    Save,
    /// Reads a game from a file.
    Load,
    /// Draws the position to a file.
    Draw,
    /// Prints the commands.
    Help,
    /// Ends the session.
    Quit,
}

/// A row of the table of commands.
struct CommandSpec {
    action: Action,
    /// The name and its aliases, separated by spaces.
    names: &'static str,
    /// The argument in the help: in brackets if it is optional, empty if the command takes none.
    argument: &'static str,
    /// Sessions that have the command.
    kinds: &'static [SessionKind],
    help: &'static str,
}

const ALL: &[SessionKind] = &[Analyse, Play, Sprouts];
const KONANE: &[SessionKind] = &[Analyse, Play];
const SPROUTS: &[SessionKind] = &[Sprouts];

/// All commands, in the order of the help.
#[rustfmt::skip]
const COMMANDS: &[CommandSpec] = &[
    command(Action::Move, "move", "X", KONANE,
            "make a move (the word is optional): remove a stone (c3), jump (c3-c1)"),
    command(Action::Move, "move", "X", SPROUTS,
            "make a move (the word is optional): number (#3), next position (1a1a), 1(9)2[4-6]"),
    command(Action::Moves, "moves", "", ALL, "list the moves with their outcomes, winning ones first"),
    command(Action::More, "more", "", SPROUTS, "continue a long list of moves"),
    command(Action::Hint, "hint", "", ALL, "suggest a move"),
    command(Action::Search, "search", "[TIME]", &[Analyse],
            "search this position for TIME (30s; default: 10 times --time); Ctrl-C ends it"),
    command(Action::Search, "search", "[TIME]", &[Play, Sprouts],
            "search this position for TIME (30s; default: 10 times --time)"),
    command(Action::Board, "board", "", KONANE, "show the board again"),
    command(Action::Position, "position", "", KONANE, "show the position as text"),
    command(Action::Position, "position board", "", SPROUTS, "show the position and its Grundy numbers"),
    command(Action::Undo, "undo", "", ALL, "take back your last move"),
    command(Action::Redo, "redo", "", ALL, "redo a move that was taken back"),
    command(Action::New, "new", "", KONANE, "go back to the first position"),
    command(Action::New, "new", "[TEXT]", SPROUTS, "begin a new game, from the position TEXT if given"),
    command(Action::Save, "save", "FILE", ALL, "write the game to a file"),
    command(Action::Load, "load", "FILE", ALL, "continue the game in a file"),
    command(Action::Draw, "draw", "FILE", ALL, "draw the position as SVG"),
    command(Action::Help, "help ?", "", ALL, "show this list"),
    command(Action::Quit, "quit exit q", "", ALL, "quit"),
];

const fn command(
    action: Action,
    names: &'static str,
    argument: &'static str,
    kinds: &'static [SessionKind],
    help: &'static str,
) -> CommandSpec {
    CommandSpec { action, names, argument, kinds, help }
}

/// Returns the commands of a session.
fn commands(kind: SessionKind) -> impl Iterator<Item = &'static CommandSpec> {
    COMMANDS.iter().filter(move |command| command.kinds.contains(&kind))
}

/// Parses a line to an action and its argument, or to `None` for an empty line and for a comment, which begins
/// with `#`. A line that does not begin with a command is a move.
pub fn parse(kind: SessionKind, line: &str) -> Result<Option<(Action, &str)>, CliError> {
    let line = line.trim();
    // In Sprouts `#3` is the third move.
    let is_number = |rest: &str| kind == Sprouts && rest.starts_with(|c: char| c.is_ascii_digit());
    if line.is_empty() || line.strip_prefix('#').is_some_and(|rest| !is_number(rest)) {
        return Ok(None);
    }
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim_start();
    let Some(command) =
        commands(kind).find(|command| command.names.split(' ').any(|known| known == name))
    else {
        return Ok(Some((Action::Move, line)));
    };
    let expected = command.argument;
    let is_required = !expected.is_empty() && !expected.starts_with('[');
    match argument.is_empty() {
        true if is_required => {
            Err(refused(format!("{name:?} needs an argument: {name} {expected}; or write help")))
        }
        false if expected.is_empty() => {
            Err(refused(format!("{name:?} takes no argument, found {argument:?}; or write help")))
        }
        _ => Ok(Some((command.action, argument))),
    }
}

/// Returns the time for [`Action::Search`]: its argument, or 10 times the time of other searches.
pub fn search_time(argument: &str, time: Duration) -> Result<Duration, CliError> {
    match argument {
        "" => Ok(time.saturating_mul(10)),
        _ => parse_duration(argument)
            .map_err(|error| refused(format!("search {argument}: {error}; or write help"))),
    }
}

/// Returns the help of a session.
pub fn help(kind: SessionKind) -> String {
    let forms = commands(kind).map(|command| {
        let form = format!("{} {}", command.names.replace(' ', ", "), command.argument);
        (form.trim_end().to_owned(), command.help)
    });
    let forms: Vec<_> = forms.collect();
    let width = forms.iter().map(|(form, _)| form.len()).max().unwrap_or(0) + 2;
    forms.iter().fold(String::new(), |mut text, (form, help)| {
        let _ = writeln!(text, "  {form:<width$}{help}");
        text
    })
}

/// Returns all names of the commands of a session.
pub fn all_names(kind: SessionKind) -> impl Iterator<Item = &'static str> {
    commands(kind).flat_map(|command| command.names.split(' '))
}

/// Returns true for a name of the command that makes a move.
pub fn is_move(kind: SessionKind, name: &str) -> bool {
    let mut moves = commands(kind).filter(|command| command.action == Action::Move);
    moves.any(|command| command.names.split(' ').any(|known| known == name))
}

/// Returns the names of the commands of a session, separated by spaces.
pub fn names(kind: SessionKind) -> String {
    let names = commands(kind).filter_map(|command| command.names.split(' ').next());
    names.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commands_moves_or_comments() {
        for (kinds, line, expected) in [
            (ALL, "", None),
            (ALL, "  \t ", None),
            (ALL, "# a remark", None),
            (KONANE, "#3", None),
            (SPROUTS, "#3", Some((Action::Move, "#3"))),
            (ALL, " c3-c1 ", Some((Action::Move, "c3-c1"))),
            (ALL, "move  c3-c1", Some((Action::Move, "c3-c1"))),
            (ALL, "c3 c4", Some((Action::Move, "c3 c4"))),
            (ALL, "save a  file", Some((Action::Save, "a  file"))),
            (ALL, "search", Some((Action::Search, ""))),
            (ALL, "search\t2m", Some((Action::Search, "2m"))),
            (ALL, "?", Some((Action::Help, ""))),
            (ALL, "q", Some((Action::Quit, ""))),
            (KONANE, "board", Some((Action::Board, ""))),
            (SPROUTS, "board", Some((Action::Position, ""))),
            (KONANE, "more", Some((Action::Move, "more"))),
            (SPROUTS, "new 0*5", Some((Action::New, "0*5"))),
        ] {
            for &kind in kinds {
                assert_eq!(parse(kind, line).unwrap(), expected, "{kind:?} {line:?}");
            }
        }
    }

    #[test]
    fn every_command_checks_its_argument_and_is_in_the_help() {
        for &kind in ALL {
            let help = help(kind);
            assert!(help.lines().all(|line| line.len() <= 100), "{help}");
            for command in commands(kind) {
                assert!(help.contains(command.help), "{help}");
                for name in command.names.split(' ') {
                    let has_name = |other: &&CommandSpec| other.names.split(' ').any(|n| n == name);
                    assert_eq!(commands(kind).filter(has_name).count(), 1, "{kind:?} {name}");
                    let (alone, more) = (parse(kind, name), format!("{name} a b"));
                    let more = parse(kind, &more).map(|parsed| parsed.map(|(_, rest)| rest.len()));
                    let is_required = ["X", "FILE"].contains(&command.argument);
                    assert_eq!(alone.is_err(), is_required, "{kind:?} {name}");
                    match command.argument {
                        "" => assert!(more.is_err(), "{kind:?} {name}"),
                        _ => assert_eq!(more.unwrap(), Some(3), "{kind:?} {name}"),
                    }
                    if let Ok(alone) = alone {
                        assert_eq!(alone, Some((command.action, "")), "{kind:?} {name}");
                    }
                }
            }
        }
    }

    #[test]
    fn search_times() {
        let second = Duration::from_secs(1);
        assert_eq!(search_time("", second).unwrap(), Duration::from_secs(10));
        assert_eq!(search_time("2m", second).unwrap(), Duration::from_secs(120));
        assert!(search_time("soon", second).is_err());
    }
}
