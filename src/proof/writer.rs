//! Writing proof files. A file has its name only when it is whole.
//!
//! Bytes go to `<name>.tmp`. When everything is written and on the disk, the file is renamed, which
//! is atomic; a program that dies before leaves the `.tmp` behind and nothing that looks finished.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::error::ProofError;
use super::format::{ChunkEntry, ProofFooter, ProofHeader, encode_codes};

/// How hard zstd tries. The differences are next to random in their lower bits: higher levels gain
/// less than 1 %.
const LEVEL: i32 = 3;

/// Chunks that are compressed in parallel before they are written.
const BATCH: usize = 64;

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofSummary {
    /// The file.
    pub path: PathBuf,
    /// Positions in it.
    pub positions: u64,
    /// Its length.
    pub bytes: u64,
}

/// A proof file in the making. Dropped before it is finished, it leaves nothing behind.
#[derive(Debug)]
pub struct ProofWriter {
    path: PathBuf,
    temporary: PathBuf,
    /// `None` once the file is finished: then there is nothing left to remove.
    file: Option<BufWriter<File>>,
    offset: u64,
}

impl ProofWriter {
    /// Begins a file: creates `<path>.tmp`, over one that an earlier run left there. Done before a
    /// long search, it shows early that the file can be written.
    ///
    /// # Errors
    /// If the file cannot be created, or the path is a directory.
    pub fn create(path: &Path) -> Result<Self, ProofError> {
        if path.is_dir() {
            return Err(ProofError::io("write", path)(io::ErrorKind::IsADirectory.into()));
        }
        let mut temporary = OsString::from(path);
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        let file = File::create(&temporary).map_err(ProofError::io("create", &temporary))?;
        let file = Some(BufWriter::with_capacity(1 << 20, file));
        Ok(ProofWriter { path: path.to_owned(), temporary, file, offset: 0 })
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes header, codes, index and footer, waits until everything is on the disk, and gives the
    /// file its name, in place of a file that had it before. Compresses in parallel, in the current
    /// pool of `rayon`; the bytes do not depend on the number of threads.
    ///
    /// # Errors
    /// If the disk is full, or the system refuses for another reason. The `.tmp` is removed.
    ///
    /// # Panics
    /// If the codes are not in strictly increasing order, or not as many as the header says.
    pub fn finish(
        mut self,
        header: &ProofHeader,
        codes: &[u64],
    ) -> Result<ProofSummary, ProofError> {
        assert_eq!(header.positions, codes.len() as u64);
        assert!(codes.is_sorted_by(|a, b| a < b), "codes in increasing order, each of them once");
        let encoded = header.encode();
        self.put(&encoded)?;
        let chunk_codes = header.chunk_codes as usize;
        let mut index = Vec::new();
        for batch in codes.chunks(chunk_codes * BATCH) {
            let chunks: Vec<io::Result<Vec<u8>>> =
                batch.par_chunks(chunk_codes).map(compress).collect();
            for (codes, chunk) in batch.chunks(chunk_codes).zip(chunks) {
                let chunk = chunk.map_err(ProofError::io("compress a part of", &self.path))?;
                let (bytes, xxh3) = (chunk.len() as u64, xxh3_64(&chunk));
                index.extend(ChunkEntry { first: codes[0], bytes, xxh3 }.encode());
                self.put(&chunk)?;
            }
        }
        let footer = ProofFooter {
            index_offset: self.offset,
            index_bytes: index.len() as u64,
            index_xxh3: xxh3_64(&index),
            header_xxh3: xxh3_64(&encoded),
        };
        self.put(&index)?;
        self.put(&footer.encode())?;
        self.publish()?;
        self.file = None;
        let (path, bytes) = (self.path.clone(), self.offset);
        Ok(ProofSummary { path, positions: header.positions, bytes })
    }

    /// Waits until the file is on the disk, and gives it its name.
    fn publish(&mut self) -> Result<(), ProofError> {
        let (path, temporary) = (&self.path, &self.temporary);
        let file = self.file.as_mut().expect("not finished");
        file.flush().map_err(ProofError::io("write", temporary))?;
        file.get_ref().sync_all().map_err(ProofError::io("write", temporary))?;
        fs::rename(temporary, path).map_err(ProofError::io("rename", temporary))?;
        // The new name is in the directory, which has to reach the disk too. Only Unix lets one
        // say so.
        #[cfg(unix)]
        {
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
            let directory = parent.unwrap_or(Path::new("."));
            let opened = File::open(directory).map_err(ProofError::io("open", directory))?;
            opened.sync_all().map_err(ProofError::io("write", directory))?;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), ProofError> {
        let file = self.file.as_mut().expect("not finished");
        file.write_all(bytes).map_err(ProofError::io("write", &self.temporary))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}

impl Drop for ProofWriter {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // What is still buffered must not be written.
            let _ = file.into_parts();
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn compress(codes: &[u64]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(codes.len() * 4);
    encode_codes(codes, &mut bytes);
    zstd::bulk::compress(&bytes, LEVEL)
}
