//! Reading layer files: everything in them is checked before it is used.

use std::path::Path;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Decompressor;

use super::error::DatabaseError;
use super::format::{
    BLOCK_BYTES, BlockKey, FOOTER_BYTES, Footer, HEADER_BYTES, LayerHeader, u32_at, u64_at,
};
use super::map::FileMap;
use super::octets::{self, ROWS};
use super::rank::binomial;
use crate::konane::Colour;

/// Chunks between two of which the place in the file is kept in memory.
const STRIDE: usize = 16;

/// A decompressor with its memory (some 150 KiB). Keep one for each thread: making one takes longer
/// than decompressing a chunk.
pub struct Inflater(Decompressor<'static>);

impl Inflater {
    /// A new one.
    ///
    /// # Panics
    /// If there is no memory for it.
    pub fn new() -> Self {
        Inflater(Decompressor::new().expect("memory for a decompressor"))
    }
}

impl Default for Inflater {
    fn default() -> Self {
        Inflater::new()
    }
}

/// Header and footer of a file that is long enough for both, checked.
fn read_ends(path: &Path, bytes: &[u8]) -> Result<(LayerHeader, Footer), DatabaseError> {
    let header = LayerHeader::decode(path, &bytes[..HEADER_BYTES])?;
    let footer = Footer::decode(path, &bytes[bytes.len() - FOOTER_BYTES..])?;
    let got = xxh3_64(&bytes[..HEADER_BYTES]);
    if got != footer.header_xxh3 {
        let (expected, got) = (hex(footer.header_xxh3), hex(got));
        return Err(DatabaseError::damaged(path, "the header's checksum", expected, got));
    }
    Ok((header, footer))
}

/// A block of a layer file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    key: BlockKey,
    rows: u64,
    columns: u64,
    set_bits: u64,
    /// Number of the first chunk, counted through the whole file.
    first_chunk: usize,
    chunks: usize,
    chunk_bytes: usize,
}

impl Block {
    /// Which block it is.
    pub fn key(&self) -> BlockKey {
        self.key
    }

    /// Rows: canonical black patterns.
    #[inline]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Columns: white patterns.
    #[inline]
    pub fn columns(&self) -> u64 {
        self.columns
    }

    /// Bytes of a row outside of the file.
    #[inline]
    pub fn row_bytes(&self) -> u64 {
        self.columns.div_ceil(8)
    }

    /// Bytes in the file before compression: one for each column and eight rows.
    #[inline]
    pub fn stored_bytes(&self) -> u64 {
        self.rows.div_ceil(ROWS as u64) * self.columns
    }

    /// How many bits are set, as the file says; [`LayerFile::verify`] counts them.
    pub fn set_bits(&self) -> u64 {
        self.set_bits
    }

    /// The number of chunks.
    pub fn chunks(&self) -> usize {
        self.chunks
    }

    /// Bytes of a chunk before compression: the last one may be shorter.
    ///
    /// # Panics
    /// In debug builds, if there is no such chunk.
    #[inline]
    pub fn chunk_len(&self, chunk: usize) -> usize {
        debug_assert!(chunk < self.chunks);
        let before = chunk as u64 * self.chunk_bytes as u64;
        (self.stored_bytes() - before).min(self.chunk_bytes as u64) as usize
    }
}

/// A layer file, mapped into memory. Shared between threads.
#[derive(Debug)]
pub struct LayerFile {
    map: FileMap,
    header: LayerHeader,
    footer_xxh3: u64,
    blocks: Vec<Block>,
    /// Where the index keeps the compressed lengths (4 bytes each) and checksums (8 bytes each).
    lengths_at: usize,
    checksums_at: usize,
    /// The place in the file of every 16th chunk.
    starts: Vec<u64>,
}

