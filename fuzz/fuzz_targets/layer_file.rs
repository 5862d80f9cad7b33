//! Any bytes are read as a layer file or rejected. Random bytes never pass the checksums, so the
//! target computes valid ones. The reader may then report contradictions, but must not panic or
//! allocate much memory. Blocks that it accepts have the same contents when read in parts.
#![no_main]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use arbitrary::Arbitrary;
use konane::internals::{Footer, HEADER_BYTES, Index, Inflater, LayerFile, LayerHeader};
use konane::tablebase::{Metric, Scope};
use konane::{Board, Dimensions};
use konane_fuzz::Content;
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    ranks: u8,
    files: u8,
    reachable: bool,
    remoteness: bool,
    stones: u8,
    chunk_bits: u8,
    header_edits: [(u8, u8); 2],
    /// Number of edits to make, modulo 3.
    edited: u8,
    /// True if the index has the right length and checksum of the data.
    sealed: bool,
    data: Content<'a>,
    index: &'a [u8],
}

fuzz_target!(|input: Input| {
    let ranks = u32::from(input.ranks) % 8 + 1;
    let files = u32::from(input.files) % 8 + 1;
    let board = Board::new(Dimensions::new(ranks, files).expect("at most 64 squares"));
    let metric = if input.remoteness { Metric::Remoteness } else { Metric::Outcome };
    let reachable = input.reachable && !input.remoteness;
    let scope = if reachable { Scope::Reachable } else { Scope::Complete };
    let stones = u32::from(input.stones) % (ranks * files + 1);
    let header = LayerHeader {
        chunk_bytes: 1 << (3 + input.chunk_bits % 12),
        ..LayerHeader::new(&Index::new(board, scope.exchanges()), scope, metric, stones)
    };
    let mut bytes = header.encode().to_vec();
    for &(at, value) in &input.header_edits[..usize::from(input.edited) % 3] {
        bytes[usize::from(at) % HEADER_BYTES] = value;
    }
    let header_xxh3 = xxh3_64(&bytes);
    let (_, data) = input.data.store();
    bytes.extend(&data);
    let index_offset = bytes.len() as u64;
    let mut index = input.index.to_vec();
    if input.sealed {
        seal_chunks(&mut index, &data);
    }
    bytes.extend(&index);
    let index_bytes = index.len() as u64;
    let index_xxh3 = xxh3_64(&index);
    bytes.extend(Footer { index_offset, index_bytes, index_xxh3, header_xxh3 }.encode());

    let Ok(file) = LayerFile::from_bytes(Path::new("a file"), bytes) else { return };
    let whole = file.verify(&AtomicBool::new(false)).is_ok();
    let mut inflater = Inflater::new();
    for block in file.blocks() {
        match file.read_block(block.key) {
            Ok(raw) => {
                let first = block.rows / 16 * 8;
                let mut part = vec![0; ((block.rows - first) * block.row_bytes()) as usize];
                file.read_rows(block, first, &mut inflater, &mut part).expect("read before");
                assert_eq!(part, raw[(first * block.row_bytes()) as usize..]);
            }
            Err(_) => assert!(!whole, "verified, but not readable"),
        }
    }
});

/// Treats the data as the only chunk, and writes its length and checksum to the index.
fn seal_chunks(index: &mut [u8], data: &[u8]) {
    if let Some(at) = index.len().checked_sub(12) {
        index[at..at + 4].copy_from_slice(&(data.len() as u32).to_le_bytes());
        index[at + 4..].copy_from_slice(&xxh3_64(data).to_le_bytes());
    }
}
