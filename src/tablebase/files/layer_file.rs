//! Reading layer files: everything in them is checked before it is used.

use std::path::Path;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Decompressor;

use super::error::{DATABASE, DatabaseError};
use super::format::{BlockKey, FOOTER_BYTES, Footer, HEADER_BYTES, LayerHeader, hex};
use super::layer_index::{LayerBlock, LayerIndex};
use super::octets::{self, ROWS};
use crate::file::ByteSource;

/// A decompressor with its memory (some 150 KiB), and a buffer for compressed bytes. A thread uses one for many
/// chunks: it takes longer to make a decompressor than to decompress a chunk.
pub struct Inflater {
    decompressor: Decompressor<'static>,
    compressed: Vec<u8>,
}

impl Inflater {
    /// Makes a decompressor.
    ///
    /// # Panics
    /// If there is no memory for it.
    pub fn new() -> Self {
        let decompressor = Decompressor::new().expect("memory for a decompressor");
        Inflater { decompressor, compressed: Vec::new() }
    }
}

impl Default for Inflater {
    fn default() -> Self {
        Inflater::new()
    }
}

/// A layer file, open for reading. Threads share it. Its index is in memory: 12 bytes for each chunk.
#[derive(Debug)]
pub struct LayerFile {
    source: ByteSource,
    header: LayerHeader,
    footer_xxh3: u64,
    index: LayerIndex,
}

