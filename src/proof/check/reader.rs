//! Reading proof files: everything in them is checked before it is used. Whether the positions prove
//! anything is another matter ([`mod@super::verify`]).

use std::collections::TryReserveError;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};
use zstd::zstd_safe::compress_bound;

use super::error::ProofError;
use super::format::{
    ChunkEntry, ENTRY_BYTES, FOOTER_BYTES, HEADER_BYTES, MOST_VARINT, ProofFooter, ProofHeader,
    decode_codes, hex,
};

/// Chunks that are read and then decompressed in parallel, at most, and bytes of them after which no
/// other chunk is read.
const BATCH: usize = 64;
const BATCH_BYTES: u64 = 32 << 20;

/// Entries of the index that are read together.
const PIECE: u64 = 1 << 14;

/// A proof file that has been opened: header, index and footer are checked, the chunks are not read
/// yet.
#[derive(Debug)]
pub struct ProofReader<R> {
    path: PathBuf,
    source: R,
    header: ProofHeader,
    chunks: Vec<ChunkEntry>,
    /// Where each chunk begins.
    places: Vec<u64>,
    bytes: u64,
    memory: u64,
}

impl<R: Read + Seek> ProofReader<R> {
    /// Takes bytes from anywhere for a file; the path stands in error messages.
    ///
    /// # Errors
    /// If it cannot be read, is no proof, one of another version or other rules, or damaged.
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

