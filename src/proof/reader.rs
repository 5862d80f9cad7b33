//! Reading proof files: everything in them is checked before it is used. Whether the positions prove
//! anything is another matter ([`mod@super::verify`]).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::error::ProofError;
use super::format::{
    ChunkEntry, ENTRY_BYTES, FOOTER_BYTES, HEADER_BYTES, MOST_VARINT, ProofFooter, ProofHeader,
    decode_codes, hex,
};

/// Chunks that are read and then decompressed in parallel.
const BATCH: usize = 64;

/// A proof file that has been opened: header, index and footer are checked, the chunks are not read
/// yet.
#[derive(Debug)]
pub struct ProofReader<R> {
    path: PathBuf,
    source: R,
    header: ProofHeader,
    chunks: Vec<ChunkEntry>,
    bytes: u64,
}

impl ProofReader<File> {
    /// Opens a file. Reads header, index and footer.
    ///
    /// # Errors
    /// If it cannot be read, is no proof, one of another version or other rules, or damaged.
    pub fn open(path: &Path) -> Result<Self, ProofError> {
        // Looked at first: opening a pipe would wait for somebody to write.
        let metadata = path.metadata().map_err(ProofError::io("read", path))?;
        if !metadata.is_file() {
            let (path, what) = (path.to_owned(), "it is not a file".to_owned());
            return Err(ProofError::NotAProof { path, what });
        }
        let file = File::open(path).map_err(ProofError::io("open", path))?;
        ProofReader::new(path, file)
    }
}

impl<R: Read + Seek> ProofReader<R> {
    /// Takes bytes from anywhere for a file; the path stands in error messages.
    ///
    /// # Errors
    /// As [`ProofReader::open`].
    pub fn new(path: &Path, mut source: R) -> Result<Self, ProofError> {
        let io = || ProofError::io("read", path);
        let bytes = source.seek(SeekFrom::End(0)).map_err(io())?;
        let mut head = [0; HEADER_BYTES];
        source.rewind().map_err(io())?;
        let least = (HEADER_BYTES + FOOTER_BYTES) as u64;
        if bytes < least {
            // Another kind of file is called so, however short it is.
            let mut begin = Vec::new();
            source.take(HEADER_BYTES as u64).read_to_end(&mut begin).map_err(io())?;
            head[..begin.len()].copy_from_slice(&begin);
            ProofHeader::decode(path, &head)?;
            let (what, expected) = ("the length of the file", format!("at least {least}"));
            return Err(ProofError::damaged(path, what, expected, bytes));
        }
        source.read_exact(&mut head).map_err(io())?;
        let header = ProofHeader::decode(path, &head)?;
        let mut foot = [0; FOOTER_BYTES];
        let footer_offset = bytes - FOOTER_BYTES as u64;
        source.seek(SeekFrom::Start(footer_offset)).map_err(io())?;
        source.read_exact(&mut foot).map_err(io())?;
        let footer = ProofFooter::decode(path, &foot)?;
        let damaged = |what: &str, expected: &dyn ToString, got: &dyn ToString| {
            Err(ProofError::damaged(path, what, expected.to_string(), got.to_string()))
        };
        if footer.header_xxh3 != xxh3_64(&head) {
            let (expected, got) = (hex(footer.header_xxh3), hex(xxh3_64(&head)));
            return damaged("the header's checksum in the footer", &expected, &got);
        }
        if footer.index_bytes != header.chunks().saturating_mul(ENTRY_BYTES as u64) {
            let expected = format!("{} entries of {ENTRY_BYTES} bytes", header.chunks());
            return damaged("the index", &expected, &format!("{} bytes", footer.index_bytes));
        }
        if footer.index_offset.checked_add(footer.index_bytes) != Some(footer_offset) {
            let got = format!("{} bytes from {}", footer.index_bytes, footer.index_offset);
            return damaged("the index", &format!("in front of byte {footer_offset}"), &got);
        }

        let mut index = vec![0; footer.index_bytes as usize];
        source.seek(SeekFrom::Start(footer.index_offset)).map_err(io())?;
        source.read_exact(&mut index).map_err(io())?;
        if footer.index_xxh3 != xxh3_64(&index) {
            let (expected, got) = (hex(footer.index_xxh3), hex(xxh3_64(&index)));
            return damaged("the index's checksum", &expected, &got);
        }
        let (entries, _) = index.as_chunks::<ENTRY_BYTES>();
        let chunks: Vec<ChunkEntry> = entries.iter().map(ChunkEntry::decode).collect();
        let lengths = chunks.iter().map(|chunk| chunk.bytes);
        let data = lengths.fold(HEADER_BYTES as u64, u64::saturating_add);
        if data != footer.index_offset {
            return damaged("the end of the chunks", &footer.index_offset, &data);
        }
        if !chunks.is_sorted_by(|a, b| a.first < b.first) {
            return damaged("the first codes of the chunks", &"in increasing order", &"not");
        }
        Ok(ProofReader { path: path.to_owned(), source, header, chunks, bytes })
    }

