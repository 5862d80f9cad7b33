//! `konane play`: a game against a proof or a database, line by line.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;

use clap::Args;

use super::exit::{CliError, Exit};
use super::flags::values;
use super::input::{PATIENCE, PositionArgs, lines_of_stdin};
use super::{database, output};
use crate::endgame::{Database, RatedMove, probe};
use crate::konane::notation::{format_move, format_position, parse_move};
use crate::konane::{Board, Colour, Move, Position};
use crate::proof::Guide;
use crate::search::plain::game::Value;

/// `konane play`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("knowledge").required(true))]
#[command(after_help = concat!(
    "The program plays the side that wins and says at each turn why it does. It reads a move or\n",
    "one of the words moves, board, undo, help and quit from each line of standard input. With\n",
    "--proof, the game begins at the position of the proof unless another is given.\n\n",
    "Examples:\n",
    "  konane play 5x5 --proof 5x5.proof\n",
    "  konane play 4x5 --db db --side white\n"
))]
pub struct PlayArgs {
    #[command(flatten)]
    pub start: PositionArgs,
    /// Play by this proof.
    #[arg(long, value_name = "FILE", group = "knowledge")]
    pub proof: Option<PathBuf>,
    /// Play by the database of the board in this directory, or by this database.
    #[arg(long, value_name = "DIR", group = "knowledge")]
    pub db: Option<PathBuf>,
    /// The side that you play, with --db [default: the one that loses].
    #[arg(long, value_name = "SIDE", conflicts_with = "proof")]
    pub side: Option<Colour>,
}

values!(Colour {
    Colour::Black: "Begins with the first removal",
    Colour::White: "Makes the second removal",
});

const HELP: &str = "\
Write a move: a square to remove a stone in the first two plies (c3), then jumps (c3-c1).
  moves   your moves, and what becomes of them
  board   the board again
  undo    take your last move back
  quit    end the game
";

/// Plays until the game is over, the input ends or somebody quits.
pub fn run(args: &PlayArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let given = args.start.position.is_some() || args.start.moves.is_some();
    // Before the files, so that bad input is found without them.
    let (_, position) = args.start.read()?;
    let (knowledge, position) = match (&args.proof, &args.db) {
        (Some(file), _) => {
            let guide = Guide::open(file)?;
            let (expected, got) = (args.start.board, guide.board().dimensions());
            let shown = file.display().to_string();
            if expected != got {
                return Err(CliError::OtherBoard { file: shown, expected, got });
            }
            let position = if given { position } else { guide.root() };
            (Knowledge::Proof(Box::new(guide), shown), position)
        }
        (None, directory) => {
            // Clap asks for one of the two.
            let directory = directory.as_deref().unwrap_or(Path::new("db"));
            (Knowledge::Database(Box::new(database::open(directory, args.start.board)?)), position)
        }
    };
    let winner = knowledge.winner(&position)?;
    let person = args.side.unwrap_or(!winner);
    let game = Game { knowledge, person, played: vec![position] };
    game.play(winner, stop)
}

/// What the program plays by.
enum Knowledge {
    /// A proof, and its file.
    Proof(Box<Guide>, String),
    /// A database.
    Database(Box<Database>),
}

impl Knowledge {
    fn board(&self) -> &Board {
        match self {
            Knowledge::Proof(guide, _) => guide.board(),
            Knowledge::Database(database) => database.board(),
        }
    }

    fn text(&self, mv: Move) -> String {
        format_move(self.board().dimensions(), mv)
    }

    /// Who wins the position in which a game shall begin.
    fn winner(&self, position: &Position) -> Result<Colour, CliError> {
        match self {
            Knowledge::Proof(guide, _) if guide.is_lost(position)? => Ok(!position.to_move()),
            Knowledge::Proof(guide, _) if guide.answer(position)?.is_some() => {
                Ok(position.to_move())
            }
            Knowledge::Proof(guide, file) => Err(CliError::NotInProof {
                file: file.clone(),
                position: format_position(guide.board(), position),
                root: format_position(guide.board(), &guide.root()),
            }),
            Knowledge::Database(database) => Ok(match probe(database, position)?.outcome {
                Value::Win => position.to_move(),
                Value::Loss => !position.to_move(),
            }),
        }
    }

