//! The index of a layer file: its blocks, and the lengths and checksums of their chunks.

use std::path::Path;

use xxhash_rust::xxh3::Xxh3;
use zstd::zstd_safe::compress_bound;

use super::error::DatabaseError;
use super::format::{BLOCK_BYTES, BlockKey, Footer, HEADER_BYTES, LayerHeader, hex};
use super::octets::ROWS;
use crate::file::ByteSource;
use crate::file::fields::{u32_at, u64_at};
use crate::konane::Colour;
use crate::system::try_reserve;
use crate::tablebase::index::binomial;

/// The offset in the file of every `STRIDE`th chunk is kept in memory. The offsets of the other chunks are
/// computed from the lengths of the chunks.
pub(super) const STRIDE: usize = 16;

/// Bytes of the index that are read together.
const PIECE_BYTES: u64 = 1 << 20;

/// A block of a layer file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerBlock {
    /// Kind, side to move and numbers of stones.
    pub key: BlockKey,
    /// Rows: canonical black patterns.
    pub rows: u64,
    /// Columns: white patterns.
    pub columns: u64,
    /// Number of set bits as stated by the index. [`LayerFile::verify`](super::LayerFile::verify) compares it
    /// with the data.
    pub set_bits: u64,
    /// Number of the first chunk of the block, counted from the first chunk of the file.
    first_chunk: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Bytes of every chunk but the last one, before compression.
    pub(super) chunk_bytes: usize,
}

impl LayerBlock {
    /// Bytes of a row in memory.
    #[inline]
    pub fn row_bytes(&self) -> u64 {
        self.columns.div_ceil(8)
    }