    /// What the proof is about.
    pub fn header(&self) -> &ProofHeader {
        &self.header
    }

    /// Length of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads all codes, in strictly increasing order: 8 bytes of memory for each, and one pass over
    /// the file. Decompresses in parallel, in the current pool of `rayon`.
    ///
    /// # Errors
    /// If a chunk is damaged, if there is no memory for so many codes, or
    /// [`ProofError::Interrupted`].
    pub fn read_codes(&mut self, stop: &AtomicBool) -> Result<Vec<u64>, ProofError> {
        let path = &self.path;
        let chunk_codes = self.header.chunk_codes as usize;
        // Only as much as there are chunks for, so that a false header costs no memory.
        let positions = self.header.positions;
        let mut codes: Vec<u64> = Vec::new();
        let room = usize::try_from(positions).ok().and_then(|n| codes.try_reserve_exact(n).ok());
        if room.is_none() {
            let (path, bytes) = (path.clone(), positions.saturating_mul(8));
            return Err(ProofError::TooLarge { path, positions, bytes });
        }
        self.source
            .seek(SeekFrom::Start(HEADER_BYTES as u64))
            .map_err(ProofError::io("read", path))?;
        for (batch_number, batch) in self.chunks.chunks(BATCH).enumerate() {
            if stop.load(Ordering::Relaxed) {
                return Err(ProofError::Interrupted);
            }
            let mut compressed = Vec::with_capacity(batch.len());
            for chunk in batch {
                let mut bytes = vec![0; chunk.bytes as usize];
                self.source.read_exact(&mut bytes).map_err(ProofError::io("read", path))?;
                compressed.push(bytes);
            }
            let begin = codes.len();
            let end = (begin + batch.len() * chunk_codes).min(positions as usize);
            codes.resize(end, 0);
            let first = batch_number * BATCH;
            codes[begin..]
                .par_chunks_mut(chunk_codes)
                .zip(batch.par_iter().zip(compressed))
                .enumerate()
                .try_for_each(|(number, (codes, (entry, bytes)))| {
                    decompress(entry, &bytes, codes).map_err(|(expected, got)| {
                        let what = format!("chunk {}", first + number);
                        ProofError::damaged(path, what, expected, got)
                    })
                })?;
        }
        // Within chunks the coding leaves no other possibility.
        let ends = codes.chunks(chunk_codes).map(|chunk| (chunk[0], chunk[chunk.len() - 1]));
        let ends: Vec<(u64, u64)> = ends.collect();
        if let Some(number) = ends.windows(2).position(|pair| pair[0].1 >= pair[1].0) {
            let what = format!("the first code of chunk {}", number + 1);
            let (last, first) = (ends[number].1, ends[number + 1].0);
            return Err(ProofError::damaged(path, what, format!("above {last:#x}"), hex(first)));
        }
        Ok(codes)
    }
}

/// Decompresses a chunk; else says what was expected and what was found.
fn decompress(entry: &ChunkEntry, bytes: &[u8], codes: &mut [u64]) -> Result<(), (String, String)> {
    let found = xxh3_64(bytes);
    if found != entry.xxh3 {
        let expected = format!("bytes with the checksum {}", hex(entry.xxh3));
        return Err((expected, hex(found)));
    }
    let most = (codes.len() - 1) * MOST_VARINT;
    let differences = zstd::bulk::decompress(bytes, most)
        .map_err(|error| (format!("a zstd frame of at most {most} bytes"), error.to_string()))?;
    codes[0] = entry.first;
    decode_codes(&differences, codes)
        .map_err(|what| (format!("{} differences", codes.len() - 1), what.to_owned()))
}
