//! The manifest: properties of a database, and the checksums of its files.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

use super::error::{DATABASE, DatabaseError};
use super::format::{Coverage, MANIFEST_NAME, Metric, Scope, VERSIONS, hex, layer_name};
use super::layer_file::LayerFile;
use super::statistics::{Histogram, PositionCounts, count_layer};
use crate::file::{NewFile, open_regular};
use crate::konane::Dimensions;
use crate::tablebase::index::Index;

/// Placeholder of the checksum while it is computed.
const NO_CHECKSUM: &str = "0000000000000000";

/// Text after the checksum.
const END: &str = "\"\n}\n";

/// Maximum length of a manifest, so that a wrong file does not fill the memory.
const MAX_BYTES: u64 = 1 << 20;

/// Entry of a layer in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct ManifestLayer {
    /// Number of stones of the layer's positions, which is also in the name of the file.
    pub stones: u32,
    /// Length of the file.
    pub bytes: u64,
    /// XXH3-64 of the file's footer, which depends on the checksums of the whole file.
    #[serde(deserialize_with = "from_hex")]
    pub footer_xxh3: u64,
    /// Numbers of the layer's positions.
    #[serde(flatten)]
    pub counts: PositionCounts,
}

impl ManifestLayer {
    /// Counts the positions of a layer's file for its entry.
    ///
    /// # Errors
    /// As [`count_layer`].
    pub(in crate::tablebase) fn of_file(
        index: &Index,
        file: &LayerFile,
        stop: &AtomicBool,
    ) -> Result<Self, DatabaseError> {
        let (counts, _) = count_layer(index, file, stop)?;
        let (bytes, footer_xxh3) = (file.bytes(), file.footer_xxh3());
        Ok(ManifestLayer { stones: file.header().stones, bytes, footer_xxh3, counts })
    }
}

impl Serialize for ManifestLayer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut layer = serializer.serialize_struct("ManifestLayer", 7)?;
        layer.serialize_field("stones", &self.stones)?;
        layer.serialize_field("file", &layer_name(self.stones))?;
        layer.serialize_field("bytes", &self.bytes)?;
        layer.serialize_field("footer_xxh3", &hex(self.footer_xxh3))?;
        layer.serialize_field("positions", &self.counts.positions)?;
        layer.serialize_field("black_to_move_wins", &self.counts.black_to_move_wins)?;
        layer.serialize_field("white_to_move_wins", &self.counts.white_to_move_wins)?;
        layer.end()
    }
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let digits = String::deserialize(deserializer)?;
    u64::from_str_radix(&digits, 16).map_err(D::Error::custom)
}

/// The manifest of a database. A directory is a database only if it has a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Version of the format of the manifest and of all layer files.
    pub version: u32,
    /// The board.
    pub dimensions: Dimensions,
    /// Positions covered.
    pub scope: Scope,
    /// The layers in ascending order of the number of stones, from 0 on.
    pub layers: Vec<ManifestLayer>,
    /// Numbers of the values in the files by remoteness, if the metric is remoteness. For the positions that can be
    /// looked up, see [`Database::histogram`](crate::tablebase::Database::histogram).
    pub histogram: Option<Histogram>,
}

/// Text of a manifest.
#[derive(Serialize, Deserialize)]
struct ManifestText {
    format: String,
    version: u32,
    board: String,
    scope: Scope,
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<Metric>,
    max_stones: u32,
    #[serde(flatten)]
    total: PositionCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram: Option<Histogram>,
    layers: Vec<ManifestLayer>,
    xxh3: String,
}

const FORMAT: &str = "konane database";

impl Manifest {
    /// Maximum number of stones of a position.
    ///
    /// # Panics
    /// If there are no layers. A manifest that was read has at least one.
    pub fn max_stones(&self) -> u32 {
        self.layers.last().expect("at least layer 0").stones
    }

    /// Value stored for each position.
    pub fn metric(&self) -> Metric {
        match self.histogram {
            None => Metric::Outcome,
            Some(_) => Metric::Remoteness,
        }
    }

    /// Content of the database.
    pub fn coverage(&self) -> Coverage {
        let Manifest { dimensions, scope, .. } = *self;
        Coverage { dimensions, scope, metric: self.metric(), max_stones: self.max_stones() }
    }

    /// The sums of the numbers of positions of all layers; `None` if a sum exceeds 64 bits.
    pub fn total(&self) -> Option<PositionCounts> {
        let add = |sum: PositionCounts, layer: &ManifestLayer| sum.checked_add(layer.counts);
        self.layers.iter().try_fold(PositionCounts::default(), add)
    }

