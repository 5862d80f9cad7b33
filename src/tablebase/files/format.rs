//! The bytes of a database: names, headers, blocks and footers. `db/FORMAT.md` specifies them.

use serde::{Deserialize, Serialize};

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use super::error::{DATABASE, DatabaseError};
use crate::file::fields::{put_words, u32_at, u64_at};
use crate::konane::{Colour, Dimensions};
use crate::tablebase::index::{Index, binomial};

/// Bytes of a block that are compressed together. A look-up has to decompress all of them.
///
/// On 5x6 and 4x8, look-ups that miss the cache take about 2.8, 4 and 5.8 µs with chunks of 1, 2 and
/// 4 KiB, and the files have 65, 62 and 61 % of the bytes before compression.
pub const CHUNK_BYTES: u32 = 2048;

/// Maximum size of a chunk that a reader accepts. Bounds the memory that a damaged header can request.
pub const MAX_CHUNK_BYTES: u32 = 1 << 20;

/// The name of the manifest within the directory of a database.
pub const MANIFEST_NAME: &str = "database.json";

/// Versions of the format that are read. Version 2 has a field for the metric; files of version 1
/// hold outcomes.
pub(super) const VERSIONS: RangeInclusive<u32> = 1..=2;

/// Bytes of a layer file's header.
pub const HEADER_BYTES: usize = 88;

/// Bytes of a layer file's footer.
pub const FOOTER_BYTES: usize = 40;

/// Bytes of the description of one block in the index.
pub(super) const BLOCK_BYTES: usize = 20;

/// Bits of a remoteness on a board of 64 squares.
const MAX_BITS: u8 = 6;

const MAGIC: [u8; 8] = *b"KONANEDB";
const FOOTER_MAGIC: [u8; 8] = *b"KDB END\n";

/// Positions that a database covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub enum Scope {
    /// Every set of stones with either side to move.
    Complete,
    /// The positions that a game from the start can reach.
    Reachable,
}

impl Scope {
    /// `complete` or `reachable`, as file names and the manifest spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Complete => "complete",
            Scope::Reachable => "reachable",
        }
    }

    /// Returns true if positions with White to move are stored as equivalent ones with Black to move, on boards
    /// with an even side. This is the second argument of `Index::new`.
    pub const fn exchanges(self) -> bool {
        matches!(self, Scope::Complete)
    }
}

/// Value that a database stores for each position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub enum Metric {
    /// The winner.
    Outcome,
    /// The winner, and the number of plies to the end if the winner hurries and the loser delays.
    Remoteness,
}

impl Metric {
    /// `outcome` or `remoteness`, as the command line and the manifest spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::Outcome => "outcome",
            Metric::Remoteness => "remoteness",
        }
    }

    /// Version of the format of new files: the lowest one that can state the metric, so that programs that
    /// read only version 1 can read databases of outcomes.
    pub const fn format_version(self) -> u32 {
        match self {
            Metric::Outcome => 1,
            Metric::Remoteness => 2,
        }
    }

    /// Bits of a value of a position with `black` black stones and any number of white stones up to
    /// `white`. Each of White's moves takes a black stone. After `black` moves of White, Black has no stone and
    /// cannot move. So each player makes at most `black` moves, and a remoteness is at most 2 · `black`.
    pub fn bits_of_rows(self, black: u32, white: u32) -> u32 {
        self.bits((black + white).min(2 * black + 1))
    }

    /// Bits of a value of a position with `stones` stones. Each ply removes at least one stone and keeps the
    /// stone that jumped, so a remoteness is less than the number of stones.
    pub const fn bits(self, stones: u32) -> u32 {
        match self {
            Metric::Remoteness if stones > 2 => (stones - 1).ilog2() + 1,
            _ => 1,
        }
    }
}

/// Meaning of the bits of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKind {
    /// The side to move wins.
    Wins,
    /// A game from the start reaches the position.
    Reached,
    /// Bit k of the remoteness, for k from 1 on. Bit 0 is set exactly if the side to move wins, so it is stored
    /// as [`BlockKind::Wins`].
    Remoteness(u8),
}

impl BlockKind {
    /// Index of this kind among the kinds of blocks in a layer.
    pub(crate) const fn place(self) -> u32 {
        match self {
            BlockKind::Wins => 0,
            BlockKind::Reached => 1,
            BlockKind::Remoteness(bit) => bit as u32,
        }
    }

    /// The kind of the blocks with bit `bit` of the remoteness.
    pub(crate) const fn of_bit(bit: u32) -> Self {
        match bit {
            0 => BlockKind::Wins,
            _ => BlockKind::Remoteness(bit as u8),
        }
    }
}