    /// Bytes of the block before compression: one for each column of each octet.
    #[inline]
    pub fn stored_bytes(&self) -> u64 {
        self.rows.div_ceil(ROWS as u64) * self.columns
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

/// Content of the index. It is read piece by piece, and each piece is checked before the next one is
/// read. So a small sparse file with a hole in place of a large index does not fill the memory: a hole is read
/// as zeros, and a chunk cannot have length 0.
#[derive(Debug)]
pub(super) struct LayerIndex {
    /// The blocks in ascending order of their keys.
    pub blocks: Vec<LayerBlock>,
    /// The compressed lengths of all chunks, 4 bytes each, and their checksums, 8 bytes each.
    lengths: Vec<u8>,
    checksums: Vec<u8>,
    /// The offsets in the file of every 16th chunk ([`STRIDE`]).
    starts: Vec<u64>,
}

impl LayerIndex {
    /// Position of a chunk in the file, its compressed length and the XXH3-64 of its compressed bytes.
    ///
    /// # Panics
    /// If there is no such chunk.
    pub fn chunk(&self, block: &LayerBlock, chunk: usize) -> (u64, usize, u64) {
        assert!(chunk < block.chunks, "chunk {chunk} of {}", block.chunks);
        let number = block.first_chunk + chunk;
        let length = |number: usize| u32_at(&self.lengths, 4 * number);
        let before = number - number % STRIDE;
        let skipped: u64 = (before..number).map(|number| u64::from(length(number))).sum();
        let start = self.starts[number / STRIDE] + skipped;
        (start, length(number) as usize, u64_at(&self.checksums, 8 * number))
    }

    /// Reads the index of a file, and checks it.
    ///
    /// # Errors
    /// If it cannot be read, or contradicts itself or the header.
    pub fn read(
        source: &ByteSource,
        header: &LayerHeader,
        footer: &Footer,
    ) -> Result<Self, DatabaseError> {
        let path = source.path();
        let damaged = |what: &str, expected: &dyn ToString, got: &dyn ToString| {
            Err(DatabaseError::damaged(path, what, expected.to_string(), got.to_string()))
        };
        if footer.index_bytes < 4 {
            return damaged("the length of the index", &"at least 4", &footer.index_bytes);
        }
        let mut count = [0; 4];
        source.read_at(footer.index_offset, &mut count)?;
        let room = (footer.index_bytes - 4) / BLOCK_BYTES as u64;
        let most = room.min(header.keys().len() as u64);
        let count = u32_at(&count, 0);
        if u64::from(count) > most {
            return damaged("the number of blocks", &format!("at most {most}"), &count);
        }
        let mut listed = vec![0; 4 + BLOCK_BYTES * count as usize];
        source.read_at(footer.index_offset, &mut listed)?;
        let rest = footer.index_bytes - listed.len() as u64;
        let (blocks, chunks) = read_blocks(path, header, &listed[4..], rest / 12)?;
        if rest != 12 * chunks {
            let expected = listed.len() as u64 + 12 * chunks;
            return damaged("the length of the index", &expected, &footer.index_bytes);
        }

        let mut hasher = Xxh3::new();
        hasher.update(&listed);
        let mut place = footer.index_offset + listed.len() as u64;
        let mut next = |bytes: &mut Vec<u8>, end: u64| {
            let from = bytes.len();
            let to = (from as u64 + PIECE_BYTES).min(end) as usize;
            let room = try_reserve(bytes, to - from);
            room.map_err(|error| DatabaseError::io("read the index of", path)(error.into()))?;
            bytes.resize(to, 0);
            source.read_at(place, &mut bytes[from..])?;
            hasher.update(&bytes[from..]);
            place += (to - from) as u64;
            Ok::<_, DatabaseError>(from..to)
        };
        let longest = compress_bound(header.chunk_bytes as usize) as u64;
        let (mut lengths, mut starts) = (Vec::new(), Vec::new());
        let mut at = HEADER_BYTES as u64;
        while lengths.len() as u64 != 4 * chunks {
            for place in next(&mut lengths, 4 * chunks)?.step_by(4) {
                if place / 4 % STRIDE == 0 {
                    starts.push(at);
                }
                let length = u64::from(u32_at(&lengths, place));
                if !(1..=longest).contains(&length) {
                    let what = format!("the length of chunk {} of the file", place / 4);
                    return damaged(&what, &format!("1 to {longest}"), &length);
                }
                // No overflow: a length is less than 2^21, and the lengths of 2^43 chunks do not fit into memory.
                at += length;
            }
        }
        if at != footer.index_offset {
            return damaged("the end of the last chunk", &footer.index_offset, &at);
        }
        let mut checksums = Vec::new();
        while checksums.len() as u64 != 8 * chunks {
            next(&mut checksums, 8 * chunks)?;
        }
        let got = hasher.digest();
        if got != footer.index_xxh3 {
            return damaged("the index's checksum", &hex(footer.index_xxh3), &hex(got));
        }
        Ok(LayerIndex { blocks, lengths, checksums, starts })
    }
}

/// Parses the blocks that the index lists. Returns them, and the number of their chunks together, which may be
/// at most `most`.
fn read_blocks(
    path: &Path,
    header: &LayerHeader,
    listed: &[u8],
    most: u64,
) -> Result<(Vec<LayerBlock>, u64), DatabaseError> {
    let damaged = |what: String, expected: String, got: String| {
        Err(DatabaseError::damaged(path, what, expected, got))
    };
    let mut blocks: Vec<LayerBlock> = Vec::with_capacity(listed.len() / BLOCK_BYTES);
    let mut first_chunk = 0;
    for (number, entry) in listed.chunks_exact(BLOCK_BYTES).enumerate() {
        let name = [entry[0], entry[1], entry[2], entry[3]];
        let key = BlockKey::decode(name).filter(|&key| header.may_have(key));
        let Some(key) = key else {
            let expected = format!("one of a layer of {} stones", header.stones);
            return damaged(format!("block {number}"), expected, format!("{name:?}"));
        };
        if let Some(last) = blocks.last().filter(|last| last.key >= key) {
            let expected = format!("after {}", last.key);
            return damaged(format!("block {number}"), expected, key.to_string());
        }
        let (rows, set_bits) = (u64_at(entry, 4), u64_at(entry, 12));
        let columns = header.columns(key.white);
        let patterns = binomial(header.count(Colour::Black), key.black);
        if !(1..=patterns).contains(&rows) {
            let expected = format!("1 to {patterns}");
            return damaged(format!("the rows of {key}"), expected, rows.to_string());
        }
        if set_bits > rows * columns {
            let expected = format!("at most {}", rows * columns);
            return damaged(format!("the set bits of {key}"), expected, set_bits.to_string());
        }
        let chunk_bytes = header.chunk_bytes as usize;
        let mut block =
            LayerBlock { key, rows, columns, set_bits, first_chunk, chunks: 0, chunk_bytes };
        let chunks = block.stored_bytes().div_ceil(chunk_bytes as u64);
        if chunks > most || first_chunk as u64 + chunks > most {
            let expected = format!("at most {most} in all");
            return damaged(format!("the chunks of {key}"), expected, chunks.to_string());
        }
        block.chunks = chunks as usize;
        first_chunk += block.chunks;
        blocks.push(block);
    }
    Ok((blocks, first_chunk as u64))
}

/// The number of set bits, as in [`LayerBlock::set_bits`].
pub(super) fn count_ones(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let ones = words.iter().map(|&word| u64::from(u64::from_le_bytes(word).count_ones()));
    ones.sum::<u64>() + rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}
