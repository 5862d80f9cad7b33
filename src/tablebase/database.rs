//! Open databases: look-ups of values.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{fmt, iter};

use quick_cache::sync::Cache;

use super::files::{
    BlockKey, BlockKind, Coverage, DatabaseError, Histogram, Inflater, LayerFile, LayerHeader,
    MANIFEST_NAME, Manifest, ManifestLayer, Metric, Scope, hex, layer_name,
};
use super::index::{Address, Index};
use super::values::remoteness::remoteness;
use crate::cgt::OutcomeClass;
use crate::file::ChunkWeighter;
use crate::konane::{Board, Colour, Dimensions, Phase, Position};
use crate::search::Value;

/// Options for opening a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// Memory for decompressed chunks, in bytes.
    pub cache_bytes: u64,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        DatabaseOptions { cache_bytes: 64 << 20 }
    }
}

/// Directory of a database, and its manifest.
pub type ListedDatabase = (PathBuf, Result<Manifest, DatabaseError>);

/// A database, open for look-ups from any number of threads.
///
/// A look-up reads one chunk, checks its checksum and decompresses it, unless the chunk is in the cache, which
/// all threads share. The indexes of the files stay in memory: 12 bytes for each chunk of 2 KiB. A file that
/// changes or shrinks while the database is open causes errors.
pub struct Database {
    directory: PathBuf,
    manifest: Manifest,
    index: Index,
    /// Files of the layers, opened when they are first used.
    layers: Vec<OnceLock<LayerFile>>,
    chunks: Cache<u64, Arc<[u8]>, ChunkWeighter>,
    /// Decompressors that no thread is using.
    inflaters: Mutex<Vec<Inflater>>,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({}: {})", self.directory.display(), self.coverage())
    }
}

