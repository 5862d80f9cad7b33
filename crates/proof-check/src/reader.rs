//! Reader of proof files. Everything in a file is validated before it is used.

use std::collections::TryReserveError;
use std::fs::{self, File, FileType};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};
use zstd::zstd_safe::compress_bound;

use crate::ProofError;
use crate::format::{
    ChunkEntry, ENTRY_BYTES, FOOTER_BYTES, HEADER_BYTES, MAX_VARINT_BYTES, ProofFooter,
    ProofHeader, decode_codes, hex,
};

/// Maximum number of chunks that are read before they are decompressed in parallel.
const BATCH: usize = 64;

/// Total compressed length in bytes at which a batch of chunks ends early.
const BATCH_BYTES: u64 = 32 << 20;

/// Number of index entries read at once.
const INDEX_BATCH: u64 = 1 << 14;

/// An open proof file whose header, index and footer are valid. The chunks are not read yet.
#[derive(Debug)]
pub struct ProofReader<R> {
    path: PathBuf,
    source: R,
    header: ProofHeader,
    chunks: Vec<ChunkEntry>,
    /// Offset of each chunk in the file.
    offsets: Vec<u64>,
    bytes: u64,
    max_memory: u64,
}

impl ProofReader<File> {
    /// Opens a file and reads its header, index and footer.
    ///
    /// # Errors
    /// If the file cannot be read, is not a proof, has another version or other rules, or is damaged.
    pub fn open(path: &Path) -> Result<Self, ProofError> {
        // The kind is checked first, because opening a named pipe blocks until a process writes to it.
        let kind = fs::metadata(path).map_err(ProofError::io("open", path))?.file_type();
        if !kind.is_file() {
            let what = format!("{} is {}, not a file", path.display(), kind_name(kind));
            return Err(ProofError::NotAProof { path: path.to_owned(), what });
        }
        ProofReader::new(path, File::open(path).map_err(ProofError::io("open", path))?)
    }
}

fn kind_name(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a directory" } else { "something else" }
}