    /// The program's move, and the reason.
    fn choose(&self, position: &Position) -> Result<(Move, String), CliError> {
        match self {
            Knowledge::Proof(guide, file) => {
                let board = guide.board();
                let mv = guide.answer(position)?.ok_or_else(|| CliError::NoAnswer {
                    file: file.clone(),
                    position: format_position(board, position),
                })?;
                let after = position.play(board, mv);
                Ok(match after.count_moves(board) {
                    0 => (mv, "it leaves you no move".to_owned()),
                    _ => (mv, "the position after it is in the proof".to_owned()),
                })
            }
            Knowledge::Database(database) => {
                let board = database.board();
                let answer = probe(database, position)?;
                // The more moves of the person lose, the better; all of them if the program wins.
                let mut best = None;
                for rated in answer.moves.iter().filter(|rated| rated.outcome == answer.outcome) {
                    let replies = probe(database, &position.play(board, rated.mv))?.moves;
                    let winning = winning(&replies);
                    if best.is_none_or(|(least, _, _)| winning < least) {
                        best = Some((winning, replies.len(), rated.mv));
                    }
                }
                let (winning, replies, mv) = best.expect("the game is not over");
                Ok((mv, why(winning, replies)))
            }
        }
    }

    /// What can be said to the person whose turn it is.
    fn situation(&self, position: &Position) -> Result<String, CliError> {
        let moves = position.moves(self.board());
        let count = moves.len();
        Ok(match self {
            Knowledge::Proof(guide, _) => {
                let mut open = 0;
                for mv in moves {
                    let answer = guide.answer(&position.play(guide.board(), mv))?;
                    open += u32::from(answer.is_none());
                }
                match (open, count) {
                    (0, 1) => "Your only move has an answer in the proof.".to_owned(),
                    (0, _) => format!("Your {count} moves all have an answer in the proof."),
                    _ => format!("{open} of your {count} moves have no answer: it is no proof."),
                }
            }
            Knowledge::Database(database) => {
                match (winning(&probe(database, position)?.moves), count) {
                    (0, 1) => "Your only move loses.".to_owned(),
                    (0, _) => format!("Your {count} moves all lose."),
                    (1, 1) => "You win: your only move does.".to_owned(),
                    (n, _) => format!("You are winning: {n} of your {count} moves win."),
                }
            }
        })
    }

    /// The person's moves, one a line, with what becomes of them.
    fn list(&self, position: &Position) -> Result<String, CliError> {
        let mut text = String::new();
        match self {
            Knowledge::Proof(guide, _) => {
                for mv in position.moves(guide.board()) {
                    let answer = guide.answer(&position.play(guide.board(), mv))?;
                    let answer = answer.map_or("nothing".to_owned(), |answer| self.text(answer));
                    let _ = writeln!(text, "  {:<8}answered by {answer}", self.text(mv));
                }
            }
            Knowledge::Database(database) => {
                for rated in probe(database, position)?.moves {
                    let what = if rated.outcome == Value::Win { "wins" } else { "loses" };
                    let _ = writeln!(text, "  {:<8}{what}", self.text(rated.mv));
                }
            }
        }
        Ok(text)
    }
}

/// Why the program moves as it does: so many of the person's replies win, of so many.
fn why(winning: usize, replies: usize) -> String {
    match (winning, replies) {
        (0, 0) => "it leaves you no move".to_owned(),
        (0, _) => "you lose whatever you do".to_owned(),
        (1, 1) => "all my moves lose; your only reply wins".to_owned(),
        (n, of) if n == of => format!("all my moves lose: your {of} replies all win"),
        (1, of) => format!("all my moves lose, but only 1 of your {of} replies wins"),
        (n, of) => format!("all my moves lose, but only {n} of your {of} replies win"),
    }
}

fn winning(moves: &[RatedMove]) -> usize {
    moves.iter().filter(|rated| rated.outcome == Value::Win).count()
}

struct Game {
    knowledge: Knowledge,
    person: Colour,
    /// All positions so far; the last one is on the board.
    played: Vec<Position>,
}

/// What a line makes of the game.
enum Next {
    /// The person is to write another line.
    Again(String),
    /// The person has moved or taken back.
    Changed(String),
    /// The line was not understood.
    Wrong(String),
    /// The person has had enough.
    Quit,
}

impl Game {
    fn position(&self) -> Position {
        *self.played.last().expect("the beginning stays")
    }

    fn play(mut self, winner: Colour, stop: &AtomicBool) -> Result<Exit, CliError> {
        let terminal = io::stdin().is_terminal();
        let lines = lines_of_stdin();
        let mut exit = Exit::Answered;
        let mut out = self.introduction(winner);
        loop {
            let over = self.program_moves(&mut out)?;
            if over || !output::write_open(&out)? {
                if over {
                    output::write_text(&out)?;
                }
                return Ok(exit);
            }
            out.clear();
            loop {
                if terminal && !output::write_open("> ")? {
                    return Ok(exit);
                }
                let line = loop {
                    if stop.load(Ordering::Relaxed) {
                        return Ok(Exit::Interrupted);
                    }
                    match lines.recv_timeout(PATIENCE) {
                        Ok(line) => break line.map_err(CliError::Input)?,
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return Ok(exit),
                    }
                };
                let text = match self.line(String::from_utf8_lossy(&line).trim())? {
                    Next::Quit => return Ok(exit),
                    Next::Changed(text) => {
                        out = text;
                        break;
                    }
                    Next::Again(text) => text,
                    Next::Wrong(text) => {
                        // Nobody sees the message at once: the exit code tells.
                        if !terminal {
                            exit = Exit::BadInput;
                        }
                        text
                    }
                };
                if !output::write_open(&text)? {
                    return Ok(exit);
                }
            }
        }
    }

