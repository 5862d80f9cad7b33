//! The manifest: what a database holds, and the checksums that its files must have.

use std::fmt;
use std::io::Read;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::error::{DATABASE, DatabaseError};
use super::format::{MANIFEST_NAME, Metric, Scope, VERSIONS, database_name, hex, layer_name};
use super::histogram::Histogram;
use super::layer_writer::LayerSummary;
use crate::file::{NewFile, open_regular};
use crate::konane::Dimensions;

/// What stands where the checksum will be while it is computed.
const NO_CHECKSUM: &str = "0000000000000000";

/// What follows the checksum in the file.
const END: &str = "\"\n}\n";

/// More than any manifest has, so that a wrong file does not fill the memory.
const MOST_BYTES: u64 = 1 << 20;

/// Numbers of positions.
///
/// In scope complete, of all sets of stones with either side to move, equivalent ones counted one
/// by one. In scope reachable, of positions that differ by more than a symmetry which keeps the
/// colours, the removals before the jumping phase left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Positions.
    pub positions: u64,
    /// Those with Black to move in which Black wins.
    pub black_to_move_wins: u64,
    /// Those with White to move in which White wins.
    pub white_to_move_wins: u64,
}

/// As errors name them.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { positions, black_to_move_wins: black, white_to_move_wins: white } = self;
        write!(f, "{positions} positions, {black} won by Black to move, {white} by White to move")
    }
}

impl Counts {
    /// The sum; `None` if it has more than 64 bits.
    pub fn checked_add(self, other: Counts) -> Option<Counts> {
        Some(Counts {
            positions: self.positions.checked_add(other.positions)?,
            black_to_move_wins: self.black_to_move_wins.checked_add(other.black_to_move_wins)?,
            white_to_move_wins: self.white_to_move_wins.checked_add(other.white_to_move_wins)?,
        })
    }
}

/// A layer as the manifest knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestLayer {
    /// Stones of its positions; this names the file.
    pub stones: u32,
    /// The length of the file.
    pub bytes: u64,
    /// XXH3-64 of the file's footer, which stands for the whole file.
    pub footer_xxh3: u64,
    /// Its positions.
    pub counts: Counts,
}

impl ManifestLayer {
    /// The entry of a file that was just written.
    pub fn new(stones: u32, written: &LayerSummary, counts: Counts) -> Self {
        let (bytes, footer_xxh3) = (written.bytes, written.footer_xxh3);
        ManifestLayer { stones, bytes, footer_xxh3, counts }
    }
}

/// The manifest of a database. A directory is a database once it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Version of the format: the one of all layer files too.
    pub version: u32,
    /// The board.
    pub dimensions: Dimensions,
    /// Which positions the database holds.
    pub scope: Scope,
    /// The layers 0 to this one.
    pub layers: Vec<ManifestLayer>,
    /// The lengths of the games, in a database that says more than who wins.
    pub histogram: Option<Histogram>,
}

/// The text of a manifest.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    format: String,
    version: u32,
    board: String,
    scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<String>,
    max_stones: u32,
    #[serde(flatten)]
    total: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<Histogram>,
    layers: Vec<TextLayer>,
    xxh3: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextLayer {
    stones: u32,
    file: String,
    bytes: u64,
    footer_xxh3: String,
    positions: u64,
    black_to_move_wins: u64,
    white_to_move_wins: u64,
}

const FORMAT: &str = "konane database";

impl Manifest {
    /// The most stones that a position of the database has.
    ///
    /// # Panics
    /// If there are no layers; a manifest that was read has some.
    pub fn max_stones(&self) -> u32 {
        self.layers.last().expect("layer 0 at the least").stones
    }

    /// What the database says of each position.
    pub fn metric(&self) -> Metric {
        match self.histogram {
            None => Metric::Outcome,
            Some(_) => Metric::Remoteness,
        }
    }

    /// The name that the directory has.
    pub fn name(&self) -> String {
        database_name(self.dimensions, self.scope, self.max_stones(), self.metric())
    }