impl LayerFile {
    /// Opens a file, and checks its length, header, footer and index. The chunks are checked when
    /// they are read, or by [`LayerFile::verify`]. Costs a pass over the index.
    ///
    /// # Errors
    /// If the file cannot be read, is of another kind or version, or contradicts itself.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        LayerFile::new(ByteSource::open(path, DATABASE)?)
    }

    /// The length of a file, and the XXH3-64 of its last 40 bytes. In a layer file, these are the footer, so
    /// both numbers together identify the content. The rest of the file is not read.
    ///
    /// # Errors
    /// If the file cannot be read, or is too short.
    pub fn footer(path: &Path) -> Result<(u64, u64), DatabaseError> {
        let source = ByteSource::open(path, DATABASE)?;
        let mut foot = [0; FOOTER_BYTES];
        source.read_at(source.len().saturating_sub(FOOTER_BYTES as u64), &mut foot)?;
        Ok((source.len(), xxh3_64(&foot)))
    }

    /// Opens the bytes of a file that are in memory already; `path` is for error messages.
    ///
    /// # Errors
    /// As [`LayerFile::open`].
    #[cfg(feature = "testing")]
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, DatabaseError> {
        LayerFile::new(ByteSource::owned(path, DATABASE, bytes))
    }

    fn new(source: ByteSource) -> Result<Self, DatabaseError> {
        let path = source.path();
        let damaged = |what: &str, expected: &dyn ToString, got: &dyn ToString| {
            Err(DatabaseError::damaged(path, what, expected.to_string(), got.to_string()))
        };
        let least = (HEADER_BYTES + FOOTER_BYTES) as u64;
        if source.len() < least {
            return damaged("the length", &format!("at least {least} bytes"), &source.len());
        }
        let (mut head, mut foot) = ([0; HEADER_BYTES], [0; FOOTER_BYTES]);
        source.read_at(0, &mut head)?;
        let footer_at = source.len() - FOOTER_BYTES as u64;
        source.read_at(footer_at, &mut foot)?;
        let header = LayerHeader::decode(path, &head)?;
        let footer = Footer::decode(path, &foot)?;
        if xxh3_64(&head) != footer.header_xxh3 {
            let (expected, got) = (hex(footer.header_xxh3), hex(xxh3_64(&head)));
            return damaged("the header's checksum", &expected, &got);
        }
        let end = footer.index_offset.checked_add(footer.index_bytes);
        if end != Some(footer_at) || footer.index_offset < HEADER_BYTES as u64 {
            let got = format!("{} + {}", footer.index_offset, footer.index_bytes);
            return damaged("the end of the index (the beginning of the footer)", &footer_at, &got);
        }
        let index = LayerIndex::read(&source, &header, &footer)?;
        Ok(LayerFile { source, header, footer_xxh3: xxh3_64(&foot), index })
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// The length of the file.
    pub fn bytes(&self) -> u64 {
        self.source.len()
    }

    /// XXH3-64 of the footer, which depends on the checksums of the whole file.
    pub fn footer_xxh3(&self) -> u64 {
        self.footer_xxh3
    }

    /// The header.
    pub fn header(&self) -> &LayerHeader {
        &self.header
    }

    /// The blocks in ascending order of their keys.
    pub fn blocks(&self) -> &[LayerBlock] {
        &self.index.blocks
    }

    /// The block with a key, if the file has it.
    pub fn block(&self, key: BlockKey) -> Option<&LayerBlock> {
        let at = self.blocks().binary_search_by_key(&key, |block| block.key).ok()?;
        Some(&self.blocks()[at])
    }

    /// The block with a key.
    ///
    /// # Errors
    /// If the file does not have it.
    pub fn expect_block(&self, key: BlockKey) -> Result<&LayerBlock, DatabaseError> {
        self.block(key).ok_or_else(|| {
            DatabaseError::damaged(self.path(), format!("the block of {key}"), "present", "missing")
        })
    }

    /// Checks that the file has the header `expected`, and all blocks of the layer.
    ///
    /// # Errors
    /// If it does not.
    pub fn expect_layer(&self, expected: &LayerHeader) -> Result<(), DatabaseError> {
        if self.header != *expected {
            return Err(DatabaseError::damaged(self.path(), "the header", expected, &self.header));
        }
        let (expected, got) = (expected.keys(), self.blocks().iter().map(|block| block.key));
        let got: Vec<BlockKey> = got.collect();
        if expected != got {
            let text = |keys: &[BlockKey]| {
                keys.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
            };
            let (what, expected, got) = ("the list of blocks", text(&expected), text(&got));
            return Err(DatabaseError::damaged(self.path(), what, expected, got));
        }
        Ok(())
    }

    /// Reads the compressed bytes of a block's chunk, and checks their checksum.
    ///
    /// # Errors
    /// If the bytes cannot be read, or their checksum is not the one in the index.
    ///
    /// # Panics
    /// If there is no such chunk.
    pub fn compressed_chunk(
        &self,
        block: &LayerBlock,
        chunk: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseError> {
        let (start, length, xxh3) = self.index.chunk(block, chunk);
        out.resize(length, 0);
        self.source.read_at(start, out)?;
        let got = xxh3_64(out);
        if got != xxh3 {
            return Err(self.damaged_chunk(block, chunk, "checksum", hex(xxh3), hex(got)));
        }
        Ok(())
    }

    /// Decompresses a chunk of a block into `out`, which is [`LayerBlock::chunk_len`] bytes long.
    ///
    /// # Errors
    /// As [`LayerFile::compressed_chunk`], and if the bytes do not decompress to this length, or a bit after
    /// the last row is set.
    ///
    /// # Panics
    /// If there is no such chunk, or `out` has another length.
    pub fn chunk(
        &self,
        block: &LayerBlock,
        chunk: usize,
        inflater: &mut Inflater,
        out: &mut [u8],
    ) -> Result<(), DatabaseError> {
        let Inflater { decompressor, compressed } = inflater;
        self.compressed_chunk(block, chunk, compressed)?;
        assert_eq!(out.len(), block.chunk_len(chunk), "the length of chunk {chunk}");
        match decompressor.decompress_to_buffer(compressed, out) {
            Ok(got) if got == out.len() => match self.padding_is_zero(block, chunk, out) {
                true => Ok(()),
                false => Err(self.damaged_chunk(block, chunk, "padding", "zero", "another value")),
            },
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
        block: &LayerBlock,
        chunk: usize,
        what: &str,
        expected: impl ToString,
        got: impl ToString,
    ) -> DatabaseError {
        let what = format!("the {what} of chunk {chunk} of {}", block.key);
        DatabaseError::damaged(self.path(), what, expected, got)
    }

    /// Reads rows of a block, from row `first` on, as many as fit into `out`. Each row takes
    /// [`LayerBlock::row_bytes`] bytes: one bit for each column, and zeros at the end of the last byte.
    ///
    /// # Errors
    /// As [`LayerFile::chunk`].
    ///
    /// # Panics
    /// If `first` is not a multiple of eight, the length of `out` is not a multiple of the length of a row,
    /// or the block has fewer rows.
    pub fn read_rows(
        &self,
        block: &LayerBlock,
        first: u64,
        inflater: &mut Inflater,
        out: &mut [u8],
    ) -> Result<(), DatabaseError> {
        let row_bytes = block.row_bytes() as usize;
        assert!(first.is_multiple_of(ROWS as u64), "row {first} is not a multiple of eight");
        assert_eq!(out.len() % row_bytes, 0, "not whole rows of {row_bytes} bytes");
        let end = first.checked_add((out.len() / row_bytes) as u64);
        assert!(end.is_some_and(|end| end <= block.rows), "{end:?} rows of {block:?}");
        let chunk_bytes = block.chunk_bytes as u64;
        let mut octet = vec![0; block.columns as usize];
        // An octet may begin or end within a chunk. `buffer` keeps the last chunk that was needed in part, and
        // `buffered` is its index, because the next octet may need the rest of it.
        let (mut buffer, mut buffered) = (Vec::new(), None);
        for (number, rows) in (first / ROWS as u64..).zip(out.chunks_mut(row_bytes * ROWS)) {
            let mut at = number * block.columns;
            let mut rest = &mut octet[..];
            while !rest.is_empty() {
                let (chunk, skipped) = ((at / chunk_bytes) as usize, (at % chunk_bytes) as usize);
                let length = block.chunk_len(chunk);
                let (here, after) = rest.split_at_mut(rest.len().min(length - skipped));
                if here.len() == length {
                    self.chunk(block, chunk, inflater, here)?;
                } else {
                    if buffered != Some(chunk) {
                        buffer.resize(length, 0);
                        self.chunk(block, chunk, inflater, &mut buffer)?;
                        buffered = Some(chunk);
                    }
                    here.copy_from_slice(&buffer[skipped..skipped + here.len()]);
                }
                at += here.len() as u64;
                rest = after;
            }
            octets::deinterleave(&octet, row_bytes, rows);
        }
        Ok(())
    }

    /// Reads all rows of a block in order, in the format of [`LayerFile::read_rows`]. Decompresses chunks in
    /// parallel, in the current pool of `rayon`.
    ///
    /// # Errors
    /// As [`LayerFile::chunk`], and if the file has no such block.
    pub fn read_block(&self, key: BlockKey) -> Result<Vec<u8>, DatabaseError> {
        let block = self.expect_block(key)?;
        let row_bytes = block.row_bytes() as usize;
        let mut rows = vec![0; block.rows as usize * row_bytes];
        // Rows that one call reads. Only the chunks at both ends of these rows may be decompressed twice, and
        // with this many rows they are few.
        let taken = ((1 << 17) / row_bytes + 1).next_multiple_of(ROWS);
        rows.par_chunks_mut(taken * row_bytes)
            .enumerate()
            .try_for_each_init(Inflater::new, |inflater, (task, out)| {
                self.read_rows(block, (task * taken) as u64, inflater, out)
            })?;
        Ok(rows)
    }

    /// Reads the whole file and checks that all chunks decompress, that the bits after the last row are zero,
    /// and that the numbers of set bits are those in the index. Runs in parallel, in the current pool of
    /// `rayon`.
    ///
    /// # Errors
    /// If a chunk or a block is damaged (the error names it), and [`DatabaseError::Interrupted`] if `stop` is
    /// set.
    #[cfg(feature = "testing")]
    pub fn verify(&self, stop: &std::sync::atomic::AtomicBool) -> Result<(), DatabaseError> {
        self.blocks().iter().try_for_each(|block| {
            let set: Result<u64, DatabaseError> = (0..block.chunks)
                .into_par_iter()
                .with_min_len(super::layer_index::STRIDE)
                .map_init(
                    || (Inflater::new(), vec![0; block.chunk_bytes]),
                    |(inflater, buffer), chunk| {
                        DatabaseError::check_stop(stop)?;
                        let out = &mut buffer[..block.chunk_len(chunk)];
                        self.chunk(block, chunk, inflater, out)?;
                        Ok(super::layer_index::count_ones(out))
                    },
                )
                .try_reduce(|| 0, |a, b| Ok(a + b));
            self.check_set_bits(block, set?)
        })
    }

    /// Compares a number of set bits with the one that the index states.
    pub(super) fn check_set_bits(&self, block: &LayerBlock, got: u64) -> Result<(), DatabaseError> {
        if got == block.set_bits {
            return Ok(());
        }
        let what = format!("the number of set bits of {}", block.key);
        Err(DatabaseError::damaged(self.path(), what, block.set_bits, got))
    }

    /// Returns true if the unused bits of a chunk are zero. The last octet has such bits if the number of rows
    /// is not a multiple of eight.
    fn padding_is_zero(&self, block: &LayerBlock, chunk: usize, bytes: &[u8]) -> bool {
        let used = block.rows % ROWS as u64;
        let last_octet = block.stored_bytes() - block.columns;
        let from = chunk as u64 * block.chunk_bytes as u64;
        let before = last_octet.saturating_sub(from).min(bytes.len() as u64);
        used == 0 || bytes[before as usize..].iter().all(|byte| byte >> used == 0)
    }
}