impl Database {
    /// Opens the database in a directory: reads the manifest, and checks that the file of every layer exists
    /// and has the length that the manifest states. The header, index and footer of a layer file are checked
    /// when the layer is first used, and every chunk whenever it is read from the file.
    ///
    /// # Errors
    /// If the directory is not a database, if the database has another version, or if a layer file is
    /// missing or has a wrong length.
    pub fn open(directory: &Path, options: DatabaseOptions) -> Result<Self, DatabaseError> {
        let manifest = Manifest::read(directory)?;
        let index = Index::new(Board::new(manifest.dimensions), manifest.scope.exchanges());
        for entry in &manifest.layers {
            let path = directory.join(layer_name(entry.stones));
            // The files are not opened: reading from every file would take a fifth of a second if the
            // files are not in the system's cache.
            let length = match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() => metadata.len(),
                Ok(_) => return Err(DatabaseError::not_one(&path, "it is not a file")),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(DatabaseError::MissingLayer { path, stones: entry.stones });
                }
                Err(error) => return Err(DatabaseError::io("read", &path)(error)),
            };
            check_length(&path, entry, length)?;
        }
        let layers = manifest.layers.iter().map(|_| OnceLock::new()).collect();
        let items = (options.cache_bytes / u64::from(super::files::format::CHUNK_BYTES)) as usize;
        Ok(Database {
            directory: directory.to_owned(),
            manifest,
            index,
            layers,
            chunks: Cache::with_weighter(items, options.cache_bytes, ChunkWeighter),
            inflaters: Mutex::new(Vec::new()),
        })
    }

    /// Opens a database of a board from the first of these directories that has one. If a directory itself is a
    /// database, it is opened. Otherwise it is searched for subdirectories with the standard names of databases of the
    /// board. The first choice is a complete database, then one of reachable positions, then the one that is complete
    /// up to the greatest number of stones. Of two databases with the same positions, the one with remotenesses is
    /// preferred.
    ///
    /// # Errors
    /// If there is no database of the board, if one of the directories before it does not exist, if the only directory
    /// is a database of another board, or as for [`Database::open`].
    ///
    /// # Panics
    /// If there is no directory.
    pub fn find<P: AsRef<Path>>(
        directories: &[P],
        dimensions: Dimensions,
        options: DatabaseOptions,
    ) -> Result<Self, DatabaseError> {
        let mut last = None;
        for directory in directories.iter().map(AsRef::as_ref) {
            match Database::find_in(directory, dimensions, options) {
                Err(
                    error @ (DatabaseError::NoDatabase { .. } | DatabaseError::OtherBoard { .. }),
                ) if directory.is_dir() => last = Some(error),
                found => return found,
            }
        }
        let (first, others) = directories.split_first().expect("at least one directory");
        if others.is_empty() {
            return Err(last.expect("the error of the only directory"));
        }
        let others: Vec<_> =
            others.iter().map(|other| other.as_ref().display().to_string()).collect();
        Err(DatabaseError::NoDatabase {
            path: first.as_ref().to_owned(),
            what: format!("neither it nor {} has a database of {dimensions}", others.join(", ")),
            board: Some(dimensions),
        })
    }

    /// [`Database::find`] in one directory.
    fn find_in(
        directory: &Path,
        dimensions: Dimensions,
        options: DatabaseOptions,
    ) -> Result<Self, DatabaseError> {
        // A directory that is named after this board may contain the database of another board.
        let open = |found: &Path| {
            let got = Manifest::read(found)?.dimensions;
            if got != dimensions {
                let (path, expected) = (found.to_owned(), dimensions);
                return Err(DatabaseError::OtherBoard { path, expected, got });
            }
            Database::open(found, options)
        };
        if directory.join(MANIFEST_NAME).exists() {
            return open(directory);
        }
        DatabaseError::check_directory(directory, Some(dimensions))?;
        let squares = dimensions.squares();
        let whole = [(Scope::Complete, squares), (Scope::Reachable, squares)];
        let limited = (0..squares).rev().map(|stones| (Scope::Complete, stones));
        let with_metrics = |(scope, max_stones)| {
            [Metric::Remoteness, Metric::Outcome].map(|metric| Coverage {
                dimensions,
                scope,
                metric,
                max_stones,
            })
        };
        let mut candidates = whole.into_iter().chain(limited).flat_map(with_metrics);
        candidates
            .find_map(|coverage| {
                let candidate = directory.join(coverage.name());
                candidate.join(MANIFEST_NAME).exists().then_some(candidate)
            })
            .ok_or_else(|| {
                let what = format!("there is no database of {dimensions} in it");
                let (path, board) = (directory.to_owned(), Some(dimensions));
                DatabaseError::NoDatabase { path, what, board }
            })
            .and_then(|found| open(&found))
    }

    /// Lists the databases in a directory, sorted by name. If the directory itself is a database, the list
    /// contains only this directory. Reads the manifests; those that are damaged or of another version are
    /// listed with an error.
    ///
    /// # Errors
    /// If there is no such directory, or if it cannot be listed.
    pub fn list(directory: &Path) -> Result<Vec<ListedDatabase>, DatabaseError> {
        let is_database = |path: &PathBuf| path.join(MANIFEST_NAME).exists();
        let mut paths = vec![directory.to_owned()];
        if !is_database(&paths[0]) {
            DatabaseError::check_directory(directory, None)?;
            let entries = fs::read_dir(directory).map_err(DatabaseError::io("list", directory))?;
            let paths_of = entries.map(|entry| entry.map(|entry| entry.path()));
            let listed: io::Result<Vec<PathBuf>> = paths_of.collect();
            paths = listed.map_err(DatabaseError::io("list", directory))?;
            paths.retain(is_database);
            paths.sort();
        }
        let with_manifest = |path: PathBuf| {
            let manifest = Manifest::read(&path);
            (path, manifest)
        };
        Ok(paths.into_iter().map(with_manifest).collect())
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The board.
    pub fn board(&self) -> &Board {
        self.index.board()
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The addresses of the database's positions.
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// Returns a sort key of a position. If positions are looked up in ascending order of their keys, each
    /// chunk of the files is read only once.
    pub fn look_up_order(&self, position: &Position) -> (u32, u32, u32) {
        let stones = position.occupied().count_ones();
        let Address { to_move, black, row, column, .. } =
            self.index.address(position.occupied(), position.to_move());
        (stones << 8 | (to_move as u32) << 7 | black, row / 8, column)
    }

    /// Content of the database.
    pub fn coverage(&self) -> Coverage {
        self.manifest.coverage()
    }

    /// Value stored for each position.
    pub fn metric(&self) -> Metric {
        self.manifest.metric()
    }

    /// Returns the file of a layer. The first call opens the file and checks everything except its chunks.
    ///
    /// # Errors
    /// If the file cannot be read, contradicts itself or the manifest, or lacks a block.
    ///
    /// # Panics
    /// If the database has no such layer.
    #[inline]
    pub(super) fn layer(&self, stones: u32) -> Result<&LayerFile, DatabaseError> {
        match self.layers[stones as usize].get() {
            Some(file) => Ok(file),
            None => self.open_layer(stones),
        }
    }

    #[cold]
    fn open_layer(&self, stones: u32) -> Result<&LayerFile, DatabaseError> {
        let path = self.directory.join(layer_name(stones));
        let entry = &self.manifest.layers[stones as usize];
        let file = LayerFile::open(&path)?;
        check_length(&path, entry, file.bytes())?;
        if file.footer_xxh3() != entry.footer_xxh3 {
            let (expected, got) = (hex(entry.footer_xxh3), hex(file.footer_xxh3()));
            return Err(DatabaseError::damaged(&path, "the footer's checksum", expected, got));
        }
        let Manifest { version, scope, .. } = self.manifest;
        file.expect_layer(&LayerHeader {
            version,
            chunk_bytes: file.header().chunk_bytes,
            ..LayerHeader::new(&self.index, scope, self.metric(), stones)
        })?;
        // Another thread may have opened the same file.
        Ok(self.layers[stones as usize].get_or_init(|| file))
    }

    /// Returns the value of a position of any phase for the side to move. `None` if the database contains
    /// only reachable positions, and no game reaches this position. Positions of the removal phase are not
    /// in the files: their values are computed from those of the positions one or two plies later.
    ///
    /// # Errors
    /// If the position has too many stones for the database, or a file is damaged.
    #[inline]
    pub fn value(&self, position: &Position) -> Result<Option<Value>, DatabaseError> {
        let board = self.board_of(position)?;
        match position.phase(board) {
            Phase::Jumping => self.jumping_value(position.occupied(), position.to_move()),
            _ => self.removal_value(position),
        }
    }

    /// Returns the outcome class of a position of the jumping phase, which does not depend on the side to move. `None` in
    /// the removal phase, and if the database does not contain the position with both sides to move.
    ///
    /// # Errors
    /// As for [`Database::value`].
    pub fn class(&self, position: &Position) -> Result<Option<OutcomeClass>, DatabaseError> {
        if position.phase(self.board_of(position)?) != Phase::Jumping {
            return Ok(None);
        }
        let value = |to_move| self.jumping_value(position.occupied(), to_move);
        let values = value(Colour::Black)?.zip(value(Colour::White)?);
        // White to move loses: Black wins as second player, so the game is at least 0.
        Ok(values
            .map(|(black, white)| OutcomeClass::of(white == Value::Loss, black == Value::Loss)))
    }

    /// Returns the remoteness of a position: plies to the end with best play. It is odd if the side to move
    /// wins, even if it loses, and 0 if there is no move. `None` if the database stores only outcomes.
    ///
    /// A remoteness has at most six bits. Reading a bit costs as much as a call of [`Database::value`].
    ///
    /// # Errors
    /// As for [`Database::value`].
    pub fn remoteness(&self, position: &Position) -> Result<Option<u32>, DatabaseError> {
        let board = self.board_of(position)?;
        if self.metric() == Metric::Outcome {
            return Ok(None);
        }
        if position.phase(board) == Phase::Jumping {
            return self.jumping_remoteness(position.occupied(), position.to_move()).map(Some);
        }
        let mut moves = Vec::new();
        for mv in position.moves(board) {
            moves.extend(self.remoteness(&position.play(board, mv))?.map(|plies| plies + 1));
        }
        Ok(Some(remoteness(moves)))
    }

    /// Numbers of the positions that can be looked up, by remoteness. `None` if the database stores only outcomes.
    ///
    /// The manifest counts every set of stones as a position of the jumping phase. With fewer than two empty squares,
    /// a game is in the removal phase, so the positions of this phase are counted instead.
    ///
    /// # Errors
    /// If a file is damaged, or the manifest does not count a position with fewer than two empty squares.
    pub fn histogram(&self) -> Result<Option<Histogram>, DatabaseError> {
        let Some(mut histogram) = self.manifest.histogram.clone() else { return Ok(None) };
        let (board, max_stones) = (self.board(), self.manifest.max_stones());
        let all = board.all();
        let one_gap = (0..board.dimensions().squares()).map(|square| all ^ 1 << square);
        for occupied in iter::once(all).chain(one_gap).filter(|set| set.count_ones() <= max_stones)
        {
            for to_move in [Colour::Black, Colour::White] {
                let plies = self.jumping_remoteness(occupied, to_move)?;
                if !histogram.remove(to_move, plies) {
                    let path = self.directory.join(MANIFEST_NAME);
                    let expected = format!("a position of remoteness {plies}, {to_move} to move");
                    return Err(DatabaseError::damaged(&path, "the histogram", expected, "none"));
                }
            }
        }
        let start = Position::start(board);
        let openings = start.moves(board).into_iter().map(|mv| start.play(board, mv));
        for position in iter::once(start).chain(openings) {
            if position.occupied().count_ones() <= max_stones
                && let Some(plies) = self.remoteness(&position)?
            {
                histogram.insert(position.to_move(), plies);
            }
        }
        Ok(Some(histogram))
    }

    /// Returns the board if the position is one of this board with the standard rules.
    #[inline]
    fn board_of(&self, position: &Position) -> Result<&Board, DatabaseError> {
        let board = self.board();
        Database::must_be_standard(position)?;
        match position.occupied() & !board.all() {
            0 => Ok(board),
            _ => Err(DatabaseError::OutsideBoard { board: board.dimensions() }),
        }
    }

    /// Checks that a position is one of the standard rules ([`Position::is_standard`]).
    ///
    /// # Errors
    /// [`DatabaseError::OtherRules`].
    #[inline]
    pub fn must_be_standard(position: &Position) -> Result<(), DatabaseError> {
        match position.is_standard() {
            true => Ok(()),
            false => Err(DatabaseError::OtherRules(position.to_string())),
        }
    }

    fn jumping_remoteness(&self, occupied: u64, to_move: Colour) -> Result<u32, DatabaseError> {
        let file = self.covering(occupied, to_move)?;
        let address = self.index.address(occupied, to_move);
        let mut value = 0;
        for bit in 0..file.header().bits() {
            value |= u32::from(self.bit(file, BlockKind::of_bit(bit), &address)?) << bit;
        }
        Ok(value)
    }

    fn removal_value(&self, position: &Position) -> Result<Option<Value>, DatabaseError> {
        let board = self.board();
        let mut value = Value::Loss;
        for mv in position.moves(board) {
            let after = position.play(board, mv);
            match self.value(&after)? {
                Some(Value::Loss) => value = Value::Win,
                Some(Value::Win) => {}
                None => return Err(self.contradiction(&after, "reached", "unreached")),
            }
        }
        Ok(Some(value))
    }

    /// Returns the value of a set of stones as a position of the jumping phase, even if fewer than two
    /// squares are empty. Otherwise the same as [`Database::value`].
    ///
    /// Takes some 100 ns if the chunk is in the cache. Otherwise the chunk is decompressed, which takes some
    /// microseconds.
    ///
    /// # Errors
    /// If there are too many stones for the database, or a file is damaged.
    ///
    /// # Panics
    /// In debug builds, if there are stones outside of the board.
    #[inline]
    pub fn jumping_value(
        &self,
        occupied: u64,
        to_move: Colour,
    ) -> Result<Option<Value>, DatabaseError> {
        debug_assert_eq!(occupied & !self.board().all(), 0, "stones outside of the board");
        let file = self.covering(occupied, to_move)?;
        let address = self.index.address(occupied, to_move);
        Ok(match self.bit(file, BlockKind::Wins, &address)? {
            true => Some(Value::Win),
            false if self.manifest.scope == Scope::Complete => Some(Value::Loss),
            false if self.bit(file, BlockKind::Reached, &address)? => Some(Value::Loss),
            false => None,
        })
    }

    /// Returns the file of the layer that contains a position.
    #[inline]
    fn covering(&self, occupied: u64, to_move: Colour) -> Result<&LayerFile, DatabaseError> {
        let stones = occupied.count_ones();
        if stones as usize >= self.layers.len() {
            return Err(self.not_covered(&Position::new_unchecked(
                self.board(),
                occupied,
                to_move,
            )));
        }
        self.layer(stones)
    }

    /// Returns the bit at an address in the block of the given kind.
    #[inline]
    fn bit(
        &self,
        file: &LayerFile,
        kind: BlockKind,
        address: &Address,
    ) -> Result<bool, DatabaseError> {
        let Address { to_move, black, white, row, column } = *address;
        let number = block_number(file.header(), BlockKey { kind, to_move, black, white });
        let block = &file.blocks()[number];
        let rows = self.index.rows(black);
        if block.rows != rows {
            let what = format!("the rows of {}", block.key);
            return Err(DatabaseError::damaged(file.path(), what, rows, block.rows));
        }
        let at = u64::from(row / 8) * block.columns + u64::from(column);
        let chunk_bits = file.header().chunk_bytes.trailing_zeros();
        let chunk = at >> chunk_bits;
        let byte = (at - (chunk << chunk_bits)) as usize;
        let key = chunk_key(file.header().stones, number, chunk);
        if let Some(bytes) = self.chunks.get(&key) {
            return Ok(bytes[byte] >> (row % 8) & 1 == 1);
        }
        let length = block.chunk_len(chunk as usize);
        let mut bytes: Arc<[u8]> = iter::repeat_n(0, length).collect();
        let out = Arc::get_mut(&mut bytes).expect("the only reference");
        let mut inflater = self.take_inflater();
        let read = file.chunk(block, chunk as usize, &mut inflater, out);
        self.inflaters.lock().unwrap_or_else(PoisonError::into_inner).push(inflater);
        read?;
        let bit = bytes[byte] >> (row % 8) & 1 == 1;
        self.chunks.insert(key, bytes);
        Ok(bit)
    }

    fn take_inflater(&self) -> Inflater {
        let spare = self.inflaters.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_default()
    }

    /// The error for a position that is not in the database.
    #[cold]
    pub(super) fn not_covered(&self, position: &Position) -> DatabaseError {
        DatabaseError::NotCovered {
            position: position.to_string(),
            covers: self.coverage().to_string(),
        }
    }

    /// The error for two values that contradict each other.
    #[cold]
    pub(super) fn contradiction(
        &self,
        position: &Position,
        expected: &str,
        got: &str,
    ) -> DatabaseError {
        let text = position.to_string();
        DatabaseError::damaged(&self.directory, format!("the value of {text}"), expected, got)
    }
}

/// Returns the index of a block in a layer file that has all blocks of its layer. This is the index of the
/// block's key in [`LayerHeader::keys`].
#[inline]
fn block_number(header: &LayerHeader, key: BlockKey) -> usize {
    let (black_squares, white_squares) = (header.count(Colour::Black), header.count(Colour::White));
    let least = header.stones.saturating_sub(white_squares);
    let per_side = header.stones.min(black_squares) - least + 1;
    let side = key.kind.place() * header.sides().len() as u32 + key.to_move as u32;
    (side * per_side + key.black - least) as usize
}

/// Returns the cache key of a chunk, which is unique in a database: the layer, the index of the block in the
/// layer, and the index of the chunk in the block.
#[inline]
fn chunk_key(stones: u32, block: usize, chunk: u64) -> u64 {
    debug_assert!(stones < 1 << 7 && block < 1 << 9 && chunk < 1 << 48, "{stones} {block} {chunk}");
    u64::from(stones) << 57 | (block as u64) << 48 | chunk
}

/// Compares the length of a file with the manifest.
fn check_length(path: &Path, entry: &ManifestLayer, length: u64) -> Result<(), DatabaseError> {
    if length == entry.bytes {
        return Ok(());
    }
    let (expected, got) = (entry.bytes.to_string(), length.to_string());
    Err(DatabaseError::damaged(path, "the length", expected, got))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_numbers_are_indices_of_the_list_of_keys() {
        for (size, scope) in [
            ("3x3", Scope::Complete),
            ("3x4", Scope::Complete),
            ("3x4", Scope::Reachable),
            ("1x7", Scope::Reachable),
            ("1x1", Scope::Complete),
        ] {
            let board = Board::new(size.parse().unwrap());
            let index = Index::new(board, scope.exchanges());
            for stones in 0..=index.board().dimensions().squares() {
                let header = LayerHeader::new(&index, scope, Metric::Outcome, stones);
                for (number, key) in header.keys().into_iter().enumerate() {
                    assert_eq!(block_number(&header, key), number, "{size} {key:?}");
                }
            }
        }
    }

    #[test]
    fn chunks_of_different_blocks_have_different_keys() {
        let mut most = 0;
        for size in ["3x17", "7x9", "1x63", "8x8"] {
            let board = Board::new(size.parse().unwrap());
            let index = Index::new(board, Scope::Complete.exchanges());
            let mut last = None;
            for stones in 0..=index.board().dimensions().squares() {
                let (scope, metric) = (Scope::Complete, Metric::Remoteness);
                let header = LayerHeader::new(&index, scope, metric, stones);
                let blocks = header.keys().len();
                most = most.max(blocks);
                for key in (0..blocks).flat_map(|block| [0, 7].map(|n| chunk_key(stones, block, n)))
                {
                    assert!(last < Some(key), "{size} {stones}");
                    last = Some(key);
                }
            }
        }
        assert!(most > 256, "{most}");
    }
}
