//! Encoding of header, block headers and footer of a checkpoint; docs/CHECKPOINT_FORMAT.md specifies it.
//! Numbers are little-endian.

use std::array;
use std::path::Path;

use serde::{Serialize, Serializer};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::error::{CHECKPOINT, CheckpointError};
use crate::file::fields::{put_words, u32_at, u64_at};
use crate::search::run::Counters;

/// First bytes of every checkpoint.
pub const MAGIC: [u8; 8] = *b"KONCHKPT";

/// Last bytes of every checkpoint.
pub const END_MAGIC: [u8; 8] = *b"KONCHEND";

/// Version of the format that is written and read.
pub const VERSION: u32 = 3;

/// Size of the header in bytes.
pub const HEADER_BYTES: usize = 384;

/// Size of a block header in bytes.
pub const BLOCK_HEADER_BYTES: usize = 24;

/// Size of the footer in bytes.
pub const FOOTER_BYTES: usize = 48;

/// Maximum size of a block before compression. Bounds the memory that a damaged header can request.
pub const MAX_BLOCK_BYTES: usize = 1 << 24;

/// First word of every block header.
const BLOCK_OF_ENTRIES: u32 = 1;

/// Number of table entries in every block but the last one.
pub const BLOCK_ENTRIES: usize = 1 << 15;

/// Texts of the header: name, offset, size. They are padded with zeros.
const TEXTS: [(&str, usize, usize); 5] = [
    ("rules", 96, 32),
    ("board", 128, 16),
    ("algorithm", 144, 16),
    ("profile", 160, 32),
    ("position", 192, 160),
];

/// Offset of the checksum of the header.
const HEADER_XXH3: usize = HEADER_BYTES - 8;

/// Identity of the search that a checkpoint belongs to. A search resumes only from a checkpoint with the same
/// identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Rules of the game, at most 32 bytes.
    pub rules: String,
    /// Board, at most 16 bytes.
    pub board: String,
    /// Algorithm, at most 16 bytes.
    pub algorithm: String,
    /// Name of the parameters of the algorithm and of the leaf estimate, at most 32 bytes.
    pub profile: String,
    /// Root position as text for messages, at most 160 bytes. Positions are compared by `root`.
    pub position: String,
    /// Exact code of the root position.
    pub root: u64,
}

/// Counters of all runs of a search together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "json-schema",
    schemars(rename = "TotalJson", description = "All runs, in the JSON of `solve`.")
)]
pub struct Totals {
    /// Positions evaluated.
    pub nodes: u64,
    /// Positions expanded.
    pub expansions: u64,
    /// Positions visited by the leaf solver near the end of games.
    pub leaf_positions: u64,
    /// Values from the oracle, repeated ones included.
    #[serde(skip)]
    pub known_hits: u64,
    /// PN²: nodes of the first level.
    #[serde(skip)]
    pub first_level: u64,
    /// PN²: nodes of all second levels.
    #[serde(skip)]
    pub second_level: u64,
    /// Time that the searches took.
    #[serde(rename = "seconds", serialize_with = "as_seconds")]
    #[cfg_attr(feature = "json-schema", schemars(with = "f64"))]
    pub nanoseconds: u64,
    /// Runs, this one included.
    pub runs: u64,
}

fn as_seconds<S: Serializer>(nanoseconds: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(seconds(*nanoseconds))
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

impl Totals {
    /// Returns the totals including one more run.
    pub fn and(&self, counters: &Counters, nanoseconds: u64) -> Totals {
        Totals {
            nodes: self.nodes.saturating_add(counters.nodes),
            expansions: self.expansions.saturating_add(counters.expansions),
            leaf_positions: self.leaf_positions.saturating_add(counters.leaf_positions),
            known_hits: self.known_hits.saturating_add(counters.known_hits),
            first_level: self.first_level.saturating_add(counters.first_level),
            second_level: self.second_level.saturating_add(counters.second_level),
            nanoseconds: self.nanoseconds.saturating_add(nanoseconds),
            runs: self.runs.saturating_add(1),
        }
    }

    /// Returns the time in seconds.
    pub fn seconds(&self) -> f64 {
        seconds(self.nanoseconds)
    }

    fn words(&self) -> [u64; 8] {
        let Totals { nodes, expansions, leaf_positions: leaves, known_hits: known, .. } = *self;
        let Totals { first_level: first, second_level: second, nanoseconds, runs, .. } = *self;
        [nodes, expansions, leaves, known, first, second, nanoseconds, runs]
    }

    fn of_words(words: [u64; 8]) -> Self {
        let [nodes, expansions, leaf_positions, known_hits, first, second, nanoseconds, runs] =
            words;
        let (first_level, second_level) = (first, second);
        Totals {
            nodes,
            expansions,
            leaf_positions,
            known_hits,
            first_level,
            second_level,
            nanoseconds,
            runs,
        }
    }
}

/// Header of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointHeader {
    /// Search that the checkpoint belongs to.
    pub identity: Identity,
    /// Totals at the start of the write.
    pub totals: Totals,
}