    fn introduction(&self, winner: Colour) -> String {
        let by = match &self.knowledge {
            Knowledge::Proof(guide, file) => {
                format!("the proof {file}, {} positions", output::grouped(guide.positions()))
            }
            Knowledge::Database(database) => {
                format!("the database {}", database.directory().display())
            }
        };
        let (board, person) = (self.knowledge.board().dimensions(), self.person);
        let wins = if winner == person { "You can win" } else { "I win" };
        format!("{board}, you play {person}. {wins}, by {by}.\nWrite a move, or help.\n")
    }

    /// Makes the program's move, if it is its turn, and shows the board to the person. True if the
    /// game is over.
    fn program_moves(&mut self, out: &mut String) -> Result<bool, CliError> {
        let board = self.knowledge.board();
        let mut position = self.position();
        if position.to_move() != self.person && position.count_moves(board) > 0 {
            let (mv, why) = self.knowledge.choose(&position)?;
            position = position.play(board, mv);
            let _ = writeln!(out, "\n{} plays {}: {why}.", !self.person, self.knowledge.text(mv));
            self.played.push(position);
        }
        let board = self.knowledge.board();
        let _ = write!(out, "\n{}", draw(board, &position));
        let to_move = position.to_move();
        if position.count_moves(board) == 0 {
            let winner = if to_move == self.person { "I have" } else { "You have" };
            let _ = writeln!(out, "\n{to_move} cannot move. {winner} won.");
            return Ok(true);
        }
        let _ = writeln!(out, "\n{to_move} to move. {}", self.knowledge.situation(&position)?);
        Ok(false)
    }

    fn line(&mut self, line: &str) -> Result<Next, CliError> {
        let (board, position) = (self.knowledge.board(), self.position());
        Ok(match line {
            "" => Next::Again(String::new()),
            "quit" | "exit" | "q" => Next::Quit,
            "help" | "?" => Next::Again(HELP.to_owned()),
            "moves" => Next::Again(self.knowledge.list(&position)?),
            "board" => {
                let (drawn, text) = (draw(board, &position), format_position(board, &position));
                Next::Again(format!("{drawn}  {text}\n"))
            }
            "undo" => self.undo(),
            _ => match parse_move(board, &position, line) {
                Ok(mv) => {
                    let after = position.play(board, mv);
                    self.played.push(after);
                    Next::Changed(String::new())
                }
                Err(error) => Next::Wrong(format!("{error}; or write help\n")),
            },
        })
    }

    /// Back to the turn before.
    fn undo(&mut self) -> Next {
        let earlier = &self.played[..self.played.len() - 1];
        match earlier.iter().rposition(|position| position.to_move() == self.person) {
            Some(turn) => {
                self.played.truncate(turn + 1);
                Next::Changed("Taken back.\n".to_owned())
            }
            None => Next::Again("There is nothing to take back.\n".to_owned()),
        }
    }
}

/// The board with the names of ranks and files.
fn draw(board: &Board, position: &Position) -> String {
    let (ranks, files) = (board.dimensions().ranks(), board.dimensions().files());
    let mut text = String::new();
    for row in 0..ranks {
        let _ = write!(text, "{:>4} ", ranks - row);
        for file in 0..files {
            let square = row * files + file;
            let stone = match (position.occupied() >> square & 1, board.colour_of(square)) {
                (0, _) => '.',
                (_, Colour::Black) => 'x',
                (_, Colour::White) => 'o',
            };
            let _ = write!(text, " {stone}");
        }
        text.push('\n');
    }
    let _ = write!(text, "     ");
    for file in 0..files {
        // Beyond z the last letter has to do: columns are one character wide.
        let _ = write!(text, " {}", char::from(b'a' + (file % 26) as u8));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::why;

    #[test]
    fn a_lost_game_is_described_as_it_is() {
        assert_eq!(why(0, 4), "you lose whatever you do");
        assert_eq!(why(1, 1), "all my moves lose; your only reply wins");
        assert_eq!(why(1, 3), "all my moves lose, but only 1 of your 3 replies wins");
        assert_eq!(why(2, 3), "all my moves lose, but only 2 of your 3 replies win");
        assert!(!why(3, 3).contains("only"), "{}", why(3, 3));
    }
}
