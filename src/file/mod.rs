//! Files, whatever is in them. A leaf: it knows nothing of what is stored.
//!
//! | | |
//! |---|---|
//! | [`FileError`], [`FileKind`] | what can be wrong with a file, in the words of its kind |
//! | [`NewFile`] | a file that has its name only when it is whole |
//! | `Lock` | keeps other processes out |
//! | [`remove_unfinished`] | removes both, for a program that ends at once |
//! | [`open_regular`] | opens what is to be read, and waits for nobody |
//! | `create_regular` | makes a file that grows while others read it |
//! | `Source` | pieces of a file, read where they are wanted |
//! | `fields` | numbers in bytes |
//! | `ChunkWeighter` | the size of a part of a file in a cache |

mod error;
pub(crate) mod fields;
mod lock;
mod open;
mod replace;
mod source;
mod unfinished;

pub use error::{FileError, FileKind};
pub(crate) use lock::{Lock, open_locked};
pub use open::create_regular;
pub use open::open_regular;
pub(crate) use open::refuse_other;
pub use replace::NewFile;
pub(crate) use source::Source;
pub use unfinished::remove_unfinished;

/// Weighs a decompressed chunk in a cache: its bytes, and 64 for the cache's own data.
#[derive(Clone)]
pub(crate) struct ChunkWeighter;

impl<K, T> quick_cache::Weighter<K, std::sync::Arc<[T]>> for ChunkWeighter {
    fn weight(&self, _: &K, chunk: &std::sync::Arc<[T]>) -> u64 {
        size_of_val(&chunk[..]) as u64 + 64
    }
}