impl CheckpointHeader {
    /// Returns the bytes of the header.
    ///
    /// # Panics
    /// If a text is longer than [`Identity`] allows, or contains a zero byte.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        put_words(&mut bytes[16..24], &[self.identity.root]);
        put_words(&mut bytes[24..88], &self.totals.words());
        let Identity { rules, board, algorithm, profile, position, .. } = &self.identity;
        let texts = [rules, board, algorithm, profile, position];
        for ((name, at, size), text) in TEXTS.into_iter().zip(texts) {
            assert!(text.len() <= size && !text.contains('\0'), "{name} {text:?} does not fit");
            bytes[at..at + text.len()].copy_from_slice(text.as_bytes());
        }
        let xxh3 = xxh3_64(&bytes[..HEADER_XXH3]);
        put_words(&mut bytes[HEADER_XXH3..], &[xxh3]);
        bytes
    }

    /// Parses the header of a file; `path` is for the error only.
    ///
    /// # Errors
    /// If the bytes are not a header of this version of the format.
    pub fn decode(path: &Path, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let not_one = |what: &str| CHECKPOINT.not_one(path, what).into();
        if bytes.len() < 12 {
            return Err(not_one("it is too short"));
        }
        if bytes[..8] != MAGIC {
            return Err(not_one("it does not begin with KONCHKPT"));
        }
        let got = u32_at(bytes, 8);
        if got != VERSION {
            return Err(CHECKPOINT.other_version(path, got).into());
        }
        if bytes.len() < HEADER_BYTES {
            let expected = format!("at least {HEADER_BYTES} bytes");
            let got = bytes.len();
            return Err(CheckpointError::damaged(path, "the length of the file", expected, got));
        }
        let bytes = &bytes[..HEADER_BYTES];
        let (expected, got) = (u64_at(bytes, HEADER_XXH3), xxh3_64(&bytes[..HEADER_XXH3]));
        if expected != got {
            return Err(checksum(path, "the header", expected, got));
        }
        let text = |index: usize| {
            let (name, at, size) = TEXTS[index];
            let field = &bytes[at..at + size];
            let end = field.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            let text = str::from_utf8(&field[..end]).ok().filter(|text| !text.contains('\0'));
            text.map(str::to_owned).ok_or_else(|| {
                let what = format!("the {name} in the header");
                CheckpointError::damaged(path, what, "text", format!("{field:?}"))
            })
        };
        let identity = Identity {
            rules: text(0)?,
            board: text(1)?,
            algorithm: text(2)?,
            profile: text(3)?,
            position: text(4)?,
            root: u64_at(bytes, 16),
        };
        let unused = bytes[12..16].iter().chain(&bytes[88..96]).chain(&bytes[352..HEADER_XXH3]);
        if unused.into_iter().any(|&byte| byte != 0) {
            let what = "the unused part of the header";
            return Err(CheckpointError::damaged(path, what, "zero", "another value"));
        }
        let totals = Totals::of_words(array::from_fn(|index| u64_at(bytes, 24 + 8 * index)));
        Ok(CheckpointHeader { identity, totals })
    }
}

/// Header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// Entries of the table in the block.
    pub entries: u32,
    /// Size in bytes before compression.
    pub raw_bytes: u32,
    /// Size in bytes in the file.
    pub stored_bytes: u32,
    /// See [`BlockHeader::checksum`].
    pub xxh3: u64,
}

impl BlockHeader {
    /// Returns the header of a block with these stored bytes.
    pub fn new(entries: u32, raw_bytes: u32, stored: &[u8]) -> Self {
        let stored_bytes = stored.len() as u32;
        let header = BlockHeader { entries, raw_bytes, stored_bytes, xxh3: 0 };
        BlockHeader { xxh3: header.checksum(stored), ..header }
    }