/// Key of a block, which identifies it in a database. The blocks of a file are in ascending order of their
/// keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey {
    /// Meaning of the bits.
    pub kind: BlockKind,
    /// The side to move.
    pub to_move: Colour,
    /// Black stones.
    pub black: u32,
    /// White stones.
    pub white: u32,
}

/// Text of the key in error messages, such as `5 black and 4 white stones, Black to move, won`.
impl fmt::Display for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BlockKey { kind, to_move, black, white } = self;
        let kind = match kind {
            BlockKind::Wins => "won",
            BlockKind::Reached => "reached",
            BlockKind::Remoteness(bit) => &format!("bit {bit} of the remoteness"),
        };
        write!(f, "{black} black and {white} white stones, {to_move} to move, {kind}")
    }
}

impl BlockKey {
    /// The four bytes of the key in the index of a file.
    pub fn encode(&self) -> [u8; 4] {
        let kind = match self.kind {
            BlockKind::Wins => 0,
            BlockKind::Reached => 1,
            BlockKind::Remoteness(bit) => 1 + bit,
        };
        [kind, self.to_move as u8, self.black as u8, self.white as u8]
    }

    /// Parses the four bytes of a key. Returns `None` for a kind or side that does not exist.
    pub(super) fn decode(bytes: [u8; 4]) -> Option<Self> {
        let kind = match bytes[0] {
            0 => BlockKind::Wins,
            1 => BlockKind::Reached,
            kind @ 2..=MAX_BITS => BlockKind::Remoteness(kind - 1),
            _ => return None,
        };
        let to_move = match bytes[1] {
            0 => Colour::Black,
            1 => Colour::White,
            _ => return None,
        };
        Some(BlockKey { kind, to_move, black: bytes[2].into(), white: bytes[3].into() })
    }
}

/// Content of a database. As text: `every position of the 6x6 board`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Ranks x files.
    #[serde(rename = "board")]
    pub dimensions: Dimensions,
    /// Positions that the database covers.
    pub scope: Scope,
    /// Value stored for each position.
    pub metric: Metric,
    /// Maximum number of stones of its positions.
    pub max_stones: u32,
}

impl Coverage {
    /// Name of the database's directory, such as `6x6-complete`, `6x6-reachable`, `7x7-stones10` or
    /// `6x6-complete-remoteness`.
    pub fn name(&self) -> String {
        let Coverage { dimensions, scope, metric, max_stones } = *self;
        let positions = match scope {
            Scope::Complete if !self.is_whole() => format!("stones{max_stones}"),
            _ => scope.name().to_owned(),
        };
        match metric {
            Metric::Outcome => format!("{dimensions}-{positions}"),
            Metric::Remoteness => format!("{dimensions}-{positions}-{}", metric.name()),
        }
    }

    /// Returns true if positions with every number of stones are covered.
    pub fn is_whole(&self) -> bool {
        self.max_stones >= self.dimensions.squares()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Coverage { dimensions, max_stones, .. } = self;
        match self.scope {
            Scope::Complete => write!(f, "every position of the {dimensions} board")?,
            Scope::Reachable => {
                write!(f, "the positions of the {dimensions} board that a game can reach")?;
            }
        }
        if !self.is_whole() {
            write!(f, " with at most {max_stones} stones")?;
        }
        Ok(())
    }
}

/// The name of the file of a layer, such as `stones-07.kdb`.
pub fn layer_name(stones: u32) -> String {
    format!("stones-{stones:02}.kdb")
}

/// Header of a layer file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerHeader {
    /// Version of the format.
    pub version: u32,
    /// The board.
    pub dimensions: Dimensions,
    /// Positions covered.
    pub scope: Scope,
    /// Value stored for each position.
    pub metric: Metric,
    /// Stones of all positions of the layer.
    pub stones: u32,
    /// Bytes that are compressed together; the last chunk of a block may be shorter.
    pub chunk_bytes: u32,
    /// The black squares and the white squares, each in the order of their numbers in patterns.
    pub squares: [Vec<u8>; 2],
}

/// Text of the header in error messages.
impl fmt::Display for LayerHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LayerHeader { version, dimensions, scope, metric, stones, chunk_bytes, squares } = self;
        let (scope, metric) = (scope.name(), metric.name());
        write!(
            f,
            "version {version}, {dimensions}, {scope}, {metric}, {stones} stones, chunks of \
             {chunk_bytes} bytes, "
        )?;
        write!(f, "squares {squares:?}")
    }
}

