//! Reading and writing of files of any content.
//!
//! | item | contents |
//! |---|---|
//! | [`FileError`], [`FileKind`] | errors of files, and the texts for a kind of file in error messages |
//! | [`NewFile`] | a file that gets its name when it is complete |
//! | `Lock` | a lock file, which excludes other processes |
//! | [`remove_unfinished`] | removes incomplete files and lock files before a process ends without unwinding |
//! | [`open_regular`] | opens a file for reading, without blocking |
//! | [`create_regular`] | creates a file that other processes may read while it grows |
//! | `ByteSource` | reads pieces of a file at any offset |
//! | `fields` | little-endian numbers in bytes |
//! | `ChunkWeighter` | the size of a part of a file in a cache |
//!
//! All but the last three are those of the crate `konane-base`.

mod source;

pub use konane_base::file::{
    FileError, FileKind, NewFile, create_regular, open_regular, remove_unfinished,
};
pub(crate) use konane_base::file::{Lock, refuse_other};
pub(crate) use source::ByteSource;

/// Computes the weight of a decompressed chunk in a cache: its size in bytes, plus 64 for the cache's own data.
#[derive(Clone)]
pub(crate) struct ChunkWeighter;

impl<K, T> quick_cache::Weighter<K, std::sync::Arc<[T]>> for ChunkWeighter {
    fn weight(&self, _: &K, chunk: &std::sync::Arc<[T]>) -> u64 {
        size_of_val(&chunk[..]) as u64 + 64
    }
}

/// Numbers in bytes. All files of this program are little-endian.
pub(crate) mod fields {
    /// The number whose first byte is `bytes[at]`.
    ///
    /// # Panics
    /// If `bytes` ends before the last byte of the number.
    #[inline(always)]
    pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    }

    /// The number whose first byte is `bytes[at]`.
    ///
    /// # Panics
    /// If `bytes` ends before the last byte of the number.
    #[inline(always)]
    pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
    }

    /// Writes numbers one after the other. Numbers that do not fit into `bytes` are omitted.
    pub fn put_words(bytes: &mut [u8], words: &[u64]) {
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
    }
}
