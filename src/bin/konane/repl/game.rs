//! Konane games of `analyse`, `play` and `draw`, and their files.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use clap::Args;

use super::history::GameHistory;
use super::refused;
use crate::args::BeginArgs;
use crate::exit::CliError;
use crate::stdin::bytes_of_stdin;
use konane::draw::svg;
use konane::file::{FileError, NewFile, open_regular};
use konane::notation::parse_move;
use konane::record::{Record, RecordOptions, RecordedMove};
use konane::{Board, Dimensions, Move, Position};

/// Maximum size of the file of a game.
const MAX_BYTES: u64 = 1 << 20;

/// Arguments for the parsing of a record.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct RecordArgs {
    /// Read the record with rank 1 as the top rank. By default, the header Flip-Ranks or the moves
    /// determine this.
    #[arg(long, requires = "game")]
    pub flip_ranks: bool,
}

impl RecordArgs {
    /// Reads a record from a file. It must be on the `board`, if given, and may then lack the header `Board`.
    pub fn read(self, path: &Path, board: Option<Dimensions>) -> Result<Record, CliError> {
        self.record(path.display().to_string(), &read_file(path)?, board)
    }

    /// [`RecordArgs::read`] from standard input. Returns `None` if the flag is set before its end.
    pub fn read_stdin(
        self,
        board: Option<Dimensions>,
        stop: &AtomicBool,
    ) -> Result<Option<Record>, CliError> {
        let file = "standard input".to_owned();
        let Some(bytes) = bytes_of_stdin(MAX_BYTES, stop)? else { return Ok(None) };
        must_be_short(&file, &bytes)?;
        self.record(file, &bytes, board).map(Some)
    }

    /// Parses the record in a file of this name.
    fn record(
        self,
        file: String,
        bytes: &[u8],
        board: Option<Dimensions>,
    ) -> Result<Record, CliError> {
        let read = Record::from_bytes(bytes, RecordOptions { board, flip_ranks: self.flip_ranks });
        match (read, board) {
            (Ok(record), Some(expected)) if record.dimensions != expected => {
                Err(CliError::OtherRecord { file, expected, got: record.dimensions })
            }
            (read, _) => read.map_err(|error| CliError::Record { file, error: Box::new(error) }),
        }
    }
}

/// A game of Konane.
#[derive(Clone, Debug)]
pub struct KonaneGame {
    board: Board,
    /// The initial record. The current moves are in `history`.
    record: Record,
    /// Positions with the moves that lead to them. The first position has none.
    pub history: GameHistory<(Position, Option<RecordedMove>)>,
}

impl KonaneGame {
    /// Returns a game without moves.
    pub fn new(board: &Board, start: Position) -> Self {
        KonaneGame::from(Record::new(board.dimensions(), start))
    }

    /// Returns the game that the arguments describe.
    pub fn read(dimensions: Dimensions, args: &BeginArgs) -> Result<Self, CliError> {
        let (board, begin, moves) = args.read(dimensions)?;
        let mut game = KonaneGame::new(&board, begin);
        moves.into_iter().for_each(|mv| game.play(mv));
        Ok(game)
    }

    /// Reads another game on the same board.
    pub fn load(&self, file: &str) -> Result<Self, CliError> {
        let record = RecordArgs::default().read(Path::new(file), Some(self.board.dimensions()))?;
        // The analyst of the session has the board of this game.
        match record.start.rules() == self.start().rules() {
            true => Ok(KonaneGame::from(record)),
            false => Err(refused(format!(
                "{file}: its first position, {:?}, has other rules than that of this session: \
                 begin a session with analyse --game",
                record.start.to_string()
            ))),
        }
    }

    /// Returns the board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the first position.
    pub fn start(&self) -> Position {
        self.record.start
    }

    /// Returns the current position.
    pub fn position(&self) -> &Position {
        &self.history.current().0
    }

    /// Returns the moves before the current position.
    fn recorded(&self) -> impl Iterator<Item = &RecordedMove> {
        self.history.played().iter().filter_map(|(_, recorded)| recorded.as_ref())
    }

    /// Returns the moves before the current position.
    pub fn moves(&self) -> impl Iterator<Item = Move> {
        self.recorded().map(|recorded| recorded.mv)
    }

    /// Returns the last move.
    pub fn last(&self) -> Option<Move> {
        self.moves().last()
    }

    /// Returns the texts of the legal moves.
    pub fn move_texts(&self) -> Vec<String> {
        self.position().moves(&self.board).iter().map(Move::to_string).collect()
    }

    /// Parses a legal move.
    pub fn read_move(&self, text: &str) -> Result<Move, CliError> {
        if text.contains(char::is_whitespace) {
            return Err(refused(format!("{text:?}: write one move per line, without spaces")));
        }
        parse_move(&self.board, self.position(), text)
            .map_err(|error| refused(format!("{error}; or write help")))
    }

    /// Makes a legal move.
    pub fn play(&mut self, mv: Move) {
        let after = self.position().play(&self.board, mv);
        self.history.push((after, Some(RecordedMove::new(mv))));
    }

    /// Writes the record to a file. `players` are the names of Black and White if the record has none.
    /// Returns a message.
    pub fn save(&self, file: &str, players: [Option<&str>; 2]) -> Result<String, CliError> {
        let mut record = self.record.clone();
        record.moves = self.recorded().cloned().collect();
        let [black, white] = players.map(|name| name.map(str::to_owned));
        record.black = record.black.or(black);
        record.white = record.white.or(white);
        let last = self.position();
        if last.count_moves(&self.board) == 0 {
            record.result = Some(!last.to_move());
        } else if record.moves != self.record.moves {
            // The result in the file, for instance after a resignation, does not apply to other moves.
            record.result = None;
        }
        write_file("game", file, &record.to_string())
    }

    /// Returns the board as SVG, with the last move marked.
    pub fn svg(&self) -> String {
        svg(&self.board, self.position(), self.last())
    }
}

impl From<Record> for KonaneGame {
    fn from(record: Record) -> Self {
        let history = GameHistory::new((record.start, None));
        let mut game = KonaneGame { board: record.board(), record, history };
        for recorded in game.record.moves.clone() {
            let after = game.position().play(&game.board, recorded.mv);
            game.history.push((after, Some(recorded)));
        }
        game
    }
}

/// Reads the file of a game.
pub fn read_file(path: &Path) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let read = open_regular(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(FileError::io("read", path))?;
    must_be_short(&path.display().to_string(), &bytes)?;
    Ok(bytes)
}

fn must_be_short(file: &str, bytes: &[u8]) -> Result<(), CliError> {
    match bytes.len() as u64 <= MAX_BYTES {
        true => Ok(()),
        false => Err(CliError::LongRecord { file: file.to_owned(), most: MAX_BYTES }),
    }
}

/// Writes the text of a game or a drawing to a file. Returns a message.
pub fn write_file(what: &str, file: &str, text: &str) -> Result<String, CliError> {
    let mut new = NewFile::create(Path::new(file), 1 << 12)?;
    new.put(text.as_bytes())?;
    new.finish()?;
    Ok(format!("Saved the {what} to {file}.\n"))
}