        source.seek(SeekFrom::Start(footer.index_offset)).map_err(io())?;
        // Entry by entry, and no further than they make sense: the index of a small file may be a hole
        // of any size.
        let (mut chunks, mut data): (Vec<ChunkEntry>, _) = (Vec::new(), HEADER_BYTES as u64);
        let mut places: Vec<u64> = Vec::new();
        let mut hasher = Xxh3::new();
        let mut piece = Vec::new();
        while (chunks.len() as u64) < header.chunks() {
            let count = PIECE.min(header.chunks() - chunks.len() as u64) as usize;
            piece.resize(count * ENTRY_BYTES, 0);
            source.read_exact(&mut piece).map_err(io())?;
            hasher.update(&piece);
            #[allow(clippy::disallowed_methods, reason = "the checker uses nothing of the crate")]
            let room = chunks.try_reserve(count).and_then(|()| places.try_reserve(count));
            room.map_err(|error| ProofError::io("reserve memory for", path)(error.into()))?;
            for entry in piece.as_chunks::<ENTRY_BYTES>().0.iter().map(ChunkEntry::decode) {
                let number = chunks.len();
                let most = compress_bound(header.chunk_codes as usize * MOST_VARINT) as u64;
                if !(1..=most).contains(&entry.bytes) {
                    let what = format!("the length of chunk {number}");
                    return damaged(&what, &format!("1 to {most} bytes"), &entry.bytes);
                }
                places.push(data);
                data = data.saturating_add(entry.bytes);
                if chunks.last().is_some_and(|last| last.first >= entry.first) {
                    let what = format!("the first code of chunk {number}");
                    return damaged(&what, &"above that of the chunk before", &hex(entry.first));
                }
                chunks.push(entry);
            }
        }
        if data != footer.index_offset {
            return damaged("the end of the chunks", &footer.index_offset, &data);
        }
        if footer.index_xxh3 != hasher.digest() {
            let (expected, got) = (hex(footer.index_xxh3), hex(hasher.digest()));
            return damaged("the index's checksum", &expected, &got);
        }
        let path = path.to_owned();
        Ok(ProofReader { path, source, header, chunks, places, bytes, memory: u64::MAX })
    }

    /// Sets the most memory that reading and checking may take, in bytes; without it there is no limit
    /// but that of the system.
    pub fn limit_memory(&mut self, bytes: u64) {
        self.memory = bytes;
    }

    /// Checks that memory may be used for what `positions` need.
    pub(super) fn allow(&self, need: u64) -> Result<(), ProofError> {
        let (path, positions, have) = (self.path.clone(), self.header.positions, self.memory);
        match need <= have {
            true => Ok(()),
            false => Err(ProofError::TooLarge { path, positions, need, have }),
        }
    }

    /// The error of memory that the system does not give.
    pub(super) fn no_memory(&self, error: TryReserveError) -> ProofError {
        ProofError::io("reserve memory for", &self.path)(error.into())
    }

    /// What the proof is about.
    pub fn header(&self) -> &ProofHeader {
        &self.header
    }

    /// The index: an entry for each chunk, by increasing first codes.
    pub fn chunks(&self) -> &[ChunkEntry] {
        &self.chunks
    }

    /// Reads the codes of one chunk, in strictly increasing order: 8 bytes of memory for each.
    ///
    /// # Errors
    /// If the file cannot be read, or the chunk is damaged.
    ///
    /// # Panics
    /// If there is no such chunk.
    pub fn read_chunk(&mut self, number: usize) -> Result<Vec<u64>, ProofError> {
        let (entry, path) = (self.chunks[number], &self.path);
        let chunk_codes = u64::from(self.header.chunk_codes);
        // All chunks but the last one are full, and no one is empty.
        let count = chunk_codes.min(self.header.positions - number as u64 * chunk_codes);
        let io = || ProofError::io("read", path);
        self.source.seek(SeekFrom::Start(self.places[number])).map_err(io())?;
        let mut stored = vec![0; entry.bytes as usize];
        self.source.read_exact(&mut stored).map_err(io())?;
        let mut codes = vec![0; count as usize];
        decompress(&entry, &stored, &mut codes)
            .map_err(|(expected, got)| damaged_chunk(path, number, expected, got))?;
        let last = codes[codes.len() - 1];
        match self.chunks.get(number + 1) {
            Some(next) if next.first <= last => Err(overlap(path, number + 1, last, next.first)),
            _ => Ok(codes),
        }
    }

    /// Length of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads all codes, in strictly increasing order: 8 bytes of memory for each, and one pass over
    /// the file. Decompresses in parallel, in the current pool of `rayon`.
    ///
    /// # Errors
    /// If a chunk is damaged, if there is no memory for so many codes or it may not be used
    /// ([`ProofReader::limit_memory`]), or [`ProofError::Interrupted`].
    pub fn read_codes(&mut self, stop: &AtomicBool) -> Result<Vec<u64>, ProofError> {
        let positions = self.header.positions;
        self.allow(positions.saturating_mul(8))?;
        let chunk_codes = self.header.chunk_codes as usize;
        let mut codes: Vec<u64> = Vec::new();
        // Memory is taken as it is filled, so that a false header costs none.
        #[allow(clippy::disallowed_methods, reason = "the checker uses nothing of the crate")]
        let room = codes.try_reserve_exact(usize::try_from(positions).unwrap_or(usize::MAX));
        room.map_err(|error| self.no_memory(error))?;
        let path = &self.path;
        self.source
            .seek(SeekFrom::Start(HEADER_BYTES as u64))
            .map_err(ProofError::io("read", path))?;
        let mut first = 0;
        while first < self.chunks.len() {
            if stop.load(Ordering::Relaxed) {
                return Err(ProofError::Interrupted);
            }
            let (mut compressed, mut bytes) = (Vec::new(), 0);
            for chunk in self.chunks[first..].iter().take(BATCH) {
                let mut stored = vec![0; chunk.bytes as usize];
                self.source.read_exact(&mut stored).map_err(ProofError::io("read", path))?;
                compressed.push(stored);
                bytes += chunk.bytes;
                if bytes >= BATCH_BYTES {
                    break;
                }
            }
            let batch = &self.chunks[first..first + compressed.len()];
            let begin = codes.len();
            let end = (begin + batch.len() * chunk_codes).min(positions as usize);
            codes.resize(end, 0);
            codes[begin..]
                .par_chunks_mut(chunk_codes)
                .zip(batch.par_iter().zip(compressed))
                .enumerate()
                .try_for_each(|(number, (codes, (entry, bytes)))| {
                    decompress(entry, &bytes, codes).map_err(|(expected, got)| {
                        damaged_chunk(path, first + number, expected, got)
                    })
                })?;
            first += batch.len();
        }
        // Within chunks the coding leaves no other possibility.
        let ends = codes.chunks(chunk_codes).map(|chunk| (chunk[0], chunk[chunk.len() - 1]));
        let ends: Vec<(u64, u64)> = ends.collect();
        if let Some(number) = ends.windows(2).position(|pair| pair[0].1 >= pair[1].0) {
            return Err(overlap(path, number + 1, ends[number].1, ends[number + 1].0));
        }
        Ok(codes)
    }
}

fn damaged_chunk(path: &Path, number: usize, expected: String, got: String) -> ProofError {
    ProofError::damaged(path, format!("chunk {number}"), expected, got)
}

/// The error of a chunk whose first code is not above the last one of the chunk before.
fn overlap(path: &Path, number: usize, last: u64, first: u64) -> ProofError {
    let what = format!("the first code of chunk {number}");
    ProofError::damaged(path, what, format!("above {last:#x}"), hex(first))
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
