//! The game on the board of `analyse`, `play` and `draw`: moves made and taken back, and its files.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use clap::Args;

use crate::args::BeginArgs;
use crate::exit::CliError;
use crate::stdin::bytes_of_stdin;
use konane::draw::svg;
use konane::file::{FileError, NewFile, open_regular};
use konane::record::{Record, RecordedMove};
use konane::{Board, Dimensions, Move, PhaseChoice, Position};

/// Maximum size of a game record.
const MAX_BYTES: u64 = 1 << 20;

/// Arguments for reading a record.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct RecordArgs {
    /// Read the record as one whose rank 1 is the top rank. Without this flag, the header Flip-Ranks or
    /// the moves decide.
    #[arg(long, requires = "game")]
    pub flip_ranks: bool,
}

impl RecordArgs {
    /// Reads a record from a file.
    pub fn read(self, path: &Path) -> Result<Record, CliError> {
        let mut bytes = Vec::new();
        let read = open_regular(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(FileError::io("read", path))?;
        self.record(path.display().to_string(), &bytes)
    }

    /// Reads a record from standard input; returns nothing if the flag is set before its end.
    pub fn read_stdin(self, stop: &AtomicBool) -> Result<Option<Record>, CliError> {
        let bytes = bytes_of_stdin(MAX_BYTES, stop)?;
        bytes.map(|bytes| self.record("standard input".to_owned(), &bytes)).transpose()
    }

    /// The record in a file of this name.
    fn record(self, file: String, bytes: &[u8]) -> Result<Record, CliError> {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(CliError::LongRecord { file, most: MAX_BYTES });
        }
        let record = match self.flip_ranks {
            true => Record::from_bytes_flipped(bytes),
            false => Record::from_bytes(bytes),
        };
        record.map_err(|error| CliError::Record { file, error: Box::new(error) })
    }
}

/// A game: the record of it so far, and what was taken back.
#[derive(Clone, Debug)]
pub struct Game {
    board: Board,
    record: Record,
    /// One more than the record has moves.
    positions: Vec<Position>,
    undone: Vec<RecordedMove>,
}

impl Game {
    /// A game that begins here.
    pub fn new(board: &Board, start: Position) -> Self {
        let is_early_jump = start.is_early_jump(board);
        let phase = if is_early_jump { PhaseChoice::Jump } else { PhaseChoice::Auto };
        Game::from(Record { phase, ..Record::new(board.dimensions(), start) })
    }

    /// The game that the arguments describe; its moves can be taken back.
    pub fn read(dimensions: Dimensions, args: &BeginArgs) -> Result<Self, CliError> {
        let (board, begin, moves) = args.read(dimensions)?;
        let mut game = Game::new(&board, begin);
        moves.into_iter().for_each(|mv| game.play(mv));
        Ok(game)
    }

    /// The game in a file; if a board is expected, it has to be one of this board.
    pub fn open(
        path: &Path,
        expected: Option<Dimensions>,
        how: RecordArgs,
    ) -> Result<Self, CliError> {
        let record = how.read(path)?;
        match expected.filter(|&expected| expected != record.dimensions) {
            None => Ok(Game::from(record)),
            Some(expected) => {
                let (file, got) = (path.display().to_string(), record.dimensions);
                Err(CliError::OtherRecord { file, expected, got })
            }
        }
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The position on the board.
    pub fn position(&self) -> &Position {
        self.positions.last().expect("the beginning stays")
    }

    /// The positions before it.
    pub fn earlier(&self) -> &[Position] {
        &self.positions[..self.positions.len() - 1]
    }

    /// A move as it is written.
    pub fn name(&self, mv: Move) -> String {
        mv.to_string()
    }

    /// The moves so far.
    pub fn moves(&self) -> impl Iterator<Item = Move> + '_ {
        self.record.moves.iter().map(|recorded| recorded.mv)
    }

    /// The last one of them.
    pub fn last(&self) -> Option<Move> {
        self.moves().last()
    }

    /// The record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Makes a legal move.
    pub fn play(&mut self, mv: Move) {
        self.undone.clear();
        self.put(RecordedMove::new(mv));
    }

    fn put(&mut self, recorded: RecordedMove) {
        // Nobody has given up this game yet, whatever the file said about the one in it.
        self.record.result = None;
        self.positions.push(self.position().play(&self.board, recorded.mv));
        self.record.moves.push(recorded);
    }

    /// Takes a move back, if there is one.
    pub fn undo(&mut self) -> bool {
        let Some(recorded) = self.record.moves.pop() else { return false };
        self.record.result = None;
        self.positions.pop();
        self.undone.push(recorded);
        true
    }

    /// Makes the move again that was taken back last, if there is one.
    pub fn redo(&mut self) -> bool {
        let Some(recorded) = self.undone.pop() else { return false };
        self.put(recorded);
        true
    }

    /// Writes the record to a file. `players` are Black and White, where the record does not name
    /// them.
    pub fn save(&self, path: &Path, players: [Option<&str>; 2]) -> Result<(), CliError> {
        let mut record = self.record.clone();
        let [black, white] = players.map(|name| name.map(str::to_owned));
        record.black = record.black.or(black);
        record.white = record.white.or(white);
        let last = self.position();
        if last.count_moves(&self.board) == 0 {
            record.result = Some(!last.to_move());
        }
        write_file(path, &record.to_string())
    }

    /// The board as SVG, with the last move marked.
    pub fn svg(&self) -> String {
        svg(&self.board, self.position(), self.last())
    }

    /// Draws the board into a file.
    pub fn draw(&self, path: &Path) -> Result<(), CliError> {
        write_file(path, &self.svg())
    }
}

impl From<Record> for Game {
    fn from(record: Record) -> Self {
        let (board, positions) = (record.board(), record.positions());
        Game { board, record, positions, undone: Vec::new() }
    }
}

/// Replaces a file as a whole.
fn write_file(path: &Path, text: &str) -> Result<(), CliError> {
    let mut file = NewFile::create(path, 1 << 12)?;
    file.put(text.as_bytes())?;
    Ok(file.finish()?)
}