impl LayerFile {
    /// Opens a file, and checks its length, header, footer and index. The chunks are checked when
    /// they are read, or by [`LayerFile::verify`]. Costs a pass over the index: 12 bytes a chunk.
    ///
    /// # Errors
    /// If the file cannot be read, is of another kind or version, or contradicts itself.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        LayerFile::new(FileMap::open(path, HEADER_BYTES + FOOTER_BYTES)?)
    }

    /// Opens the bytes of a file that are in memory already; `path` stands in error messages.
    ///
    /// # Errors
    /// As [`LayerFile::open`].
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, DatabaseError> {
        if bytes.len() < HEADER_BYTES + FOOTER_BYTES {
            let (path, what) = (path.to_owned(), format!("it has {} bytes only", bytes.len()));
            return Err(DatabaseError::NotADatabase { path, what });
        }
        LayerFile::new(FileMap::owned(path, bytes))
    }

    fn new(map: FileMap) -> Result<Self, DatabaseError> {
        let (path, bytes) = (map.path(), map.bytes());
        let damaged = |what: &str, expected: &dyn ToString, got: &dyn ToString| {
            Err(DatabaseError::damaged(path, what, expected.to_string(), got.to_string()))
        };
        let (header, footer) = read_ends(path, bytes)?;
        let end = footer.index_offset.checked_add(footer.index_bytes);
        let expected = (bytes.len() - FOOTER_BYTES) as u64;
        if end != Some(expected) || footer.index_offset < HEADER_BYTES as u64 {
            let got = format!("{} + {}", footer.index_offset, footer.index_bytes);
            return damaged("the end of the index (the length of the file)", &expected, &got);
        }
        let index_at = footer.index_offset as usize;
        let index = &bytes[index_at..bytes.len() - FOOTER_BYTES];
        let got = xxh3_64(index);
        if got != footer.index_xxh3 {
            return damaged("the index's checksum", &hex(footer.index_xxh3), &hex(got));
        }
        let (blocks, lengths_at) = read_blocks(path, &header, index)?;
        let chunks = blocks.last().map_or(0, |b| b.first_chunk + b.chunks);
        let checksums_at = lengths_at + 4 * chunks;
        let mut starts = Vec::with_capacity(chunks.div_ceil(STRIDE));
        let mut at = HEADER_BYTES as u64;
        for chunk in 0..chunks {
            if chunk % STRIDE == 0 {
                starts.push(at);
            }
            let length = u32_at(index, lengths_at + 4 * chunk);
            // At most 2³² of them, of less than 2³² bytes each: no overflow.
            at += u64::from(length);
        }
        if at != footer.index_offset {
            return damaged("the end of the last chunk", &footer.index_offset, &at);
        }
        let footer_xxh3 = xxh3_64(&bytes[bytes.len() - FOOTER_BYTES..]);
        let (lengths_at, checksums_at) = (index_at + lengths_at, index_at + checksums_at);
        Ok(LayerFile { map, header, footer_xxh3, blocks, lengths_at, checksums_at, starts })
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        self.map.path()
    }

    /// The length of the file.
    pub fn bytes(&self) -> u64 {
        self.map.bytes().len() as u64
    }

    /// XXH3-64 of the footer, which stands for the whole file.
    pub fn footer_xxh3(&self) -> u64 {
        self.footer_xxh3
    }

    /// What the file says about itself.
    pub fn header(&self) -> &LayerHeader {
        &self.header
    }

    /// The blocks in ascending order of their keys.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block with a key, if the file has it.
    pub fn block(&self, key: BlockKey) -> Option<&Block> {
        let at = self.blocks.binary_search_by_key(&key, |block| block.key).ok()?;
        Some(&self.blocks[at])
    }

    /// A block that has to be there.
    ///
    /// # Errors
    /// If it is not.
    pub fn expect_block(&self, key: BlockKey) -> Result<&Block, DatabaseError> {
        self.block(key).ok_or_else(|| {
            DatabaseError::damaged(self.path(), format!("block {key:?}"), "there", "missing")
        })
    }

    /// The compressed bytes of a chunk and their checksum in the index. The lengths were summed up
    /// when the file was opened.
    #[inline]
    fn compressed(&self, chunk: usize) -> (&[u8], u64) {
        let bytes = self.map.bytes();
        let length = |c: usize| u32_at(bytes, self.lengths_at + 4 * c) as usize;
        let before = chunk - chunk % STRIDE;
        let start =
            self.starts[chunk / STRIDE] as usize + (before..chunk).map(length).sum::<usize>();
        let end = start + length(chunk);
        // Out of bounds only if somebody has changed the file since it was opened.
        let compressed = bytes.get(start..end).unwrap_or_default();
        (compressed, u64_at(bytes, self.checksums_at + 8 * chunk))
    }

    /// The compressed bytes of a block's chunk, after a check of their checksum.
    ///
    /// # Errors
    /// If the bytes do not have their checksum.
    ///
    /// # Panics
    /// If there is no such chunk.
    pub fn compressed_chunk(&self, block: &Block, chunk: usize) -> Result<&[u8], DatabaseError> {
        assert!(chunk < block.chunks, "chunk {chunk} of {}", block.chunks);
        let (compressed, expected) = self.compressed(block.first_chunk + chunk);
        let got = xxh3_64(compressed);
        if got != expected {
            return Err(self.damaged_chunk(block, chunk, "checksum", hex(expected), hex(got)));
        }
        Ok(compressed)
    }

    /// Decompresses a chunk of a block into `out`, which is [`Block::chunk_len`] bytes long.
    ///
    /// # Errors
    /// If the bytes do not have their checksum, or do not decompress to this length.
    ///
    /// # Panics
    /// If there is no such chunk, or `out` has another length.
    pub fn chunk(
        &self,
        block: &Block,
        chunk: usize,
        inflater: &mut Inflater,
        out: &mut [u8],
    ) -> Result<(), DatabaseError> {
        let compressed = self.compressed_chunk(block, chunk)?;
        assert_eq!(out.len(), block.chunk_len(chunk), "the length of chunk {chunk}");
        match inflater.0.decompress_to_buffer(compressed, out) {
            Ok(got) if got == out.len() => Ok(()),
            Ok(got) => Err(self.damaged_chunk(block, chunk, "length", out.len(), got)),
            Err(reason) => {
                let expected = format!("{} bytes, compressed", out.len());
                Err(self.damaged_chunk(block, chunk, "content", expected, reason))
            }
        }
    }

    #[cold]
    fn damaged_chunk(
        &self,
        block: &Block,
        chunk: usize,
        what: &str,
        expected: impl ToString,
        got: impl ToString,
    ) -> DatabaseError {
        let what = format!("the {what} of chunk {chunk} of block {:?}", block.key);
        DatabaseError::damaged(self.path(), what, expected, got)
    }

    /// Stored bytes of a block from a place on, as many as `out` has.
    fn read_stored(
        &self,
        block: &Block,
        from: u64,
        inflater: &mut Inflater,
        out: &mut [u8],
    ) -> Result<(), DatabaseError> {
        let mut buffer = Vec::new();
        let mut chunk = (from / block.chunk_bytes as u64) as usize;
        let mut skipped = (from % block.chunk_bytes as u64) as usize;
        let mut rest = out;
        while !rest.is_empty() {
            let length = block.chunk_len(chunk);
            let taken = rest.len().min(length - skipped);
            let (here, after) = rest.split_at_mut(taken);
            if taken == length {
                self.chunk(block, chunk, inflater, here)?;
            } else {
                buffer.resize(length, 0);
                self.chunk(block, chunk, inflater, &mut buffer)?;
                here.copy_from_slice(&buffer[skipped..skipped + taken]);
            }
            (rest, skipped, chunk) = (after, 0, chunk + 1);
        }
        Ok(())
    }

    /// Rows of a block, from one whose number is a multiple of eight, as many as `out` has room
    /// for: each of [`Block::row_bytes`], with a bit for each column and zeros at the end.
    ///
    /// # Errors
    /// As [`LayerFile::chunk`].
    ///
    /// # Panics
    /// If the first row is not a multiple of eight, `out` does not have the length of whole rows,
    /// or the block has fewer rows.
    pub fn read_rows(
        &self,
        block: &Block,
        first: u64,
        inflater: &mut Inflater,
        out: &mut [u8],
    ) -> Result<(), DatabaseError> {
        let row_bytes = block.row_bytes() as usize;
        assert!(first.is_multiple_of(ROWS as u64), "row {first} is no multiple of eight");
        assert_eq!(out.len() % row_bytes, 0, "rows of {row_bytes} bytes");
        let end = first.checked_add((out.len() / row_bytes) as u64);
        assert!(end.is_some_and(|end| end <= block.rows), "rows of {block:?}");
        let mut octet = vec![0; block.columns as usize];
        for (number, rows) in (first / ROWS as u64..).zip(out.chunks_mut(row_bytes * ROWS)) {
            self.read_stored(block, number * block.columns, inflater, &mut octet)?;
            octets::deinterleave(&octet, row_bytes, rows);
        }
        Ok(())
    }

    /// All rows of a block, one behind the other, as [`LayerFile::read_rows`] gives them. Chunks
    /// are decompressed in parallel, in the current pool of `rayon`.
    ///
    /// # Errors
    /// As [`LayerFile::chunk`], and if the file has no such block.
    pub fn read_block(&self, key: BlockKey) -> Result<Vec<u8>, DatabaseError> {
        let block = self.expect_block(key)?;
        let row_bytes = block.row_bytes() as usize;
        let mut rows = vec![0; block.rows as usize * row_bytes];
        // Enough rows for a task that few chunks are decompressed twice, at both ends.
        let taken = ((1 << 17) / row_bytes + 1).next_multiple_of(ROWS);
        rows.par_chunks_mut(taken * row_bytes)
            .enumerate()
            .try_for_each_init(Inflater::new, |inflater, (task, out)| {
                self.read_rows(block, (task * taken) as u64, inflater, out)
            })?;
        Ok(rows)
    }

    /// Reads everything: all chunks decompress, the bits behind the last row are zero, and the
    /// numbers of set bits are those that the index states. In parallel, in the current pool of
    /// `rayon`.
    ///
    /// # Errors
    /// Names the first block or some chunk that is damaged.
    pub fn verify(&self) -> Result<(), DatabaseError> {
        for block in &self.blocks {
            let got = (0..block.chunks)
                .into_par_iter()
                .with_min_len(STRIDE)
                .map_init(
                    || (Inflater::new(), vec![0; block.chunk_bytes]),
                    |(inflater, buffer), chunk| {
                        let out = &mut buffer[..block.chunk_len(chunk)];
                        self.chunk(block, chunk, inflater, out)?;
                        if !self.padding_is_zero(block, chunk, out) {
                            let (zero, other) = ("zero", "something else");
                            return Err(self.damaged_chunk(block, chunk, "padding", zero, other));
                        }
                        Ok(count_ones(out))
                    },
                )
                .try_reduce(|| 0, |a, b| Ok(a + b))?;
            if got != block.set_bits {
                let what = format!("the number of set bits of block {:?}", block.key);
                return Err(DatabaseError::damaged(self.path(), what, block.set_bits, got));
            }
        }
        Ok(())
    }

    /// Whether the bits of the rows behind the last one are zero in a chunk.
    fn padding_is_zero(&self, block: &Block, chunk: usize, bytes: &[u8]) -> bool {
        let used = block.rows % ROWS as u64;
        let last_octet = block.stored_bytes() - block.columns;
        let from = chunk as u64 * block.chunk_bytes as u64;
        let before = last_octet.saturating_sub(from).min(bytes.len() as u64);
        used == 0 || bytes[before as usize..].iter().all(|byte| byte >> used == 0)
    }
}