impl<R: Read + Seek> ProofReader<R> {
    /// Reads header, index and footer from any source. `path` is for error messages.
    ///
    /// # Errors
    /// The errors of [`ProofReader::open`].
    pub fn new(path: &Path, mut source: R) -> Result<Self, ProofError> {
        let io = || ProofError::io("read", path);
        let bytes = source.seek(SeekFrom::End(0)).map_err(io())?;
        let mut head = [0; HEADER_BYTES];
        source.rewind().map_err(io())?;
        let least = (HEADER_BYTES + FOOTER_BYTES) as u64;
        if bytes < least {
            // The header is checked first, so that a short file of another kind is reported as such.
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
        // Entries are validated while they are read, because the index of a sparse file may have any
        // length.
        let (mut chunks, mut offsets) = (Vec::<ChunkEntry>::new(), Vec::new());
        let mut end = HEADER_BYTES as u64;
        let mut hasher = Xxh3::new();
        let mut entries = Vec::new();
        while (chunks.len() as u64) < header.chunks() {
            let count = INDEX_BATCH.min(header.chunks() - chunks.len() as u64) as usize;
            entries.resize(count * ENTRY_BYTES, 0);
            source.read_exact(&mut entries).map_err(io())?;
            hasher.update(&entries);
            let reserved = chunks.try_reserve(count).and_then(|()| offsets.try_reserve(count));
            reserved.map_err(|error| out_of_memory(path, error))?;
            for entry in entries.as_chunks::<ENTRY_BYTES>().0.iter().map(ChunkEntry::decode) {
                let number = chunks.len();
                let max = compress_bound(header.chunk_codes as usize * MAX_VARINT_BYTES) as u64;
                if !(1..=max).contains(&entry.bytes) {
                    let what = format!("the length of chunk {number}");
                    return damaged(&what, &format!("1 to {max} bytes"), &entry.bytes);
                }
                offsets.push(end);
                end = end.saturating_add(entry.bytes);
                if chunks.last().is_some_and(|last| last.first >= entry.first) {
                    let what = format!("the first code of chunk {number}");
                    return damaged(&what, &"above that of the chunk before", &hex(entry.first));
                }
                chunks.push(entry);
            }
        }
        if end != footer.index_offset {
            return damaged("the end of the chunks", &footer.index_offset, &end);
        }
        if footer.index_xxh3 != hasher.digest() {
            let (expected, got) = (hex(footer.index_xxh3), hex(hasher.digest()));
            return damaged("the index's checksum", &expected, &got);
        }
        let path = path.to_owned();
        Ok(ProofReader { path, source, header, chunks, offsets, bytes, max_memory: u64::MAX })
    }

    /// Sets the maximum number of bytes of memory for reading and checking. The default is no limit.
    pub fn limit_memory(&mut self, bytes: u64) {
        self.max_memory = bytes;
    }

    /// Returns an error if `need` bytes of memory are more than allowed.
    pub(crate) fn check_memory(&self, need: u64) -> Result<(), ProofError> {
        let (path, positions) = (self.path.clone(), self.header.positions);
        match need <= self.max_memory {
            true => Ok(()),
            false => Err(ProofError::TooLarge { path, positions, need, have: self.max_memory }),
        }
    }

    pub(crate) fn out_of_memory(&self, error: TryReserveError) -> ProofError {
        out_of_memory(&self.path, error)
    }

    /// Returns the claim of the proof.
    pub fn header(&self) -> &ProofHeader {
        &self.header
    }

    /// Returns the index: an entry for each chunk, in increasing order of first codes.
    pub fn chunks(&self) -> &[ChunkEntry] {
        &self.chunks
    }

    /// Returns the length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the codes of one chunk, in strictly increasing order.
    ///
    /// # Errors
    /// If the file cannot be read, or the chunk is damaged.
    ///
    /// # Panics
    /// If there is no chunk with this index.
    pub fn read_chunk(&mut self, number: usize) -> Result<Vec<u64>, ProofError> {
        let (entry, path) = (self.chunks[number], &self.path);
        let chunk_codes = u64::from(self.header.chunk_codes);
        // The index has as many entries as the header requires, so every chunk has at least one code.
        let count = chunk_codes.min(self.header.positions - number as u64 * chunk_codes);
        let io = || ProofError::io("read", path);
        self.source.seek(SeekFrom::Start(self.offsets[number])).map_err(io())?;
        let mut compressed = vec![0; entry.bytes as usize];
        self.source.read_exact(&mut compressed).map_err(io())?;
        let mut codes = vec![0; count as usize];
        decompress(path, number, &entry, &compressed, &mut codes)?;
        if let Some(next) = self.chunks.get(number + 1) {
            check_order(path, number + 1, codes[codes.len() - 1], next.first)?;
        }
        Ok(codes)
    }

    /// Reads all codes, in strictly increasing order. Takes 8 bytes of memory per code, and decompresses
    /// in the current thread pool of `rayon`.
    ///
    /// # Errors
    /// If the file cannot be read, a chunk is damaged, the codes need more memory than allowed
    /// ([`ProofReader::limit_memory`]) or available, or the stop flag was set.
    pub fn read_codes(&mut self, stop: &AtomicBool) -> Result<Vec<u64>, ProofError> {
        let positions = self.header.positions;
        self.check_memory(positions.saturating_mul(8))?;
        let chunk_codes = self.header.chunk_codes as usize;
        let mut codes: Vec<u64> = Vec::new();
        // The system commits pages when they are written, so a wrong number in the header takes no memory.
        codes
            .try_reserve_exact(usize::try_from(positions).unwrap_or(usize::MAX))
            .map_err(|error| self.out_of_memory(error))?;
        let path = &self.path;
        let io = || ProofError::io("read", path);
        self.source.seek(SeekFrom::Start(HEADER_BYTES as u64)).map_err(io())?;
        let mut first = 0;
        while first < self.chunks.len() {
            if stop.load(Ordering::Relaxed) {
                return Err(ProofError::Interrupted);
            }
            let (mut batch, mut bytes) = (Vec::new(), 0);
            for entry in self.chunks[first..].iter().take(BATCH) {
                let mut compressed = vec![0; entry.bytes as usize];
                self.source.read_exact(&mut compressed).map_err(io())?;
                batch.push((entry, compressed));
                bytes += entry.bytes;
                if bytes >= BATCH_BYTES {
                    break;
                }
            }
            let begin = codes.len();
            codes.resize((begin + batch.len() * chunk_codes).min(positions as usize), 0);
            codes[begin..].par_chunks_mut(chunk_codes).zip(&batch).enumerate().try_for_each(
                |(number, (codes, (entry, compressed)))| {
                    decompress(path, first + number, entry, compressed, codes)
                },
            )?;
            first += batch.len();
        }
        // Within a chunk, the codes increase, because only positive differences can be encoded.
        for (number, entry) in self.chunks.iter().enumerate().skip(1) {
            check_order(path, number, codes[number * chunk_codes - 1], entry.first)?;
        }
        Ok(codes)
    }
}

fn out_of_memory(path: &Path, error: TryReserveError) -> ProofError {
    ProofError::io("reserve memory for", path)(error.into())
}

/// Checks that the first code of chunk `number` is above the last code of the chunk before it.
fn check_order(path: &Path, number: usize, last: u64, first: u64) -> Result<(), ProofError> {
    if first > last {
        return Ok(());
    }
    let what = format!("the first code of chunk {number}");
    Err(ProofError::damaged(path, what, format!("above {last:#x}"), hex(first)))
}

/// Decompresses chunk `number` into `codes`.
fn decompress(
    path: &Path,
    number: usize,
    entry: &ChunkEntry,
    compressed: &[u8],
    codes: &mut [u64],
) -> Result<(), ProofError> {
    let damaged = |expected: String, got: String| {
        ProofError::damaged(path, format!("chunk {number}"), expected, got)
    };
    let found = xxh3_64(compressed);
    if found != entry.xxh3 {
        let expected = format!("bytes with the checksum {}", hex(entry.xxh3));
        return Err(damaged(expected, hex(found)));
    }
    let count = codes.len() - 1;
    let max = count * MAX_VARINT_BYTES;
    let differences = zstd::bulk::decompress(compressed, max).map_err(|error| {
        damaged(format!("a zstd frame of at most {max} bytes"), error.to_string())
    })?;
    codes[0] = entry.first;
    decode_codes(&differences, codes)
        .map_err(|what| damaged(format!("{count} differences"), what.to_owned()))
}