    fn start(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let words = [BLOCK_OF_ENTRIES, self.entries, self.raw_bytes, self.stored_bytes];
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Returns the XXH3-64 hash of the header without the checksum and of the stored bytes of the block.
    pub fn checksum(&self, stored: &[u8]) -> u64 {
        let mut hasher = Xxh3::new();
        hasher.update(&self.start());
        hasher.update(stored);
        hasher.digest()
    }

    /// Returns the bytes of the header.
    pub fn encode(&self) -> [u8; BLOCK_HEADER_BYTES] {
        let mut bytes = [0; BLOCK_HEADER_BYTES];
        bytes[..16].copy_from_slice(&self.start());
        put_words(&mut bytes[16..], &[self.xxh3]);
        bytes
    }

    /// Parses a block header. Returns `None` if it is not one of this version, or if the block is too large.
    pub fn decode(bytes: &[u8; BLOCK_HEADER_BYTES]) -> Option<Self> {
        if u32_at(bytes, 0) != BLOCK_OF_ENTRIES {
            return None;
        }
        let header = BlockHeader {
            entries: u32_at(bytes, 4),
            raw_bytes: u32_at(bytes, 8),
            stored_bytes: u32_at(bytes, 12),
            xxh3: u64_at(bytes, 16),
        };
        let raw = header.raw_bytes as usize;
        let fits = raw <= MAX_BLOCK_BYTES
            && header.stored_bytes as usize <= zstd::zstd_safe::compress_bound(raw);
        fits.then_some(header)
    }
}

/// Footer of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointFooter {
    /// Number of entries of the table.
    pub entries: u64,
    /// Number of blocks in the file.
    pub blocks: u64,
    /// Number of bytes before the footer.
    pub offset: u64,
    /// XXH3-64 hash of the bytes before the footer.
    pub xxh3: u64,
}

impl CheckpointFooter {
    /// Returns the bytes of the footer.
    pub fn encode(&self) -> [u8; FOOTER_BYTES] {
        let CheckpointFooter { entries, blocks, offset, xxh3 } = *self;
        let mut bytes = [0; FOOTER_BYTES];
        put_words(&mut bytes, &[entries, blocks, offset, xxh3]);
        let own = xxh3_64(&bytes[..32]);
        put_words(&mut bytes[32..40], &[own]);
        bytes[40..].copy_from_slice(&END_MAGIC);
        bytes
    }

    /// Parses the footer of a file with `offset` bytes before it; `path` is for the error only.
    ///
    /// # Errors
    /// If the bytes are not a footer of a checkpoint.
    pub fn decode(
        path: &Path,
        bytes: &[u8; FOOTER_BYTES],
        offset: u64,
    ) -> Result<Self, CheckpointError> {
        if bytes[40..] != END_MAGIC {
            let expected = "\"KONCHEND\" (the file may be cut off)";
            let got = format!("{:?}", String::from_utf8_lossy(&bytes[40..]));
            return Err(CheckpointError::damaged(path, "the end", expected, got));
        }
        let (expected, got) = (u64_at(bytes, 32), xxh3_64(&bytes[..32]));
        if expected != got {
            return Err(checksum(path, "the footer", expected, got));
        }
        let [entries, blocks, promised, xxh3] = array::from_fn(|index| u64_at(bytes, 8 * index));
        if promised != offset {
            let what = "the number of bytes before the footer";
            return Err(CheckpointError::damaged(path, what, promised, offset));
        }
        Ok(CheckpointFooter { entries, blocks, offset, xxh3 })
    }
}

/// Returns the maximum size of a checkpoint with `entries` table entries. Incompressible blocks grow by less than 0.5 %, and each block has a header.
pub fn size_bound(entries: u64) -> u64 {
    let raw = entries.saturating_mul(size_of::<u128>() as u64);
    let fixed = (HEADER_BYTES + FOOTER_BYTES + 2048) as u64;
    raw.saturating_add(raw / 128).saturating_add(fixed)
}

/// Returns the error for a wrong checksum.
pub(super) fn checksum(path: &Path, what: &str, expected: u64, got: u64) -> CheckpointError {
    let what = format!("the checksum of {what}");
    CheckpointError::damaged(path, what, format!("{expected:016x}"), format!("{got:016x}"))
}