/// The blocks that the index lists, and where in the index the chunks' lengths begin.
fn read_blocks(
    path: &Path,
    header: &LayerHeader,
    index: &[u8],
) -> Result<(Vec<Block>, usize), DatabaseError> {
    let damaged = |what: String, expected: String, got: String| {
        Err(DatabaseError::damaged(path, what, expected, got))
    };
    if index.len() < 4 {
        let expected = "at least 4".to_owned();
        return damaged("the length of the index".to_owned(), expected, index.len().to_string());
    }
    let count = u32_at(index, 0) as usize;
    let room = (index.len() - 4) / BLOCK_BYTES;
    if count > room {
        let expected = format!("at most {room}");
        return damaged("the number of blocks".to_owned(), expected, count.to_string());
    }
    let (listed, rest) = index[4..].split_at(BLOCK_BYTES * count);
    // More chunks than this have no place in the index, so sums stay small.
    let most = (rest.len() / 12) as u64;
    let mut blocks: Vec<Block> = Vec::with_capacity(count);
    let mut first_chunk = 0;
    for (number, entry) in listed.chunks_exact(BLOCK_BYTES).enumerate() {
        let name = [entry[0], entry[1], entry[2], entry[3]];
        let key = BlockKey::decode(name).filter(|&key| header.may_have(key));
        let Some(key) = key else {
            let expected = format!("one of a layer of {} stones", header.stones);
            return damaged(format!("block {number}"), expected, format!("{name:?}"));
        };
        if let Some(last) = blocks.last().filter(|last| last.key >= key) {
            let expected = format!("after {:?}", last.key);
            return damaged(format!("block {number}"), expected, format!("{key:?}"));
        }
        let (rows, set_bits) = (u64_at(entry, 4), u64_at(entry, 12));
        let columns = header.columns(key.white);
        let patterns = binomial(header.count(Colour::Black), key.black);
        if !(1..=patterns).contains(&rows) {
            let expected = format!("1 to {patterns}");
            return damaged(format!("the rows of block {key:?}"), expected, rows.to_string());
        }
        if set_bits > rows * columns {
            let expected = format!("at most {}", rows * columns);
            return damaged(format!("the set bits of {key:?}"), expected, set_bits.to_string());
        }
        let chunk_bytes = header.chunk_bytes as usize;
        let mut block = Block { key, rows, columns, set_bits, first_chunk, chunks: 0, chunk_bytes };
        let chunks = block.stored_bytes().div_ceil(chunk_bytes as u64);
        if chunks > most || first_chunk as u64 + chunks > most {
            let expected = format!("at most {most} in all");
            return damaged(format!("the chunks of block {key:?}"), expected, chunks.to_string());
        }
        block.chunks = chunks as usize;
        first_chunk += block.chunks;
        blocks.push(block);
    }
    if rest.len() != 12 * first_chunk {
        let expected = (index.len() - rest.len() + 12 * first_chunk).to_string();
        return damaged("the length of the index".to_owned(), expected, index.len().to_string());
    }
    Ok((blocks, 4 + listed.len()))
}

/// The number of set bits.
pub(super) fn count_ones(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let ones = words.iter().map(|&word| u64::from(u64::from_le_bytes(word).count_ones()));
    ones.sum::<u64>() + rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}

/// A checksum as text.
pub(super) fn hex(checksum: u64) -> String {
    format!("{checksum:016x}")
}