impl LayerHeader {
    /// Header of a layer as this program writes it.
    pub fn new(index: &Index, scope: Scope, metric: Metric, stones: u32) -> Self {
        LayerHeader {
            version: metric.format_version(),
            dimensions: index.board().dimensions(),
            scope,
            metric,
            stones,
            chunk_bytes: CHUNK_BYTES,
            squares: [Colour::Black, Colour::White].map(|c| index.numbering().squares(c).to_vec()),
        }
    }

    /// The keys of all blocks of the layer, in the order of the file.
    pub fn keys(&self) -> Vec<BlockKey> {
        let (black_squares, white_squares) = (self.count(Colour::Black), self.count(Colour::White));
        let least = self.stones.saturating_sub(white_squares);
        let mut keys = Vec::new();
        for kind in self.kinds() {
            for &to_move in self.sides() {
                for black in least..=self.stones.min(black_squares) {
                    keys.push(BlockKey { kind, to_move, black, white: self.stones - black });
                }
            }
        }
        keys
    }

    /// The kinds of blocks of the layer, in the order of the file.
    pub fn kinds(&self) -> impl Iterator<Item = BlockKind> + use<> {
        let reached = (self.scope == Scope::Reachable).then_some(BlockKind::Reached);
        let bits = (1..self.bits()).map(BlockKind::of_bit);
        std::iter::once(BlockKind::Wins).chain(reached).chain(bits)
    }

    /// Bits of a position's value.
    pub fn bits(&self) -> u32 {
        self.metric.bits(self.stones)
    }

    /// Returns true if `key` is one of [`LayerHeader::keys`]. A file of the layer may have no other blocks.
    pub fn may_have(&self, key: BlockKey) -> bool {
        self.kinds().any(|kind| kind == key.kind)
            && self.sides().contains(&key.to_move)
            && key.black + key.white == self.stones
            && key.black <= self.count(Colour::Black)
            && key.white <= self.count(Colour::White)
    }

