//! Files of a database. `db/FORMAT.md` specifies them.
//!
//! [`LayerWriter`] and [`LayerFile`] write and read the file of a layer: blocks of bits, row by row.
//! `format` encodes its parts, and `octets` interleaves its rows. [`Manifest`] makes a database of a
//! directory with layers. [`count_layer`] counts the positions of a file, and [`Histogram`] has them
//! by remoteness. Errors are [`DatabaseError`]s.

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
    BlockKey, BlockKind, CHUNK_BYTES, Coverage, Footer, HEADER_BYTES, LayerHeader, MANIFEST_NAME,
    Metric, Scope, layer_name,
};
pub use layer_file::{Inflater, LayerFile};
pub use layer_index::LayerBlock;
pub use layer_writer::LayerWriter;
pub use manifest::{Manifest, ManifestLayer};
pub use octets::ROWS;
pub use statistics::{Histogram, PositionCounts, count_layer};
