//! The files of a database. `db/FORMAT.md` specifies them.
//!
//! In come blocks of bits, row by row, and go out again. [`LayerWriter`] and [`LayerFile`] write and
//! read the file of a layer, whose bytes `format` knows and whose rows `octets` interleaves;
//! [`Manifest`] makes a database of a directory with layers; [`count_layer`] counts what a file
//! holds, and [`Histogram`] the games' lengths. Whatever is wrong with a file is a [`DatabaseError`].

mod counts;
mod error;
pub mod format;
mod histogram;
mod layer_file;
mod layer_index;
mod layer_writer;
mod manifest;
mod octets;
mod tally;

pub use counts::{count_layer, layer_entry};
pub use error::DatabaseError;
pub(super) use format::hex;
pub use format::{
    BlockKey, BlockKind, CHUNK_BYTES, LayerHeader, MANIFEST_NAME, Metric, Scope, database_name,
    layer_name,
};
pub use histogram::Histogram;
pub use layer_file::{Inflater, LayerFile};
pub use layer_index::Block;
pub use layer_writer::{LayerSummary, LayerWriter, WrittenBlock};
pub use manifest::{Counts, Manifest, ManifestLayer};
pub use octets::ROWS;