    /// The sides to move that have blocks.
    pub fn sides(&self) -> &'static [Colour] {
        if self.scope.exchanges() && self.dimensions.has_even_side() {
            &[Colour::Black]
        } else {
            &[Colour::Black, Colour::White]
        }
    }

    /// The number of squares of a colour.
    pub fn count(&self, colour: Colour) -> u32 {
        self.squares[colour.index()].len() as u32
    }

    /// Columns of a block: white patterns.
    pub fn columns(&self, white: u32) -> u64 {
        binomial(self.count(Colour::White), white)
    }

    /// Bytes of a row in memory: one bit for each white pattern, and zeros at the end of the last byte.
    pub fn row_bytes(&self, white: u32) -> u64 {
        self.columns(white).div_ceil(8)
    }

    /// The bytes at the beginning of the file.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&self.version.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.chunk_bytes.to_le_bytes());
        bytes[16] = self.dimensions.ranks() as u8;
        bytes[17] = self.dimensions.files() as u8;
        bytes[18] = self.scope as u8;
        bytes[19] = self.stones as u8;
        bytes[20] = self.squares[0].len() as u8;
        bytes[21] = self.squares[1].len() as u8;
        if self.metric == Metric::Remoteness {
            bytes[22] = self.bits() as u8;
        }
        for (to, square) in bytes[24..].iter_mut().zip(self.squares.iter().flatten()) {
            *to = *square;
        }
        bytes
    }

    /// Reads the beginning of a file; `path` is for the error only.
    ///
    /// # Errors
    /// If the bytes are not a header of this version of the format.
    pub fn decode(path: &Path, bytes: &[u8]) -> Result<Self, DatabaseError> {
        let not_a_database = |what: &str| DatabaseError::not_one(path, what);
        if bytes.len() < HEADER_BYTES {
            return Err(not_a_database("it is too short"));
        }
        // After a power failure, a file may have its final name and consist of zeros.
        if bytes[..8] == [0; 8] {
            return Err(DatabaseError::damaged(path, "the beginning", "KONANEDB", "zeros"));
        }
        if bytes[..8] != MAGIC {
            return Err(not_a_database("it does not begin with KONANEDB"));
        }
        let version = u32_at(bytes, 8);
        if !VERSIONS.contains(&version) {
            return Err(DATABASE.other_version(path, version).into());
        }
        let metric = match (version, bytes[22]) {
            (1, _) | (_, 0) => Metric::Outcome,
            _ => Metric::Remoteness,
        };
        let damaged = |what: &str, expected: &str, got: String| {
            Err(DatabaseError::damaged(path, format!("{what} in the header"), expected, got))
        };
        let chunk_bytes = u32_at(bytes, 12);
        if !chunk_bytes.is_power_of_two() || !(8..=MAX_CHUNK_BYTES).contains(&chunk_bytes) {
            let expected = "a power of two from 8 to 1048576";
            return damaged("the chunk size", expected, chunk_bytes.to_string());
        }
        let (ranks, files) = (u32::from(bytes[16]), u32::from(bytes[17]));
        let Ok(dimensions) = Dimensions::new(ranks, files) else {
            return damaged("the board", "one of 1 to 64 squares", format!("{ranks}x{files}"));
        };
        let scope = match bytes[18] {
            0 => Scope::Complete,
            1 if metric == Metric::Outcome => Scope::Reachable,
            other => return damaged("the scope", "0 or 1", other.to_string()),
        };
        let stones = u32::from(bytes[19]);
        if stones > dimensions.squares() {
            let expected = format!("at most {}", dimensions.squares());
            return damaged("the number of stones", &expected, stones.to_string());
        }
        let bits = match metric {
            Metric::Outcome => 0,
            Metric::Remoteness => metric.bits(stones),
        };
        if u32::from(bytes[22]) != bits {
            return damaged("the number of bits", &bits.to_string(), bytes[22].to_string());
        }
        let (all, black) = (dimensions.squares() as usize, dimensions.squares().div_ceil(2) as u8);
        let counts = [bytes[20], bytes[21]];
        let expected = [black, dimensions.squares() as u8 - black];
        if counts != expected {
            let text = |c: [u8; 2]| format!("{} black and {} white", c[0], c[1]);
            return damaged("the number of squares", &text(expected), text(counts));
        }
        let listed = &bytes[24..24 + all];
        let seen = listed.iter().filter(|&&s| s < 64).fold(0u64, |set, &s| set | 1 << s);
        if listed.iter().any(|&s| usize::from(s) >= all) || seen.count_ones() as usize != all {
            return damaged("the list of squares", "every square once", format!("{listed:?}"));
        }
        let is_black =
            |square: u8| (u32::from(square) / files + u32::from(square) % files) % 2 == 0;
        let (black, white) = listed.split_at(black.into());
        if !black.iter().all(|&s| is_black(s)) {
            return damaged(
                "the list of black squares",
                "black squares only",
                format!("{black:?}"),
            );
        }
        if bytes[23..24].iter().chain(&bytes[24 + all..HEADER_BYTES]).any(|&b| b != 0) {
            return damaged("the unused part", "zero", "another value".to_owned());
        }
        let squares = [black.to_vec(), white.to_vec()];
        Ok(LayerHeader { version, dimensions, scope, metric, stones, chunk_bytes, squares })
    }
}

/// The last bytes of a layer file. The footer has the checksums of header and index, and the index has the
/// checksums of all chunks. So the checksum of the footer, which is in the manifest, identifies the content of
/// the whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footer {
    /// Offset of the index.
    pub index_offset: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// XXH3-64 of the index.
    pub index_xxh3: u64,
    /// XXH3-64 of the header.
    pub header_xxh3: u64,
}

impl Footer {
    /// The bytes at the end of the file.
    pub fn encode(&self) -> [u8; FOOTER_BYTES] {
        let mut bytes = [0; FOOTER_BYTES];
        let Footer { index_offset, index_bytes, index_xxh3, header_xxh3 } = *self;
        put_words(&mut bytes, &[index_offset, index_bytes, index_xxh3, header_xxh3]);
        bytes[32..].copy_from_slice(&FOOTER_MAGIC);
        bytes
    }

    /// Reads the last [`FOOTER_BYTES`] bytes of a file; `path` is for the error only.
    ///
    /// # Errors
    /// If the bytes do not end with the characters with which every layer file ends.
    ///
    /// # Panics
    /// If there are fewer bytes.
    pub fn decode(path: &Path, bytes: &[u8]) -> Result<Self, DatabaseError> {
        if bytes[32..FOOTER_BYTES] != FOOTER_MAGIC {
            let got = format!("{:?}", String::from_utf8_lossy(&bytes[32..FOOTER_BYTES]));
            return Err(DatabaseError::damaged(path, "the end", "\"KDB END\\n\"", got));
        }
        Ok(Footer {
            index_offset: u64_at(bytes, 0),
            index_bytes: u64_at(bytes, 8),
            index_xxh3: u64_at(bytes, 16),
            header_xxh3: u64_at(bytes, 24),
        })
    }
}

/// A checksum as text.
pub(crate) fn hex(checksum: u64) -> String {
    format!("{checksum:016x}")
}