    /// The bytes of the file.
    ///
    /// # Panics
    /// If the layers do not have 0, 1, 2, … stones in this order, or have 2⁶⁴ positions or more.
    pub fn encode(&self) -> Vec<u8> {
        assert!(self.layers.iter().map(|layer| layer.stones).eq(0..=self.max_stones()));
        let text = ManifestText {
            format: FORMAT.to_owned(),
            version: self.version,
            board: self.dimensions.to_string(),
            scope: self.scope,
            metric: (self.version > 1).then(|| self.metric()),
            max_stones: self.max_stones(),
            total: self.total().expect("fewer than 2^64 positions"),
            histogram: self.histogram.clone(),
            layers: self.layers.clone(),
            xxh3: NO_CHECKSUM.to_owned(),
        };
        let mut text = serde_json::to_string_pretty(&text)
            .expect("texts and numbers can be written as JSON")
            + "\n";
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
        // The version is checked first, because the rest of another version may look different.
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
        let text: ManifestText = serde_json::from_slice(bytes)
            .map_err(|error| damaged("the text", &"a manifest", &error))?;
        let manifest = Manifest::from_text(path, text)?;
        // Each manifest has exactly one valid text.
        if manifest.encode() != bytes {
            return Err(damaged("the text", &"as this program writes it", &"something else"));
        }
        Ok(manifest)
    }

    /// Checks the content of a text whose checksum is correct.
    fn from_text(path: &Path, text: ManifestText) -> Result<Self, DatabaseError> {
        let damaged = |what: &str, expected: &dyn ToString, got: &dyn ToString| {
            DatabaseError::damaged(path, what, expected.to_string(), got.to_string())
        };
        let ManifestText { version, scope, max_stones, total, histogram, layers, .. } = text;
        let dimensions: Dimensions = text
            .board
            .parse()
            .map_err(|_| damaged("\"board\"", &"a board size such as 6x6", &text.board))?;
        let metric = histogram.as_ref().map_or(Metric::Outcome, |_| Metric::Remoteness);
        let stated = text.metric.unwrap_or(Metric::Outcome);
        if metric != stated || text.metric.is_some() != (version > 1) {
            let expected = format!("{} in version {version}", metric.name());
            return Err(damaged("\"metric\"", &expected, &stated.name()));
        }
        if metric == Metric::Remoteness && scope != Scope::Complete {
            return Err(damaged("\"scope\"", &"complete, with remoteness", &scope.name()));
        }
        let squares = dimensions.squares();
        if max_stones > squares || scope == Scope::Reachable && max_stones != squares {
            let expected = format!("{squares}, or less in scope complete");
            return Err(damaged("\"max_stones\"", &expected, &max_stones));
        }
        if !layers.iter().map(|layer| layer.stones).eq(0..=max_stones) {
            let expected = format!("those of 0 to {max_stones} stones");
            return Err(damaged("\"layers\"", &expected, &format!("{} others", layers.len())));
        }
        let manifest = Manifest { version, dimensions, scope, layers, histogram };
        if manifest.total() != Some(total) {
            return Err(damaged("the total", &"the sum of the layers", &total));
        }
        let half = total.positions / 2;
        let sides = [total.black_to_move_wins, total.white_to_move_wins].map(|wins| (half, wins));
        if manifest.histogram.as_ref().is_some_and(|histogram| histogram.totals() != Some(sides)) {
            let expected = "the positions and wins of the layers";
            return Err(damaged("\"histogram\"", &expected, &"others"));
        }
        Ok(manifest)
    }

    /// Writes the manifest into the directory of the database, atomically, and syncs it to the disk. The layers
    /// must be complete, because the manifest makes the directory a database.
    ///
    /// # Errors
    /// On an error of the operating system.
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
    /// If there is no manifest, if it cannot be read, or as [`Manifest::decode`].
    pub fn read(directory: &Path) -> Result<Self, DatabaseError> {
        let path = directory.join(MANIFEST_NAME);
        DatabaseError::check_directory(directory, None)?;
        if !path.exists() {
            let what = format!("there is no {MANIFEST_NAME} in it");
            return Err(DatabaseError::NoDatabase {
                path: directory.to_owned(),
                what,
                board: None,
            });
        }
        let mut bytes = Vec::new();
        let read = open_regular(&path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(DatabaseError::io("read", &path))?;
        if bytes.len() as u64 > MAX_BYTES {
            let what = format!("it has more than {MAX_BYTES} bytes");
            return Err(DatabaseError::not_one(&path, what));
        }
        Manifest::decode(&path, &bytes)
    }
}
