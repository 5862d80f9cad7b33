//! Files of a database. `db/FORMAT.md` specifies them.
//!
//! [`LayerWriter`] and [`LayerFile`] write and read the file of a layer: blocks of bits, row by row.
//! `format` encodes names, headers and footers, and `octets` interleaves rows. A directory with layers becomes
//! a database when its [`Manifest`] is written. [`count_layer`] counts the positions of a file, and a
//! [`Histogram`] has their numbers by remoteness. Errors are [`DatabaseError`]s.

mod error;
pub(super) mod format;
mod layer_file;
mod layer_index;
mod layer_writer;
mod manifest;
mod octets;
mod statistics;

pub use error::DatabaseError;
pub(super) use format::hex;
pub use format::{
    BlockKey, BlockKind, CHUNK_BYTES, Coverage, LayerHeader, MANIFEST_NAME, Metric, Scope,
    layer_name,
};
#[cfg(feature = "testing")]
pub use format::{Footer, HEADER_BYTES};
pub use layer_file::{Inflater, LayerFile};
pub use layer_writer::LayerWriter;
pub use manifest::{Manifest, ManifestLayer};
pub use octets::ROWS;
pub(super) use octets::transpose;
pub use statistics::{Histogram, PositionCounts, count_layer};