    /// All positions; `None` if there are 2⁶⁴ of them or more.
    pub fn total(&self) -> Option<Counts> {
        let add = |sum: Counts, layer: &ManifestLayer| sum.checked_add(layer.counts);
        self.layers.iter().try_fold(Counts::default(), add)
    }

    /// The bytes of the file.
    ///
    /// # Panics
    /// If the layers are not 0 to some number, or have 2⁶⁴ positions or more.
    pub fn encode(&self) -> Vec<u8> {
        assert!(self.layers.iter().map(|layer| layer.stones).eq(0..=self.max_stones()));
        let layer = |layer: &ManifestLayer| TextLayer {
            stones: layer.stones,
            file: layer_name(layer.stones),
            bytes: layer.bytes,
            footer_xxh3: hex(layer.footer_xxh3),
            positions: layer.counts.positions,
            black_to_move_wins: layer.counts.black_to_move_wins,
            white_to_move_wins: layer.counts.white_to_move_wins,
        };
        let text = Text {
            format: FORMAT.to_owned(),
            version: self.version,
            board: self.dimensions.to_string(),
            scope: self.scope.name().to_owned(),
            metric: (self.version > 1).then(|| self.metric().name().to_owned()),
            max_stones: self.max_stones(),
            total: self.total().expect("fewer than 2^64 positions"),
            histogram: self.histogram.clone(),
            layers: self.layers.iter().map(layer).collect(),
            xxh3: NO_CHECKSUM.to_owned(),
        };
        let mut text = serde_json::to_string_pretty(&text).expect("texts and numbers") + "\n";
        let checksum = hex(xxh3_64(text.as_bytes()));
        let end = text.len() - END.len();
        text.replace_range(end - NO_CHECKSUM.len()..end, &checksum);
        text.into_bytes()
    }

    /// Reads the bytes of a file; `path` is for the error only.
    ///
    /// # Errors
    /// If the bytes are not a manifest of this version, or do not have their checksum.
    pub fn decode(path: &Path, bytes: &[u8]) -> Result<Self, DatabaseError> {
        let not_a_database = |what: &str| DatabaseError::not_one(path, what);
        // The version comes first: the rest of another version may look different.
        let value: serde_json::Value = serde_json::from_slice(bytes)
            .map_err(|error| not_a_database(&format!("it is not JSON: {error}")))?;
        if value["format"] != FORMAT {
            return Err(not_a_database(&format!("its \"format\" is not {FORMAT:?}")));
        }
        let version = value["version"].as_u64().and_then(|version| u32::try_from(version).ok());
        let got = version.ok_or_else(|| not_a_database("it has no \"version\""))?;
        if !VERSIONS.contains(&got) {
            return Err(DATABASE.other_version(path, got).into());
        }

        let damaged = |what: &str, expected: &dyn ToString, got: &dyn ToString| {
            DatabaseError::damaged(path, what, expected.to_string(), got.to_string())
        };
        let end = bytes.len().saturating_sub(END.len());
        let start = end.saturating_sub(NO_CHECKSUM.len());
        let found = String::from_utf8_lossy(&bytes[start..end]);
        let mut blank = bytes.to_vec();
        blank[start..end].copy_from_slice(&NO_CHECKSUM.as_bytes()[..end - start]);
        let expected = hex(xxh3_64(&blank));
        if found != expected {
            return Err(damaged("its checksum", &expected, &found));
        }
        let text: Text = serde_json::from_slice(bytes)
            .map_err(|error| damaged("the text", &"a manifest", &error))?;
        let manifest = Manifest::from_text(path, text)?;
        // Nothing is left that another text could say.
        if manifest.encode() != bytes {
            return Err(damaged("the text", &"as this program writes it", &"something else"));
        }
        Ok(manifest)
    }

