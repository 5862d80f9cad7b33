//! Writing of proof files. A file gets its final name when it is complete.

use std::io;
use std::path::{Path, PathBuf};

use proof_check::format::{ChunkEntry, ProofFooter, encode_codes};
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::ProofHeader;
use crate::file::{FileError, NewFile};

/// Number of codes in every chunk except the last one, which may have fewer.
pub(super) const CHUNK_CODES: u32 = 1 << 14;

/// Compression level of zstd. The lower bits of the differences between codes are almost random, so higher levels gain
/// less than 1 %.
const LEVEL: i32 = 3;

/// Number of chunks that are compressed in parallel before they are written.
const BATCH: usize = 64;

/// Summary of a written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofSummary {
    /// The file.
    pub path: PathBuf,
    /// Number of positions.
    pub positions: u64,
    /// Length of the file.
    pub bytes: u64,
}

/// A proof file that is being written. If it is dropped before it is finished, `<path>.tmp` is removed.
#[derive(Debug)]
pub struct ProofWriter {
    file: NewFile,
}

impl ProofWriter {
    /// Creates `<path>.tmp`. Replaces a file of this name that an earlier run has left. Call it before a long search,
    /// so that an error is found early.
    ///
    /// # Errors
    /// If the file cannot be created, another process is writing it, or `path` exists and is not
    /// a file.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        Ok(ProofWriter { file: NewFile::create(path, 1 << 20)? })
    }

    /// The final name of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes header, codes, index and footer, waits until everything is on the disk, and renames the
    /// file to its final name, which replaces an existing file. Compresses in parallel, in the current
    /// `rayon` pool; the bytes do not depend on the number of threads.
    ///
    /// # Errors
    /// If the disk is full, or on another error of the operating system. In both cases `<path>.tmp` is removed.
    ///
    /// # Panics
    /// If the codes are not in strictly increasing order, or their number differs from that in the header.
    pub fn finish(
        mut self,
        header: &ProofHeader,
        codes: &[u64],
    ) -> Result<ProofSummary, FileError> {
        assert_eq!(header.positions, codes.len() as u64);
        assert!(
            codes.is_sorted_by(|a, b| a < b),
            "the codes have to be in strictly increasing order"
        );
        let encoded = header.encode();
        self.file.put(&encoded)?;
        let chunk_codes = header.chunk_codes as usize;
        let mut index = Vec::new();
        for batch in codes.chunks(chunk_codes * BATCH) {
            let chunks: Vec<io::Result<Vec<u8>>> =
                batch.par_chunks(chunk_codes).map(compress).collect();
            for (codes, chunk) in batch.chunks(chunk_codes).zip(chunks) {
                let chunk = chunk.map_err(FileError::io("compress a part of", self.file.path()))?;
                let (bytes, xxh3) = (chunk.len() as u64, xxh3_64(&chunk));
                index.extend(ChunkEntry { first: codes[0], bytes, xxh3 }.encode());
                self.file.put(&chunk)?;
            }
        }
        let footer = ProofFooter {
            index_offset: self.file.bytes(),
            index_bytes: index.len() as u64,
            index_xxh3: xxh3_64(&index),
            header_xxh3: xxh3_64(&encoded),
        };
        self.file.put(&index)?;
        self.file.put(&footer.encode())?;
        let (path, bytes) = (self.file.path().to_owned(), self.file.bytes());
        self.file.finish()?;
        Ok(ProofSummary { path, positions: header.positions, bytes })
    }
}

fn compress(codes: &[u64]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(codes.len() * 4);
    encode_codes(codes, &mut bytes);
    zstd::bulk::compress(&bytes, LEVEL)
}