    fn from_text(path: &Path, text: Text) -> Result<Self, DatabaseError> {
        let damaged = |what: &str, expected: &dyn ToString, got: &dyn ToString| {
            DatabaseError::damaged(path, what, expected.to_string(), got.to_string())
        };
        let dimensions: Dimensions = text
            .board
            .parse()
            .map_err(|_| damaged("\"board\"", &"a board size such as 6x6", &text.board))?;
        let scopes = [Scope::Complete, Scope::Reachable];
        let scope = scopes
            .into_iter()
            .find(|scope| scope.name() == text.scope)
            .ok_or_else(|| damaged("\"scope\"", &"complete or reachable", &text.scope))?;
        let expected = match (text.version, &text.histogram) {
            (1, None) => None,
            (1, Some(_)) => return Err(damaged("\"histogram\"", &"absent in version 1", &"there")),
            (_, None) => Some(Metric::Outcome.name()),
            (_, Some(_)) => Some(Metric::Remoteness.name()),
        };
        if text.metric.as_deref() != expected {
            let got = text.metric.unwrap_or_default();
            return Err(damaged("\"metric\"", &expected.unwrap_or("absent in version 1"), &got));
        }
        if text.histogram.is_some() && scope != Scope::Complete {
            return Err(damaged("\"scope\"", &"complete, with remoteness", &text.scope));
        }
        let squares = dimensions.squares();
        if text.max_stones > squares || scope == Scope::Reachable && text.max_stones != squares {
            let expected = format!("{squares}, or less in scope complete");
            return Err(damaged("\"max_stones\"", &expected, &text.max_stones));
        }
        let expected = text.max_stones as usize + 1;
        if text.layers.len() != expected {
            return Err(damaged("the number of layers", &expected, &text.layers.len()));
        }
        let mut layers = Vec::with_capacity(expected);
        for (stones, layer) in (0..).zip(&text.layers) {
            if layer.stones != stones {
                return Err(damaged("the order of the layers", &stones, &layer.stones));
            }
            let footer_xxh3 = u64::from_str_radix(&layer.footer_xxh3, 16)
                .map_err(|_| damaged("\"footer_xxh3\"", &"16 digits", &layer.footer_xxh3))?;
            let counts = Counts {
                positions: layer.positions,
                black_to_move_wins: layer.black_to_move_wins,
                white_to_move_wins: layer.white_to_move_wins,
            };
            layers.push(ManifestLayer { stones, bytes: layer.bytes, footer_xxh3, counts });
        }
        let Text { version, histogram, .. } = text;
        let manifest = Manifest { version, dimensions, scope, layers, histogram };
        if manifest.total() != Some(text.total) {
            return Err(damaged("the total", &"the sum of the layers", &text.total));
        }
        if let Some(histogram) = &manifest.histogram {
            let Counts { positions, black_to_move_wins, white_to_move_wins } = text.total;
            let half = positions / 2;
            if histogram.totals() != Some([(half, black_to_move_wins), (half, white_to_move_wins)])
            {
                let expected = "the positions and wins of the layers";
                return Err(damaged("\"histogram\"", &expected, &"others"));
            }
        }
        Ok(manifest)
    }

    /// Writes the manifest into the directory of the database, atomically and onto the disk: after
    /// the last layer, since it makes the directory a database.
    ///
    /// # Errors
    /// If the system refuses.
    ///
    /// # Panics
    /// As [`Manifest::encode`].
    pub fn write(&self, directory: &Path) -> Result<(), DatabaseError> {
        let path = directory.join(MANIFEST_NAME);
        let mut file = NewFile::create(&path, 1 << 12)?;
        file.put(&self.encode())?;
        Ok(file.finish()?)
    }

    /// Reads the manifest of the database in a directory.
    ///
    /// # Errors
    /// If there is none, it cannot be read, or as [`Manifest::decode`].
    pub fn read(directory: &Path) -> Result<Self, DatabaseError> {
        let path = directory.join(MANIFEST_NAME);
        let no_database =
            |what: String| DatabaseError::NoDatabase { path: directory.to_owned(), what };
        if !directory.is_dir() {
            return Err(no_database("there is no such directory".to_owned()));
        }
        if !path.exists() {
            return Err(no_database(format!("there is no {MANIFEST_NAME} in it")));
        }
        let mut bytes = Vec::new();
        let read = open_regular(&path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(DatabaseError::io("read", &path))?;
        if bytes.len() as u64 > MOST_BYTES {
            let what = format!("it has more than {MOST_BYTES} bytes");
            return Err(DatabaseError::not_one(&path, what));
        }
        Manifest::decode(&path, &bytes)
    }
}
